// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints what differs between two sides; see diff.h. A figure that is not known is "-", never 0.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "cli/cmd.h"
#include "diff/diff.h"
#include "header/series.h"
#include "output/columns.h"
#include "output/wrap.h"

static const char half[] = "\xc2\xb1";

static const char *const ins[] = { [DIFF_BOTH] = "both", [DIFF_ONLY_A] = "a", [DIFF_ONLY_B] = "b" };
static const char *const sures[] = { [DIFFERENCE_UNKNOWN] = "unknown", [DIFFERENCE_NO] = "no",
				     [DIFFERENCE_YES] = "yes", [DIFFERENCE_SURELY] = "surely" };
static const char *const marks[] =
	{ [DIFFERENCE_UNKNOWN] = "", [DIFFERENCE_NO] = "", [DIFFERENCE_YES] = "*",
	  [DIFFERENCE_SURELY] = "**" };

/* Of which unit of which domain a figure is; NULL domain: a time; NULL title: not in tables. */
struct figure {
	const char *field, *what, *domain, *unit, *title;
	int digits;
};

static const struct output_field fields[] = {
	{ "energy", true }, { "power", false }, { "time", true }, { "in", false },
	{ "command", false }, { "mode", false }, { "function", true }, { "object", true },
};

#define N_FIELDS	(sizeof(fields) / sizeof(fields[0]))

int diff_fields_check(const char *chosen, struct kjoule_error *err)
{
	return fields_check(&(struct fields){ fields, N_FIELDS, chosen }, err);
}

static void diff_layout(const struct columns *c, struct output *out,
			const struct attribute_options *opt, bool several, bool only)
{
	struct output_field known[N_FIELDS];

	memcpy(known, fields, sizeof(known));
	for (size_t i = 0; i < N_FIELDS; i++)
		known[i].shown |= (several && !strcmp(known[i].key, "command")) ||
				  (only && !strcmp(known[i].key, "in"));
	columns_layout(c, out, &(struct fields){ known, N_FIELDS, opt->fields }, !opt->no_titles);
	if (opt->quiet)
		output_quiet(out);
}

static void diff_add_column(struct columns *c, const struct figure *f, const char *which,
			    const char *unit, const char *title)
{
	const char *what = columns_text(c, "%s%s%s", f->what, which[0] ? "_" : "", which);

	if (f->domain)
		columns_add_of(c, what, f->domain, unit, title);
	else
		columns_add(c, columns_text(c, "%s_%s", what, unit), title, false);
}

/* A column that only tables have. */
static void diff_add_sign(struct columns *c, const struct figure *f, const char *title)
{
	c->domains[c->n].name = f->domain;
	columns_add(c, NULL, f->title ? title : NULL, !title[0]);
}

static void diff_add_columns(struct columns *c, const struct figure *f)
{
	static const char *const which[] = { "a", "a_lo", "a_hi", "b", "b_lo", "b_hi" };
	static const char *const ratios[] = { "ratio", "ratio_lo", "ratio_hi" };

	columns_field(c, f->field);
	for (int i = 0; i < 6; i++)
		diff_add_column(c, f, which[i], f->unit, f->title && !(i % 3) ?
				columns_text(c, "%s %.40s", i ? "B" : "A", f->title) : NULL);
	diff_add_column(c, f, "difference", f->unit,
			f->title ? columns_text(c, "B-A %.40s", f->title) : NULL);
	diff_add_sign(c, f, half);
	diff_add_column(c, f, "difference_lo", f->unit, NULL);
	diff_add_column(c, f, "difference_hi", f->unit, NULL);
	for (int i = 0; i < 3; i++)
		diff_add_column(c, f, "", ratios[i], NULL);
	diff_add_sign(c, f, "B-A %");
	diff_add_column(c, f, "", "differs", NULL);
	diff_add_sign(c, f, "");
}

static void diff_print_real(struct output *out, double v, int digits)
{
	if (isnan(v))
		output_none(out, NULL);
	else
		output_real(out, v, digits);
}

