// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What differs between two sides, block by block; see diff.h. Called by cmd_diff.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "diff/diff.h"

/*
 * Ticks that a block which none was found at may have had all the same: with so many a sample would
 * have been met in 97.5 % of all cases (Poisson).
 */
#define UNMET_TICKS	3.689

/* Of a time's interval. */
#define TIME_FREEDOM	31

static const struct diff *sort_diff;
static enum attribute_sort sort_key;

static double diff_row_key(const struct diff_row *r)
{
	double v = NAN;

	if (sort_key == SORT_ENERGY && sort_diff->n_domains)
		v = r->energy[sort_diff->shown_first].by.v;
	else if (sort_key == SORT_POWER && sort_diff->n_domains)
		v = r->power[sort_diff->shown_first].by.v;
	if (isnan(v) && sort_key != SORT_POWER)
		v = r->time.by.v;
	return isnan(v) ? 0 : fabs(v);
}

static const char *diff_row_name(const struct diff_row *r)
{
	const struct blocks *b = &sort_diff->names.b;

	return r->function == UINT32_MAX ? b->processes[r->process].comm :
	       b->functions[r->function].symbol;
}

static int diff_row_by_key(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int by_name;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind != DIFF_BLOCK)
		return 0;
	if (sort_key != SORT_NAME && diff_row_key(x) != diff_row_key(y))
		return diff_row_key(x) > diff_row_key(y) ? -1 : 1;
	by_name = strcmp(diff_row_name(x), diff_row_name(y));
	return by_name ? by_name : (x->function > y->function) - (x->function < y->function);
}

/* The columns of energy that both sides have. */
static void diff_join_domains(struct diff *d)
{
	for (unsigned int a = 0; a < d->sides[0].n_domains; a++) {
		for (unsigned int b = 0; b < d->sides[1].n_domains; b++) {
			if (strcmp(d->sides[0].domains[a].name, d->sides[1].domains[b].name))
				continue;
			d->domains[d->n_domains] = d->sides[0].domains[a].name;
			d->place[d->n_domains][0] = a;
			d->place[d->n_domains++][1] = b;
			break;
		}
	}
}

/* The longest time that a block which a side has not met may have had in a run of it. */
static double diff_unsampled_s(const struct merge *m)
{
	return UNMET_TICKS * m->runs[0].interval_ns * 1e-9 / m->kept;
}

static void diff_row_set_side(const struct diff *d, struct diff_row *r, int side,
			      const struct profile_group *g)
{
	r->samples[side] = g->samples;
	r->time_s[side] = g->time_s;
	for (unsigned int i = 0; i < d->n_domains; i++) {
		r->j[i][side] = g->energy[d->place[i][side]].j;
		r->w[i][side] = g->energy[d->place[i][side]].w;
		r->dof[i][side] = g->energy[d->place[i][side]].dof;
		r->share[i][side] = isnan(r->j[i][side].v) ? NAN :
				    g->energy[d->place[i][side]].share;
	}
}

/*
 * What was not met: none, or so little that no sample fell into it, with the power that it has on
 * the other side.
 */
static void diff_row_set_unsampled(const struct diff *d, struct diff_row *r, int side)
{
	double most = diff_unsampled_s(&d->sides[side]);

	r->time_s[side] = (struct value){ 0, 0, most };
	for (unsigned int i = 0; i < d->n_domains; i++) {
		double w = r->w[i][!side].v;

		r->j[i][side] = (struct value){ 0, 0, isnan(w) ? NAN : most * w };
		if (isnan(d->sides[side].groups.total->energy[d->place[i][side]].j.v))
			r->j[i][side] = (struct value){ NAN, NAN, NAN };
		r->w[i][side] = (struct value){ NAN, NAN, NAN };
		r->share[i][side] = NAN;
	}
}

