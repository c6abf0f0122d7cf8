// SPDX-License-Identifier: GPL-2.0-or-later
/* The repeats of one change: medians, intervals, and whether there are enough; see transition.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include "analysis/stats/outliers.h"
#include "analysis/transition/transition.h"

static const struct value unknown = { NAN, NAN, NAN };

/* Room for a value of each try. */
struct work {
	const struct transition_try *tries;
	enum transition_verdict *verdicts;	/* of each, after it was compared with the others */
	size_t n;
	double *values, *sd, *room;
	struct outlier *outliers;
};

struct value transition_median(const double *values, size_t n, double *room)
{
	struct value v = unknown;
	size_t r = 0;

	if (!n)
		return v;
	for (size_t i = 0; i < n; i++)
		room[i] = values[i];
	gsl_sort(room, 1, n);
	v.v = gsl_stats_median_from_sorted_data(room, 1, n);
	while (r < n / 2 && 2 * gsl_cdf_binomial_P(r, 0.5, n) <= 0.05)
		r++;
	if (r) {
		v.lo = room[r - 1];
		v.hi = room[n - r];
	}
	return v;
}

static double try_loop_before(const struct transition_try *t)
{
	return t->first.from_ns;
}

static double try_longest_loop(const struct transition_try *t)
{
	return fmax(t->first.from_ns, t->last.to_ns);
}

/*
 * The change's place in a loop spreads pauses evenly over the difference of the loop's two times.
 */
static double try_pause_sd(const struct transition_try *t)
{
	return fabs(t->first.from_ns - t->last.to_ns) / sqrt(12);
}

/* A cluster of pauses has such a part of all, or is one by chance. */
#define OTHER_SET_LEAST	0.5

/*
 * The cluster of most of @n values: the median of those in the span of @width that has the most, of
 * several the lowest. Disturbances make pauses longer, each differently, so that they are no
 * cluster even if they are more than half. NAN: there is none.
 */
static double values_densest_median(const struct work *w, size_t n, size_t of, double width)
{
	size_t begin = 0, most = 0;

	gsl_sort(w->values, 1, n);
	for (size_t i = 0, end = 0; i < n; i++) {
		while (end < n && w->values[end] - w->values[i] <= width)
			end++;
		if (end - i > most) {
			most = end - i;
			begin = i;
		}
	}
	return n && most >= OTHER_SET_LEAST * of ?
	       gsl_stats_median_from_sorted_data(w->values + begin, 1, most) : NAN;
}

/* Known pauses of the tries that are good so far. Return: how many */
static size_t pauses_gather(const struct work *w)
{
	size_t good = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->verdicts[i] || isnan(w->tries[i].pause_ns))
			continue;
		w->values[good] = w->tries[i].pause_ns;
		w->sd[good++] = try_pause_sd(&w->tries[i]);
	}
	return good;
}

/* Pauses next to the change at the same time in each try: all changes are misplaced. */
static void tries_judge_places(const struct work *w, double width)
{
	size_t good = 0, n = 0;

	for (size_t i = 0; i < w->n; i++) {
		good += !w->verdicts[i];
		if (!w->verdicts[i] && !isnan(w->tries[i].adjacent_ns))
			w->values[n++] = w->tries[i].adjacent_ns;
	}
	if (isnan(values_densest_median(w, n, good, width)))
		return;
	for (size_t i = 0; i < w->n; i++)
		if (!w->verdicts[i])
			w->verdicts[i] = TRANSITION_DISTURBED;
}

/* An unknown one may be the usual one, if that is not longer than possible. */
static bool pause_may_be_usual(const struct transition_try *t, double usual)
{
	double most = TRANSITION_GAP_MOST * try_longest_loop(t);

	return isnan(t->pause_ns) ? usual <= t->pause_most_ns + most :
	       fabs(t->pause_ns - usual) <= most;
}

