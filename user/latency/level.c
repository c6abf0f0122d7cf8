// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a loop takes at a frequency, and of how many additions it has to be. See latency.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <gsl/gsl_statistics_double.h>
#include "latency/latency.h"

/* A first look at how long a loop has to be: so many additions, and so many loops. */
#define FIRST_ADDS	1000
#define LOOK_LOOPS	1000
#define ADDS_LEAST	64
#define ADDS_MOST	1000000

/* A loop is with interrupts off, and takes no more than this at the lowest frequency. */
#define LOOP_MOST_NS	300000.0

/* It takes some microseconds of what the clock can tell at least, whatever its noise. */
#define LOOP_LEAST_NS	1000.0

/*
 * So many times what passes between two loops, where an engine leaves such a time: a change that
 * falls there is in none.
 */
#define LOOP_GAPS	10.0

/*
 * And so many times what the bookkeeping of one takes, which is in its time as well: it takes not
 * quite the same before and after a request.
 */
#define LOOP_BOOKS	5.0

/* Levels are to be so much further apart than they have to be. */
#define ROOM		1.3

/* Calibrations of a frequency, until one is of use. */
#define LEVEL_TRIES	3

/* What a change is given before a calibration: some times what the driver says, at least this. */
#define SETTLE_NS	20000000ull
#define SETTLE_TIMES	10

static uint64_t level_settle_ns(const struct latency *l)
{
	uint64_t ns = SETTLE_TIMES * l->policy->latency_ns;

	/*
	 * a driver that says that it does not know says 2^32 - 1; who gives a change more time
	 * means it
	 */
	if (ns < SETTLE_NS || l->policy->latency_ns >= 1000000000)
		ns = SETTLE_NS;
	return ns > l->opt->timeout_ns ? ns : l->opt->timeout_ns;
}

/* What usually passes from a loop's end to the next one's start. @room: for as many numbers */
static double level_usual_gap(const struct latency_loops *s, double *room)
{
	if (s->n < 2)
		return 0;
	for (size_t i = 0; i + 1 < s->n; i++)
		room[i] = s->list[i + 1].start_ns - s->list[i].start_ns - s->list[i].loop_ns;
	return fmax(gsl_stats_median(room, 1, s->n - 1), 0);
}

/* One of them that went back is no number of a loop. */
#define COUNTED_MOST	(UINT32_MAX / 2)

/*
 * Mean over all loops, of which one alone may hold few steps of a counter. NAN: they were not
 * counted, or it is stuck.
 */
static double level_mean_counted_khz(const struct latency_loops *s)
{
	double cycles = 0, reference = 0;

	for (size_t i = 0; i < s->n && s->counted; i++) {
		const struct latency_counted *c = &s->counted[i];

		if (c->cycles > COUNTED_MOST || c->reference > COUNTED_MOST)
			continue;
		cycles += c->cycles;
		reference += c->reference;
	}
	return cycles > 0 && reference > 0 ? s->reference_khz * cycles / reference : NAN;
}

static int level_measure_once(struct latency *l, struct latency_frequency *f, uint32_t adds,
			      uint32_t loops, struct kjoule_error *err)
{
	struct latency_loops s = { 0 };
	double *ns;
	int ret = l->engine->calibrate(l, adds, f->khz, loops, level_settle_ns(l), &s, err);

	if (ret)
		return ret;
	if (s.irqs_off_ns > l->irqs_off_ns)
		l->irqs_off_ns = s.irqs_off_ns;
	ns = calloc(s.n + 1, sizeof(*ns));
	for (size_t i = 0; i < s.n && ns; i++)
		ns[i] = s.list[i].loop_ns;
	ret = ns ? transition_level(ns, s.n, 0, &f->level) : -ENOMEM;
	if (ns)
		f->gap_ns = level_usual_gap(&s, ns);
	f->counted_khz = level_mean_counted_khz(&s);
	snprintf(f->counter, sizeof(f->counter), "%s", s.counter);
	free(ns);
	latency_loops_free(&s);
	/* a time that is none, of a clock that steps back, is a disturbance like any other */
	return ret == -ENOMEM ? kjoule_fail(err, ENOMEM, "no memory") : ret ? -ENODATA : 0;
}

/* What came in between once, a frequency that was granted late included, may not do so again. */
int latency_level(struct latency *l, struct latency_frequency *f, uint32_t adds, uint32_t loops,
		  struct kjoule_error *err)
{
	int ret = -ENODATA;

