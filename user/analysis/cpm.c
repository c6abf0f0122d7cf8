// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The constant power model, see cpm.h: how the energy of windows between the moves
 * of a counter (cpm_windows.c) is shared by what ran in them.
 *
 * Equal shares are ALEA's model (equation 2: the power of a sample is the meter's
 * over the interval around it). In a window in which one block ends and another
 * begins that takes from the hungrier and gives to the other: for blocks of
 * length L under a counter that moves every U, about U / 3L of the difference of
 * their powers. So the shares are refined: the energy of a window is divided in
 * proportion to the powers found in the step before. For blocks that fill most of
 * their windows one step removes nearly all of the bias. Vectors that are only a
 * part of most of their windows, or in few windows, have no power of their own in
 * this, but that of all such vectors together: what a mixed window tells of one of
 * them is mostly noise. A program of nothing but short blocks keeps equal shares.
 * Two steps and no more, because carried on to the end this is the maximum
 * likelihood estimate of a mixture, which fits noise.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cpm_divide.h"

/* A vector has a power of its own in the refinement: its part of its windows, and how many. */
#define REFINE_PURITY	0.5
#define REFINE_WINDOWS	8

/* Batches of consecutive windows, over which the residuals are summed. */
#define BATCHES		40

/*
 * An edge of the counter is seen at the next tick: what one window has too much by that the next one lacks, and
 * the sum of both is right. Batches of few windows would seem to vary by what cancels out between them: they have so many, and there are
 * fewer of them, but no fewer than FEW as long as there are windows for that.
 */
#define LONG_BATCH	8	/* windows */
#define FEW		5	/* batches */

/* Refinement that does not come to an end may still move so many times its last step. */
#define REST_MOST	100.0

struct cpm_division cpm_divide(const struct cpm_window *w, const double *weights)
{
	struct cpm_division div = { weights, 0, 1.0 / (double)(w->to - w->from) };

	for (size_t p = 0; p < w->n_parts; p++)
		div.total += w->parts[p].count * weights[w->parts[p].vector];
	return div;
}

double cpm_tick_share(const struct cpm_division *div, uint32_t vector)
{
	return div->total > 0 ? div->weights[vector] / div->total : div->equal;
}

/* What is summed up of a vector in a step; @own and @windows tell whether it fills enough of enough windows to be divided by. */
struct step_sum {
	double uj, ticks;
	double own;
	uint64_t windows;
};

static bool is_pure(const struct step_sum *s)
{
	return s->windows >= REFINE_WINDOWS && s->own >= REFINE_PURITY * s->ticks;
}

static void step_window(const struct cpm_window *w, const double *weights, struct step_sum *sums, bool presence)
{
	struct cpm_division div = cpm_divide(w, weights);

	for (size_t p = 0; p < w->n_parts; p++) {
		struct step_sum *s = &sums[w->parts[p].vector];
		double n = w->parts[p].count;

		s->uj += w->uj * n * cpm_tick_share(&div, w->parts[p].vector);
		s->ticks += n;
		if (presence) {
			s->own += n * n / (double)(w->to - w->from);
			s->windows++;
		}
	}
}

/*
 * One step: the energy of each known window, divided by @weights, gives the mean
 * power of each vector (ALEA, equation 2 or 9). @pure: out, NULL: not asked for
 */
static int step(const struct cpm_domain *d, const double *weights, double *power, double *ticks, bool *pure)
{
	struct step_sum *sums = calloc(d->n_vectors + 1ul, sizeof(*sums));
	double all_uj = 0, all_ticks = 0;
	struct cpm_windows c;
	int ret = cpm_windows_begin(d, &c);

	ret = sums ? ret : -ENOMEM;
	while (!ret && cpm_windows_next(&c)) {
		if (!c.w.known)
			continue;
		step_window(&c.w, weights, sums, pure);
		all_uj += c.w.uj;
		all_ticks += c.w.to - c.w.from;
	}
	cpm_windows_end(&c);
	/* Who was in no known window gets the mean of all. */
	for (uint32_t v = 0; v < d->n_vectors && !ret; v++) {
		power[v] = sums[v].ticks > 0 ? sums[v].uj / sums[v].ticks : all_ticks > 0 ? all_uj / all_ticks : 0;
		ticks[v] = sums[v].ticks;
		if (pure)
			pure[v] = is_pure(&sums[v]);
	}
	free(sums);
	return ret;
}

/* Pools of vectors that have no power of their own, by how many blocks ran at once. */
#define POOLS	8

