// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The figures of a report: processes, their functions, and what the measurement
 * took; see report.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/report.h"

/* What qsort() needs to know besides the rows. */
static const struct blocks *sort_blocks;
static const struct report_row *sort_total;
static enum attribute_sort sort_key;

static double report_row_key(const struct report_row *r)
{
	switch (sort_key) {
	case SORT_ENERGY:
		return report_weight_of(r, sort_total, sort_blocks);
	case SORT_TIME:
		return r->g.time_s.v;
	case SORT_POWER:
		return isnan(r->g.energy[sort_blocks->shown_first].w.v) ? 0 :
		       r->g.energy[sort_blocks->shown_first].w.v;
	case SORT_FREQ:
		return isnan(r->g.khz.v) ? 0 : r->g.khz.v;
	case SORT_SAMPLES:
		return r->g.samples;
	case SORT_NAME:
		break;
	}
	return 0;
}

static int report_row_by_key(const void *a, const void *b)
{
	const struct report_row *x = a, *y = b;
	int by_name;

	/* What is no function stays below those that are. */
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (report_row_key(x) != report_row_key(y))
		return report_row_key(x) > report_row_key(y) ? -1 : 1;
	if (x->kind == ROW_PROCESS)
		return strcmp(sort_blocks->processes[x->process].comm,
			      sort_blocks->processes[y->process].comm);
	if (x->kind != ROW_FUNCTION)
		return 0;
	by_name = strcmp(sort_blocks->functions[x->function].symbol,
			 sort_blocks->functions[y->function].symbol);
	return by_name ? by_name : (x->function > y->function) - (x->function < y->function);
}

static int report_process_by_key(const void *a, const void *b)
{
	return report_row_by_key(&((const struct report_process *)a)->total,
				 &((const struct report_process *)b)->total);
}

/* The part of a process's figures that goes to a line of its own. */
static struct report_row report_part_new(const struct report_process *p, enum report_kind kind,
					 unsigned int n_domains)
{
	const struct profile_group *t = &p->total.g;
	struct report_row row = { .kind = kind, .process = p->total.process };
	double s = 0, j[PROFILE_DOMAINS] = { 0 };

	for (size_t i = 0; i < p->n_rows; i++) {
		const struct profile_group *g = &p->rows[i].g;
		double part = kind == ROW_TICKS ? g->ticks_s : g->other_s;

		s += part;
		for (unsigned int d = 0; d < n_domains; d++)
			j[d] += kind == ROW_TICKS ? g->energy[d].ticks_j : g->energy[d].other_j;
	}
	row.g.samples = 0;
	row.g.time_s = (struct value){ s, NAN, NAN };
	row.g.khz = (struct value){ NAN, NAN, NAN };
	for (unsigned int d = 0; d < n_domains; d++) {
		row.g.energy[d].j = (struct value){ j[d], NAN, NAN };
		row.g.energy[d].w = (struct value){ s > 0 ? j[d] / s : NAN, NAN, NAN };
		row.g.energy[d].share = isnan(j[d]) ? NAN : 1;
		row.g.energy[d].readings = t->energy[d].readings;
	}
	return row;
}

double report_weight_of(const struct report_row *r, const struct report_row *total,
			const struct blocks *b)
{
	return groups_weight(&r->g, &total->g, b->n_domains, b->shown_first);
}

static bool report_row_is_named(const struct blocks *b, const struct report_row *r)
{
	const struct code_unit *unit = b->functions[r->function].unit;

	return unit && unit->kind == CODE_UNIT_NAMED;
}

static void report_sum_value(struct value *sum, const struct value *v)
{
	*sum = (struct value){ sum->v + (isnan(v->v) ? 0 : v->v), NAN, NAN };
}

static bool report_row_is_below(const struct report *r, const struct blocks *b,
				const struct report_row *row, const struct attribute_options *opt)
{
	double limit = report_weight_of(&r->total, &r->total, b) * opt->percent_limit / 100;

	return report_weight_of(row, &r->total, b) < limit;
}

/* What is not shown is counted all the same. */
static void report_hide_row(struct report *r, const struct report_row *row, const struct blocks *b,
			    const struct attribute_options *opt)
{
	struct profile_group *sum = &r->hidden.g;
	unsigned int n_domains = b->n_domains;

	sum->samples += row->g.samples;
	report_sum_value(&sum->time_s, &row->g.time_s);
	for (unsigned int d = 0; d < n_domains; d++)
		report_sum_value(&sum->energy[d].j, &row->g.energy[d].j);
	for (unsigned int d = 0; d < n_domains; d++)
		r->hidden_known[d] |= !isnan(row->g.energy[d].j.v);
	r->n_hidden++;
	r->n_few += !report_row_is_below(r, b, row, opt);
}

