// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The constant power model, see cpm.h: windows between the moves of a counter,
 * and how their energy is shared by what ran in them.
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
 * the sum of both is right. Batches of few windows are not independent of the next therefore: the covariance of neighbours belongs to
 * the variance of the sum, as long as there are enough batches to tell it, and leaves a part of it.
 */
#define LONG_BATCH	8	/* windows; between batches of so many it does not matter */
#define CORRELATED	10	/* batches */
#define LEAST_VARIANCE	0.05

static int by_vector(const void *a, const void *b)
{
	const struct cpm_part *x = a, *y = b;

	return (x->vector > y->vector) - (x->vector < y->vector);
}

/*
 * Windows from the readings; those at both ends are known only in part. Readings without
 * a tick between them are one: what was spent between them belongs to the ticks before,
 * because none of its own was seen.
 */
static size_t make_windows(const struct cpm_reading *r, size_t n, uint64_t end_tick,
			   struct cpm_window *w)
{
	size_t out = 0, last = 0, kept = 0;

	if (r[0].tick)
		w[out++] = (struct cpm_window){ 0, r[0].tick, 0, false, false, 0 };
	while (last + 1 < n && r[last + 1].tick == r[last].tick)
		last++;
	for (size_t i = last + 1; i < n; i++) {
		if (i + 1 < n && r[i + 1].tick == r[i].tick)
			continue;
		w[out++] = (struct cpm_window){ r[last].tick, r[i].tick,
						(double)(r[i].uj - r[last].uj), true, false, 0 };
		last = i;
		kept++;
	}
	/*
	 * At the first reading the counter had last moved some time before, so the first
	 * window's energy has a part from before the recording.
	 */
	for (size_t i = 0; i < out && kept > 1; i++) {
		if (w[i].known) {
			w[i].known = false;
			break;
		}
	}
	if (end_tick > r[n - 1].tick)
		w[out++] = (struct cpm_window){ r[n - 1].tick, end_tick, 0, false, false, 0 };
	return out;
}

/* How far the windows have been gone through, which follow each other. */
struct progress {
	size_t event, untaken;
};

/* Ticks that [a, b) and [from, to) have in common. */
static uint64_t common(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	uint64_t low = a > from ? a : from, high = b < to ? b : to;

	return high > low ? high - low : 0;
}

/* The parts of window @w. */
static void add_parts(const struct cpm_vectors *v, struct cpm_domain *d, struct cpm_window *w,
		      struct progress *at)
{
	size_t begin = d->n_parts, out;
	uint64_t silent = w->to - w->from;

	w->first_part = begin;
	for (; at->event < v->n_events && v->events[at->event].tick < w->to; at->event++) {
		const struct cpm_event *e = &v->events[at->event];
		uint64_t end = e->tick + e->more + 1, n = common(e->tick, end, w->from, w->to);

		if (n)
			d->parts[d->n_parts++] = (struct cpm_part){ e->vector, n };
		silent -= n;
		if (end > w->to)
			break;	/* the next window has the rest */
	}
	if (d->n_parts > begin) {
		qsort(d->parts + begin, d->n_parts - begin, sizeof(*d->parts), by_vector);
		out = begin;
		for (size_t i = begin + 1; i < d->n_parts; i++) {
			if (d->parts[i].vector == d->parts[out].vector)
				d->parts[out].count += d->parts[i].count;
			else
				d->parts[++out] = d->parts[i];
		}
		d->n_parts = out + 1;
	}
	if (silent)
		d->parts[d->n_parts++] = (struct cpm_part){ CPM_SILENT, silent };
}

/* Ticks of a window that idle CPUs did not take, all of them together. */
static double untaken(const struct cpm_vectors *v, const struct cpm_window *w, struct progress *at)
{
	double sum = 0;

	for (; at->untaken < v->n_untaken && v->untaken[at->untaken].tick < w->to; at->untaken++) {
		const struct cpm_untaken *u = &v->untaken[at->untaken];
		uint64_t end = at->untaken + 1 < v->n_untaken ? u[1].tick : UINT64_MAX;

		sum += (double)u->cpus * common(u->tick, end, w->from, w->to);
		if (end > w->to)
			break;
	}
	return sum;
}