static unsigned int pool_of(const struct cpm_vectors *v, uint32_t vector)
{
	uint32_t n = v->first[vector + 1] - v->first[vector];

	return n < POOLS ? n : POOLS - 1;
}

/*
 * The powers found so far, to divide the next time by. What runs beside a marginal
 * block has the power it has without, and the marginal blocks have one on top of
 * that in common.
 */
static void next_weights(const struct cpm_vectors *v, const struct cpm_domain *d, const bool *pure,
			 const double *ticks, double *weights)
{
	double uj[POOLS] = { 0 }, n[POOLS] = { 0 }, extra = 0, extra_ticks = 0;

	for (uint32_t i = 0; i < d->n_vectors; i++) {
		unsigned int pool = pool_of(v, i);

		if (pure[i] || v->base[i] != i)
			continue;
		uj[pool] += d->uj_per_tick[i] * ticks[i];
		n[pool] += ticks[i];
	}
	for (uint32_t i = 0; i < d->n_vectors; i++) {
		unsigned int pool = pool_of(v, i);

		weights[i] = pure[i] || !(n[pool] > 0) ? d->uj_per_tick[i] : uj[pool] / n[pool];
	}
	for (uint32_t i = 0; i < d->n_vectors; i++) {
		if (v->base[i] == i)
			continue;
		extra += (d->uj_per_tick[i] - weights[v->base[i]]) * ticks[i];
		extra_ticks += ticks[i];
	}
	for (uint32_t i = 0; i < d->n_vectors; i++)
		if (v->base[i] != i)
			weights[i] = weights[v->base[i]] + fmax(extra, 0) / fmax(extra_ticks, 1);
}

/* For each block the vector in which it runs alone; UINT32_MAX if it never does. */
static int find_alone(const struct cpm_vectors *v, struct cpm_domain *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->first[v->n_vectors]; i++)
		if (v->members[i] >= n)
			n = v->members[i] + 1;
	d->alone = malloc((n + 1ul) * sizeof(*d->alone));
	if (!d->alone)
		return -ENOMEM;
	memset(d->alone, 0xff, (n + 1ul) * sizeof(*d->alone));
	for (uint32_t i = 0; i < v->n_vectors; i++)
		if (v->first[i + 1] - v->first[i] == 1)
			d->alone[v->members[v->first[i]]] = i;
	return 0;
}

static int solve(const struct cpm_vectors *v, struct cpm_domain *d, bool *pure, double *ticks)
{
	int ret = find_alone(v, d);

	for (uint32_t k = 0; k < d->n_vectors && !ret; k++)
		d->weights[0][k] = 1;
	if (!ret)
		ret = step(d, d->weights[0], d->uj_per_tick, ticks, pure);
	d->silent_known = pure[CPM_SILENT];
	for (unsigned int i = 1; i < d->steps && !ret; i++) {
		next_weights(v, d, pure, ticks, d->weights[i]);
		ret = step(d, d->weights[i], d->uj_per_tick, ticks, NULL);
	}
	return ret;
}

int cpm_solve_windows(const struct cpm_vectors *v, unsigned int steps, struct cpm_domain *d)
{
	double *ticks = NULL;
	bool *pure = NULL;
	int ret = -ENOMEM;

	d->n_vectors = v->n_vectors;
	d->steps = steps < 1 ? 1 : steps > CPM_STEPS ? CPM_STEPS : steps;
	ticks = calloc(d->n_vectors, sizeof(*ticks));
	pure = calloc(d->n_vectors, sizeof(*pure));
	d->uj_per_tick = calloc(d->n_vectors, sizeof(double));
	if (!ticks || !pure || !d->uj_per_tick)
		goto out;
	for (unsigned int i = 0; i < d->steps; i++) {
		d->weights[i] = calloc(d->n_vectors, sizeof(double));
		if (!d->weights[i])
			goto out;
	}
	ret = solve(v, d, pure, ticks);
out:
	free(ticks);
	free(pure);
	if (ret)
		cpm_domain_free(d);
	return ret;
}

int cpm_solve(const struct cpm_vectors *v, const struct cpm_reading *readings, size_t n,
	      uint64_t end_tick, unsigned int steps, const struct cpm_irq *irq, struct cpm_domain *d)
{
	struct cpm_making *m;
	struct cpm_events e;
	int ret = cpm_making_new(v, readings, n, end_tick, irq, d, &m);

	if (ret)
		return ret;
	ret = cpm_events_begin(v, &e);
	while (!ret && cpm_events_next(&e))
		ret = cpm_making_event(m, e.tick, e.count, e.vector);
	cpm_events_end(&e);
	ret = cpm_making_end(m, ret);
	if (!ret)
		return cpm_solve_windows(v, steps, d);
	cpm_domain_free(d);
	return ret;
}

