// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the rows of a report; see report.h. A figure that is not known is "-"
 * with a reason, never 0.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output/columns.h"
#include "output/wrap.h"
#include "report/report.h"

static const struct output_field fields[] = {
	{ "energy", true },   { "percent", true },  { "power", true },	   { "time", true },
	{ "freq", true },     { "samples", false }, { "readings", false }, { "share", false },
	{ "precise", false }, { "runs", false },    { "regions", false },  { "pid", false },
	{ "command", false }, { "mode", false },    { "function", true },  { "object", true },
	{ "marks", true },
};

#define N_FIELDS	(sizeof(fields) / sizeof(fields[0]))

int report_fields_check(const struct attribute_options *opt, struct kjoule_error *err)
{
	return fields_check(&(struct fields){ fields, N_FIELDS, opt->fields }, err);
}

/* @several: the rows are of more than one process */
static void report_layout(const struct columns *c, struct output *out,
			  const struct attribute_options *opt, bool several)
{
	struct output_field known[N_FIELDS];

	memcpy(known, fields, sizeof(known));
	for (size_t i = 0; i < N_FIELDS; i++)
		known[i].shown |= (several && !strcmp(known[i].key, "command")) ||
				  (opt->runs && !strcmp(known[i].key, "runs")) ||
				  (opt->by_region && !strcmp(known[i].key, "regions"));
	columns_layout(c, out, &(struct fields){ known, N_FIELDS, opt->fields }, !opt->no_titles);
	if (opt->quiet)
		output_quiet(out);
}

static void report_add_column(struct columns *c, const char *field, const char *name,
			      const char *title, bool left)
{
	columns_field(c, field);
	columns_add(c, name, title, left);
}

static bool report_is_by_object(const struct attribute_options *opt)
{
	return opt->units && opt->grain == CODE_UNIT_OBJECT;
}

static const char *report_unit_title(const struct attribute_options *opt)
{
	return opt->by_region ? "REGION" : opt->processes ? "PROCESS" :
	       report_is_by_object(opt) ? "OBJECT" : "FUNCTION";
}

static void report_make_columns(struct columns *c, const struct blocks *b, bool callers,
				const struct attribute_options *opt)
{
	report_add_column(c, NULL, "kind", NULL, true);
	report_add_column(c, "pid", "pid", "PID", false);
	report_add_column(c, "command", "comm", "COMMAND", true);
	report_add_column(c, "function", opt->by_region ? "region" : "function",
			  report_unit_title(opt), true);
	report_add_column(c, "object", "object",
			  opt->by_region || opt->processes || report_is_by_object(opt) ? NULL :
											 "OBJECT",
			  true);
	report_add_column(c, "mode", "mode", "MODE", true);
	columns_field(c, NULL);
	if (callers)
		columns_add(c, "depth", NULL, false);
	columns_field(c, "regions");
	if (opt->by_region)
		report_regions_columns(c);
	report_add_column(c, "samples", "samples", "SAMPLES", false);
	if (opt->runs)
		report_add_column(c, "runs", "runs", "RUNS", false);
	columns_add_time(c);
	if (opt->runs)
		columns_add(c, "time_between_s", NULL, false);
	for (unsigned int d = 0; d < b->n_domains; d++)
		columns_add_domain(c, b->domains[d]->name, opt->runs);
	report_add_column(c, "freq", "freq_mhz", "MHz", false);
	columns_add(c, NULL, NULL, false);
	columns_add(c, "freq_lo_mhz", NULL, false);
	columns_add(c, "freq_hi_mhz", NULL, false);
	report_add_column(c, "readings", "readings", "READINGS", false);
	report_add_column(c, "share", "window_share", "SHARE", false);
	report_add_column(c, "precise", "precise_percent", "PRECISE %", false);
	columns_field(c, NULL);
	if (opt->budget_w)
		columns_add(c, "over_budget", NULL, true);
	if (opt->units) {
		columns_add(c, "in_function", NULL, true);
		columns_add(c, "source_file", NULL, true);
		columns_add(c, "source_line", NULL, false);
		columns_add(c, "start", NULL, false);
		columns_add(c, "end", NULL, false);
		columns_add(c, "loop_depth", NULL, false);
	}
	columns_add(c, "model", NULL, true);
	columns_add(c, "model_note", NULL, true);
	report_add_column(c, "marks", NULL, "", true);
}