/* The energy of a window less what interrupts spent in it; its parts are the last ones. */
static void take_out(const struct cpm_vectors *v, const struct cpm_domain *d, struct cpm_window *w,
		     const struct cpm_irq *irq, struct progress *at)
{
	double busy = 0, all = (double)(w->to - w->from) * irq->n_cpus - untaken(v, w, at);

	for (size_t p = w->first_part; p < d->n_parts; p++) {
		uint32_t base = v->base[d->parts[p].vector];

		busy += (double)d->parts[p].count * (v->first[base + 1] - v->first[base]);
	}
	w->uj = fmax(w->uj - irq->busy_uj * busy - irq->idle_uj * fmax(all - busy, 0), 0);
}

static size_t parts_end(const struct cpm_domain *d, size_t window)
{
	return window + 1 < d->n_windows ? d->windows[window + 1].first_part : d->n_parts;
}

struct cpm_division cpm_divide(const struct cpm_domain *d, size_t window, const double *weights)
{
	const struct cpm_window *w = &d->windows[window];
	struct cpm_division div = { weights, 0, 1.0 / (double)(w->to - w->from) };

	for (size_t p = w->first_part; p < parts_end(d, window); p++)
		div.total += d->parts[p].count * weights[d->parts[p].vector];
	return div;
}

double cpm_tick_share(const struct cpm_division *div, uint32_t vector)
{
	return div->total > 0 ? div->weights[vector] / div->total : div->equal;
}

/*
 * One step: the energy of each known window, divided by @weights, gives the mean
 * power of each vector (ALEA, equation 2 or 9).
 */
static void step(const struct cpm_domain *d, const double *weights, double *power, double *ticks)
{
	double all_uj = 0, all_ticks = 0;

	memset(power, 0, d->n_vectors * sizeof(*power));
	memset(ticks, 0, d->n_vectors * sizeof(*ticks));
	for (size_t w = 0; w < d->n_windows; w++) {
		struct cpm_division div;

		if (!d->windows[w].known)
			continue;
		div = cpm_divide(d, w, weights);
		for (size_t p = d->windows[w].first_part; p < parts_end(d, w); p++) {
			uint32_t v = d->parts[p].vector;

			power[v] += d->windows[w].uj * d->parts[p].count * cpm_tick_share(&div, v);
			ticks[v] += d->parts[p].count;
		}
		all_uj += d->windows[w].uj;
		all_ticks += d->windows[w].to - d->windows[w].from;
	}
	/* Who was in no known window gets the mean of all. */
	for (uint32_t v = 0; v < d->n_vectors; v++)
		power[v] = ticks[v] > 0 ? power[v] / ticks[v] :
			   all_ticks > 0 ? all_uj / all_ticks : 0;
}

