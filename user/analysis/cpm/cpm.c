// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The constant power model, see cpm.h: shares the energy of windows between updates of a counter
 * (cpm_windows.c) among the sets that ran in them.
 *
 * Equal shares are ALEA's model (equation 2: the power of a sample is the meter's over the interval
 * around it). In a window in which one block ends and another begins they take from the hungrier
 * and give to the other: for blocks of length L and an update period U about U / 3L of the
 * difference of their powers. So the shares are refined: each step divides a window's energy in
 * proportion to the powers of the step before. For blocks that fill most of their windows one step
 * removes nearly all of the bias. A set that nearly fills some windows has the power that it has
 * there. A set that is only a part of most of its windows, or in few windows, has no power of its
 * own: a mixed window says little about it but noise. It weighs as much as its neighbours in the
 * window, or as all such sets together where no neighbour has a power (cpm_divide.h). A program of
 * nothing but short blocks keeps equal shares. Two steps and no more: the limit is the maximum
 * likelihood estimate of a mixture, which fits noise.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/cpm/cpm_divide.h"

/* A set has a power of its own from this share of its windows on, in at least so many. */
#define REFINE_PURITY	0.5
#define REFINE_WINDOWS	8
/* Or from this part of as many windows on, which then alone give its power. */
#define MAJOR_PART	0.75

struct cpm_division cpm_divide(const struct cpm_domain *d, const struct cpm_window *w,
			       unsigned int k)
{
	struct cpm_division div;

	div.total = div.seen = 0;
	div.equal = 1.0 / (double)(w->to - w->from);
	for (size_t p = 0; p < w->n_parts; p++) {
		uint32_t v = w->parts[p].vector;

		cpm_division_add(&div, cpm_kind(d, v), w->parts[p].count, d->weights[k][v]);
	}
	cpm_division_end(&div);
	return div;
}

double cpm_tick_share(const struct cpm_domain *d, const struct cpm_division *div, unsigned int k,
		      uint32_t vector)
{
	return cpm_division_share(div, cpm_kind(d, vector), d->weights[k][vector]);
}

/*
 * Sums over windows for a set in a step. @own and @windows: does it fill enough of enough windows?
 * @mixed, @mixed_ticks: of windows with busy sets; @major, @major_ticks, @major_windows: of windows
 * that it nearly fills.
 */
struct step_sum {
	double uj, ticks;
	double own;
	uint64_t windows;
	double mixed, mixed_ticks;
	double major, major_ticks;
	uint64_t major_windows;
};

/*
 * Result of a step for a set: its ticks; whether it has a power of its own in the next step, and
 * from windows that it nearly fills (both by the first step); its power there, and in windows with
 * busy sets.
 */
struct found {
	double ticks;
	bool own, has_major;
	double mixed, mixed_ticks;
	double major, major_ticks;
};

static bool step_sum_is_pure(const struct step_sum *s)
{
	return s->windows >= REFINE_WINDOWS && s->own >= REFINE_PURITY * s->ticks;
}

static void step_add_window(const struct cpm_domain *d, const struct cpm_window *w, unsigned int k,
			    const bool *busy, struct step_sum *sums)
{
	struct cpm_division div = cpm_divide(d, w, k);
	bool mixed = false;

	for (size_t p = 0; busy && p < w->n_parts; p++)
		mixed |= busy[w->parts[p].vector];
	for (size_t p = 0; p < w->n_parts; p++) {
		struct step_sum *s = &sums[w->parts[p].vector];
		double n = w->parts[p].count,
			uj = w->uj * n * cpm_tick_share(d, &div, k, w->parts[p].vector);

		s->uj += uj;
		s->ticks += n;
		if (mixed) {
			s->mixed += uj;
			s->mixed_ticks += n;
		}
		if (!k) {
			s->own += n * n / (double)(w->to - w->from);
			s->windows++;
		}
		if (n >= MAJOR_PART * (double)(w->to - w->from)) {
			s->major += uj;
			s->major_ticks += n;
			s->major_windows++;
		}
	}
}

/*
 * One step: the energy of each known window, divided by the weights of step @k, gives the mean
 * power of each set (ALEA, equation 2 or 9). The first step also finds which sets have a power of
 * their own. @busy: NULL if windows with busy sets need not be separate
 */