/* Nothing to say: no dash in a table. */
static void report_print_blank(struct output *out)
{
	if (output_is_table(out))
		output_str(out, "");
	else
		output_none(out, NULL);
}

void report_names(struct output *out, const struct blocks *b, const struct report_row *r,
		  const char *hidden)
{
	const struct blocks_process *p = &b->processes[r->process];
	const struct blocks_function *f = &b->functions[r->function];
	static const char *const kinds[] = { "total", "process", "function", "ticks",
					    "interrupts", "caller", "hidden" };
	static const char *const units[] = {
		[CODE_UNIT_FUNCTION] = "function", [CODE_UNIT_OBJECT] = "object",
		[CODE_UNIT_LINE] = "line",	   [CODE_UNIT_LOOP] = "loop",
		[CODE_UNIT_BLOCK] = "block",	   [CODE_UNIT_NAMED] = "named",
		[CODE_UNIT_REGION] = "region"
	};
	bool cost = r->kind == ROW_TICKS || r->kind == ROW_INTERRUPTS;
	char text[64];

	output_str(out, r->kind == ROW_FUNCTION && f->unit ? units[f->unit->kind] : kinds[r->kind]);
	if (r->kind == ROW_TOTAL || r->kind == ROW_HIDDEN) {
		report_print_blank(out);
		report_print_blank(out);
		output_str(out, hidden ? hidden : "total");
		output_str(out, "");
		report_print_blank(out);
		return;
	}
	if (cost && output_is_table(out)) {
		report_print_blank(out);
		report_print_blank(out);
	} else {
		if (p->pid && p->pid != UINT32_MAX)
			output_u64(out, p->pid);
		else
			report_print_blank(out);
		output_str(out, p->comm);
	}
	if (r->kind == ROW_PROCESS) {
		if (p->pid && p->pid != UINT32_MAX)
			snprintf(text, sizeof(text), "%.40s (pid %" PRIu32 ")", p->comm, p->pid);
		else
			snprintf(text, sizeof(text), "%.40s", p->comm);
		output_str(out, text);
		output_str(out, "");
		output_none(out, NULL);
	} else if (r->kind == ROW_FUNCTION || r->kind == ROW_CALLER) {
		char indented[224];

		snprintf(indented, sizeof(indented),
			 "%*s%s%.150s", r->kind == ROW_CALLER ? 2 + 3 * (int)r->indent : 0, "",
			 r->kind == ROW_CALLER ? r->branch ? "+- " : "<- " : "", f->symbol);
		output_str(out, output_is_table(out) ? indented : f->symbol);
		output_str(out, output_is_table(out) && f->object[0] == '/' ? basename(f->object) :
									      f->object);
		/* a region is what a program is at, in the kernel or not */
		if (f->unit && f->unit->kind == CODE_UNIT_REGION)
			output_none(out, NULL);
		else
			output_str(out, f->kernel ? "kernel" : "user");
	} else {
		output_str(out, r->kind == ROW_TICKS ? "[kjoule ticks]" : "[interrupts]");
		output_str(out, "");
		output_str(out, "kernel");
	}
}

struct style {
	int time, energy[PROFILE_DOMAINS], power[PROFILE_DOMAINS];
	double total_j[PROFILE_DOMAINS];
};

static const char no_freq[] = "no frequency source, or too few samples; see `kjoule list`";
static const char mixed_interval[] =
	"no interval: it runs too shortly between two updates of the counter, so its figures are mixed with its neighbours'; try --model auto, or record --edge";
static const char no_interval[] =
	"no interval: fewer than two distinct readings, or known from calibration only";

/* Where a unit of code is, for programs. */
static void report_print_unit(struct output *out, const struct code_unit *u)
{
	static const struct code_unit none;

	u = u ? u : &none;
	if (u->function && u->function[0])
		output_str(out, u->function);
	else
		output_none(out, NULL);
	if (u->file)
		output_str(out, u->file);
	else
		output_none(out, NULL);
	if (u->line)
		output_u64(out, u->line);
	else
		output_none(out, NULL);
	if (u->end) {
		output_u64(out, u->start);
		output_u64(out, u->end);
	} else {
		output_none(out, NULL);
		output_none(out, NULL);
	}
	if (u->depth)
		output_u64(out, u->depth);
	else
		output_none(out, NULL);
}

