// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints annotated functions; see annotate.h. Where hardly anything was sampled there is nothing in
 * front of the code: no figure is not a figure of 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/annotate.h"
#include "attribute/groups.h"
#include "output/columns.h"
#include "output/wrap.h"

/* Percent of the function from which on code is marked as warm, and as hot. */
#define WARM	5
#define HOT	20

static const struct output_field fields[] = {
	{ "energy", true }, { "power", true }, { "percent", true }, { "time", false },
	{ "freq", false }, { "samples", true }, { "share", false }, { "function", false },
	{ "object", false }, { "marks", true }, { "address", true }, { "code", true },
};

#define N_FIELDS	(sizeof(fields) / sizeof(fields[0]))

int annotate_fields_check(const char *chosen, struct kjoule_error *err)
{
	return fields_check(&(struct fields){ fields, N_FIELDS, chosen }, err);
}

static void annotate_add_column(struct columns *c, const char *field, const char *name,
				const char *title, bool left)
{
	columns_field(c, field);
	columns_add(c, name, title, left);
}

static void annotate_make_columns(struct columns *c, const struct blocks *b)
{
	annotate_add_column(c, NULL, "kind", NULL, true);
	annotate_add_column(c, "function", "function", "FUNCTION", true);
	annotate_add_column(c, "object", "object", "OBJECT", true);
	annotate_add_column(c, "samples", "samples", "SAMPLES", false);
	columns_add_time(c);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		const char *name = b->domains[d]->name;

		columns_field(c, "energy");
		columns_add_figure(c, "energy", name, "j",
				   columns_domain_title(c, name, !d, "ENERGY", "J"));
		columns_field(c, "power");
		columns_add_of(c, "power", name, "w",
			       columns_domain_title(c, name, !d, "POWER", "W"));
	}
	annotate_add_column(c, "percent", "percent", "%", false);
	annotate_add_column(c, "freq", "freq_mhz", "MHz", false);
	annotate_add_column(c, "share", "window_share", "SHARE", false);
	annotate_add_column(c, "marks", NULL, "", true);
	annotate_add_column(c, "address", "address", "ADDRESS", false);
	annotate_add_column(c, NULL, "source_file", NULL, true);
	annotate_add_column(c, NULL, "source_line", NULL, false);
	annotate_add_column(c, NULL, "loop_depth", NULL, false);
	annotate_add_column(c, "code", "text", "CODE", true);
}

struct style {
	int time, energy[PROFILE_DOMAINS], power[PROFILE_DOMAINS];
};

static void annotate_print_blanks(struct output *out, unsigned int n)
{
	while (n--)
		output_is_table(out) ? output_str(out, "") : output_none(out, NULL);
}

static void annotate_print_figures(struct output *out, const struct profile_group *g,
				   const struct blocks *b, const struct style *s, double percent)
{
	output_u64(out, g->samples);
	columns_value(out, &g->time_s, 1, s->time, NULL, NULL);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		columns_value(out, &g->energy[d].j, 1, s->energy[d], NULL, NULL);
		if (isnan(g->energy[d].w.v))
			columns_none(out, 1);
		else
			output_real(out, g->energy[d].w.v, s->power[d]);
	}
	output_real(out, percent, 1);
	if (isnan(g->khz.v))
		columns_none(out, 1);
	else
		output_real(out, g->khz.v * 1e-3, 1);
	if (!b->n_domains || isnan(g->energy[0].share))
		columns_none(out, 1);
	else
		output_real(out, g->energy[0].share, 3);
}

/* Does it share most windows of an energy counter with other code? As a report marks it. */
static bool annotate_group_is_mixed(const struct profile_group *g, const struct blocks *b)
{
	for (unsigned int d = 0; d < b->n_domains; d++)
		if (!isnan(g->energy[d].j.v) && g->energy[d].share < GROUPS_PURE)
			return true;
	return false;
}

