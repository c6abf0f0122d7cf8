// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Energies of groups of blocks, and how sure they are, out of the powers that cpm.c has found: each window is divided
 * once for all groupings. See cpm.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/cpm/cpm_divide.h"

/*
 * Batches of windows, over which the residuals are summed. An edge of the counter is seen at the
 * next tick: what one window has too much by that the next one lacks, and the sum of both is
 * right. A batch that ends where a run of the group's windows does has all that cancels out, and
 * batches are independent. Where there are too few runs for that they end inside of them, and
 * where ticks are whole in their windows: what these have of other code at the ends of runs is of
 * one sign, and shows in no spread. Short batches would seem to vary by what cancels out between
 * them then, and few ones tell little: where there are windows for it, two neighbours make a
 * batch therefore, and each is in two of them, because overlapping batches tell more than as many
 * windows in batches of their own (Meketon and Schmeiser, "Overlapping batch means: something for
 * nothing?", Winter Simulation Conference 1984).
 */
#define BATCHES		80
#define LONG_BATCH	8	/* windows; twice as many in a pair */
#define FEW		8	/* batches, paired */
#define FEW_RUNS	6	/* as many as which the runs count for at least, to be batches */
#define PAIRED		16	/* windows and more: in pairs */
#define ALONE		5	/* batches at most, of fewer */

/* Refinement that does not come to an end may still move so many times its last step. */
#define REST_MOST	100.0

/*
 * A window without a known energy, before the first move or after the last, that is so many known ones long is no end of a
 * recording, but a counter that stopped: what has less than CPM_KNOWN_LEAST of its ticks in known windows has no energy then.
 */
#define STOPPED		8

/* What a part of a window, or a group's share of it, comes to. */
struct amount {
	double uj[CPM_STEPS];	/* with the shares of each step */
	double ticks;		/* for the purity */
	double residual;
};

/* What is summed up for a group. */
struct sums {
	double uj[CPM_STEPS];
	double ticks, own;
	double known_ticks;		/* of the ticks, in known windows */
	uint64_t windows;	/* known ones it has a part in */
	uint64_t run;		/* how many of these follow each other, at the window at hand */
	double runs_squares;	/* sum of the squares of the lengths of such runs, the one at hand left out */
	uint64_t seen, until;	/* windows so far; and up to which the batch goes */
	struct amount w;	/* of the window at hand */
	uint32_t at;		/* the batch */
	bool touched;
	double batch[BATCHES];
	uint64_t length[BATCHES];
};

/* A level being added up. */
struct adding {
	const struct cpm_level *level;
	struct sums *sums;
	size_t *counted;	/* of each group, the number of the last known window it was in, + 1 */
	uint32_t *touched;
	size_t n_touched;
};

/* What a window comes to for @block, NOBODY: for the silent group; @block is a vector where groups are of vectors. */
struct share {
	uint32_t block;
	struct amount a;
};

#define NO_BLOCK	UINT32_MAX

/*
 * What a window has to know of its vectors, in one place: the weights of each step, the power that was found, and the
 * members. @fixed: these always share alike; @marginal: none of them is more than marginal
 */
struct sharer {
	double weights[CPM_STEPS], power;
	uint32_t first, n;
	uint8_t kind;
	bool fixed, marginal;
};

/* All of them. */
struct levels {
	const struct cpm_vectors *v;
	const struct cpm_domain *d;
	bool whole;		/* groups are of vectors, not of blocks */
	size_t n;
	struct adding *adding;
	struct sharer *sharers;	/* of each vector */
	double *members_share;	/* of each vector's members, where these are always the same */
	struct share *shares;	/* of the window at hand */
	size_t n_shares, room;
	uint64_t known_ticks, longest;	/* ticks of all known windows, and of the longest that is not known */
	/* where there are crowds to be divided, what ran: the next event, if there is @more, and up to where they were used */
	bool other_sets, more;
	struct cpm_events e;
	uint64_t until;
};

static uint32_t block_group(const struct cpm_level *level, uint32_t block)
{
	return block == NO_BLOCK ? level->unsampled_group : level->group_of[block];
}

/* So many shares more may come. Return: 0 or -ENOMEM */
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

/* One share more, for which there is room: the part @of of @whole, which stands for @ticks. */
static void shares_put(struct levels *l, uint32_t block, const struct amount *whole, double of, double ticks)
{
	struct share *s = &l->shares[l->n_shares++];

	s->block = block;
	for (unsigned int i = 0; i < CPM_STEPS; i++)
		s->a.uj[i] = of * whole->uj[i];
	s->a.ticks = of * ticks;
	s->a.residual = of * whole->residual;
}

/* What @count ticks of vector @v come to, to @n members. */
static void shares_put_members(struct levels *l, uint32_t v, const uint32_t *members, uint32_t n, const struct amount *whole,
			       double count)
{
	struct cpm_sharing s = cpm_share_among(l->v, l->d, v, members, n, whole->uj[l->d->steps - 1] / count);

	if (!s.others)
		shares_put(l, NO_BLOCK, whole, s.part, s.n ? 0 : count);
	for (uint32_t m = 0; m < n; m++) {
		double of = cpm_share_of(l->v, l->d, &s, members[m]);

		shares_put(l, members[m], whole, of, of > 0 ? count / (of * n) : 0);
	}
}