static void report_finish_hidden(struct report *r, unsigned int n_domains)
{
	struct profile_group *sum = &r->hidden.g;

	r->hidden.kind = ROW_HIDDEN;
	sum->khz = (struct value){ NAN, NAN, NAN };
	for (unsigned int d = 0; d < n_domains; d++) {
		sum->energy[d].share = NAN;
		/* of what is known of no row the sum is not 0 */
		if (isnan(r->total.g.energy[d].j.v) || !r->hidden_known[d])
			sum->energy[d].j.v = NAN;
		sum->energy[d].w = (struct value){
			sum->time_s.v > 0 ? sum->energy[d].j.v / sum->time_s.v : NAN, NAN, NAN
		};
	}
}

bool report_row_is_gap(const struct blocks *b, const struct report_row *row)
{
	const struct blocks_process *p = &b->processes[row->process];

	return row->kind == ROW_FUNCTION && !p->pid &&
	       !strcmp(p->comm, b->functions[row->function].symbol);
}

static bool report_row_is_small(const struct report *r, const struct blocks *b,
				const struct report_row *row, const struct attribute_options *opt)
{
	if (opt->format == OUTPUT_TABLE && report_row_is_gap(b, row))
		return false;
	/* idle CPUs and lost ticks have none, however much they are */
	if (row->g.samples && row->g.samples < opt->least_samples)
		return true;
	return report_row_is_below(r, b, row, opt);
}

static int report_finish_process(struct report_process *p, struct report *r, const struct blocks *b,
				 const struct attribute_options *opt)
{
	struct report_row cost[] = { report_part_new(p, ROW_TICKS, b->n_domains),
				     report_part_new(p, ROW_INTERRUPTS, b->n_domains) };
	size_t n = 0;
	void *rows;

	for (size_t i = 0; i < p->n_rows; i++) {
		struct report_row row = p->rows[i];

		profile_net(&row.g, b->n_domains);
		if (opt->processes)
			continue;
		/* what the user has named is asked for */
		if (report_row_is_small(r, b, &row, opt) && !report_row_is_named(b, &row)) {
			if (!p->outside)
				report_hide_row(r, &row, b, opt);
			report_over_count(&r->hidden_over, b, &row, opt);
			continue;
		}
		p->rows[n++] = row;
	}
	p->n_rows = n;
	rows = realloc(p->rows, (n + 2) * sizeof(*p->rows));
	if (!rows)
		return -ENOMEM;
	p->rows = rows;
	for (int i = 0; i < 2 && !opt->processes; i++) {
		if (!(cost[i].g.time_s.v > 0))
			continue;
		/* a table has one row of these for all processes */
		if (opt->format == OUTPUT_TABLE || !report_row_is_below(r, b, &cost[i], opt))
			p->rows[p->n_rows++] = cost[i];
		else if (!p->outside)
			report_hide_row(r, &cost[i], b, opt);
	}
	qsort(p->rows, p->n_rows, sizeof(*p->rows), report_row_by_key);
	return 0;
}

static bool report_process_has_named(const struct blocks *b, const struct report_process *p)
{
	for (size_t i = 0; i < p->n_rows; i++)
		if (p->rows[i].kind == ROW_FUNCTION && report_row_is_named(b, &p->rows[i]))
			return true;
	return false;
}

/* Processes below the limit, unless someone has asked for them. */
static void report_hide_processes(struct report *r, const struct blocks *b,
				  const struct attribute_options *opt)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_processes; i++) {
		struct report_process *p = &r->processes[i];
		bool small = opt->processes ? report_row_is_small(r, b, &p->total, opt) :
					      report_row_is_below(r, b, &p->total, opt);

		/* in a table its functions are hidden one by one, and ticks share a row */
		if (opt->format == OUTPUT_TABLE && !opt->processes &&
		    opt->callers != CALLERS_FOLDED)
			small = false;
		/* -v is there to see it, however little it is */
		small &= !(p->outside && opt->verbose);
		if (small && !opt->pid && !opt->comm && !opt->region &&
		    !report_process_has_named(b, p)) {
			for (size_t k = 0; k < p->n_rows; k++)
				report_over_count(&r->hidden_over, b, &p->rows[k], opt);
			for (size_t k = 0; k < p->n_rows && !p->outside; k++)
				report_hide_row(r, &p->rows[k], b, opt);
			if (opt->processes && !p->outside)
				report_hide_row(r, &p->total, b, opt);
			free(p->rows);
		} else {
			r->processes[n++] = *p;
		}
	}
	r->n_processes = n;
}

static int report_sort_functions(struct report *r, const struct blocks *b, const struct groups *g)
{
	struct report_process **of = calloc(b->n_processes + 1, sizeof(*of));
	int ret = of ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->n_processes && !ret; i++)
		of[r->processes[i].total.process] = &r->processes[i];
	for (uint32_t f = 0; f < b->n_functions && !ret; f++)
		if (of[b->functions[f].process] && g->functions[f].time_s.v > 0)
			of[b->functions[f].process]->n_rows++;
	for (size_t i = 0; i < r->n_processes && !ret; i++) {
		struct report_process *p = &r->processes[i];

		p->rows = calloc(p->n_rows + 1, sizeof(*p->rows));
		ret = p->rows ? 0 : -ENOMEM;
		p->n_rows = 0;
	}
	for (uint32_t f = 0; f < b->n_functions && !ret; f++) {
		struct report_process *p = of[b->functions[f].process];

		if (p && g->functions[f].time_s.v > 0)
			p->rows[p->n_rows++] = (struct report_row){
				.kind = ROW_FUNCTION, .process = p->total.process, .function = f,
				.g = g->functions[f],
				.between = g->functions_between ? &g->functions_between[f] : NULL,
				.marks = g->marks ? &g->marks[f] : NULL };
	}
	free(of);
	return ret;
}