	for (int i = 0; i < LEVEL_TRIES && ret == -ENODATA && !latency_is_ended(); i++)
		ret = level_measure_once(l, f, adds, loops, err);
	f->why = ret == -ENODATA ? "too many of its loops were disturbed" : NULL;
	return ret == -ENODATA ? 0 : ret;
}

/* The two that are nearest to each other, of those between which a change is to be measured. */
static void level_nearest_pair(const struct latency *l, size_t *a, size_t *b)
{
	double least = INFINITY;

	for (size_t i = 0; i < l->n_pairs; i++) {
		double x = l->f[l->pairs[i].from].khz, y = l->f[l->pairs[i].to].khz;
		double off = fabs(log(x / y));

		if (off < least) {
			least = off;
			*a = l->pairs[i].from;
			*b = l->pairs[i].to;
		}
	}
}

/*
 * Loops of @adds at the two frequencies that are nearest to each other, and one of next to none at
 * the first of them.
 */
struct looks {
	double adds;
	struct latency_frequency x, y;
	struct latency_frequency least;	/* may have no level: so short a loop is easily disturbed */
};

/*
 * As few as can be: a change between the two frequencies can be followed, and what is no addition
 * is a small part. The noise of a loop is taken to be the same however long it is, and looked at
 * again.
 */
static double level_adds_wanted(const struct latency *l, const struct looks *k)
{
	const struct transition_level *x = &k->x.level, *y = &k->y.level;
	double part = fabs(x->median_ns - y->median_ns) / k->adds, want;
	double longest = fmax(x->median_ns, y->median_ns) / k->adds;
	double least = k->least.why ? 0 : k->least.level.median_ns;
	double an_add = (x->median_ns - least) / fmax(k->adds - ADDS_LEAST, 1);
	double books = fmax(least - ADDS_LEAST * an_add, 0);
	double x_khz = k->x.khz, y_khz = k->y.khz;

	/* what the frequencies' ratio makes of a loop, where a few loops do not show it */
	part = fmax(part, 0.5 * longest * fabs(1 - x_khz / y_khz));
	want = ROOM * TRANSITION_FOLLOW * fmax(x->sd_ns, y->sd_ns) / part;
	want = fmax(want,
		    fmax(LOOP_LEAST_NS, (double)l->opt->timeout_ns / LATENCY_LOOPS_MOST) / longest);
	want = fmax(want, LOOP_GAPS * k->x.gap_ns / (x->median_ns / k->adds));
	/* fewer additions do not separate bookkeeping from noise */
	if (!k->least.why && an_add > 0 && k->adds >= 2 * ADDS_LEAST)
		want = fmax(want, LOOP_BOOKS * books / an_add);
	want = fmin(want, LOOP_MOST_NS / longest * fmin(l->f[0].khz,
							l->f[l->n_f - 1].khz) / fmin(x_khz, y_khz));
	return fmin(fmax(want, ADDS_LEAST), ADDS_MOST);
}

static int level_measure_loops(struct latency *l, struct latency_frequency *f, uint32_t adds,
			       struct kjoule_error *err)
{
	int ret = latency_level(l, f, adds, LOOK_LOOPS, err);

	if (!ret && f->why && !latency_is_ended())
		ret = kjoule_fail(err, EAGAIN, "a loop at %.6g MHz: %s; see what else runs on CPU %u",
				  f->khz / 1e3, f->why, l->opt->cpu);
	return ret;
}

int latency_choose_adds(struct latency *l, struct kjoule_error *err)
{
	struct looks k = { .adds = FIRST_ADDS };
	size_t a = 0, b = 1;
	int ret;

	if (l->opt->adds) {
		l->adds = l->opt->adds;
		return 0;
	}
	level_nearest_pair(l, &a, &b);
	k.x.khz = k.least.khz = l->f[a].khz;
	k.y.khz = l->f[b].khz;
	ret = latency_level(l, &k.least, ADDS_LEAST, LOOK_LOOPS, err);
	for (int pass = 0; pass < 3 && !ret; pass++) {
		double want;

		ret = level_measure_loops(l, &k.x, k.adds, err);
		if (!ret)
			ret = level_measure_loops(l, &k.y, k.adds, err);
		if (ret || latency_is_ended())
			break;
		want = level_adds_wanted(l, &k);
		if (fabs(want - k.adds) < 0.1 * k.adds)
			break;
		k.adds = want;
	}
	l->adds = k.adds;
	return ret;
}