void cpm_domain_free(struct cpm_domain *d)
{
	free(d->windows);
	for (unsigned int i = 0; i < CPM_STEPS; i++)
		free(d->weights[i]);
	free(d->uj_per_tick);
	free(d->alone);
	memset(d, 0, sizeof(*d));
}

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
	uint64_t windows;	/* known ones it has a part in */
	uint64_t seen, until;	/* of these, so far; and up to which the batch goes */
	struct amount w;	/* of the window at hand */
	uint32_t at;		/* the batch */
	bool touched;
	double batch[BATCHES];
};

/* A level being added up. */
struct adding {
	const struct cpm_level *level;
	struct sums *sums;
	size_t *counted;	/* of each group, the last window that was counted, + 1 */
	uint32_t *touched;
	size_t n_touched;
};

/* What a window comes to for @block, NOBODY: for the silent group; @block is a vector where groups are of vectors. */
struct share {
	uint32_t block;
	struct amount a;
};

#define NOBODY	UINT32_MAX

/* All of them. */
struct levels {
	const struct cpm_vectors *v;
	const struct cpm_domain *d;
	bool whole;		/* groups are of vectors, not of blocks */
	size_t n;
	struct adding *adding;
	double *members_share;	/* of each vector's members, where these are always the same */
	struct share *shares;	/* of the window at hand */
	size_t n_shares, room;
};

static uint32_t group_of(const struct cpm_level *level, uint32_t block)
{
	return block == NOBODY ? level->silent_group : level->group_of[block];
}

/* So many shares more may come. Return: 0 or -ENOMEM */
static int make_room(struct levels *l, size_t more)
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

static struct sums *touch(struct adding *a, uint32_t group)
{
	struct sums *s = &a->sums[group];

	if (!s->touched) {
		s->touched = true;
		a->touched[a->n_touched++] = group;
	}
	return s;
}

/* The power of a vector as it is known so far: equal shares are no power. */
static double power_of(const struct cpm_domain *d, uint32_t vector)
{
	return d->steps > 1 ? d->weights[d->steps - 1][vector] : d->uj_per_tick[vector];
}

/* What a block counts for among those that ran at the same tick: its power alone, if known. */
static double say(const struct cpm_domain *d, uint32_t block)
{
	uint32_t alone = d->alone[block];

	return alone == UINT32_MAX ? 0 : power_of(d, alone);
}

struct cpm_sharing cpm_share(const struct cpm_vectors *v, const struct cpm_domain *d,
			     uint32_t vector, double uj)
{
	const uint32_t *members = v->members + v->first[vector];
	struct cpm_sharing s = { .n = v->first[vector + 1] - v->first[vector], .part = 1,
				 .known = true };
	double base = power_of(d, v->base[vector]);

	for (uint32_t m = 0; m < s.n; m++) {
		if (v->kinds[members[m]] == CPM_MARGINAL)
			continue;
		s.others++;
		s.all += say(d, members[m]);
		s.known &= say(d, members[m]) > 0;
	}
	/* alone, and nobody knows what there would be without it: all of it */
	if (s.others < s.n && !s.others && !d->silent_known)
		s.part = 0;
	else if (s.others < s.n)
		s.part = uj > base && uj > 0 ? base / uj : 1;
	return s;
}

double cpm_share_of(const struct cpm_vectors *v, const struct cpm_domain *d,
		    const struct cpm_sharing *s, uint32_t block)
{
	if (v->kinds[block] == CPM_MARGINAL)
		return (1 - s->part) / (s->n - s->others);
	return s->known ? s->part * say(d, block) / s->all : s->part / s->others;
}

/* The part @of of @whole, which stands for @ticks. */
static struct amount part_of(const struct amount *whole, double of, double ticks)
{
	struct amount a;

	for (unsigned int i = 0; i < CPM_STEPS; i++)
		a.uj[i] = of * whole->uj[i];
	a.ticks = of * ticks;
	a.residual = of * whole->residual;
	return a;
}