static bool diff_row_set_sides(struct diff *d, struct diff_row *r, const struct profile_group *a,
			       const struct profile_group *b)
{
	const struct profile_group *g[2] = { a, b };
	/* what ticks and interrupts took may be all of the time of a sample or two */
	bool met[2] = { a->samples || a->time_s.v > 0, b->samples || b->time_s.v > 0 };

	if (!met[0] && !met[1])
		return false;
	r->in = met[0] && met[1] ? DIFF_BOTH : met[0] ? DIFF_ONLY_A : DIFF_ONLY_B;
	for (int side = 0; side < 2; side++)
		if (met[side])
			diff_row_set_side(d, r, side, g[side]);
	for (int side = 0; side < 2; side++)
		if (!met[side])
			diff_row_set_unsampled(d, r, side);
	return true;
}

/*
 * Of the runs where their spread is in the intervals, of one recording's batches where not: the
 * fewer of both.
 */
static double diff_degrees_of_freedom(const struct diff *d, const double of[2])
{
	size_t a = d->sides[0].kept, b = d->sides[1].kept;
	double least = TIME_FREEDOM;

	if (a >= RUNS_SPREAD && b >= RUNS_SPREAD)
		return a + b - 2;
	for (int side = 0; of && side < 2; side++)
		if (of[side] > 0)
			least = fmin(least, of[side]);
	return least;
}

static void diff_row_compare(const struct diff *d, struct diff_row *r, size_t comparisons)
{
	r->time = difference_of(&r->time_s[0], &r->time_s[1], comparisons,
				diff_degrees_of_freedom(d, NULL));
	for (unsigned int i = 0; i < d->n_domains; i++) {
		double dof = diff_degrees_of_freedom(d, r->dof[i]);

		r->energy[i] = difference_of(&r->j[i][0], &r->j[i][1], comparisons, dof);
		r->power[i] = difference_of(&r->w[i][0], &r->w[i][1], comparisons, dof);
		/* their intervals know nothing of what the neighbours have put into them */
		r->mixed[i] = r->kind == DIFF_BLOCK &&
			      (r->share[i][0] < GROUPS_PURE || r->share[i][1] < GROUPS_PURE);
		if (r->mixed[i])
			r->energy[i].sure = r->power[i].sure = DIFFERENCE_UNKNOWN;
	}
}

/*
 * What ticks or other interrupts took of the functions that are compared. Without an interval, as
 * in a report.
 */
static void diff_part_add(const struct diff *d, struct diff_row *r, int side,
			  const struct profile_group *g)
{
	bool ticks = r->kind == DIFF_TICKS;

	r->time_s[side].v += ticks ? g->ticks_s : g->other_s;
	for (unsigned int i = 0; i < d->n_domains; i++) {
		const struct profile_energy *e = &g->energy[d->place[i][side]];

		r->j[i][side].v += ticks ? e->ticks_j : e->other_j;
	}
}

static struct diff_row diff_part_new(const struct diff *d, enum diff_kind kind)
{
	struct diff_row r = { .kind = kind, .function = UINT32_MAX };
	const struct value none = { 0, NAN, NAN };

	for (int side = 0; side < 2; side++) {
		r.time_s[side] = none;
		for (unsigned int i = 0; i < d->n_domains; i++) {
			r.j[i][side] = none;
			r.share[i][side] = NAN;
		}
	}
	return r;
}

static void diff_part_finish(const struct diff *d, struct diff_row *r)
{
	for (int side = 0; side < 2; side++)
		for (unsigned int i = 0; i < d->n_domains; i++)
			r->w[i][side] = (struct value){
							r->time_s[side].v > 0 ?
							r->j[i][side].v / r->time_s[side].v : NAN,
							NAN, NAN };
}

static bool diff_process_is_wanted(const struct diff *d, uint32_t process,
				   const struct attribute_options *opt)
{
	const struct blocks_process *p = &d->names.b.processes[process];

	/* the recorder is no part of the process */
	return p->kind != CPM_MARGINAL && attribute_is_wanted(p, opt);
}

