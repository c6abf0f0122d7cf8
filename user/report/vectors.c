// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report --vectors: co-running sets, and what each spent; see report.h and
 * analysis/profile/corunning.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/profile/corunning.h"
#include "output/columns.h"
#include "output/wrap.h"
#include "report/report.h"

/*
 * Vectors of a package that are listed one by one. A long tail is of no use, and may be of
 * any length.
 */
#define MOST	4096

static const struct output_field fields[] = {
	{ "energy", true },    { "percent", true }, { "power", true },	  { "time", true },
	{ "ticks", false },    { "share", false },  { "package", false }, { "idle", false },
	{ "corunning", true }, { "marks", true },
};

#define N_FIELDS	(sizeof(fields) / sizeof(fields[0]))

int report_vectors_fields_check(const struct attribute_options *opt, struct kjoule_error *err)
{
	return fields_check(&(struct fields){ fields, N_FIELDS, opt->fields }, err);
}

static void report_vectors_layout(const struct columns *c, struct output *out,
				  const struct blocks *b, const struct attribute_options *opt)
{
	struct output_field known[N_FIELDS];

	memcpy(known, fields, sizeof(known));
	for (size_t i = 0; i < N_FIELDS; i++)
		known[i].shown |= (b->input.n_packages > 1 && !strcmp(known[i].key, "package")) ||
				  (opt->system && !strcmp(known[i].key, "idle"));
	columns_layout(c, out, &(struct fields){ known, N_FIELDS, opt->fields }, !opt->no_titles);
	if (opt->quiet)
		output_quiet(out);
}

static void report_vectors_add_column(struct columns *c, const char *field, const char *name,
				      const char *title, bool left)
{
	columns_field(c, field);
	columns_add(c, name, title, left);
}

static void report_vectors_make_columns(struct columns *c, const struct blocks *b,
					const struct attribute_options *opt)
{
	report_vectors_add_column(c, NULL, "kind", NULL, true);
	report_vectors_add_column(c, "package", "package", "PACKAGE", false);
	report_vectors_add_column(c, "ticks", "ticks", "TICKS", false);
	columns_add_time(c);
	for (unsigned int d = 0; d < b->n_domains; d++)
		columns_add_domain(c, b->domains[d]->name, false);
	report_vectors_add_column(c, "share", "window_share", "SHARE", false);
	report_vectors_add_column(c, "idle", "idle_cpus", "IDLE", false);
	report_vectors_add_column(c, NULL, "vectors", NULL, false);
	if (opt->budget_w)
		columns_add(c, "over_budget", NULL, true);
	report_vectors_add_column(c, "corunning", "corunning", "CO-RUNNING", true);
	report_vectors_add_column(c, "marks", NULL, "", true);
}

/* "work_load (mix) | work_store (mix)", and as an array. Return: 0 or -ENOMEM */
static int report_vectors_print_members(struct output *out, const struct blocks *b,
					const struct corunning_vector *v, bool system)
{
	struct json_object *list = json_object_new_array();
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!list || !f) {
		json_object_put(list);
		if (f)
			fclose(f);
		free(text);
		return -ENOMEM;
	}
	if (v->other_set_ticks && v->others)
		fprintf(f,
			"[%" PRIu32 " others, and all that were too many to be kept]", v->others);
	else if (v->other_set_ticks)
		fputs("[others: too many to be kept]", f);
	else if (v->others)
		fprintf(f, "[%" PRIu32 " others]", v->others);
	else if (!v->n)
		fputs(system ? "[idle]" : "[nothing of it]", f);
	for (uint32_t m = 0; m < v->n; m++) {
		const struct blocks_function *function = &b->functions[v->members[m]];
		const struct blocks_process *process = &b->processes[function->process];
		struct json_object *one = json_object_new_object();

		fprintf(f, "%s%s", m ? " | " : "", function->symbol);
		if (process->pid && (function->unit || function->object[0]))
			fprintf(f, " (%s)", process->comm);
		else if (process->pid)	/* it is the process */
			fprintf(f, " (pid %" PRIu32 ")", process->pid);
		json_object_object_add(one, "function", output_json_str(function->symbol));
		json_object_object_add(one, "object", output_json_str(function->object));
		json_object_object_add(one, "comm", output_json_str(process->comm));
		json_object_object_add(one, "pid",
				       process->pid ? json_object_new_int64(process->pid) : NULL);
		json_object_array_add(list, one);
	}
	if (fclose(f)) {
		json_object_put(list);
		free(text);
		return -ENOMEM;
	}
	output_json(out, text, list);
	free(text);
	return 0;
}

static const char no_domain[] = "the energy counter was not seen to move twice; record for longer, or see `kjoule list`";
static const char no_reading[] = "no energy was measured in most of its time; see the header's line unmeasured";
static const char no_interval[] = "no interval: fewer than two distinct readings";

struct style {
	int time, energy[PROFILE_DOMAINS], power[PROFILE_DOMAINS];
};

/* All that a package draws meanwhile, so that it is the budget's to judge. */
static enum report_over report_vectors_over_budget(const struct blocks *b,
						   const struct corunning_vector *v,
						   double budget_w)
{
	if (!(budget_w > 0) || !b->n_domains)
		return OVER_NO_QUESTION;
	return report_over_power(&v->energy[b->shown_first].w, v->energy[b->shown_first].share,
				 budget_w);
}

