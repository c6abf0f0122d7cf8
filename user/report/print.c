// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the rows of a report; see report.h. A figure that cannot be told is "-"
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
#include "report/report.h"

static void report_make_columns(struct columns *c, const struct blocks *b, bool callers,
				const struct attribute_options *opt)
{
	columns_add(c, "kind", NULL, true);
	columns_add(c, "pid", NULL, false);
	columns_add(c, "comm", NULL, true);
	columns_add(c, opt->by_region ? "region" : "function", opt->by_region ? "REGION" : "FUNCTION", true);
	columns_add(c, "object", opt->by_region ? NULL : "OBJECT", true);
	columns_add(c, "mode", NULL, true);
	if (callers)
		columns_add(c, "depth", NULL, false);
	if (opt->by_region)
		report_regions_columns(c);
	columns_add(c, "samples", "SAMPLES", false);
	if (opt->runs)
		columns_add(c, "runs", "RUNS", false);
	columns_add_time(c);
	if (opt->runs)
		columns_add(c, "time_between_s", NULL, false);
	for (unsigned int d = 0; d < b->n_domains; d++)
		columns_add_domain(c, b->domains[d]->name, !d, opt->runs);
	columns_add(c, "freq_mhz", "MHz", false);
	columns_add(c, NULL, "\xc2\xb1", false);
	columns_add(c, "freq_lo_mhz", NULL, false);
	columns_add(c, "freq_hi_mhz", NULL, false);
	columns_add(c, "readings", NULL, false);
	columns_add(c, "purity", NULL, false);
	columns_add(c, "precise_percent", NULL, false);
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
	columns_add(c, NULL, "", true);
}

void report_names(struct output *out, const struct blocks *b, const struct report_row *r)
{
	const struct blocks_process *p = &b->processes[r->process];
	const struct blocks_function *f = &b->functions[r->function];
	static const char *const kinds[] = { "total", "process", "function", "ticks",
					    "interrupts", "caller" };
	static const char *const units[] = {
		[CODE_UNIT_FUNCTION] = "function", [CODE_UNIT_OBJECT] = "object", [CODE_UNIT_LINE] = "line",
		[CODE_UNIT_LOOP] = "loop", [CODE_UNIT_BLOCK] = "block", [CODE_UNIT_NAMED] = "named",
		[CODE_UNIT_REGION] = "region" };
	const char *base;
	char text[64];

	output_str(out, r->kind == ROW_FUNCTION && f->unit ? units[f->unit->kind] : kinds[r->kind]);
	if (r->kind == ROW_TOTAL) {
		output_none(out, NULL);
		output_none(out, NULL);
		output_str(out, "total");
		output_str(out, "");
		output_none(out, NULL);
		return;
	}
	if (p->pid && p->pid != UINT32_MAX)
		output_u64(out, p->pid);
	else
		output_none(out, NULL);
	output_str(out, p->comm);
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

		base = strrchr(f->object, '/');
		if (r->kind == ROW_CALLER)
			snprintf(indented, sizeof(indented), "%*s%s%.150s", 4 + 3 * r->indent, "",
				 r->branch ? "+- " : "<- ", f->symbol);
		else
			snprintf(indented, sizeof(indented), "  %.150s", f->symbol);
		output_str(out, output_is_table(out) ? indented : f->symbol);
		output_str(out, output_is_table(out) && base && f->object[0] == '/' ? base + 1 :
			   f->object);
		/* a region is what a program is at, in the kernel or not */
		if (f->unit && f->unit->kind == CODE_UNIT_REGION)
			output_none(out, NULL);
		else
			output_str(out, f->kernel ? "kernel" : "user");
	} else {
		snprintf(text, sizeof(text), "%s%s", output_is_table(out) ? "  " : "",
			 r->kind == ROW_TICKS ? "[kjoule ticks]" : "[interrupts]");
		output_str(out, text);
		output_str(out, "");
		output_str(out, "kernel");
	}
}

struct style {
	int time, energy[PROFILE_DOMAINS], power[PROFILE_DOMAINS];
	double total_j[PROFILE_DOMAINS];
};

static const char no_freq[] = "no frequency source, or too few samples; see `kjoule list`";
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

/* Finer than a function, and not all samples tell the very instruction: they may be of what ran before. */
static bool report_row_is_vague(const struct blocks *b, const struct report_row *r)
{
	const struct blocks_function *f = &b->functions[r->function];

	return r->kind == ROW_FUNCTION && f->unit && f->unit->kind > CODE_UNIT_OBJECT && f->unit->kind != CODE_UNIT_REGION &&
	       f->precise < r->g.samples;
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
			     const struct power_model *m)
{
	const struct profile_group *g = &r->g;
	bool function = r->kind == ROW_FUNCTION, caller = r->kind == ROW_CALLER, mixed = false;
	const char *vague = caller ? NULL : no_interval;
	enum report_over over = report_over(b, r, opt->budget_w);
	char marks[4];

	report_names(out, b, r);
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

		columns_value(out, &e->j, 1, s->energy[d], no_energy, vague);
		if (opt->runs)
			report_print_between(out, r->between ? r->between->j[d] : NAN,
					     s->energy[d]);
		if (isnan(e->j.v) || !(s->total_j[d] > 0))
			output_none(out, NULL);
		else
			output_real(out, 100 * e->j.v / s->total_j[d], 1);
		columns_value(out, &e->w, 1, s->power[d], no_energy, vague);
		mixed |= function && !isnan(e->j.v) && e->share < GROUPS_PURE;
	}
	if (!g->samples || caller)
		columns_value(out, &g->khz, 1e-3, 1, NULL, NULL);
	else
		columns_value(out, &g->khz, 1e-3, 1, no_freq, no_interval);
	if (b->n_domains && !caller) {
		output_u64(out, g->energy[0].readings);
		if (isnan(g->energy[0].share))
			output_none(out, NULL);
		else
			output_real(out, g->energy[0].share, 3);
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
	snprintf(marks, sizeof(marks), "%s%s%s", mixed ? "~" : "",
		 report_row_is_vague(b, r) ? "*" : "", report_over_mark(over));
	if (over == OVER_YES)
		output_emphasis(out, OUTPUT_HOT);
	output_str(out, marks);
	output_row(out);
}