/* What @count ticks of vector @v come to, to its blocks. */
static void divide_vector(struct levels *l, uint32_t v, const struct amount *whole, double count)
{
	uint32_t first = l->v->first[v], n = l->v->first[v + 1] - first;
	const uint32_t *members = l->v->members + first;
	bool fixed = l->v->base[v] == v && n;
	struct cpm_sharing s = { 0 };

	if (!fixed) {
		s = cpm_share(l->v, l->d, v, whole->uj[l->d->steps - 1] / count);
		if (!s.others)
			l->shares[l->n_shares++] = (struct share){ NOBODY, part_of(whole, s.part, s.n ? 0 : count) };
	}
	for (uint32_t m = 0; m < n; m++) {
		double of = fixed ? l->members_share[first + m] : cpm_share_of(l->v, l->d, &s, members[m]);

		l->shares[l->n_shares++] = (struct share){ members[m], part_of(whole, of, of > 0 ? count / (of * n) : 0) };
	}
}

/* Divide a window into shares. Return: 0 or -ENOMEM */
static int divide(struct levels *l, const struct cpm_window *win)
{
	const struct cpm_domain *d = l->d;
	struct cpm_division div[CPM_STEPS];
	bool by_shares = win->known && !win->fitted;
	int ret = 0;

	l->n_shares = 0;
	for (unsigned int i = 0; i < d->steps; i++)
		div[i] = cpm_divide(win, d->weights[i]);
	for (size_t p = 0; p < win->n_parts && !ret; p++) {
		uint32_t v = win->parts[p].vector;
		double count = win->parts[p].count, expected = count * d->uj_per_tick[v];
		struct amount whole = { .ticks = count };

		for (unsigned int i = 0; i < d->steps; i++)
			whole.uj[i] = by_shares ? win->uj * count * cpm_tick_share(&div[i], v) : expected;
		whole.residual = by_shares ? whole.uj[d->steps - 1] - expected : 0;
		ret = make_room(l, l->v->first[v + 1] - l->v->first[v] + 1ul);
		if (!ret && l->whole)
			l->shares[l->n_shares++] = (struct share){ v, whole };
		else if (!ret)
			divide_vector(l, v, &whole, count);
	}
	return ret;
}

static void count_group(struct adding *a, uint32_t group, size_t window)
{
	a->sums[group].windows += a->counted[group] != window + 1;
	a->counted[group] = window + 1;
}

/* First pass: how many known windows each group has a part in. */
static void count_window(struct levels *l, const struct cpm_windows *c)
{
	const struct cpm_vectors *v = l->v;

	for (size_t i = 0; i < l->n; i++) {
		struct adding *a = &l->adding[i];

		for (size_t p = 0; p < c->w.n_parts; p++) {
			uint32_t vector = c->w.parts[p].vector, others = 0;

			for (uint32_t m = v->first[vector]; m < v->first[vector + 1] && !l->whole; m++) {
				count_group(a, a->level->group_of[v->members[m]], c->number);
				others += v->kinds[v->members[m]] != CPM_MARGINAL;
			}
			if (l->whole)
				count_group(a, a->level->group_of[vector], c->number);
			else if (!others)
				count_group(a, a->level->silent_group, c->number);
		}
	}
}

static uint64_t batches_of(uint64_t windows)
{
	uint64_t most = windows < FEW ? windows : FEW, n = windows / LONG_BATCH;

	return n < most ? most : n < BATCHES ? n : BATCHES;
}

/* The residual of one window more, into batches of as many windows each. */
static void add_residual(struct sums *s)
{
	if (s->seen == s->until) {
		s->at += s->seen > 0;
		s->until = ((s->at + 1) * s->windows + batches_of(s->windows) - 1) / batches_of(s->windows);
	}
	s->seen++;
	s->batch[s->at] += s->w.residual;
}

/* The window at hand, to the groups of a level. Those of one group follow each other often. */
static void add_shares(const struct levels *l, struct adding *a)
{
	size_t k = 0;

	while (k < l->n_shares) {
		uint32_t group = group_of(a->level, l->shares[k].block);
		struct sums *s = touch(a, group);
		struct amount w = s->w;

		do {
			const struct amount *more = &l->shares[k].a;

			for (unsigned int i = 0; i < CPM_STEPS; i++)
				w.uj[i] += more->uj[i];
			w.ticks += more->ticks;
			w.residual += more->residual;
		} while (++k < l->n_shares && group_of(a->level, l->shares[k].block) == group);
		s->w = w;
	}
}

/* Second pass: energies, purities, and residuals into batches. Return: 0 or -ENOMEM */
static int sum_window(struct levels *l, const struct cpm_window *win)
{
	int ret = divide(l, win);

	for (size_t i = 0; i < l->n && !ret; i++) {
		struct adding *a = &l->adding[i];

		a->n_touched = 0;
		add_shares(l, a);
		for (size_t t = 0; t < a->n_touched; t++) {
			struct sums *s = &a->sums[a->touched[t]];

			for (unsigned int k = 0; k < CPM_STEPS; k++)
				s->uj[k] += s->w.uj[k];
			s->ticks += s->w.ticks;
			s->own += s->w.ticks * s->w.ticks / (double)(win->to - win->from);
			if (win->known)
				add_residual(s);
			s->touched = false;
			memset(&s->w, 0, sizeof(s->w));
		}
	}
	return ret;
}

