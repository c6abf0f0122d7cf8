// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Energies of groups of blocks with their uncertainty, from the powers of cpm.c: each window is
 * divided once for all groupings. See cpm.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/cpm/cpm_divide.h"

/*
 * Batches of windows, over which the residuals are summed. A counter's update is seen at the next
 * tick: what one window has too much the next one lacks, and their sum is right. A batch that ends
 * with a run of the group's windows contains all that cancels out, and batches are independent.
 * With too few runs for that batches end inside of runs; likewise where ticks are whole in their
 * windows, as the foreign code at the ends of runs has one sign then and shows in no spread. Short
 * batches would seem to vary by what cancels between them, and few batches say little: if there are
 * enough windows two neighbours make a batch, each window being in two, because overlapping batches
 * say more than as many separate ones (Meketon and Schmeiser, "Overlapping batch means: something
 * for nothing?", Winter Simulation Conference 1984).
 */
#define BATCHES		80
#define LONG_BATCH	8	/* windows; twice as many in a pair */
#define FEW		8	/* batches, paired */
#define FEW_RUNS	6	/* runs must count for at least so many to be batches */
#define PAIRED		16	/* windows from which on batches are paired */
#define ALONE		5	/* batches at most, of fewer */

/* Refinement that does not converge may still change by so many times its last step. */
#define REST_MOST	100.0

/*
 * A window of unknown energy before the first update or after the last that is longer than so many
 * known ones means a counter that stopped: a group with less than CPM_KNOWN_LEAST of its ticks in
 * known windows has no energy then.
 */
#define STOPPED		8

/* A part of a window, or a group's share of it. */
struct amount {
	double uj[CPM_STEPS];	/* in each step */
	double ticks;		/* for the share */
	double residual;
};

/* Sums for a group. */
struct sums {
	double uj[CPM_STEPS];
	double ticks, own;
	double known_ticks;		/* of the ticks, in known windows */
	uint64_t windows;	/* known ones that it has a part in */
	uint64_t run;		/* length of the current run of such windows */
	double runs_squares;	/* sum of the squares of the lengths of finished runs */
	uint64_t seen, until;	/* windows so far, and end of the batch */
	struct amount w;	/* of the current window */
	uint32_t at;		/* the batch */
	bool touched;
	double batch[BATCHES];
	uint64_t length[BATCHES];
};

/* A grouping while it is added up. */
struct adding {
	const struct cpm_level *level;
	struct sums *sums;
	size_t *counted;	/* of each group, the number of its last known window, + 1 */
	uint32_t *touched;
	size_t n_touched;
};

/*
 * The group of @block, NO_BLOCK: of ticks without one; @block is a vector if groups are of vectors.
 */
struct share {
	uint32_t block;
	struct amount a;
};

#define NO_BLOCK	UINT32_MAX

/*
 * The vector data that windows need, in one place: weights of each step, power, members. @fixed:
 * members always share alike; @marginal: all are marginal
 */
struct sharer {
	double weights[CPM_STEPS], power;
	uint32_t first, n;
	uint8_t kind;
	bool fixed, marginal;
};

/* The whole computation. */
struct levels {
	const struct cpm_vectors *v;
	const struct cpm_domain *d;
	bool whole;		/* groups are of vectors, not of blocks */
	size_t n;
	struct adding *adding;
	struct sharer *sharers;	/* of each vector */
	double *members_share;	/* of each vector's members, if @fixed */
	struct share *shares;	/* of the current window */
	size_t n_shares, room;
	/* ticks of all known windows, and of the longest unknown one */
	uint64_t known_ticks, longest;
	/*
	 * events, where members of all other sets are needed: the next one, if there is @more, and
	 * up to where it was used
	 */
	bool other_sets, more;
	struct cpm_events e;
	uint64_t until;
};

static uint32_t block_group(const struct cpm_level *level, uint32_t block)
{
	return block == NO_BLOCK ? level->unsampled_group : level->group_of[block];
}