/*
 * Finer than a function, and not all samples have the exact instruction: they may be of the code
 * before.
 */
static bool report_row_is_vague(const struct blocks *b, const struct report_row *r)
{
	const struct blocks_function *f = &b->functions[r->function];

	return r->kind == ROW_FUNCTION && f->unit && f->unit->kind > CODE_UNIT_OBJECT &&
	       f->unit->kind != CODE_UNIT_REGION &&
	       f->precise < CODE_UNIT_PRECISE * r->g.samples;
}

/* How much runs differ, beyond what sampling makes of it. */
static void report_print_between(struct output *out, double deviation, int digits)
{
	if (isnan(deviation))
		output_none(out, NULL);
	else
		output_real(out, deviation, digits);
}

static void report_print_row(struct output *out, const struct blocks *b, const struct report_row *r,
			     const struct style *s, bool depth, const struct attribute_options *opt,
			     const struct power_model *m, bool outside, const char *hidden)
{
	const struct profile_group *g = &r->g;
	bool function = r->kind == ROW_FUNCTION, caller = r->kind == ROW_CALLER,
	     table = output_is_table(out);
	const char *vague = function || r->kind == ROW_PROCESS || r->kind == ROW_TOTAL ?
				    no_interval :
			    caller ? columns_blank :
				     NULL;
	enum report_over over = report_over(b, r, opt->budget_w);
	char marks[4];

	report_names(out, b, r, hidden);
	if (depth && caller)
		output_u64(out, r->depth);
	else if (depth)
		output_none(out, NULL);
	if (opt->by_region)
		report_regions_cells(out, r, s->time);
	if (r->kind == ROW_TICKS || r->kind == ROW_INTERRUPTS)
		output_none(out, NULL);
	else
		output_u64(out, g->samples);
	if (opt->runs && r->between)
		output_u64(out, r->between->seen);
	else if (opt->runs)
		output_none(out, NULL);
	columns_value(out, &g->time_s, 1, s->time, NULL, vague);
	if (opt->runs)
		report_print_between(out, r->between ? r->between->time_s : NAN, s->time);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		const struct profile_energy *e = &g->energy[d];

		const char *no_energy = report_model_no_energy(m, r, d);

		bool mixed = table && function && !isnan(e->j.v) && e->share < GROUPS_PURE;
		struct value w = e->w, j = e->j;

		/* the interval does not know what its neighbours have put into it */
		if (mixed)
			w.lo = j.lo = NAN;
		columns_value(out, &j, 1, s->energy[d], no_energy, mixed ? mixed_interval : vague);
		if (opt->runs)
			report_print_between(out, r->between ? r->between->j[d] : NAN,
					     s->energy[d]);
		if (isnan(e->j.v) || !(s->total_j[d] > 0) || outside)
			output_none(out, NULL);
		else
			output_real(out, 100 * e->j.v / s->total_j[d], 1);
		columns_value(out, &w, 1, s->power[d], no_energy, mixed ? mixed_interval : vague);
	}
	if (!g->samples || !function || report_row_is_gap(b, r))
		columns_value(out, &g->khz, 1e-3, 1, caller ? columns_blank : NULL, NULL);
	else
		columns_value(out, &g->khz, 1e-3, 1, no_freq, no_interval);
	if (b->n_domains && !caller) {
		output_u64(out, g->energy[b->shown_first].readings);
		if (isnan(g->energy[b->shown_first].share))
			output_none(out, NULL);
		else
			output_real(out, g->energy[b->shown_first].share, 3);
	} else {
		output_none(out, NULL);
		output_none(out, NULL);
	}
	if (function && g->samples)
		output_real(out, 100.0 * b->functions[r->function].precise / g->samples, 1);
	else
		output_none(out, NULL);
	if (opt->budget_w && report_over_name(over))
		output_str(out, report_over_name(over));
	else if (opt->budget_w)
		output_none(out, NULL);
	if (opt->units)
		report_print_unit(out, function ? b->functions[r->function].unit : NULL);
	output_str(out, power_model_name(m));
	if (function && power_model_note(m, r->function))
		output_str(out, power_model_note(m, r->function));
	else
		output_none(out, NULL);
	snprintf(marks, sizeof(marks),
		 "%s%s", report_row_is_vague(b, r) ? "*" : "", report_over_mark(over));
	if (over == OVER_YES)
		output_emphasis(out, OUTPUT_HOT);
	output_str(out, marks);
	output_row(out);
}