/* Last of all: what is hidden and in which order does not depend on intervals. */
static void report_widen_intervals(struct report *r, unsigned int n_domains)
{
	profile_worst_case(&r->total.g, n_domains);
	for (size_t i = 0; i < r->n_processes; i++) {
		profile_worst_case(&r->processes[i].total.g, n_domains);
		for (size_t k = 0; k < r->processes[i].n_rows; k++)
			profile_worst_case(&r->processes[i].rows[k].g, n_domains);
	}
}

int report_new(const struct blocks *b, const struct groups *g, const struct attribute_options *opt,
	       struct report *r)
{
	int ret;

	memset(r, 0, sizeof(*r));
	sort_blocks = b;
	sort_key = opt->sort;
	sort_total = &r->total;
	r->total = (struct report_row){ .kind = ROW_TOTAL,
					.g = g->total[0],
					.between = g->total_between };
	r->processes = calloc(b->n_processes + 1, sizeof(*r->processes));
	ret = r->processes ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < b->n_processes && !ret; i++) {
		if (!(g->processes[i].time_s.v > 0) || !attribute_is_wanted(&b->processes[i], opt))
			continue;
		r->processes[r->n_processes++] = (struct report_process){
			.total = { .kind = ROW_PROCESS,
				   .process = i,
				   .g = g->processes[i],
				   .between = g->processes_between ? &g->processes_between[i] :
								     NULL },
			.outside = blocks_process_is_outside(&b->processes[i])
		};
	}
	if (!ret)
		ret = report_sort_functions(r, b, g);
	for (size_t i = 0; i < r->n_processes && !ret; i++)
		ret = report_finish_process(&r->processes[i], r, b, opt);
	if (!ret)
		report_hide_processes(r, b, opt);
	report_finish_hidden(r, b->n_domains);
	if (!ret)
		qsort(r->processes, r->n_processes, sizeof(*r->processes), report_process_by_key);
	if (!ret && opt->worst_case)
		report_widen_intervals(r, b->n_domains);
	if (ret)
		report_free(r);
	return ret;
}

/* What the ticks and interrupts of all processes took, as one row each. */
static void report_add_cost(struct report_row *sum, const struct report_row *row,
			    unsigned int n_domains)
{
	if (sum->kind != row->kind) {
		*sum = *row;
		return;
	}
	report_sum_value(&sum->g.time_s, &row->g.time_s);
	for (unsigned int d = 0; d < n_domains; d++) {
		struct profile_energy *e = &sum->g.energy[d];

		report_sum_value(&e->j, &row->g.energy[d].j);
		e->w.v = sum->g.time_s.v > 0 ? e->j.v / sum->g.time_s.v : NAN;
	}
}

int report_rows_list(const struct report *r, const struct blocks *b,
		     const struct attribute_options *opt, struct report_row **rows, size_t *n,
		     bool *several)
{
	struct report_row cost[2] = { { .kind = ROW_TOTAL }, { .kind = ROW_TOTAL } };
	uint32_t process = UINT32_MAX;
	size_t most = 3;

	*n = 0;
	*several = false;
	for (size_t i = 0; i < r->n_processes; i++)
		most += r->processes[i].n_rows + 1;
	*rows = calloc(most, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_processes; i++) {
		const struct report_process *p = &r->processes[i];

		if (p->outside)
			continue;
		if (opt->processes)
			(*rows)[(*n)++] = p->total;
		for (size_t k = 0; k < p->n_rows; k++) {
			if (p->rows[k].kind != ROW_FUNCTION) {
				report_add_cost(&cost[p->rows[k].kind == ROW_INTERRUPTS],
						&p->rows[k], b->n_domains);
				continue;
			}
			(*rows)[(*n)++] = p->rows[k];
			/* lost samples and idle CPUs are nothing to tell apart by a command */
			if (!b->processes[p->total.process].pid &&
			    !strcmp(b->processes[p->total.process].comm,
				    b->functions[p->rows[k].function].symbol))
				continue;
			*several |= process != UINT32_MAX && process != p->total.process;
			process = p->total.process;
		}
	}
	for (int i = 0; i < 2; i++)
		if (cost[i].kind != ROW_TOTAL)
			(*rows)[(*n)++] = cost[i];
	qsort(*rows, *n, sizeof(**rows), report_row_by_key);
	if (r->n_hidden)
		(*rows)[(*n)++] = r->hidden;
	return 0;
}

void report_free(struct report *r)
{
	for (size_t i = 0; i < r->n_processes; i++)
		free(r->processes[i].rows);
	free(r->processes);
	memset(r, 0, sizeof(*r));
}