/* @mixed: with its neighbours', which is shown where a mark of the difference would be */
static void diff_print_cells(struct output *out, const struct value *sides,
			     const struct difference *d, const struct figure *f, bool mixed)
{
	static const char unknown[] = "one of the sides does not know it";
	static const char vague[] = "no interval: fewer than two distinct readings, or known from calibration only";
	char percent[32];

	for (int i = 0; i < 2; i++) {
		if (isnan(sides[i].v))
			output_none(out, NULL);
		else
			output_real(out, sides[i].v, f->digits);
		diff_print_real(out, sides[i].lo, f->digits);
		diff_print_real(out, sides[i].hi, f->digits);
	}
	columns_value(out, &d->by, 1, f->digits, unknown, vague);
	diff_print_real(out, d->ratio.v, 4);
	diff_print_real(out, d->ratio.lo, 4);
	diff_print_real(out, d->ratio.hi, 4);
	if (isnan(d->ratio.v)) {
		output_none(out, NULL);
	} else {
		snprintf(percent, sizeof(percent), "%+.1f", 100 * (d->ratio.v - 1));
		output_str(out, percent);
	}
	output_str(out, sures[d->sure]);
	output_str(out, mixed ? "~" : marks[d->sure]);
}

/* Nothing to say: no dash in a table. */
static void diff_print_blank(struct output *out)
{
	if (output_is_table(out))
		output_str(out, "");
	else
		output_none(out, NULL);
}

static void diff_print_names(struct output *out, const struct diff *d, const struct diff_row *r)
{
	static const char *const kinds[] = { "block", "ticks", "interrupts", "total" };
	static const char *const titles[] = { "", "[kjoule ticks]", "[interrupts]", "total" };
	static const char *const units[] = {
		[CODE_UNIT_FUNCTION] = "function", [CODE_UNIT_OBJECT] = "object",
		[CODE_UNIT_LINE] = "line", [CODE_UNIT_LOOP] = "loop", [CODE_UNIT_BLOCK] = "block",
		[CODE_UNIT_NAMED] = "named", [CODE_UNIT_REGION] = "region" };
	const struct blocks_function *f;

	if (r->kind != DIFF_BLOCK) {
		output_str(out, kinds[r->kind]);
		diff_print_blank(out);
		output_str(out, titles[r->kind]);
		output_str(out, "");
		diff_print_blank(out);
	} else if (r->function == UINT32_MAX) {
		output_str(out, "process");
		output_str(out, d->names.b.processes[r->process].comm);
		output_str(out, d->names.b.processes[r->process].comm);
		output_str(out, "");
		output_none(out, NULL);
	} else {
		f = &d->names.b.functions[r->function];
		output_str(out, f->unit ? units[f->unit->kind] : "function");
		output_str(out, d->names.b.processes[r->process].comm);
		output_str(out, f->symbol);
		output_str(out, output_is_table(out) && f->object[0] == '/' ? basename(f->object) :
			   f->object);
		/* a region is what a program is at, in the kernel or not */
		if (f->unit && f->unit->kind == CODE_UNIT_REGION)
			output_none(out, NULL);
		else
			output_str(out, f->kernel ? "kernel" : "user");
	}
	output_str(out, ins[r->in]);
}

/* Do the rows come from several processes? Then each says from which. */
static bool diff_has_several_processes(const struct diff *d)
{
	for (size_t i = 1; i < d->n; i++)
		if (d->rows[i].kind == DIFF_BLOCK && d->rows[i].process != d->rows[0].process)
			return d->rows[i].function != UINT32_MAX;
	return false;
}

static struct json_object *diff_header_json(const struct diff *d)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	json_object_object_add(o, "a", header_series_json(&d->sides[0], NULL));
	json_object_object_add(o, "b", header_series_json(&d->sides[1], NULL));
	for (unsigned int i = 0; i < d->n_domains; i++)
		json_object_array_add(list, output_json_str(d->domains[i]));
	json_object_object_add(o, "domains", list);
	list = json_object_new_array();
	for (size_t i = 0; i < d->notes.n; i++)
		json_object_array_add(list, output_json_str(d->notes.list[i]));
	json_object_object_add(o, "notes", list);
	json_object_object_add(o, "compared", json_object_new_uint64(d->compared));
	return o;
}