static int powers_step(struct cpm_domain *d, unsigned int k, const bool *busy, struct found *found)
{
	struct step_sum *sums = calloc(d->n_vectors + 1ul, sizeof(*sums));
	double all_uj = 0, all_ticks = 0, least = INFINITY;
	struct cpm_windows c;
	int ret = cpm_windows_begin(d, &c);

	ret = sums ? ret : -ENOMEM;
	while (!ret && cpm_windows_next(&c)) {
		if (!c.w.known)
			continue;
		step_add_window(d, &c.w, k, busy, sums);
		all_uj += c.w.uj;
		all_ticks += c.w.to - c.w.from;
		least = fmin(least, c.w.uj / (double)(c.w.to - c.w.from));
	}
	cpm_windows_end(&c);
	/*
	 * An idle machine draws no more than a busy one: if it measured as more, it was not idle.
	 */
	d->idle_uj = d->idle_uj > 0 ? fmin(d->idle_uj, least) : 0;
	/* a set in no known window gets the mean of all */
	for (uint32_t v = 0; v < d->n_vectors && !ret; v++) {
		d->uj_per_tick[v] = sums[v].ticks > 0 ? sums[v].uj / sums[v].ticks : all_ticks > 0 ?
				    all_uj / all_ticks : 0;
		found[v].ticks = sums[v].ticks;
		found[v].mixed = sums[v].mixed;
		found[v].mixed_ticks = sums[v].mixed_ticks;
		found[v].major = sums[v].major;
		found[v].major_ticks = sums[v].major_ticks;
		if (!k) {
			found[v].has_major = sums[v].major_windows >= REFINE_WINDOWS;
			found[v].own = found[v].has_major || step_sum_is_pure(&sums[v]);
		}
	}
	free(sums);
	return ret;
}

/* Has it a busy block, that is, of the target? */
static bool vector_is_busy(const struct cpm_vectors *v, uint32_t vector)
{
	if (cpm_is_other_set(v, vector))
		return cpm_other_set_size(v, vector);
	for (uint32_t m = v->first[vector]; m < v->first[vector + 1]; m++)
		if (v->kinds[v->members[m]] == CPM_BUSY)
			return true;
	return false;
}

static unsigned int cpm_vector_class(const struct cpm_vectors *v, uint32_t vector)
{
	uint32_t n = v->first[vector + 1] - v->first[vector];

	if (cpm_is_other_set(v, vector))
		n = cpm_other_set_size(v, vector);
	else if (!vector_is_busy(v, vector))
		n = 0;
	return n < CPM_CLASSES ? n : CPM_CLASSES - 1;
}

/*
 * Bystanders, and the recorder alone, are many different things under one name. A window that they
 * fill is theirs; but its power says nothing about the short times in between, for which they also
 * have to weigh something.
 */
static bool vector_is_mixed(const struct cpm_vectors *v, const bool *busy, uint32_t vector)
{
	return !busy[vector] && v->first[vector + 1] > v->first[vector];
}

/*
 * Idle times that are short against the windows are in few ticks and hardly in the windows'
 * energies: idle power must be known from elsewhere then.
 */
static bool idle_is_brief(const struct cpm_domain *d, const struct found *found, uint32_t vector)
{
	return vector == CPM_UNSAMPLED && !found[vector].own && d->idle_uj > 0;
}

static void vectors_set_kinds(const struct cpm_vectors *v, struct cpm_domain *d, const bool *busy,
			      const struct found *found)
{
	for (uint32_t i = 0; i < d->n_vectors; i++)
		d->kinds[i] =
			cpm_vector_class(v, i) |
			(v->base[i] != i ? CPM_ON_TOP :
			 found[i].own || vector_is_mixed(v, busy, i) || idle_is_brief(d, found, i) ?
					   0 :
					   CPM_POOLED);
}