/* Make room for @n more shares. Return: 0 or -ENOMEM */
static int shares_reserve(struct levels *l, size_t more)
{
	size_t room = 2 * (l->n_shares + more) + 64;
	struct share *s;

	if (l->room - l->n_shares >= more)
		return 0;
	s = realloc(l->shares, room * sizeof(*s));
	if (!s)
		return -ENOMEM;
	l->shares = s;
	l->room = room;
	return 0;
}

static struct sums *group_touch(struct adding *a, uint32_t group)
{
	struct sums *s = &a->sums[group];

	if (!s->touched) {
		s->touched = true;
		a->touched[a->n_touched++] = group;
	}
	return s;
}

/* One more share: the part @of of @whole, for @ticks. */
static void shares_put(struct levels *l, uint32_t block, const struct amount *whole, double of,
		       double ticks)
{
	struct share *s = &l->shares[l->n_shares++];

	s->block = block;
	for (unsigned int i = 0; i < CPM_STEPS; i++)
		s->a.uj[i] = of * whole->uj[i];
	s->a.ticks = of * ticks;
	s->a.residual = of * whole->residual;
}

/* Shares of @n members in @count ticks of vector @v. */
static void shares_put_members(struct levels *l, uint32_t v, const uint32_t *members, uint32_t n,
			       const struct amount *whole, double count)
{
	struct cpm_sharing s = cpm_share_among(l->v, l->d, v, members, n,
					       whole->uj[l->d->steps - 1] / count);

	if (!s.others)
		shares_put(l, NO_BLOCK, whole, s.part, s.n ? 0 : count);
	for (uint32_t m = 0; m < n; m++) {
		double of = cpm_share_of(l->v, l->d, &s, members[m]);

		shares_put(l, members[m], whole, of, of > 0 ? count / (of * n) : 0);
	}
}

/* The same by members. */
static void shares_put_vector(struct levels *l, uint32_t v, const struct amount *whole,
			      double count)
{
	const struct sharer *sharer = &l->sharers[v];
	const uint32_t *members = l->v->members + sharer->first;
	const double *members_share = l->members_share + sharer->first;
	uint32_t n = sharer->n;

	if (!sharer->fixed) {
		shares_put_members(l, v, members, n, whole, count);
		return;
	}
	for (uint32_t m = 0; m < n; m++) {
		double of = members_share[m];

		shares_put(l, members[m], whole, of, of > 0 ? count / (of * n) : 0);
	}
}

/* Ticks of a window with one of all other sets, members in l->e. Return: how many, 0: no more */
static uint64_t other_sets_next(struct levels *l, const struct cpm_window *w)
{
	while (l->other_sets && l->more && l->e.tick < w->to) {
		uint64_t end = l->e.tick + l->e.count, to = end < w->to ? end : w->to;
		uint64_t from = l->e.tick > w->from ? l->e.tick : w->from;

		from = from > l->until ? from : l->until;
		if (from < to && cpm_is_other_set(l->v, l->e.vector)) {
			l->until = to;
			return to - from;
		}
		if (end > w->to)
			break;
		l->more = cpm_events_next(&l->e);
	}
	return 0;
}

/* Shares of @count ticks of a vector in a window. @div: its division in each step */
static inline struct amount vector_amount(const struct levels *l, const struct cpm_window *win,
					  const struct cpm_division *div, const struct sharer *s,
					  double count)
{
	double expected = count * s->power;
	bool by_shares = win->known && !win->fitted;
	struct amount whole = { .ticks = count };

	for (unsigned int i = 0; i < l->d->steps; i++)
		whole.uj[i] = !by_shares ? expected :
			      win->uj * count * cpm_division_share(&div[i], s->kind, s->weights[i]);
	whole.residual = by_shares ? whole.uj[l->d->steps - 1] - expected : 0;
	return whole;
}