/* Which vectors fill enough of enough windows to be divided by. */
static int find_pure(const struct cpm_domain *d, bool *pure)
{
	struct {
		double ticks, own;
		uint64_t windows;
	} *sums = calloc(d->n_vectors, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	for (size_t w = 0; w < d->n_windows; w++) {
		for (size_t p = d->windows[w].first_part; p < parts_end(d, w); p++) {
			double n = d->parts[p].count;
			uint32_t v = d->parts[p].vector;

			if (!d->windows[w].known)
				continue;
			sums[v].ticks += n;
			sums[v].own += n * n / (double)(d->windows[w].to - d->windows[w].from);
			sums[v].windows++;
		}
	}
	for (uint32_t v = 0; v < d->n_vectors; v++)
		pure[v] = sums[v].windows >= REFINE_WINDOWS &&
			  sums[v].own >= REFINE_PURITY * sums[v].ticks;
	free(sums);
	return 0;
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

int cpm_solve(const struct cpm_vectors *v, const struct cpm_reading *readings, size_t n,
	      uint64_t end_tick, unsigned int steps, const struct cpm_irq *irq, struct cpm_domain *d)
{
	double *ticks = NULL;
	struct progress at = { 0 };
	bool *pure = NULL;

	memset(d, 0, sizeof(*d));
	if (n < 2 || readings[0].tick == readings[n - 1].tick)
		return -ENODATA;
	d->n_vectors = v->n_vectors;
	d->steps = steps < 1 ? 1 : steps > CPM_STEPS ? CPM_STEPS : steps;
	d->windows = calloc(n + 2, sizeof(*d->windows));
	/* each window may cut an event in two, and have silent ticks */
	d->parts = calloc(v->n_events + 2 * (n + 2), sizeof(*d->parts));
	ticks = calloc(d->n_vectors, sizeof(*ticks));
	pure = calloc(d->n_vectors, sizeof(*pure));
	d->uj_per_tick = calloc(d->n_vectors, sizeof(double));
	if (!d->windows || !d->parts || !ticks || !pure || !d->uj_per_tick)
		goto err_free;
	for (unsigned int i = 0; i < d->steps; i++) {
		d->weights[i] = calloc(d->n_vectors, sizeof(double));
		if (!d->weights[i])
			goto err_free;
	}
	d->n_windows = make_windows(readings, n, end_tick, d->windows);
	for (size_t w = 0; w < d->n_windows; w++) {
		add_parts(v, d, &d->windows[w], &at);
		if (irq)
			take_out(v, d, &d->windows[w], irq, &at);
		d->known += d->windows[w].known;
	}
	if (find_pure(d, pure) || find_alone(v, d))
		goto err_free;
	d->silent_known = pure[CPM_SILENT];
	for (uint32_t k = 0; k < d->n_vectors; k++)
		d->weights[0][k] = 1;
	for (unsigned int i = 0; i < d->steps; i++) {
		step(d, d->weights[i], d->uj_per_tick, ticks);
		if (i + 1 < d->steps)
			next_weights(v, d, pure, ticks, d->weights[i + 1]);
	}
	free(ticks);
	free(pure);
	return 0;

err_free:
	free(ticks);
	free(pure);
	cpm_domain_free(d);
	return -ENOMEM;
}

void cpm_domain_free(struct cpm_domain *d)
{
	free(d->windows);
	free(d->parts);
	for (unsigned int i = 0; i < CPM_STEPS; i++)
		free(d->weights[i]);
	free(d->uj_per_tick);
	free(d->alone);
	memset(d, 0, sizeof(*d));
}

/* What is summed up for a group. */
struct sums {
	double uj[CPM_STEPS];	/* with the shares of each step */
	double ticks, own;	/* for the purity */
	uint64_t windows;	/* known ones it has a part in */
	uint64_t seen;		/* of these, so far in the second pass */
	double batch[BATCHES];
	/* of the window at hand */
	double w_uj[CPM_STEPS], w_ticks, w_residual;
	bool touched;
};

struct adding {
	const struct cpm_vectors *v;
	const struct cpm_domain *d;
	const uint32_t *group_of;
	uint32_t silent_group;
	bool whole;		/* groups are of vectors, not of blocks */
	struct sums *sums;
	uint32_t *touched;
	size_t n_touched;
};

static void touch(struct adding *a, uint32_t group, double part, const double *uj, double ticks,
		  double residual)
{
	struct sums *s = &a->sums[group];

	if (!s->touched) {
		s->touched = true;
		a->touched[a->n_touched++] = group;
	}
	for (unsigned int i = 0; i < a->d->steps; i++)
		s->w_uj[i] += part * uj[i];
	s->w_ticks += part * ticks;
	s->w_residual += part * residual;
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

/* The energy @uj of @count ticks of vector @v to its blocks. */
static void divide_vector(struct adding *a, uint32_t v, const double *uj, double count,
			  double residual)
{
	const uint32_t *members = a->v->members + a->v->first[v];
	struct cpm_sharing s = cpm_share(a->v, a->d, v, uj[a->d->steps - 1] / count);

	if (!s.others)
		touch(a, a->silent_group, s.part, uj, s.n ? 0 : count, residual);
	for (uint32_t m = 0; m < s.n; m++) {
		double of = cpm_share_of(a->v, a->d, &s, members[m]);

		touch(a, a->group_of[members[m]], of, uj, of > 0 ? count / (of * s.n) : 0, residual);
	}
}

/* Divide a window by groups. */
static void divide(struct adding *a, size_t w)
{
	const struct cpm_domain *d = a->d;
	const struct cpm_window *win = &d->windows[w];
	struct cpm_division div[CPM_STEPS];
	bool by_shares = win->known && !win->fitted;

	a->n_touched = 0;
	for (unsigned int i = 0; i < d->steps; i++)
		div[i] = cpm_divide(d, w, d->weights[i]);
	for (size_t p = win->first_part; p < parts_end(d, w); p++) {
		uint32_t v = d->parts[p].vector;
		double count = d->parts[p].count, uj[CPM_STEPS], residual;
		double expected = count * d->uj_per_tick[v];

		for (unsigned int i = 0; i < d->steps; i++)
			uj[i] = by_shares ? win->uj * count * cpm_tick_share(&div[i], v) : expected;
		residual = by_shares ? uj[d->steps - 1] - expected : 0;
		if (a->whole)
			touch(a, a->group_of[v], 1, uj, count, residual);
		else
			divide_vector(a, v, uj, count, residual);
	}
}

/* First pass: energies, purities, windows. Second: residuals into batches. */
static void add_window(struct adding *a, size_t w, bool second)
{
	const struct cpm_window *win = &a->d->windows[w];

	divide(a, w);
	for (size_t i = 0; i < a->n_touched; i++) {
		struct sums *s = &a->sums[a->touched[i]];

		if (second && win->known) {
			uint64_t batches = s->windows < BATCHES ? s->windows : BATCHES;

			s->batch[s->seen++ * batches / s->windows] += s->w_residual;
		} else if (!second) {
			for (unsigned int k = 0; k < a->d->steps; k++)
				s->uj[k] += s->w_uj[k];
			s->ticks += s->w_ticks;
			s->own += s->w_ticks * s->w_ticks / (double)(win->to - win->from);
			s->windows += win->known;
		}
		s->touched = false;
		memset(s->w_uj, 0, sizeof(s->w_uj));
		s->w_ticks = 0;
		s->w_residual = 0;
	}
}

static void conclude(const struct sums *s, unsigned int steps, struct cpm_group *g)
{
	uint64_t batches = s->windows < BATCHES ? s->windows : BATCHES;
	double sum = 0, squares = 0, pairs = 0;

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
	if (batches < CORRELATED || s->windows > batches * LONG_BATCH)
		return;
	for (uint64_t i = 0; i + 1 < batches; i++)
		pairs += (s->batch[i] - sum / batches) * (s->batch[i + 1] - sum / batches);
	/* of independent ones one in ten seems to go so much against its neighbour */
	if (pairs >= -1.28 * squares / sqrt(batches))
		return;
	g->variance = fmax(g->variance + 2 * pairs * batches / g->dof, LEAST_VARIANCE * g->variance);
	/* two sums are told from the same batches: it is less well known */
	g->dof /= 2;
}

/*
 * What further refinement would still move. The steps shrink like a geometric series, by a factor that depends on how
 * windows are filled: it is that of all groups together, because a step of a group whose power is that of its neighbours may be
 * next to nothing by chance, and the one after it not.
 */
static void conclude_bias(const struct sums *sums, unsigned int steps, uint32_t n_groups, struct cpm_group *out)
{
	double first = 0, last = 0, rest = 1;

	if (steps < 3)
		return;
	for (uint32_t g = 0; g < n_groups; g++) {
		first += fabs(sums[g].uj[1] - sums[g].uj[0]);
		last += fabs(sums[g].uj[2] - sums[g].uj[1]);
	}
	if (first > 0 && last < first)
		rest = last / (first - last);
	for (uint32_t g = 0; g < n_groups; g++)
		out[g].bias_uj = fmin(rest * fabs(sums[g].uj[2] - sums[g].uj[1]), fmax(out[g].uj, 0));
}

static int add_up(struct adding *a, uint32_t n_groups, struct cpm_group *out)
{
	int ret = -ENOMEM;

	a->sums = calloc(n_groups + 1, sizeof(*a->sums));
	a->touched = calloc(n_groups + 1, sizeof(*a->touched));
	if (!a->sums || !a->touched)
		goto out;
	for (size_t w = 0; w < a->d->n_windows; w++)
		add_window(a, w, false);
	for (size_t w = 0; w < a->d->n_windows; w++)
		add_window(a, w, true);
	for (uint32_t g = 0; g < n_groups; g++)
		conclude(&a->sums[g], a->d->steps, &out[g]);
	conclude_bias(a->sums, a->d->steps, n_groups, out);
	ret = 0;
out:
	free(a->sums);
	free(a->touched);
	return ret;
}

int cpm_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
	       uint32_t silent_group, uint32_t n_groups, struct cpm_group *out)
{
	struct adding a = { .v = v, .d = d, .group_of = group_of, .silent_group = silent_group };

	return add_up(&a, n_groups, out);
}

int cpm_vector_groups(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
		      uint32_t n_groups, struct cpm_group *out)
{
	struct adding a = { .v = v, .d = d, .group_of = group_of, .whole = true };

	return add_up(&a, n_groups, out);
}