/* The best known power of a set next to others, microjoule a tick, and the @ticks it is from. */
static double vector_known_power(const struct cpm_vectors *v, const struct cpm_domain *d,
				 const bool *busy, const struct found *found, uint32_t vector,
				 double *ticks)
{
	const struct found *f = &found[vector];

	if (vector_is_mixed(v, busy, vector) && f->mixed_ticks > 0) {
		*ticks = f->mixed_ticks;
		return f->mixed / f->mixed_ticks;
	}
	*ticks = f->ticks;
	if (idle_is_brief(d, found, vector))
		return d->idle_uj;
	return f->has_major ? f->major / f->major_ticks : d->uj_per_tick[vector];
}

/*
 * The powers so far as weights of the next step. A set with marginal blocks weighs as the set
 * without, plus a power that all marginal blocks have in common.
 */
static void weights_from_powers(const struct cpm_vectors *v, const struct cpm_domain *d,
				const bool *busy, const struct found *found, double *weights)
{
	double uj[CPM_CLASSES] = { 0 }, n[CPM_CLASSES] = { 0 }, extra = 0, extra_ticks = 0,
		ticks, power;

	for (uint32_t i = 0; i < d->n_vectors; i++) {
		if (!(d->kinds[i] & CPM_POOLED))
			continue;
		uj[cpm_vector_class(v, i)] += d->uj_per_tick[i] * found[i].ticks;
		n[cpm_vector_class(v, i)] += found[i].ticks;
	}
	for (uint32_t i = 0; i < d->n_vectors; i++) {
		unsigned int pool = cpm_vector_class(v, i);

		weights[i] = d->kinds[i] & CPM_POOLED && n[pool] > 0 ? uj[pool] / n[pool] :
			     vector_known_power(v, d, busy, found, i, &ticks);
	}
	for (uint32_t i = 0; i < d->n_vectors; i++) {
		if (v->base[i] == i)
			continue;
		power = vector_known_power(v, d, busy, found, i, &ticks);
		extra += (power - weights[v->base[i]]) * ticks;
		extra_ticks += ticks;
	}
	for (uint32_t i = 0; i < d->n_vectors; i++)
		if (v->base[i] != i)
			weights[i] = weights[v->base[i]] + fmax(extra, 0) / fmax(extra_ticks, 1);
}

/* For each block the set of it alone; UINT32_MAX if there is none. */
static int vectors_find_alone(const struct cpm_vectors *v, struct cpm_domain *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->first[v->n_vectors]; i++)
		if (v->members[i] >= n)
			n = v->members[i] + 1;
	d->alone = malloc((n + 1ul) * sizeof(*d->alone));
	if (!d->alone)
		return -ENOMEM;
	memset(d->alone, 0xff, (n + 1ul) * sizeof(*d->alone));
	d->n_alone = n;
	for (uint32_t i = 0; i < v->n_vectors; i++)
		if (v->first[i + 1] - v->first[i] == 1)
			d->alone[v->members[v->first[i]]] = i;
	return 0;
}

static int vectors_solve_powers(const struct cpm_vectors *v, struct cpm_domain *d, bool *busy,
				struct found *found)
{
	int ret = vectors_find_alone(v, d);
	bool many = false;

	for (uint32_t k = 0; k < d->n_vectors && !ret; k++) {
		d->weights[0][k] = 1;
		busy[k] = vector_is_busy(v, k);
		many |= vector_is_mixed(v, busy, k);
	}
	if (!ret)
		ret = powers_step(d, 0, many ? busy : NULL, found);
	if (!ret)
		vectors_set_kinds(v, d, busy, found);
	d->unsampled_known = found[CPM_UNSAMPLED].own || idle_is_brief(d, found, CPM_UNSAMPLED);
	for (unsigned int i = 1; i < d->steps && !ret; i++) {
		weights_from_powers(v, d, busy, found, d->weights[i]);
		ret = powers_step(d, i, many ? busy : NULL, found);
	}
	return ret;
}

int cpm_solve_windows(const struct cpm_vectors *v, unsigned int steps, double idle_uj,
		      struct cpm_domain *d)
{
	struct found *found = NULL;
	bool *busy = NULL;
	int ret = -ENOMEM;