/* Divide a window into shares, as cpm_divide() does, for each step. Return: 0 or -ENOMEM */
static int window_divide(struct levels *l, const struct cpm_window *win)
{
	struct cpm_division div[CPM_STEPS];
	uint64_t count;
	int ret = 0;

	l->n_shares = 0;
	for (unsigned int i = 0; i < l->d->steps; i++) {
		div[i].total = div[i].seen = 0;
		div[i].equal = 1.0 / (double)(win->to - win->from);
	}
	for (size_t p = 0; p < win->n_parts; p++) {
		const struct sharer *s = &l->sharers[win->parts[p].vector];

		for (unsigned int i = 0; i < l->d->steps; i++)
			cpm_division_add(&div[i], s->kind, win->parts[p].count, s->weights[i]);
	}
	for (unsigned int i = 0; i < l->d->steps; i++)
		cpm_division_end(&div[i]);
	for (size_t p = 0; p < win->n_parts && !ret; p++) {
		const struct sharer *s = &l->sharers[win->parts[p].vector];
		struct amount whole = vector_amount(l, win, div, s, win->parts[p].count);

		ret = shares_reserve(l, s->n + 1ul);
		if (!ret && l->whole)
			l->shares[l->n_shares++] = (struct share){ win->parts[p].vector, whole };
		else if (!ret && !cpm_is_other_set(l->v, win->parts[p].vector))
			shares_put_vector(l, win->parts[p].vector, &whole, win->parts[p].count);
	}
	while (!ret && (count = other_sets_next(l, win))) {
		struct amount whole = vector_amount(l, win, div, &l->sharers[l->e.vector], count);

		ret = shares_reserve(l, l->e.n + 1);
		if (!ret)
			shares_put_members(l, l->e.vector, l->e.walk.blocks, l->e.n, &whole, count);
	}
	return ret;
}

static void group_count_window(struct adding *a, uint32_t group, size_t window)
{
	struct sums *s = &a->sums[group];

	if (a->counted[group] == window + 1)
		return;
	if (a->counted[group] != window) {
		s->runs_squares += (double)s->run * s->run;
		s->run = 0;
	}
	s->run++;
	s->windows++;
	a->counted[group] = window + 1;
}

/* First pass: the number of known windows of each group. */
static void levels_count_window(struct levels *l, const struct cpm_windows *c)
{
	for (size_t i = 0; i < l->n; i++) {
		struct adding *a = &l->adding[i];

		for (size_t p = 0; p < c->w.n_parts; p++) {
			const struct sharer *s = &l->sharers[c->w.parts[p].vector];
			const uint32_t *members = l->v->members + s->first;

			if (l->whole) {
				group_count_window(a, a->level->group_of[c->w.parts[p].vector],
						   c->number);
				continue;
			}
			for (uint32_t m = 0; m < s->n; m++)
				group_count_window(a, a->level->group_of[members[m]], c->number);
			if (s->marginal)
				group_count_window(a, a->level->unsampled_group, c->number);
		}
	}
	while (other_sets_next(l, &c->w)) {
		for (size_t i = 0; i < l->n; i++) {
			struct adding *a = &l->adding[i];

			for (size_t m = 0; m < l->e.n; m++)
				group_count_window(a, a->level->group_of[l->e.walk.blocks[m]],
						   c->number);
			if (l->sharers[l->e.vector].marginal)
				group_count_window(a, a->level->unsampled_group, c->number);
		}
	}
}

static uint64_t windows_count_batches(uint64_t windows)
{
	uint64_t n = windows / LONG_BATCH;

	if (windows < PAIRED)
		return windows < ALONE ? windows : ALONE;
	return n < FEW ? FEW : n < BATCHES ? n : BATCHES;
}