static int report_vectors_print_row(struct output *out, const struct blocks *b,
				    const struct profile *p, const struct corunning *t,
				    const struct corunning_vector *v, const struct style *s,
				    const struct attribute_options *opt)
{
	enum report_over budget = report_vectors_over_budget(b, v, opt->budget_w);
	bool system = opt->system;
	char marks[4];
	int ret;

	output_str(out, "vector");
	output_u64(out, v->package);
	output_u64(out, v->ticks);
	columns_value(out, &v->time_s, 1, s->time, NULL, NULL);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		const char *no_energy = profile_readings(p, d) ? no_reading : no_domain;

		columns_value(out, &v->energy[d].j, 1, s->energy[d], no_energy, no_interval);
		if (isnan(v->energy[d].j.v))
			output_none(out, NULL);
		else
			output_real(out, 100 * v->energy[d].j.v / t->total_j[d].v, 1);
		columns_value(out, &v->energy[d].w, 1, s->power[d], no_energy, no_interval);
	}
	output_real(out, b->n_domains ? v->energy[b->shown_first].share : NAN, 3);
	/* of CPUs that ran something else it is not known what */
	if (v->others || v->other_set_ticks || !system)
		output_none(out, NULL);
	else
		output_u64(out, v->idle);
	/* of those that were not kept it is not known how many they were */
	if (v->other_set_ticks)
		output_none(out, NULL);
	else
		output_u64(out, v->others ? v->others : 1);
	if (opt->budget_w && report_over_name(budget))
		output_str(out, report_over_name(budget));
	else if (opt->budget_w)
		output_none(out, NULL);
	ret = report_vectors_print_members(out, b, v, system);
	snprintf(marks, sizeof(marks), "%s%s", report_over_mark(budget),
		 b->n_domains && v->energy[b->shown_first].share < GROUPS_PURE ? "~" : "");
	output_str(out, marks);
	output_row(out);
	return ret;
}

/* Energy where that of all is known, else time: they are to be compared. */
static bool by_energy;
static unsigned int sort_domain;

static double report_vector_weight(const struct corunning_vector *v)
{
	return by_energy ? v->energy[sort_domain].j.v : v->time_s.v;
}

static int report_vector_by_weight(const void *a, const void *b)
{
	double x = report_vector_weight(a), y = report_vector_weight(b);
	const struct corunning_vector *v = a, *w = b;

	if (x != y)
		return x < y ? 1 : -1;
	return (v->ticks < w->ticks) - (v->ticks > w->ticks);
}

int report_vectors(const struct blocks *b, const struct profile *p,
		   const struct attribute_options *opt, struct json_object *head)
{
	double all = 0, time = 0;
	struct columns *columns;
	struct output *out = NULL;
	struct report_overs shown = { 0 }, unseen = { 0 };
	struct corunning t = { 0 };
	struct style s;
	size_t hidden = 0;
	bool mixed = false;
	int ret;

	columns = columns_new(opt->domains);
	ret = columns ? corunning_new(p, &b->input, MOST, &t) : -ENOMEM;
	if (!ret) {
		report_vectors_make_columns(columns, b, opt);
		out = output_open(stdout, opt->format, columns->list, columns->n);
		ret = out ? 0 : -ENOMEM;
	}
	if (out)
		report_vectors_layout(columns, out, b, opt);
	by_energy = b->n_domains;
	sort_domain = b->shown_first;
	for (size_t i = 0; i < t.n && by_energy; i++)
		by_energy = !isnan(t.vectors[i].energy[sort_domain].j.v);
	for (size_t i = 0; i < t.n; i++) {
		all += report_vector_weight(&t.vectors[i]);
		time += t.vectors[i].time_s.v;
	}
	s.time = columns_digits(time);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		s.energy[d] = columns_digits(t.total_j[d].v);
		s.power[d] = columns_digits(t.total_j[d].v / time);
	}
	if (t.n)
		qsort(t.vectors, t.n, sizeof(*t.vectors), report_vector_by_weight);
	for (size_t i = 0; i < t.n && !ret; i++) {
		bool is_hidden = report_vector_weight(&t.vectors[i]) <
				 all * opt->percent_limit / 100;
		enum report_over o = report_vectors_over_budget(b, &t.vectors[i], opt->budget_w);
		struct report_overs *overs = is_hidden ? &unseen : &shown;

		overs->n[o]++;
		overs->time_s[o] += t.vectors[i].time_s.v;
		if (is_hidden) {
			hidden++;
			continue;
		}
		mixed |= b->n_domains && t.vectors[i].energy[b->shown_first].share < GROUPS_PURE;
		ret = report_vectors_print_row(out, b, p, &t, &t.vectors[i], &s, opt);
	}
	if (head && opt->budget_w)
		json_object_object_add(head, "hidden_over_budget", report_overs_json(&unseen));
	if (out)
		output_close(out, head, "rows");
	else
		json_object_put(head);
	if (!ret && opt->format == OUTPUT_TABLE && !opt->quiet) {
		if (mixed)
			wrap_footnote(stdout, "~",
				      "for too short between two updates of the energy counter: its power is mixed with its neighbours'");
		if (opt->budget_w)
			report_overs_print(b, opt->budget_w, &shown, &unseen);
		wrap_footnote(stdout, "",
			      "what interrupts took is in these figures: nothing is taken out, and nothing is shared out");
		if (hidden)
			wrap_footnote(stdout, "",
				      "vectors below the limit, not shown: %zu (--percent-limit)", hidden);
	}
	corunning_free(&t);
	free(columns);
	return ret;
}