static void report_make_style(struct style *s, const struct report *r, const struct blocks *b)
{
	s->time = columns_digits(r->total.g.time_s.v);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		s->total_j[d] = r->total.g.energy[d].j.v;
		s->energy[d] = columns_digits(r->total.g.energy[d].j.v);
		s->power[d] = columns_digits(r->total.g.energy[d].w.v);
	}
}

/* [lost] has but one line that is called [lost] again: for people, once is enough. */
static bool report_row_is_redundant(const struct blocks *b, const struct report_row *r,
				    const struct attribute_options *opt)
{
	return opt->format == OUTPUT_TABLE && r->kind == ROW_FUNCTION &&
	       !b->functions[r->function].unit &&
	       !b->processes[r->process].pid && !b->functions[r->function].object[0] &&
	       b->processes[r->process].kind != CPM_IDLE;
}

void report_hidden_print(const struct report *r, size_t functions)
{
	if (r->hidden_processes)
		printf("\nprocesses below the limit, not shown: %zu (--percent-limit)\n",
		       r->hidden_processes);
	if (functions)
		printf("\nfunctions below the limit, not shown: %zu (--percent-limit)\n", functions);
}

static const char *const misses[] = {
	[CODE_UNIT_NO_FILE] = "the kernel's, made at run time, or of files that are not there",
	[CODE_UNIT_NO_LINES] = "there is no debug information",
	[CODE_UNIT_NO_SYMBOL] = "no function is known around them",
	[CODE_UNIT_NO_CODE] = "their code cannot be decoded",
};

/* What could not be told as finely as it was asked for. */
static void report_print_misses(const struct blocks *b)
{
	uint64_t samples[CODE_UNIT_MISSES] = { 0 };

	for (size_t i = 0; i < b->n_functions; i++)
		if (b->functions[i].unit)
			samples[b->functions[i].unit->miss] += b->functions[i].samples;
	for (int i = CODE_UNIT_HIT + 1; i < CODE_UNIT_MISSES; i++)
		if (samples[i])
			output_printf(stdout, "\n%" PRIu64 " samples of the recording are counted by function: %s\n", samples[i], misses[i]);
}

static void report_print_footnotes(const struct report *r, const struct blocks *b,
				   const struct attribute_options *opt)
{
	size_t hidden = 0;
	bool mixed = false, vague = false;

	for (size_t i = 0; i < r->n_processes; i++) {
		const struct report_process *p = &r->processes[i];

		hidden += p->hidden;
		for (size_t k = 0; k < p->n_rows; k++)
			vague |= report_row_is_vague(b, &p->rows[k]);
		for (size_t k = 0; k < p->n_rows; k++)
			for (unsigned int d = 0; d < b->n_domains; d++)
				mixed |= p->rows[k].kind == ROW_FUNCTION &&
					 !report_row_is_redundant(b, &p->rows[k], opt) &&
					 !isnan(p->rows[k].g.energy[d].j.v) &&
					 p->rows[k].g.energy[d].share < GROUPS_PURE;
	}
	if (mixed)
		printf("\n~ : runs for too short between two moves of the energy counter; its power is mixed with its neighbours'\n");
	if (vague)
		printf("\n* : not all samples tell the very instruction that ran: some may be of the code before\n");
	report_budget_print(r, b, opt);
	report_print_misses(b);
	report_hidden_print(r, hidden);
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
	for (size_t i = 0; i < n && !ret; i++)
		report_print_row(out, b, &rows[i], style, true, opt, m);
	free(rows);
	return ret;
}

int report_print(const struct report *r, const struct blocks *b, const struct callgraph *c,
		 const struct attribute_options *opt, const struct power_model *m, struct json_object *head)
{
	struct columns *columns = columns_new();
	struct output *out;
	struct style style;
	int ret = 0;

	if (!columns)
		return -ENOMEM;
	if (head && opt->budget_w)
		json_object_object_add(head, "hidden_over_budget", report_overs_json(&r->hidden_over));
	report_make_columns(columns, b, c, opt);
	report_make_style(&style, r, b);
	out = output_open(stdout, opt->format, columns->list, columns->n);
	if (!out) {
		free(columns);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->n_processes; i++) {
		const struct report_process *p = &r->processes[i];

		report_print_row(out, b, &p->total, &style, c, opt, m);
		for (size_t k = 0; k < p->n_rows && !ret; k++) {
			if (report_row_is_redundant(b, &p->rows[k], opt))
				continue;
			report_print_row(out, b, &p->rows[k], &style, c, opt, m);
			if (c && p->rows[k].kind == ROW_FUNCTION)
				ret = report_print_callers(out, r, b, c, opt, m, &p->rows[k],
							   &style);
		}
		output_rule(out);
	}
	report_print_row(out, b, &r->total, &style, c, opt, m);
	output_close(out, head, "rows");
	if (opt->format == OUTPUT_TABLE) {
		report_print_footnotes(r, b, opt);
		report_model_footnotes(r, b, m);
	}
	free(columns);
	return ret;
}