/* Do batches end with runs? The effective number of runs decides. */
static bool group_has_runs(const struct levels *l, const struct sums *s)
{
	double squares = s->runs_squares + (double)s->run * s->run;

	return l->d->edges.first > 0 && s->windows >= PAIRED &&
	       (double)s->windows * s->windows >= FEW_RUNS * squares;
}

/*
 * Add one window's residual to batches of equal length. @gap: the group was not in the window
 * before
 */
static void group_add_residual(const struct levels *l, struct sums *s, bool gap)
{
	uint64_t n = windows_count_batches(s->windows);
	bool runs = group_has_runs(l, s);

	if (!s->seen || (s->seen >= s->until && (gap || !runs))) {
		s->at += s->seen > 0;
		s->until = runs ? s->seen + (s->windows + n - 1) / n :
			   ((s->at + 1) * s->windows + n - 1) / n;
	}
	s->seen++;
	s->length[s->at]++;
	s->batch[s->at] += s->w.residual;
}

/* Add the current window to a level's groups. Shares of one group come in a row. */
static void level_add_shares(const struct levels *l, struct adding *a)
{
	size_t k = 0;

	_Static_assert(CPM_STEPS == 3, "one sum each");
	while (k < l->n_shares) {
		uint32_t group = block_group(a->level, l->shares[k].block);
		struct sums *s = group_touch(a, group);
		double uj0 = s->w.uj[0], uj1 = s->w.uj[1], uj2 = s->w.uj[2];
		double ticks = s->w.ticks, residual = s->w.residual;

		do {
			const struct amount *more = &l->shares[k].a;

			uj0 += more->uj[0];
			uj1 += more->uj[1];
			uj2 += more->uj[2];
			ticks += more->ticks;
			residual += more->residual;
		} while (++k < l->n_shares && block_group(a->level, l->shares[k].block) == group);
		s->w.uj[0] = uj0;
		s->w.uj[1] = uj1;
		s->w.uj[2] = uj2;
		s->w.ticks = ticks;
		s->w.residual = residual;
	}
}

/* Second pass: energies, shares, and residuals into batches. Return: 0 or -ENOMEM */
static int levels_add_window(struct levels *l, const struct cpm_windows *c)
{
	const struct cpm_window *win = &c->w;
	int ret = window_divide(l, win);

	for (size_t i = 0; i < l->n && !ret; i++) {
		struct adding *a = &l->adding[i];

		a->n_touched = 0;
		level_add_shares(l, a);
		for (size_t t = 0; t < a->n_touched; t++) {
			uint32_t group = a->touched[t];
			struct sums *s = &a->sums[group];

			for (unsigned int k = 0; k < CPM_STEPS; k++)
				s->uj[k] += s->w.uj[k];
			s->ticks += s->w.ticks;
			s->own += s->w.ticks * s->w.ticks / (double)(win->to - win->from);
			if (win->known) {
				s->known_ticks += s->w.ticks;
				group_add_residual(l, s, a->counted[group] != c->number);
				a->counted[group] = c->number + 1;
			}
			s->touched = false;
			memset(&s->w, 0, sizeof(s->w));
		}
	}
	return ret;
}

/* Variance of the sum of independent batches, each in proportion to its length. */
static void group_variance_by_runs(const struct sums *s, struct cpm_group *g)
{
	double sum = 0, lengths = 0, squares = 0, n;

	for (uint32_t i = 0; i <= s->at; i++) {
		sum += s->batch[i];
		lengths += pow((double)s->length[i] / s->windows, 2);
	}
	for (uint32_t i = 0; i <= s->at; i++)
		squares += pow(s->batch[i] - sum * s->length[i] / s->windows, 2);
	n = 1 / lengths;
	if (!(n > 1))
		return;
	g->dof = n - 1;
	g->variance = squares * n / g->dof;
}

/*
 * Variance of the sum of n batches. Independent ones with variance v have nv; a pair differs from
 * twice the mean by 2v (1 - 2/n) in the square, and neighbouring pairs' squares are correlated by a
 * quarter, which leaves two thirds of n - 2 degrees of freedom.
 */
