// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report --vectors: what ran together, and what was spent meanwhile; see report.h and together.h.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"
#include "together.h"

/* Vectors of a package that are told one by one. A long tail is of no use to anybody, and may be of any length. */
#define MOST	4096

#define COLUMNS	(14 + 10 * PROFILE_DOMAINS)

struct columns {
	struct output_column list[COLUMNS];
	size_t n;
	char text[8 * PROFILE_DOMAINS][REPORT_COLUMN_LEN];
	size_t n_text;
};

static void add(struct columns *c, const char *name, const char *title, bool left)
{
	c->list[c->n++] = (struct output_column){ name, title, left };
}

static const char *name_of(struct columns *c, const char *what, const char *domain, const char *unit)
{
	return report_column_name(c->text[c->n_text++], what, domain, unit);
}

static void make_columns(struct columns *c, const struct blocks *b, bool system)
{
	memset(c, 0, sizeof(*c));
	add(c, "kind", NULL, true);
	add(c, "package", b->input.n_packages > 1 ? "PACKAGE" : NULL, false);
	add(c, "ticks", "TICKS", false);
	add(c, "time_s", "TIME s", false);
	add(c, NULL, "\xc2\xb1", false);
	add(c, "time_lo_s", NULL, false);
	add(c, "time_hi_s", NULL, false);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		const char *name = b->domains[d]->name;

		add(c, name_of(c, "energy", name, "j"), report_column_title(c->text[c->n_text++], name, "J"), false);
		add(c, NULL, "\xc2\xb1", false);
		add(c, name_of(c, "energy_lo", name, "j"), NULL, false);
		add(c, name_of(c, "energy_hi", name, "j"), NULL, false);
		add(c, name_of(c, "energy_percent", name, "percent"), d ? NULL : "%", false);
		add(c, name_of(c, "power", name, "w"), "W", false);
		add(c, NULL, "\xc2\xb1", false);
		add(c, name_of(c, "power_lo", name, "w"), NULL, false);
		add(c, name_of(c, "power_hi", name, "w"), NULL, false);
	}
	add(c, "purity", NULL, false);
	add(c, "idle_cpus", system ? "IDLE" : NULL, false);
	add(c, "vectors", NULL, false);
	add(c, "together", "TOGETHER", true);
	add(c, NULL, "", true);
}

static void value(struct output *out, const struct value *v, int digits, const char *why)
{
	output_real(out, v->v, digits);
	if (isnan(v->v) || isnan(v->lo)) {
		output_none(out, isnan(v->v) ? NULL : why);
		output_none(out, NULL);
		output_none(out, NULL);
		return;
	}
	output_real(out, (v->hi - v->lo) / 2, digits);
	output_real(out, v->lo, digits);
	output_real(out, v->hi, digits);
}

/* "work_load (mix) | work_store (mix)", and as an array. Return: 0 or -ENOMEM */
static int members(struct output *out, const struct blocks *b, const struct together_vector *v, bool system)
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
	if (v->others)
		fprintf(f, "[%u others]", v->others);
	else if (!v->n)
		fputs(system ? "[idle]" : "[nothing of it]", f);
	for (uint32_t m = 0; m < v->n; m++) {
		const struct blocks_function *function = &b->functions[v->members[m]];
		const struct blocks_process *process = &b->processes[function->process];
		struct json_object *one = json_object_new_object();

		fprintf(f, "%s%s", m ? " | " : "", function->symbol);
		if (process->pid)
			fprintf(f, " (%s)", process->comm);
		json_object_object_add(one, "function", output_json_str(function->symbol));
		json_object_object_add(one, "object", output_json_str(function->object));
		json_object_object_add(one, "comm", output_json_str(process->comm));
		json_object_object_add(one, "pid", process->pid ? json_object_new_int64(process->pid) : NULL);
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

static const char no_interval[] = "no interval: fewer than two distinct readings";

struct style {
	int time, energy[PROFILE_DOMAINS], power[PROFILE_DOMAINS];
};

static int row(struct output *out, const struct blocks *b, const struct together *t, const struct together_vector *v,
	       const struct style *s, bool system)
{
	int ret;

	output_str(out, "vector");
	output_u64(out, v->package);
	output_u64(out, v->ticks);
	value(out, &v->time_s, s->time, NULL);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		value(out, &v->energy[d].j, s->energy[d], no_interval);
		output_real(out, 100 * v->energy[d].j.v / t->total_j[d].v, 1);
		value(out, &v->energy[d].w, s->power[d], no_interval);
	}
	output_real(out, b->n_domains ? v->energy[0].purity : NAN, 3);
	/* of CPUs that ran something else nobody knows what */
	if (v->others || !system)
		output_none(out, NULL);
	else
		output_u64(out, v->idle);
	output_u64(out, v->others ? v->others : 1);
	ret = members(out, b, v, system);
	output_str(out, b->n_domains && v->n && v->energy[0].purity < REPORT_PURE ? "~" : "");
	output_row(out);
	return ret;
}

static double weight(const struct blocks *b, const struct together_vector *v)
{
	return b->n_domains && !isnan(v->energy[0].j.v) ? v->energy[0].j.v : v->time_s.v;
}

static const struct blocks *sort_by;

static int by_weight(const void *a, const void *b)
{
	double x = weight(sort_by, a), y = weight(sort_by, b);
	const struct together_vector *v = a, *w = b;

	if (x != y)
		return x < y ? 1 : -1;
	return (v->ticks < w->ticks) - (v->ticks > w->ticks);
}

int report_vectors(const struct blocks *b, const struct profile *p, const struct report_options *opt,
		   struct json_object *head)
{
	double all = 0, time = 0;
	struct columns *columns;
	struct output *out = NULL;
	struct together t = { 0 };
	struct style s;
	size_t hidden = 0;
	bool mixed = false;
	int ret;

	columns = malloc(sizeof(*columns));
	ret = columns ? together_new(p, &b->input, MOST, &t) : -ENOMEM;
	if (!ret) {
		make_columns(columns, b, opt->system);
		out = output_open(stdout, opt->format, columns->list, columns->n);
		ret = out ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < t.n; i++) {
		all += weight(b, &t.vectors[i]);
		time += t.vectors[i].time_s.v;
	}
	s.time = report_digits(time);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		s.energy[d] = report_digits(t.total_j[d].v);
		s.power[d] = report_digits(t.total_j[d].v / time);
	}
	sort_by = b;
	if (t.n)
		qsort(t.vectors, t.n, sizeof(*t.vectors), by_weight);
	for (size_t i = 0; i < t.n && !ret; i++) {
		if (weight(b, &t.vectors[i]) < all * opt->percent_limit / 100) {
			hidden++;
			continue;
		}
		mixed |= b->n_domains && t.vectors[i].n && t.vectors[i].energy[0].purity < REPORT_PURE;
		ret = row(out, b, &t, &t.vectors[i], &s, opt->system);
	}
	if (out)
		output_close(out, head, "rows");
	else
		json_object_put(head);
	if (!ret && opt->format == OUTPUT_TABLE) {
		if (mixed)
			printf("\n~ : for too short between two moves of the energy counter; its power is mixed with its neighbours'\n");
		printf("\nwhat interrupts took is in these figures: nothing is taken out, and nothing is shared out\n");
		if (hidden)
			printf("\nvectors below the limit, not shown: %zu (--percent-limit)\n", hidden);
	}
	together_free(&t);
	free(columns);
	return ret;
}