static void conclude(const struct sums *s, unsigned int steps, struct cpm_group *g)
{
	uint64_t batches = batches_of(s->windows);
	double sum = 0, squares = 0;

	memset(g, 0, sizeof(*g));
	g->uj = s->uj[steps - 1];
	g->readings = s->windows;
	g->purity = s->ticks > 0 ? s->own / s->ticks : 0;
	for (uint64_t i = 0; i < batches; i++)
		sum += s->batch[i];
	for (uint64_t i = 0; i < batches; i++)
		squares += pow(s->batch[i] - sum / batches, 2);
	if (batches <= 1)
		return;
	g->dof = batches - 1;
	g->variance = squares * batches / g->dof;
}

/*
 * What further refinement would still move. The steps shrink like a geometric series, by a factor that depends on how
 * windows are filled: it is that of all groups together, because a step of a group whose power is that of its neighbours may be
 * next to nothing by chance, and the one after it not.
 */
static void conclude_bias(const struct sums *sums, unsigned int steps, uint32_t n_groups, struct cpm_group *out)
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
static void find_shares(struct levels *l)
{
	for (uint32_t v = 0; v < l->v->n_vectors; v++) {
		struct cpm_sharing s;

		if (l->v->base[v] != v)
			continue;
		s = cpm_share(l->v, l->d, v, 0);
		for (uint32_t m = l->v->first[v]; m < l->v->first[v + 1]; m++)
			l->members_share[m] = cpm_share_of(l->v, l->d, &s, l->v->members[m]);
	}
}

static int add_up(struct levels *l, const struct cpm_level *levels)
{
	int ret = 0;

	l->adding = calloc(l->n + 1, sizeof(*l->adding));
	l->members_share = calloc(l->v->first[l->v->n_vectors] + 1ul, sizeof(*l->members_share));
	if (!l->adding || !l->members_share)
		ret = -ENOMEM;
	for (size_t i = 0; i < l->n && !ret; i++) {
		struct adding *a = &l->adding[i];

		a->level = &levels[i];
		a->sums = calloc(levels[i].n_groups + 1, sizeof(*a->sums));
		a->counted = calloc(levels[i].n_groups + 1, sizeof(*a->counted));
		a->touched = calloc(levels[i].n_groups + 1, sizeof(*a->touched));
		ret = a->sums && a->counted && a->touched ? 0 : -ENOMEM;
	}
	if (!ret && !l->whole)
		find_shares(l);
	for (int pass = 0; pass < 2 && !ret; pass++) {
		struct cpm_windows c;

		ret = cpm_windows_begin(l->d, &c);
		while (!ret && cpm_windows_next(&c)) {
			if (pass)
				ret = sum_window(l, &c.w);
			else if (c.w.known)
				count_window(l, &c);
		}
		cpm_windows_end(&c);
	}
	for (size_t i = 0; l->adding && i < l->n; i++) {
		for (uint32_t g = 0; g < levels[i].n_groups && !ret; g++)
			conclude(&l->adding[i].sums[g], l->d->steps, &levels[i].out[g]);
		if (!ret)
			conclude_bias(l->adding[i].sums, l->d->steps, levels[i].n_groups, levels[i].out);
		free(l->adding[i].sums);
		free(l->adding[i].counted);
		free(l->adding[i].touched);
	}
	free(l->members_share);
	free(l->shares);
	free(l->adding);
	return ret;
}

int cpm_levels(const struct cpm_vectors *v, const struct cpm_domain *d, const struct cpm_level *levels, size_t n)
{
	return add_up(&(struct levels){ .v = v, .d = d, .n = n }, levels);
}

int cpm_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
	       uint32_t silent_group, uint32_t n_groups, struct cpm_group *out)
{
	return cpm_levels(v, d, &(struct cpm_level){ group_of, silent_group, n_groups, out }, 1);
}

int cpm_vector_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
		      uint32_t n_groups, struct cpm_group *out)
{
	const struct cpm_level level = { .group_of = group_of, .n_groups = n_groups, .out = out };

	return add_up(&(struct levels){ .v = v, .d = d, .whole = true, .n = 1 }, &level);
}