static void group_variance_by_pairs(const struct sums *s, struct cpm_group *g)
{
	uint64_t n = windows_count_batches(s->windows);
	double mean = 0, squares = 0;

	for (uint64_t i = 0; i < n; i++)
		mean += s->batch[i] / n;
	for (uint64_t i = 0; i + 1 < n; i++)
		squares += pow(s->batch[i] + s->batch[i + 1] - 2 * mean, 2);
	g->dof = (n - 2) / 1.5;
	g->variance = squares / (n - 1) * n / 2 / (1 - 2. / n);
}

static void group_set_result(const struct levels *l, const struct sums *s, struct cpm_group *g)
{
	memset(g, 0, sizeof(*g));
	g->uj = s->uj[l->d->steps - 1];
	g->readings = s->windows;
	g->share = s->ticks > 0 ? s->own / s->ticks : 0;
	if (s->windows < PAIRED || group_has_runs(l, s))
		group_variance_by_runs(s, g);
	else
		group_variance_by_pairs(s, g);
	/* the part in unknown windows is taken to be off by as much as the known part */
	if (s->known_ticks > 0 && s->known_ticks < s->ticks)
		g->variance *= pow(s->ticks / s->known_ticks, 2);
	if (s->known_ticks < CPM_KNOWN_LEAST * s->ticks && l->longest * l->d->known > STOPPED *
	    l->known_ticks && !l->d->all_fitted)
		g->uj = NAN;
}

/*
 * What further refinement would still change. Steps shrink like a geometric series, by a factor
 * that depends on how windows are filled. It is that of all groups together: a single step of a
 * group that draws as much as its neighbours may be next to nothing by chance.
 */
static void groups_set_bias(const struct sums *sums, unsigned int steps, uint32_t n_groups,
			    struct cpm_group *out)
{
	double first = 0, last = 0, rest = REST_MOST;

	if (steps < 3)
		return;
	for (uint32_t g = 0; g < n_groups; g++) {
		first += fabs(sums[g].uj[1] - sums[g].uj[0]);
		last += fabs(sums[g].uj[2] - sums[g].uj[1]);
	}
	if (last < first)
		rest = fmin(last / (first - last), REST_MOST);
	for (uint32_t g = 0; g < n_groups; g++)
		out[g].bias_uj = fmin(rest * fabs(sums[g].uj[2] - sums[g].uj[1]),
				      fmax(out[g].uj, 0));
}

/* Without marginal members shares are always equal in proportion. */
static void sharers_find(struct levels *l)
{
	const struct cpm_vectors *v = l->v;

	for (uint32_t i = 0; i < v->n_vectors; i++) {
		struct sharer *sharer = &l->sharers[i];
		struct cpm_sharing s;

		*sharer = (struct sharer){ .power = l->d->uj_per_tick[i], .first = v->first[i],
					   .kind = cpm_kind(l->d, i),
					   .n = v->first[i + 1] - v->first[i], .marginal = true };
		for (unsigned int k = 0; k < l->d->steps; k++)
			sharer->weights[k] = l->d->weights[k][i];
		for (uint32_t m = 0; m < sharer->n; m++)
			sharer->marginal &= v->kinds[v->members[sharer->first + m]] == CPM_MARGINAL;
		sharer->fixed = v->base[i] == i && sharer->n;
		if (cpm_is_other_set(v, i))
			sharer->marginal = !cpm_other_set_size(v, i);
		if (l->whole || v->base[i] != i || cpm_is_other_set(v, i))
			continue;
		s = cpm_share(v, l->d, i, 0);
		for (uint32_t m = 0; m < sharer->n; m++)
			l->members_share[sharer->first + m] =
				cpm_share_of(v, l->d, &s, v->members[sharer->first + m]);
	}
}

