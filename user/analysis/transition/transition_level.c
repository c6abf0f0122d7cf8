// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time of a loop at one frequency, and whether two frequencies can be separated; see transition.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include "analysis/transition/transition.h"

/* Outliers, in standard deviations of a normal distribution with the same loops_spread(). */
#define FAR		6.0

/* From the middle half of a normal distribution to its standard deviation. */
#define IQR_SIGMA	1.349

/* And from its median to the ninth tenth. */
#define TENTH_SIGMA	1.2816

/* Batches of consecutive loops for the uncertainty of the mean. */
#define BATCHES		32

/* Lower bound of a loop's relative spread. */
#define STEADIEST	5e-4

/* With more outliers the frequency was not constant. */
#define FAR_MOST	0.1

/* Return: is each a time? */
static bool loops_are_times(const double *ns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(ns[i]) || !(ns[i] > 0))
			return false;
	return true;
}

/*
 * Robust: the middle half's, at least the clock's. Loops of a few lengths only, most of them the
 * same, may have next to none in their middle half: so the tails' as well, but only the narrower
 * one. Interruptions make loops longer, and another frequency has its loops on one side; noise is
 * on both.
 */
static double loops_spread(const double *sorted, size_t n, double resolution_ns)
{
	double median = gsl_stats_median_from_sorted_data(sorted, 1, n);
	double iqr = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.75) -
		     gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.25);
	double tail = fmin(median - gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.1),
			   gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.9) - median);

	return fmax(fmax(iqr / IQR_SIGMA, tail / TENTH_SIGMA),
		    fmax(resolution_ns / sqrt(6), STEADIEST * median));
}

/* Of the means of batches of @kept. */
static double batches_mean_sd(const double *kept, size_t n, double mean)
{
	double squares = 0;

	for (size_t b = 0; b < BATCHES; b++) {
		size_t begin = b * n / BATCHES, end = (b + 1) * n / BATCHES;

		squares += pow(gsl_stats_mean(kept + begin, 1, end - begin) - mean, 2);
	}
	return sqrt(squares / (BATCHES - 1) / BATCHES);
}

static int level_calibrate(const double *loop_ns, size_t n, double resolution_ns, double *room,
			   struct transition_level *l)
{
	double half;

	memcpy(room, loop_ns, n * sizeof(*room));
	gsl_sort(room, 1, n);
	l->median_ns = gsl_stats_median_from_sorted_data(room, 1, n);
	l->sd_ns = loops_spread(room, n, resolution_ns);
	for (size_t i = 0; i < n; i++)
		if (fabs(loop_ns[i] - l->median_ns) <= FAR * l->sd_ns)
			room[l->n++] = loop_ns[i];
	l->left_out = n - l->n;
	if (l->n < TRANSITION_LEVEL_LEAST || l->left_out > FAR_MOST * n)
		return -ENODATA;
	l->mean_ns.v = gsl_stats_mean(room, 1, l->n);
	l->dof = BATCHES - 1;
	l->mean_sd = fmax(batches_mean_sd(room, l->n, l->mean_ns.v), l->sd_ns / sqrt(l->n));
	half = interval_t(l->dof) * l->mean_sd;
	l->mean_ns.lo = l->mean_ns.v - half;
	l->mean_ns.hi = l->mean_ns.v + half;
	return 0;
}

int transition_level(const double *loop_ns, size_t n, double resolution_ns,
		     struct transition_level *l)
{
	double *room;
	int ret;

	*l = (struct transition_level){ .mean_ns = { NAN, NAN, NAN }, .mean_sd = NAN,
					.median_ns = NAN, .sd_ns = NAN };
	if (!loops_are_times(loop_ns, n) || !isfinite(resolution_ns) || resolution_ns < 0)
		return -EINVAL;
	if (n < TRANSITION_LEVEL_LEAST)
		return -ENODATA;
	room = calloc(n, sizeof(*room));
	if (!room)
		return -ENOMEM;
	ret = level_calibrate(loop_ns, n, resolution_ns, room, l);
	free(room);
	return ret;
}

struct transition_difference transition_welch(double a, double sd_a, double dof_a, double b,
					      double sd_b, double dof_b)
{
	double v_a = sd_a * sd_a, v_b = sd_b * sd_b, sd = sqrt(v_a + v_b), half;
	struct transition_difference d = { .ns.v = a - b, .dof = NAN };

	if (!isfinite(a) || !isfinite(b) || !isfinite(sd)) {
		d.ns = (struct value){ NAN, NAN, NAN };
		d.t = NAN;
		return d;
	}
	/* two exact figures */
	if (!(sd > 0)) {
		d.ns.lo = d.ns.hi = d.ns.v;
		d.t = a == b ? 0 : copysign(INFINITY, a - b);
		d.dof = dof_a + dof_b;
		d.differ = a != b;
		return d;
	}
	d.t = (a - b) / sd;
	d.dof = (v_a + v_b) * (v_a + v_b) / (v_a * v_a / dof_a + v_b * v_b / dof_b);
	half = interval_t(d.dof) * sd;
	d.ns.lo = d.ns.v - half;
	d.ns.hi = d.ns.v + half;
	d.differ = fabs(d.ns.v) > half;
	return d;
}

enum transition_apart transition_levels_apart(const struct transition_level *a,
					      const struct transition_level *b,
					      struct transition_difference *d)
{
	struct transition_difference own;

	if (!d)
		d = &own;
	*d = transition_welch(a->mean_ns.v, a->mean_sd, a->dof, b->mean_ns.v, b->mean_sd, b->dof);
	if (!d->differ)
		return TRANSITION_SAME;
	return fabs(d->ns.v) < TRANSITION_FOLLOW * fmax(a->sd_ns, b->sd_ns) ? TRANSITION_TWINS :
	       TRANSITION_APART;
}

double transition_near(double level, double other)
{
	return fmin(TRANSITION_NEAR * level, TRANSITION_NEAR_STEP * fabs(level - other));
}