const char *report_hidden_name(const struct report *r, const struct attribute_options *opt,
			       char *buf, size_t len)
{
	const char *rows = r->n_hidden == 1 ? "row" : "rows";

	if (r->n_few == r->n_hidden)
		snprintf(buf, len,
			 "(%zu more %s of fewer than %" PRIu32 " samples)", r->n_hidden, rows,
			 opt->least_samples);
	else if (r->n_few)
		snprintf(buf, len,
			 "(%zu more %s below %g %% or %" PRIu32 " samples)", r->n_hidden, rows,
			 opt->percent_limit, opt->least_samples);
	else
		snprintf(buf, len,
			 "(%zu more %s below %g %%)", r->n_hidden, rows, opt->percent_limit);
	return buf;
}

static const char *const misses[] = {
	[CODE_UNIT_NO_FILE] = "the kernel's, made at run time, or of files that are not there",
	[CODE_UNIT_NO_LINES] = "there is no debug information",
	[CODE_UNIT_NO_SYMBOL] = "no function is known around them",
	[CODE_UNIT_NO_CODE] = "their code cannot be decoded",
};

/* What could not be attributed as finely as it was asked for. */
static void report_print_misses(const struct blocks *b)
{
	uint64_t samples[CODE_UNIT_MISSES] = { 0 };

	for (size_t i = 0; i < b->n_functions; i++)
		if (b->functions[i].unit)
			samples[b->functions[i].unit->miss] += b->functions[i].samples;
	for (int i = CODE_UNIT_HIT + 1; i < CODE_UNIT_MISSES; i++)
		if (samples[i])
			wrap_footnote(stdout, "",
				      "%" PRIu64
				      " samples of the recording are counted by function: %s",
				      samples[i], misses[i]);
}

static void report_print_footnotes(const struct report *r, const struct blocks *b,
				   const struct attribute_options *opt)
{
	bool vague = false;

	for (size_t i = 0; i < r->n_processes; i++)
		for (size_t k = 0; k < r->processes[i].n_rows; k++)
			vague |= report_row_is_vague(b, &r->processes[i].rows[k]);
	if (vague && (!opt->fields || *opt->fields == '+' || fields_has(opt->fields, "marks")))
		wrap_footnote(stdout, "*",
			      "imprecise instruction pointers: some samples may be of the code before");
	if (!opt->fields || *opt->fields == '+' || fields_has(opt->fields, "marks"))
		report_budget_print(r, b, opt);
	report_print_misses(b);
}

/* Digits of a column: two of the narrowest interval, at most five of the largest figure. */
static int report_digits_of(double largest, double narrowest)
{
	int digits = columns_digits(largest);
	int two = narrowest > 0 && isfinite(narrowest) ? 1 - (int)floor(log10(narrowest)) : digits;

	return two < 0 ? 0 : two < digits ? two : digits;
}

static double report_narrower(double narrowest, const struct value *v)
{
	return isnan(v->lo) || !(v->hi > v->lo) ? narrowest : fmin(narrowest, (v->hi - v->lo) / 2);
}

static void report_make_style(struct style *s, const struct report *r, const struct blocks *b,
			      const struct report_row *rows, size_t n)
{
	double time = INFINITY;

	for (size_t i = 0; i < n; i++)
		time = report_narrower(time, &rows[i].g.time_s);
	s->time = report_digits_of(r->total.g.time_s.v, time);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		const struct profile_energy *e = &r->total.g.energy[d];
		double j = INFINITY, w = INFINITY;

		for (size_t i = 0; i < n; i++) {
			j = report_narrower(j, &rows[i].g.energy[d].j);
			w = report_narrower(w, &rows[i].g.energy[d].w);
		}
		s->total_j[d] = e->j.v;
		s->energy[d] = report_digits_of(e->j.v, j);
		s->power[d] = report_digits_of(e->w.v, w);
	}
}

/* A row of a table without figures. */
static void report_print_name(struct output *out, const struct blocks *b,
			      const struct report_row *r)
{
	report_names(out, b, r, NULL);
	output_row(out);
}