/* What stands for a row in the column of code. */
static char *annotate_row_text(const struct output *out, const struct annotate_function *f,
			       const struct annotate_row *r)
{
	char *text = NULL;
	int ret = 0;

	if (!output_is_table(out) && r)
		return strdup(r->text ? r->text : "");
	if (!r)
		ret = asprintf(&text, "%s (%s)", f->name,
			       f->object[0] == '/' ? basename(f->object) : f->object);
	else if (r->kind == ANNOTATE_BLOCK && r->depth)
		ret = asprintf(&text, "  in a loop of depth %u:", r->depth);
	else if (r->kind == ANNOTATE_BLOCK)
		text = strdup("  block:");
	else if (r->kind == ANNOTATE_SOURCE)
		ret = asprintf(&text, "    %s:%u  %s", basename(r->file), r->line,
			       r->text);
	else if (r->kind == ANNOTATE_LINE && !r->line)
		ret = asprintf(&text, "        %s", r->text);
	else if (r->kind == ANNOTATE_LINE)
		ret = asprintf(&text, "%6u  %s", r->line, r->text);
	else
		ret = asprintf(&text, "        %s", r->text);
	return ret < 0 ? NULL : text;
}

static int annotate_print_row(struct output *out, const struct annotate_function *f,
			      const struct annotate_row *r, const struct blocks *b,
			      const struct style *s)
{
	static const char *const kinds[] = { "function", "block", "line", "instruction", "source" };
	double all = groups_weight(&f->g, &f->g, b->n_domains, b->shown_first), percent = 0;
	unsigned int blanks = 8 + 5 * b->n_domains;
	char *text = annotate_row_text(out, f, r), address[24], marks[4];

	if (!text)
		return -ENOMEM;
	output_str(out, kinds[r ? r->kind : ANNOTATE_FUNCTION]);
	output_str(out, f->name);
	output_str(out, f->object);
	if (!r) {
		annotate_print_figures(out, &f->g, b, s, 100);
	} else if (r->has) {
		percent = all > 0 ?
			  100 * groups_weight(&r->g, &f->g, b->n_domains, b->shown_first) / all : 0;
		annotate_print_figures(out, &r->g, b, s, percent);
	} else if (r->kind == ANNOTATE_INSTRUCTION && (r->samples || !output_is_table(out))) {
		percent = f->samples ? 100.0 * r->samples / f->samples : 0;
		output_u64(out, r->samples);
		annotate_print_blanks(out, blanks - 1);
	} else {
		annotate_print_blanks(out, blanks);
	}
	snprintf(marks, sizeof(marks), "%s%s",
		 !r || percent < WARM ? "" : percent < HOT ? ">" : ">>",
		 (!r || r->has) && annotate_group_is_mixed(r ? &r->g : &f->g, b) ? "~" : "");
	output_str(out, marks);
	snprintf(address, sizeof(address), "%" PRIx64, r ? r->address : f->start);
	if (r && (r->kind == ANNOTATE_SOURCE || r->kind == ANNOTATE_LINE))
		annotate_print_blanks(out, 1);
	else if (output_is_table(out))
		output_str(out, address);
	else
		output_u64(out, r ? r->address : f->start);
	if (r && r->file) {
		output_str(out, r->file);
		output_u64(out, r->line);
	} else {
		columns_none(out, 2);
	}
	if (r && r->kind == ANNOTATE_BLOCK)
		output_u64(out, r->depth);
	else
		columns_none(out, 1);
	output_str(out, text);
	if (r && percent >= WARM)
		output_emphasis(out, percent < HOT ? OUTPUT_WARM : OUTPUT_HOT);
	output_row(out);
	free(text);
	return 0;
}

static const char *annotate_miss_reason(enum annotate_miss miss)
{
	return miss == ANNOTATE_NO_CODE ? "its code is not to be seen: no file, none of this machine's, or too much of it" :
	       miss == ANNOTATE_NO_LINES ? "there is no debug information of it: leave out --by line" : NULL;
}