static void diff_print_side(const struct diff *d, int side, const char *name)
{
	const struct merge *m = &d->sides[side];
	unsigned int domain = d->n_domains ? d->place[d->shown_first][side] : 0;
	const struct merge_run *r = &m->runs[0];
	double time_s = 0, j = 0, lost = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (m->runs[i].left_out)
			continue;
		time_s += m->runs[i].groups.total[0].time_s.v / m->kept;
		j += d->n_domains ? m->runs[i].groups.total[0].energy[domain].j.v / m->kept : NAN;
		lost += m->runs[i].stats.lost;
	}
	output_printf(stdout, "# %s: %.60s%s", name, r->path, m->n > 1 ? " ..." : "");
	if (m->n > 1)
		printf(", %zu of %zu runs", m->kept, m->n);
	printf(": %.4g s", time_s);
	if (!isnan(j))
		printf(", %.4g J", j);
	if (lost > 0)
		printf(", %.0f records lost", lost);
	printf("\n");
}

static void diff_print_header(const struct diff *d, bool verbose)
{
	diff_print_side(d, 0, "A");
	diff_print_side(d, 1, "B");
	output_printf(stdout, "# %s is half of the 95 %% interval of B-A%s\n", output_half(),
		      verbose ? "" : "; details: -v");
	for (int side = 0; side < 2; side++)
		header_series_warnings_print(stdout, &d->sides[side]);
	for (size_t i = 0; i < d->notes.n; i++)
		wrap_comment(stdout, "note", "%s", d->notes.list[i]);
	for (int side = 0; side < 2 && verbose; side++)
		header_series_facts_print(&d->sides[side], NULL, side ? "B" : "A");
}

static void diff_print_footnotes(const struct diff *d)
{
	bool few = d->sides[0].kept < RUNS_SPREAD || d->sides[1].kept < RUNS_SPREAD;
	bool any = false, only = false, mixed = false;

	for (size_t i = 0; i < d->n; i++) {
		const struct diff_row *r = &d->rows[i];

		only |= r->in != DIFF_BOTH;
		any |= r->time.sure >= DIFFERENCE_YES;
		for (unsigned int k = 0; k < d->n_domains; k++) {
			any |= r->energy[k].sure >= DIFFERENCE_YES ||
			       r->power[k].sure >= DIFFERENCE_YES;
			mixed |= r->mixed[k];
		}
	}
	if (any)
		wrap_footnote(stdout, "*",
			      "the interval does not contain 0, which of %zu rows that do not differ some %.0f would have by chance; ** : nor does the one that holds for all rows together",
		       d->compared, ceil(0.05 * d->compared));
	if (mixed)
		wrap_footnote(stdout, "~",
			      "runs too shortly between two updates of the energy counter, on one side at least: its figures are mixed with its neighbours', and whether they differ is not known");
	if (few)
		wrap_footnote(stdout, "",
			      "the intervals know how sure the figures of these recordings are, not how much runs differ: for that, record --runs %d or more of each side",
		       RUNS_SPREAD);
	if (only)
		wrap_footnote(stdout, "a",
			      "no sample of B fell into it, b : none of A; the interval has what it may have been all the same");
	if (d->n_hidden)
		wrap_footnote(stdout, "",
			      "rows below the limit on both sides, not shown: %zu (--percent-limit)",
			      d->n_hidden);
}

static int diff_digits_of(const struct diff *d,
			  const struct value *(*of)(const struct diff_row *r, unsigned int domain),
			  unsigned int domain)
{
	double most = 0;

	for (size_t i = 0; i < d->n; i++)
		for (int side = 0; side < 2; side++)
			most = fmax(most, isnan(of(&d->rows[i], domain)[side].v) ? 0 :
				    of(&d->rows[i], domain)[side].v);
	return columns_digits(most);
}

static const struct value *diff_row_time(const struct diff_row *r, unsigned int domain)
{
	(void)domain;
	return r->time_s;
}

static const struct value *diff_row_energy(const struct diff_row *r, unsigned int domain)
{
	return r->j[domain];
}

static const struct value *diff_row_power(const struct diff_row *r, unsigned int domain)
{
	return r->w[domain];
}