/* Who called a function, below its row. */
static int report_print_callers(struct output *out, const struct report *r, const struct blocks *b,
				const struct callgraph *c, const struct attribute_options *opt,
				const struct power_model *m, const struct report_row *of,
				const struct style *style)
{
	struct report_row *rows;
	size_t n;
	int ret;

	ret = report_callers(c, b, of->function, &r->total,
			     report_weight_of(&r->total, &r->total, b) * opt->callers_limit / 100,
			     &rows, &n);
	for (size_t i = 0; i < n && !ret; i++) {
		/* of a chain once is enough */
		if (output_is_table(out) && !rows[i].branch && i &&
		    rows[i].g.samples == rows[i - 1].g.samples)
			report_print_name(out, b, &rows[i]);
		else
			report_print_row(out, b, &rows[i], style, true, opt, m, false, NULL);
	}
	free(rows);
	return ret;
}

/* A table: one list of all rows, which add up to the total; with -v, what is outside of it. */
static int report_print_list(struct output *out, const struct report *r, const struct blocks *b,
			     const struct callgraph *c, const struct attribute_options *opt,
			     const struct power_model *m, const struct report_row *rows, size_t n)
{
	struct style style;
	char hidden[80];
	int ret = 0;

	report_make_style(&style, r, b, rows, n);
	report_hidden_name(r, opt, hidden, sizeof(hidden));
	for (size_t i = 0; i < n && !ret; i++) {
		report_print_row(out, b, &rows[i], &style, c, opt, m, false, hidden);
		if (c && rows[i].kind == ROW_FUNCTION)
			ret = report_print_callers(out, r, b, c, opt, m, &rows[i], &style);
	}
	/* of which only a part was asked for */
	report_print_row(out, b, &r->total, &style, c, opt, m, false,
			 opt->pid || opt->comm || opt->region ? "total of the recording" : NULL);
	for (size_t i = 0; i < r->n_processes && opt->verbose; i++)
		if (r->processes[i].outside)
			report_print_row(out, b, &r->processes[i].total, &style, c, opt, m, true,
					 NULL);
	return ret;
}

/* For programs: each process, and its rows behind it. */
static int report_print_processes(struct output *out, const struct report *r,
				  const struct blocks *b, const struct callgraph *c,
				  const struct attribute_options *opt, const struct power_model *m)
{
	struct style style;
	int ret = 0;

	report_make_style(&style, r, b, NULL, 0);
	for (size_t i = 0; i < r->n_processes; i++) {
		const struct report_process *p = &r->processes[i];

		report_print_row(out, b, &p->total, &style, c, opt, m, p->outside, NULL);
		for (size_t k = 0; k < p->n_rows && !ret; k++) {
			report_print_row(out, b, &p->rows[k], &style, c, opt, m, p->outside, NULL);
			if (c && p->rows[k].kind == ROW_FUNCTION)
				ret = report_print_callers(out, r, b, c, opt, m, &p->rows[k],
							   &style);
		}
	}
	if (r->n_hidden)
		report_print_row(out, b, &r->hidden, &style, c, opt, m, false, "[hidden]");
	report_print_row(out, b, &r->total, &style, c, opt, m, false, NULL);
	return ret;
}

int report_print(const struct report *r, const struct blocks *b, const struct callgraph *c,
		 const struct attribute_options *opt, const struct power_model *m,
		 struct json_object *head)
{
	struct columns *columns = columns_new(opt->domains);
	struct report_row *rows = NULL;
	struct output *out = NULL;
	bool several;
	size_t n;
	int ret = columns ? report_rows_list(r, b, opt, &rows, &n, &several) : -ENOMEM;

	if (!ret) {
		report_make_columns(columns, b, c, opt);
		out = output_open(stdout, opt->format, columns->list, columns->n);
	}
	if (!out) {
		json_object_put(head);
		free(columns);
		free(rows);
		return -ENOMEM;
	}
	if (head && opt->budget_w)
		json_object_object_add(head, "hidden_over_budget",
				       report_overs_json(&r->hidden_over));
	report_layout(columns, out, opt, several);
	if (opt->format == OUTPUT_TABLE)
		ret = report_print_list(out, r, b, c, opt, m, rows, n);
	else
		ret = report_print_processes(out, r, b, c, opt, m);
	output_close(out, head, "rows");
	if (opt->format == OUTPUT_TABLE && !opt->quiet) {
		report_print_footnotes(r, b, opt);
		report_model_footnotes(r, b, m);
	}
	free(columns);
	free(rows);
	return ret;
}