/* Tries with a pause unlike the others' are not good. */
static int tries_judge_pauses(const struct work *w)
{
	double width = 0, usual;
	size_t good, at = 0;
	int ret;

	for (size_t i = 0; i < w->n; i++) {
		w->verdicts[i] = w->tries[i].verdict;
		if (!w->verdicts[i])
			width = fmax(width, TRANSITION_GAP_MOST * try_longest_loop(&w->tries[i]));
	}
	good = pauses_gather(w);
	usual = values_densest_median(w, good, good, width);
	/* without a known one there is nothing to compare */
	for (size_t i = 0; i < w->n && good; i++)
		if (!w->verdicts[i] && !pause_may_be_usual(&w->tries[i], usual))
			w->verdicts[i] = TRANSITION_DISTURBED;
	ret = outliers_find(w->values, w->sd, pauses_gather(w), w->outliers, NULL);
	if (ret)
		return ret;
	for (size_t i = 0; i < w->n; i++)
		if (!w->verdicts[i] && !isnan(w->tries[i].pause_ns) && w->outliers[at++].differs)
			w->verdicts[i] = TRANSITION_DISTURBED;
	tries_judge_places(w, width);
	return 0;
}

/* So many tries of all have the same number of changes, or it differs from try to try. */
#define ALIKE_LEAST	0.8
#define ALIKE_TRIES	5

/*
 * An intermediate level in a few tries only is none of the chip's: another guest on the host, or
 * the firmware, slowed the CPU down for a while.
 */
static void tries_judge_changes(const struct work *w)
{
	size_t good = 0, usual = 0, most = 0;

	for (size_t i = 0; i < w->n; i++) {
		size_t alike = 0;

		if (w->verdicts[i])
			continue;
		good++;
		for (size_t k = 0; k < w->n; k++)
			alike += !w->verdicts[k] && w->tries[k].changes == w->tries[i].changes;
		if (alike > most) {
			most = alike;
			usual = w->tries[i].changes;
		}
	}
	if (good < ALIKE_TRIES || most < ALIKE_LEAST * good)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (!w->verdicts[i] && w->tries[i].changes != usual)
			w->verdicts[i] = TRANSITION_DISTURBED;
}

/*
 * A stop of the CPU within the request's call is in the latency, and in no loop: tries whose call
 * took longer or less than the others', and by more than the uncertainty of a try.
 */
static int tries_judge_requests(const struct work *w)
{
	size_t good = 0, at = 0;
	int ret;

	for (size_t i = 0; i < w->n; i++) {
		if (w->verdicts[i])
			continue;
		w->values[good] = w->tries[i].request_ns;
		w->sd[good++] = 0;
	}
	ret = outliers_find(w->values, w->sd, good, w->outliers, NULL);
	for (size_t i = 0; i < w->n && !ret; i++) {
		if (w->verdicts[i])
			continue;
		if (w->outliers[at].differs && fabs(w->outliers[at].difference) >
		    TRANSITION_OFF_MOST * try_longest_loop(&w->tries[i]))
			w->verdicts[i] = TRANSITION_DISTURBED;
		at++;
	}
	return ret;
}

enum figure {
	FIRST,
	LAST,
	SETTLED,
	PAUSE,
	CHANGES,
	PHASE_X,
	PHASE_Y,
};

static double try_figure(const struct transition_try *t, enum figure f)
{
	double phase = 2 * M_PI * fmod(t->first.loop_start_ns / try_loop_before(t), 1);

	switch (f) {
	case FIRST:
		return t->first.ns;
	case LAST:
		return t->last.ns;
	case SETTLED:
		return t->settled_ns;
	case PAUSE:
		return t->pause_ns;
	case CHANGES:
		return t->changes;
	case PHASE_X:
		return cos(phase);
	default:
		return sin(phase);
	}
}

/* Of the good tries that have it. Return: how many */
static size_t figures_gather(const struct work *w, enum figure f)
{
	size_t good = 0;

	for (size_t i = 0; i < w->n; i++) {
		double value = try_figure(&w->tries[i], f);

		if (!w->verdicts[i] && !isnan(value))
			w->values[good++] = value;
	}
	return good;
}

/* A median with an additional error @more, not below 0. */
static struct value figure_median(const struct work *w, enum figure f, double more)
{
	struct value v = transition_median(w->values, figures_gather(w, f), w->room);

	if (isnan(v.v))
		return unknown;
	return (struct value){ fmax(v.v, 0), fmax(v.lo - more, 0), fmax(v.hi + more, 0) };
}