/* Events are found again for members of all other sets. Return: 0 or -ENOMEM */
static int other_sets_begin(struct levels *l)
{
	int ret;

	l->until = 0;
	l->other_sets = cpm_has_other_sets(l->v) && !l->whole;
	if (!l->other_sets)
		return 0;
	ret = cpm_events_begin(l->v, &l->e);
	l->more = !ret && cpm_events_next(&l->e);
	if (ret)
		cpm_events_end(&l->e);
	return ret;
}

static int levels_sum_windows(struct levels *l, const struct cpm_level *levels)
{
	int ret = 0;

	l->adding = calloc(l->n + 1, sizeof(*l->adding));
	l->members_share = calloc(l->v->first[l->v->n_vectors] + 1ul, sizeof(*l->members_share));
	l->sharers = calloc(l->v->n_vectors + 1ul, sizeof(*l->sharers));
	if (!l->adding || !l->members_share || !l->sharers)
		ret = -ENOMEM;
	for (size_t i = 0; i < l->n && !ret; i++) {
		struct adding *a = &l->adding[i];

		a->level = &levels[i];
		a->sums = calloc(levels[i].n_groups + 1, sizeof(*a->sums));
		a->counted = calloc(levels[i].n_groups + 1, sizeof(*a->counted));
		a->touched = calloc(levels[i].n_groups + 1, sizeof(*a->touched));
		ret = a->sums && a->counted && a->touched ? 0 : -ENOMEM;
	}
	if (!ret)
		sharers_find(l);
	for (int pass = 0; pass < 2 && !ret; pass++) {
		struct cpm_windows c;

		ret = other_sets_begin(l);
		if (ret)
			break;
		for (size_t i = 0; i < l->n; i++)
			memset(l->adding[i].counted, 0,
			       (levels[i].n_groups + 1ul) * sizeof(*l->adding[i].counted));
		ret = cpm_windows_begin(l->d, &c);
		while (!ret && cpm_windows_next(&c)) {
			uint64_t ticks = c.w.to - c.w.from;

			if (pass) {
				ret = levels_add_window(l, &c);
			} else if (c.w.known) {
				levels_count_window(l, &c);
				l->known_ticks += ticks;
			} else {
				l->longest = ticks > l->longest ? ticks : l->longest;
			}
		}
		cpm_windows_end(&c);
		if (l->other_sets)
			cpm_events_end(&l->e);
	}
	for (size_t i = 0; l->adding && i < l->n; i++) {
		for (uint32_t g = 0; g < levels[i].n_groups && !ret; g++)
			group_set_result(l, &l->adding[i].sums[g], &levels[i].out[g]);
		if (!ret)
			groups_set_bias(l->adding[i].sums, l->d->steps, levels[i].n_groups,
					levels[i].out);
		free(l->adding[i].sums);
		free(l->adding[i].counted);
		free(l->adding[i].touched);
	}
	free(l->members_share);
	free(l->sharers);
	free(l->shares);
	free(l->adding);
	return ret;
}

int cpm_levels(const struct cpm_vectors *v, const struct cpm_domain *d,
	       const struct cpm_level *levels, size_t n)
{
	return levels_sum_windows(&(struct levels){ .v = v, .d = d, .n = n }, levels);
}

int cpm_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
	       uint32_t unsampled_group, uint32_t n_groups, struct cpm_group *out)
{
	return cpm_levels(v, d, &(struct cpm_level){ group_of, unsampled_group, n_groups, out }, 1);
}

int cpm_vector_groups(const struct cpm_vectors *v, const struct cpm_domain *d,
		      const uint32_t *group_of, uint32_t n_groups, struct cpm_group *out)
{
	const struct cpm_level level = { .group_of = group_of, .n_groups = n_groups, .out = out };

	return levels_sum_windows(&(struct levels){ .v = v, .d = d, .whole = true, .n = 1 },
				  &level);
}