/* The same as the footnotes, for programs. */
static void annotate_add_missing(const struct annotate *a, struct json_object *head)
{
	struct json_object *functions = json_object_new_array(), *sources = json_object_new_array();
	struct json_object *o;

	for (size_t i = 0; i < a->n; i++) {
		const struct annotate_function *f = &a->functions[i];

		if (!annotate_miss_reason(f->miss))
			continue;
		o = json_object_new_object();
		json_object_object_add(o, "function", output_json_str(f->name));
		json_object_object_add(o, "object", output_json_str(f->object));
		json_object_object_add(o, "reason",
				       json_object_new_string(annotate_miss_reason(f->miss)));
		json_object_array_add(functions, o);
	}
	for (size_t i = 0; i < a->n_missing; i++)
		json_object_array_add(sources, output_json_str(a->missing[i]));
	json_object_object_add(head, "missing_code", functions);
	json_object_object_add(head, "missing_sources", sources);
}

static void annotate_print_footnotes(const struct annotate *a, const struct blocks *b,
				     const struct annotate_options *opt)
{
	bool vague = false, mixed = false;

	for (size_t i = 0; i < a->n; i++) {
		const struct annotate_function *f = &a->functions[i];

		vague |= f->precise < CODE_UNIT_PRECISE * f->samples;
		mixed |= annotate_group_is_mixed(&f->g, b);
		for (size_t k = 0; k < f->n_rows; k++)
			mixed |= f->rows[k].has && annotate_group_is_mixed(&f->rows[k].g, b);
		if (annotate_miss_reason(f->miss))
			output_printf(stdout, "%s: %s\n", f->name, annotate_miss_reason(f->miss));
	}
	for (size_t i = 0; i < a->n_missing; i++)
		output_printf(stdout, "%s: cannot be read: without its text\n", a->missing[i]);
	printf("> : at least %d %% of the function, >> : %d %%", WARM, HOT);
	output_printf(stdout, "%s\n",
		      opt->lines ? "" : "; of single instructions there are samples only");
	if (mixed)
		wrap_footnote(stdout, "~",
			      "runs too shortly between two updates of the energy counter: its figures are mixed with its neighbours'");
	if (vague)
		wrap_footnote(stdout, "",
			      "imprecise instruction pointers: some samples may be of the code before");
	if (a->hidden)
		wrap_footnote(stdout, "",
			      "functions below the limit or not asked for, not shown: %zu",
			      a->hidden);
}

int annotate_print(const struct annotate *a, const struct blocks *b,
		   const struct annotate_options *opt, struct json_object *head)
{
	struct columns *columns = columns_new(opt->domains);
	struct style s = { .time = columns_digits(a->total.time_s.v) };
	struct output *out;
	int ret = 0;

	if (!columns) {
		json_object_put(head);
		return -ENOMEM;
	}
	if (head)
		annotate_add_missing(a, head);
	annotate_make_columns(columns, b);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		s.energy[d] = columns_digits(a->total.energy[d].j.v);
		s.power[d] = columns_digits(a->total.energy[d].w.v);
	}
	out = output_open(stdout, opt->format, columns->list, columns->n);
	if (!out) {
		json_object_put(head);
		free(columns);
		return -ENOMEM;
	}
	columns_layout(columns, out, &(struct fields){ fields, N_FIELDS, opt->fields },
		       !opt->no_titles);
	if (opt->quiet)
		output_quiet(out);
	for (size_t i = 0; i < a->n && !ret; i++) {
		const struct annotate_function *f = &a->functions[i];

		ret = annotate_print_row(out, f, NULL, b, &s);
		for (size_t k = 0; k < f->n_rows && !ret; k++)
			ret = annotate_print_row(out, f, &f->rows[k], b, &s);
		output_rule(out);
	}
	output_close(out, head, "rows");
	if (opt->format == OUTPUT_TABLE && !opt->quiet)
		annotate_print_footnotes(a, b, opt);
	free(columns);
	return ret;
}