/* What is less than this on both sides is not shown to people. */
static bool diff_row_is_small(const struct diff *d, const struct diff_row *r, double percent)
{
	for (int side = 0; side < 2; side++) {
		const struct profile_group *t = d->sides[side].groups.total;
		double whole = t->time_s.v, part = r->time_s[side].v;
		double whole_j = d->n_domains ?
				 t->energy[d->place[d->shown_first][side]].j.v : NAN;

		if (!isnan(whole_j) && !isnan(r->j[d->shown_first][side].v)) {
			whole = whole_j;
			part = r->j[d->shown_first][side].v;
		}
		if (part >= whole * percent / 100)
			return false;
	}
	return true;
}

static bool diff_row_is_named(const struct diff *d, const struct diff_row *r)
{
	const struct code_unit *unit = r->function == UINT32_MAX ? NULL :
				       d->names.b.functions[r->function].unit;

	return unit && unit->kind == CODE_UNIT_NAMED;
}

static void diff_add_blocks(struct diff *d, const struct attribute_options *opt,
			    struct diff_row parts[2])
{
	const struct groups *g[2] = { &d->sides[0].groups, &d->sides[1].groups };
	uint32_t n = opt->processes ? d->names.b.n_processes : d->names.b.n_functions;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t process = opt->processes ? i : d->names.b.functions[i].process;
		struct diff_row r = { .kind = DIFF_BLOCK, .process = process,
				      .function = opt->processes ? UINT32_MAX : i };
		struct profile_group at[2];

		if (!diff_process_is_wanted(d, process, opt))
			continue;
		for (int side = 0; side < 2; side++) {
			at[side] = opt->processes ? g[side]->processes[i] : g[side]->functions[i];
			r.seen[side] = opt->processes ? g[side]->processes_between[i].seen :
				       g[side]->functions_between[i].seen;
			for (int part = 0; part < 2 && !opt->processes; part++)
				diff_part_add(d, &parts[part], side, &at[side]);
			if (!opt->processes)
				profile_net(&at[side], d->sides[side].n_domains);
			if (opt->worst_case)
				profile_worst_case(&at[side], d->sides[side].n_domains);
		}
		if (diff_row_set_sides(d, &r, &at[0], &at[1]))
			d->rows[d->n++] = r;
	}
}

int diff_rows(struct diff *d, const struct attribute_options *opt)
{
	struct diff_row total = { .kind = DIFF_TOTAL, .function = UINT32_MAX };
	struct diff_row parts[2];
	size_t kept = 0;

	diff_join_domains(d);
	d->rows = calloc(d->names.b.n_functions + d->names.b.n_processes + 4, sizeof(*d->rows));
	if (!d->rows)
		return -ENOMEM;
	parts[0] = diff_part_new(d, DIFF_TICKS);
	parts[1] = diff_part_new(d, DIFF_INTERRUPTS);
	diff_add_blocks(d, opt, parts);
	if (!d->n && opt->comm)
		return -ESRCH;
	d->compared = d->n;
	for (size_t i = 0; i < d->n; i++)
		diff_row_compare(d, &d->rows[i], d->compared);
	for (size_t i = 0; i < d->n; i++) {
		if (diff_row_is_small(d, &d->rows[i], opt->percent_limit) &&
		    !diff_row_is_named(d, &d->rows[i]))
			d->n_hidden++;
		else
			d->rows[kept++] = d->rows[i];
	}
	d->n = kept;
	for (int part = 0; part < 2; part++) {
		if (!(parts[part].time_s[0].v > 0) && !(parts[part].time_s[1].v > 0))
			continue;
		diff_part_finish(d, &parts[part]);
		diff_row_compare(d, &parts[part], 1);
		d->rows[d->n++] = parts[part];
	}
	if (!opt->comm) {
		for (int side = 0; side < 2; side++) {
			struct profile_group g = *d->sides[side].groups.total;

			if (opt->worst_case)
				profile_worst_case(&g, d->sides[side].n_domains);
			diff_row_set_side(d, &total, side, &g);
			total.seen[side] = d->sides[side].kept;
		}
		diff_row_compare(d, &total, 1);
		d->rows[d->n++] = total;
	}
	sort_diff = d;
	sort_key = opt->sort;
	qsort(d->rows, d->n, sizeof(*d->rows), diff_row_by_key);
	return 0;
}
