// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See change_points.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include "analysis/stats/change_points.h"

#define PRICE		3.0	/* times ln(n) variances */
#define LEAST_NOISE	1e-4	/* of the largest value: a clock's accuracy */
#define LEAST_LENGTH	3

/* A value at a change is a mean of both levels: it goes to the nearer one. */
static void values_sharpen(double *v, size_t n, double least)
{
	for (size_t i = 1; i + 1 < n; i++) {
		double before = v[i] - v[i - 1], after = v[i + 1] - v[i], tell = least * fabs(v[i]);

		if (fabs(before) > tell && fabs(after) > tell && (before > 0) == (after > 0))
			v[i] = fabs(before) < fabs(after) ? v[i - 1] : v[i + 1];
	}
}

/* Known values, smoothed. Return: how many are known */
static size_t values_smooth(const double *v, size_t n, double *out)
{
	double *raw = out + n, last = NAN, near[CHANGE_POINTS_SMOOTH];
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		known += !isnan(v[i]);
	for (size_t i = 0; i < n && isnan(last); i++)
		last = v[i];
	for (size_t i = 0; i < n; i++) {
		last = isnan(v[i]) ? last : v[i];
		raw[i] = last;
	}
	for (size_t i = 0; i < n; i++) {
		size_t half = CHANGE_POINTS_SMOOTH / 2, k = 0;

		half = half > i ? i : half;
		half = half > n - 1 - i ? n - 1 - i : half;
		for (size_t j = i - half; j <= i + half; j++)
			near[k++] = raw[j];
		gsl_sort(near, 1, k);
		out[i] = gsl_stats_median_from_sorted_data(near, 1, k);
	}
	return known;
}

/* Standard deviation of a single value. @spare: room for n */
static double values_noise(const double *raw, size_t n, double *spare)
{
	double most = 0, sd = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(raw[i]));
	for (size_t i = 0; i + 1 < n; i++)
		spare[i] = fabs(raw[i + 1] - raw[i]);
	if (n > 1) {
		gsl_sort(spare, 1, n - 1);
		sd = 1.4826 * gsl_stats_median_from_sorted_data(spare, 1, n - 1) / M_SQRT2;
	}
	sd = fmax(sd, LEAST_NOISE * most);
	return sd > 0 ? sd : 1;
}

/* Prefix sums of the values and of their squares. */
struct sums {
	double *one, *two;
};

static double range_cost(const struct sums *s, size_t from, size_t to)
{
	double sum = s->one[to] - s->one[from];

	return s->two[to] - s->two[from] - sum * sum / (to - from);
}

/* The best division up to each place, and its last change. Hopeless places are dropped. */
static int range_partition(const struct sums *s, size_t n, double price, size_t *before)
{
	double *best = malloc((n + 1) * sizeof(*best));
	size_t *places = malloc((n + 1) * sizeof(*places)), n_places = 0;

	if (!best || !places) {
		free(best);
		free(places);
		return -ENOMEM;
	}
	best[0] = -price;
	for (size_t to = 1; to <= n; to++) {
		size_t kept = 0;

		if (to >= LEAST_LENGTH && (to == LEAST_LENGTH || to >= 2 * LEAST_LENGTH))
			places[n_places++] = to - LEAST_LENGTH;
		best[to] = INFINITY;
		before[to] = 0;
		for (size_t i = 0; i < n_places; i++) {
			double all = best[places[i]] + range_cost(s, places[i], to) + price;

			if (all < best[to]) {
				best[to] = all;
				before[to] = places[i];
			}
		}
		for (size_t i = 0; i < n_places; i++)
			if (best[places[i]] + range_cost(s, places[i], to) <= best[to])
				places[kept++] = places[i];
		n_places = isinf(best[to]) ? n_places : kept;
	}
	free(best);
	free(places);
	return 0;
}

static double step_mean(const struct sums *s, const struct step *p)
{
	return (s->one[p->end] - s->one[p->begin]) / (p->end - p->begin);
}

/* Merge neighbours that hardly differ, the most alike first. */
static size_t steps_merge(const struct sums *s, double least, struct step *steps, size_t n)
{
	for (;;) {
		double nearest = least;
		size_t at = 0;

		for (size_t i = 1; i < n; i++) {
			double a = steps[i - 1].mean, b = steps[i].mean;
			double off = fabs(a - b) / fmax(fmax(fabs(a), fabs(b)), 1e-300);

			if (off < nearest) {
				nearest = off;
				at = i;
			}
		}
		if (!at)
			return n;
		steps[at - 1].end = steps[at].end;
		steps[at - 1].mean = step_mean(s, &steps[at - 1]);
		memmove(&steps[at], &steps[at + 1], (n - at - 1) * sizeof(*steps));
		n--;
	}
}

static int steps_collect(const struct sums *s, size_t n, const size_t *before, double least,
			 struct step **out, size_t *n_steps)
{
	struct step *steps;
	size_t count = 0;

	for (size_t to = n; to; to = before[to])
		count++;
	steps = calloc(count, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	*n_steps = count;
	for (size_t to = n; to; to = before[to]) {
		struct step *p = &steps[--count];

		*p = (struct step){ before[to], to, 0 };
		p->mean = step_mean(s, p);
	}
	*n_steps = steps_merge(s, least, steps, *n_steps);
	*out = steps;
	return 0;
}

int change_points_find(const double *v, size_t n, double least, struct step **steps,
		       size_t *n_steps)
{
	double *values = malloc((2 * n + 1) * sizeof(*values));
	struct sums s = { calloc(n + 1, sizeof(double)), calloc(n + 1, sizeof(double)) };
	size_t *before = calloc(n + 1, sizeof(*before));
	double sd, middle;
	int ret = -ENOMEM;

	*steps = NULL;
	*n_steps = 0;
	if (!values || !s.one || !s.two || !before)
		goto out;
	ret = -ENODATA;
	if (!n || !values_smooth(v, n, values))
		goto out;
	values_sharpen(values, n, least);
	sd = values_noise(values + n, n, s.one);
	/* differences of squares of large numbers are inaccurate */
	middle = values[n / 2];
	s.one[0] = s.two[0] = 0;
	for (size_t i = 0; i < n; i++) {
		double off = values[i] - middle;

		s.one[i + 1] = s.one[i] + off;
		s.two[i + 1] = s.two[i] + off * off;
	}
	ret = range_partition(&s, n, PRICE * log(n > 1 ? n : 2) * sd * sd, before);
	if (ret)
		goto out;
	for (size_t i = 0; i <= n; i++)
		s.one[i] += i * middle;
	ret = steps_collect(&s, n, before, least, steps, n_steps);
out:
	free(values);
	free(s.one);
	free(s.two);
	free(before);
	return ret;
}