static void diff_add_name(struct columns *c, const char *field, const char *name, const char *title)
{
	columns_field(c, field);
	columns_add(c, name, title, true);
}

int diff_print(const struct diff *d, const struct attribute_options *opt)
{
	struct figure time =
		{ "time", "time", NULL, "s", "s", diff_digits_of(d, diff_row_time, 0) };
	struct figure energy[PROFILE_DOMAINS], power[PROFILE_DOMAINS];
	struct columns *c = columns_new(opt->domains);
	bool only = false;
	struct json_object *head = NULL;
	struct output *out;

	if (!c)
		return -ENOMEM;
	diff_add_name(c, NULL, "kind", NULL);
	diff_add_name(c, "command", "comm", "COMMAND");
	diff_add_name(c, "function", "function",
		      opt->by_region ? "REGION" : opt->processes ? "PROCESS" : "FUNCTION");
	diff_add_name(c, "object", "object", opt->by_region || opt->processes ? NULL : "OBJECT");
	diff_add_name(c, "mode", "mode", "MODE");
	diff_add_name(c, "in", "in", "IN");
	columns_add(c, "samples_a", NULL, false);
	columns_add(c, "samples_b", NULL, false);
	columns_add(c, "runs_a", NULL, false);
	columns_add(c, "runs_b", NULL, false);
	diff_add_columns(c, &time);
	for (unsigned int i = 0; i < d->n_domains; i++) {
		bool shown = columns_shows(c, d->domains[i], !i), alone = !opt->domains;

		energy[i] = (struct figure){ "energy", "energy", d->domains[i], "j",
					     shown ? alone ? "J" :
					     columns_text(c, "%.32s J", d->domains[i]) : NULL,
					     diff_digits_of(d, diff_row_energy, i) };
		power[i] = (struct figure){ "power", "power", d->domains[i], "w",
					    shown ? alone ? "W" :
					    columns_text(c, "%.32s W", d->domains[i]) : NULL,
					    diff_digits_of(d, diff_row_power, i) };
		diff_add_columns(c, &energy[i]);
		diff_add_columns(c, &power[i]);
		columns_field(c, NULL);
		for (int side = 0; side < 2; side++)
			columns_add_of(c, "window_share", d->domains[i], side ? "b" : "a", NULL);
	}
	for (size_t i = 0; i < d->n; i++)
		only |= d->rows[i].in != DIFF_BOTH;
	if (opt->format == OUTPUT_TABLE && !opt->quiet) {
		diff_print_header(d, opt->verbose);
	} else if (opt->format != OUTPUT_TABLE) {
		header_series_warn(&d->sides[0]);
		header_series_warn(&d->sides[1]);
		for (size_t i = 0; i < d->notes.n; i++)
			cmd_warn("%s", d->notes.list[i]);
	}
	if (opt->format == OUTPUT_JSON)
		head = diff_header_json(d);
	out = output_open(stdout, opt->format, c->list, c->n);
	if (!out) {
		json_object_put(head);
		free(c);
		return -ENOMEM;
	}
	diff_layout(c, out, opt, diff_has_several_processes(d), only);
	for (size_t i = 0; i < d->n; i++) {
		const struct diff_row *r = &d->rows[i];

		diff_print_names(out, d, r);
		for (int side = 0; side < 2; side++)
			output_u64(out, r->samples[side]);
		for (int side = 0; side < 2; side++)
			output_u64(out, r->seen[side]);
		diff_print_cells(out, r->time_s, &r->time, &time, false);
		for (unsigned int k = 0; k < d->n_domains; k++) {
			diff_print_cells(out, r->j[k], &r->energy[k], &energy[k], r->mixed[k]);
			diff_print_cells(out, r->w[k], &r->power[k], &power[k], r->mixed[k]);
			for (int side = 0; side < 2; side++)
				diff_print_real(out, r->share[k][side], 3);
		}
		output_row(out);
	}
	output_close(out, head, "rows");
	if (opt->format == OUTPUT_TABLE && !opt->quiet)
		diff_print_footnotes(d);
	free(c);
	return 0;
}