/* The same to its blocks. */
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

/* The next ticks of a window that are in a crowd: l->e tells what ran. Return: how many, 0: there are no more */
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

/* What @count ticks of a vector come to in a window. @div: how it is divided in each step */
static inline struct amount vector_amount(const struct levels *l, const struct cpm_window *win,
					  const struct cpm_division *div, const struct sharer *s, double count)
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

/* Divide a window into shares, by the weights of each step: as cpm_divide() has it. Return: 0 or -ENOMEM */
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

/* First pass: how many known windows each group has a part in. */
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

/* Whether batches end where runs do: as many runs of the same length would vary like these. */
static bool group_has_runs(const struct levels *l, const struct sums *s)
{
	double squares = s->runs_squares + (double)s->run * s->run;

	return l->d->edges.first > 0 && s->windows >= PAIRED &&
	       (double)s->windows * s->windows >= FEW_RUNS * squares;
}

/*
 * The residual of one window more, into batches of as many windows each. @gap: the group was not in
 * the window before
 */
static void group_add_residual(const struct levels *l, struct sums *s, bool gap)
{
	uint64_t n = windows_count_batches(s->windows);
	bool runs = group_has_runs(l, s);

	if (!s->seen || (s->seen >= s->until && (gap || !runs))) {
		s->at += s->seen > 0;
		s->until = runs ? s->seen + (s->windows + n - 1) / n : ((s->at + 1) * s->windows + n - 1) / n;
	}
	s->seen++;
	s->length[s->at]++;
	s->batch[s->at] += s->w.residual;
}

/* The window at hand, to the groups of a level. Shares of one group follow each other often: sums stay in registers. */
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

/* Second pass: energies, purities, and residuals into batches. Return: 0 or -ENOMEM */
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

/* What the sum of independent batches varies by, each in proportion to its length. */
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
		return;		/* one batch, or none */
	g->dof = n - 1;
	g->variance = squares * n / g->dof;
}

/*
 * What the sum of n batches varies by. Of independent ones with variance v it is nv; a pair differs from twice the mean by
 * 2v (1 - 2/n) in the square, and neighbouring pairs' squares are correlated by a quarter, which leaves two thirds of n - 2
 * degrees of freedom.
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
	/* no window tells how far the rest is off: as far as all of it is that they do tell, which goes with it */
	if (s->known_ticks > 0 && s->known_ticks < s->ticks)
		g->variance *= pow(s->ticks / s->known_ticks, 2);
	if (s->known_ticks < CPM_KNOWN_LEAST * s->ticks && l->longest * l->d->known > STOPPED * l->known_ticks && !l->d->all_fitted)
		g->uj = NAN;
}

/*
 * What further refinement would still move. The steps shrink like a geometric series, by a factor that depends on how
 * windows are filled: it is that of all groups together, because a step of a group whose power is that of its neighbours may be
 * next to nothing by chance, and the one after it not.
 */
static void groups_set_bias(const struct sums *sums, unsigned int steps, uint32_t n_groups, struct cpm_group *out)
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
		out[g].bias_uj = fmin(rest * fabs(sums[g].uj[2] - sums[g].uj[1]), fmax(out[g].uj, 0));
}

/* Vectors without marginal members are always shared alike. */
static void sharers_find(struct levels *l)
{
	const struct cpm_vectors *v = l->v;

	for (uint32_t i = 0; i < v->n_vectors; i++) {
		struct sharer *sharer = &l->sharers[i];
		struct cpm_sharing s;

		*sharer = (struct sharer){ .power = l->d->uj_per_tick[i], .first = v->first[i],
					   .kind = cpm_kind(l->d, i), .n = v->first[i + 1] - v->first[i], .marginal = true };
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
			l->members_share[sharer->first + m] = cpm_share_of(v, l->d, &s, v->members[sharer->first + m]);
	}
}

/* What was in crowds is found again, beside the windows. Return: 0 or -ENOMEM */
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
			memset(l->adding[i].counted, 0, (levels[i].n_groups + 1ul) * sizeof(*l->adding[i].counted));
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
			groups_set_bias(l->adding[i].sums, l->d->steps, levels[i].n_groups, levels[i].out);
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

int cpm_levels(const struct cpm_vectors *v, const struct cpm_domain *d, const struct cpm_level *levels, size_t n)
{
	return levels_sum_windows(&(struct levels){ .v = v, .d = d, .n = n }, levels);
}

int cpm_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
	       uint32_t unsampled_group, uint32_t n_groups, struct cpm_group *out)
{
	return cpm_levels(v, d, &(struct cpm_level){ group_of, unsampled_group, n_groups, out }, 1);
}

int cpm_vector_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
		      uint32_t n_groups, struct cpm_group *out)
{
	const struct cpm_level level = { .group_of = group_of, .n_groups = n_groups, .out = out };

	return levels_sum_windows(&(struct levels){ .v = v, .d = d, .whole = true, .n = 1 },
				  &level);
}