static void pair_set_figures(const struct work *w, struct transition_pair *p)
{
	const struct transition_try *good;
	double x, y, loop;
	size_t n = 0;

	while (w->verdicts[n])
		n++;
	good = &w->tries[n];
	n = figures_gather(w, PHASE_X);
	x = gsl_stats_mean(w->values, 1, n);
	figures_gather(w, PHASE_Y);
	y = gsl_stats_mean(w->values, 1, n);
	p->phase = fmin(hypot(x, y), 1);
	loop = p->phase / 2 * try_longest_loop(good);
	p->first_ns = figure_median(w, FIRST, loop);
	p->last_ns = figure_median(w, LAST, loop);
	p->settled_ns = figure_median(w, SETTLED, loop);
	p->pause_ns =
		figure_median(w, PAUSE,
			      p->phase / 2 * fabs(good->first.from_ns - good->last.to_ns));
	figures_gather(w, CHANGES);
	gsl_sort(w->values, 1, n);
	p->changes = gsl_stats_median_from_sorted_data(w->values, 1, n);
}

static void pair_count_verdicts(const struct work *w, struct transition_pair *p)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		p->verdicts[w->verdicts[i]]++;
	for (enum transition_verdict v = TRANSITION_GOOD + 1; v < TRANSITION_VERDICTS; v++)
		if (p->verdicts[v] > p->verdicts[p->why] || !p->why)
			p->why = v;
	for (size_t i = 0; i < w->n; i++)
		if (w->verdicts[i] == TRANSITION_ELSEWHERE && isfinite(w->tries[i].speed_ratio))
			w->values[n++] = w->tries[i].speed_ratio;
	if (p->why == TRANSITION_ELSEWHERE)
		p->speed_ratio = transition_median(w->values, n, w->room).v;
	n = 0;
	for (size_t i = 0; i < w->n; i++)
		if (isfinite(w->tries[i].request_ns))
			w->values[n++] = w->tries[i].request_ns;
	p->request_ns = transition_median(w->values, n, w->room);
}

static enum transition_state pair_state(const struct transition_pair *p, size_t repeats)
{
	size_t good = p->verdicts[TRANSITION_GOOD];

	if (good >= repeats)
		return TRANSITION_KNOWN;
	if (p->verdicts[TRANSITION_TOO_NEAR] || (!good && p->tries >= TRANSITION_HOPELESS))
		return TRANSITION_FAILED;
	return p->tries < TRANSITION_TRIES_MOST / TRANSITION_REPEATS * repeats ? TRANSITION_MORE :
	       TRANSITION_FAILED;
}

int transition_pair(const struct transition_try *tries, size_t n, size_t repeats,
		    enum transition_verdict *verdicts, struct transition_pair *p)
{
	struct work w = { .tries = tries, .n = n };
	int ret = -ENOMEM;

	*p = (struct transition_pair){ .tries = n, .first_ns = unknown, .last_ns = unknown,
				       .settled_ns = unknown, .pause_ns = unknown,
				       .request_ns = unknown, .changes = NAN, .speed_ratio = NAN,
				       .phase = NAN };
	w.verdicts = calloc(n + 1, sizeof(*w.verdicts));
	w.values = calloc(n + 1, sizeof(*w.values));
	w.sd = calloc(n + 1, sizeof(*w.sd));
	w.room = calloc(n + 1, sizeof(*w.room));
	w.outliers = calloc(n + 1, sizeof(*w.outliers));
	if (w.verdicts && w.values && w.sd && w.room && w.outliers)
		ret = tries_judge_pauses(&w);
	if (!ret)
		tries_judge_changes(&w);
	if (!ret)
		ret = tries_judge_requests(&w);
	if (!ret) {
		pair_count_verdicts(&w, p);
		p->state = pair_state(p, repeats ? repeats : TRANSITION_REPEATS);
		if (p->state != TRANSITION_FAILED && p->verdicts[TRANSITION_GOOD])
			pair_set_figures(&w, p);
		if (p->state != TRANSITION_FAILED)
			p->why = TRANSITION_GOOD;
		for (size_t i = 0; i < n && verdicts; i++)
			verdicts[i] = w.verdicts[i];
	}
	free(w.verdicts);
	free(w.values);
	free(w.sd);
	free(w.room);
	free(w.outliers);
	return ret;
}