	d->n_vectors = v->n_vectors;
	d->idle_uj = idle_uj;
	d->steps = steps < 1 ? 1 : steps > CPM_STEPS ? CPM_STEPS : steps;
	found = calloc(d->n_vectors, sizeof(*found));
	busy = calloc(d->n_vectors, sizeof(*busy));
	d->uj_per_tick = calloc(d->n_vectors, sizeof(double));
	d->kinds = calloc(d->n_vectors, sizeof(*d->kinds));
	if (!found || !busy || !d->uj_per_tick || !d->kinds)
		goto out;
	for (unsigned int i = 0; i < d->steps; i++) {
		d->weights[i] = calloc(d->n_vectors, sizeof(double));
		if (!d->weights[i])
			goto out;
	}
	ret = vectors_solve_powers(v, d, busy, found);
out:
	free(found);
	free(busy);
	if (ret)
		cpm_domain_free(d);
	return ret;
}

int cpm_solve(const struct cpm_vectors *v, const struct cpm_reading *readings, size_t n,
	      uint64_t end_tick, unsigned int steps, const struct cpm_irq *irq,
	      const struct cpm_edges *edges,
	      double idle_uj, struct cpm_domain *d)
{
	struct cpm_making *m;
	struct cpm_events e;
	int ret = cpm_making_new(v, readings, n, end_tick, irq, edges, d, &m);

	if (ret)
		return ret;
	ret = cpm_events_begin(v, &e);
	while (!ret && cpm_events_next(&e))
		ret = cpm_making_event(m, e.tick, e.count, e.vector);
	cpm_events_end(&e);
	ret = cpm_making_end(m, ret);
	if (!ret)
		return cpm_solve_windows(v, steps, idle_uj, d);
	cpm_domain_free(d);
	return ret;
}

void cpm_domain_free(struct cpm_domain *d)
{
	free(d->windows);
	for (unsigned int i = 0; i < CPM_STEPS; i++)
		free(d->weights[i]);
	free(d->kinds);
	free(d->uj_per_tick);
	free(d->alone);
	memset(d, 0, sizeof(*d));
}

/* The power of a set so far; equal shares are no power. */
static double vector_power(const struct cpm_domain *d, uint32_t vector)
{
	return d->steps > 1 ? d->weights[d->steps - 1][vector] : d->uj_per_tick[vector];
}

/* The weight of a block among those of the same tick: its power alone, if known. */
static double block_power_alone(const struct cpm_domain *d, uint32_t block)
{
	uint32_t alone = block < d->n_alone ? d->alone[block] : UINT32_MAX;

	return alone == UINT32_MAX ? 0 : vector_power(d, alone);
}

struct cpm_sharing cpm_share_among(const struct cpm_vectors *v, const struct cpm_domain *d,
				   uint32_t vector, const uint32_t *members, uint32_t n, double uj)
{
	struct cpm_sharing s = { .n = n, .part = 1, .known = true };
	double base = vector_power(d, v->base[vector]);

	for (uint32_t m = 0; m < s.n; m++) {
		if (v->kinds[members[m]] == CPM_MARGINAL)
			continue;
		s.others++;
		s.all += block_power_alone(d, members[m]);
		s.known &= block_power_alone(d, members[m]) > 0;
	}
	/* such a set has at least two blocks */
	if (s.others == 1 && s.known && cpm_is_other_set(v, vector) && v->base[vector] != vector)
		base = s.all;
	/* alone, and the power without it is unknown: all of it */
	if (s.others < s.n && !s.others && !d->unsampled_known)
		s.part = 0;
	else if (s.others < s.n)
		s.part = uj > base && uj > 0 ? base / uj : 1;
	return s;
}

struct cpm_sharing cpm_share(const struct cpm_vectors *v, const struct cpm_domain *d,
			     uint32_t vector, double uj)
{
	return cpm_share_among(v, d, vector, v->members + v->first[vector],
			       v->first[vector + 1] - v->first[vector], uj);
}

double cpm_share_of(const struct cpm_vectors *v, const struct cpm_domain *d,
		    const struct cpm_sharing *s, uint32_t block)
{
	if (v->kinds[block] == CPM_MARGINAL)
		return (1 - s->part) / (s->n - s->others);
	return s->known ? s->part * block_power_alone(d, block) / s->all : s->part / s->others;
}
