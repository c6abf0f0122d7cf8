// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Do delays rise with the target frequency, in a line or in steps, or not at all? See transition.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include "analysis/stats/outliers.h"
#include "analysis/transition/transition.h"

/* From half of a 95 % interval to a standard deviation, and of a median against a mean's. */
#define HALF_SIGMAS	1.959964
#define MEDIAN_SD	1.2533
#define MAD_SIGMA	1.4826

/* Good data are so far from a fit in one of 1,000 cases. */
#define NO_FIT		1e-3

static const struct value unknown = { NAN, NAN, NAN };

/* All pairs of one target frequency. */
struct target {
	uint32_t khz;
	double ns, sd;
};

/* The best division of the first targets into levels. */
struct cut {
	double chi2;
	size_t begin;	/* of the last level */
};

struct work {
	const struct transition_point **points;
	size_t n_points;
	struct target *targets;
	size_t n;
	double *x, *y, *w, *sd;
	struct outlier *outliers;
	struct cut *cuts;	/* [levels * (n + 1) + targets] */
};

static int point_by_target(const void *a, const void *b)
{
	const struct transition_point *p = *(const struct transition_point * const *)a;
	const struct transition_point *q = *(const struct transition_point * const *)b;

	return p->to_khz < q->to_khz ? -1 : p->to_khz > q->to_khz;
}

static void points_select(struct work *w, const struct transition_point *points, size_t n, bool up)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(points[i].ns.v) &&
		    (up ? points[i].to_khz > points[i].from_khz : points[i].to_khz <
		     points[i].from_khz))
			w->points[w->n_points++] = &points[i];
	qsort(w->points, w->n_points, sizeof(*w->points), point_by_target);
}

static double point_sd(const struct transition_point *p)
{
	double half = (p->ns.hi - p->ns.lo) / 2;

	return hypot(isfinite(half) ? half / HALF_SIGMAS : 0, TRANSITION_EXACT * fabs(p->ns.v));
}

/* @n points of one target. Return: 0 or -ENOMEM */
static int trend_add_target(struct work *w, const struct transition_point **points, size_t n,
			    size_t *far)
{
	struct target *t = &w->targets[w->n++];
	double measured;
	int ret;

	for (size_t i = 0; i < n; i++) {
		w->y[i] = points[i]->ns.v;
		w->sd[i] = point_sd(points[i]);
	}
	ret = outliers_find(w->y, w->sd, n, w->outliers, &t->ns);
	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++) {
		*far += w->outliers[i].differs;
		w->y[i] = fabs(w->outliers[i].difference);
	}
	gsl_sort(w->y, 1, n);
	gsl_sort(w->sd, 1, n);
	measured = gsl_stats_median_from_sorted_data(w->sd, 1, n);
	t->khz = points[0]->to_khz;
	t->sd = fmax(measured, MAD_SIGMA * gsl_stats_median_from_sorted_data(w->y, 1, n)) *
		(n > 2 ? MEDIAN_SD : 1) / sqrt(n);
	/* a common error of all */
	t->sd = fmax(t->sd, TRANSITION_EXACT * fabs(t->ns));
	if (!(t->sd > 0))
		t->sd = 1e-3;
	return 0;
}

static int trend_make_targets(struct work *w, size_t *far)
{
	for (size_t i = 0, next; i < w->n_points; i = next) {
		int ret;

		for (next = i; next < w->n_points && w->points[next]->to_khz ==
		     w->points[i]->to_khz;)
			next++;
		ret = trend_add_target(w, w->points + i, next - i, far);
		if (ret)
			return ret;
	}
	for (size_t i = 0; i < w->n; i++) {
		w->x[i] = w->targets[i].khz;
		w->y[i] = w->targets[i].ns;
		w->w[i] = 1 / w->targets[i].sd / w->targets[i].sd;
	}
	return 0;
}

/* Weighted mean of some targets, and residual. */
static double targets_level(const struct work *w, size_t begin, size_t end, double *chi2)
{
	double mean = gsl_stats_wmean(w->w + begin, 1, w->y + begin, 1, end - begin);

	*chi2 = 0;
	for (size_t i = begin; i < end; i++)
		*chi2 += w->w[i] * (w->y[i] - mean) * (w->y[i] - mean);
	return mean;
}

static size_t targets_most_levels(const struct work *w)
{
	return w->n / 2 < TRANSITION_LEVELS_MOST ? w->n / 2 : TRANSITION_LEVELS_MOST;
}

static struct cut *levels_cut_at(const struct work *w, size_t levels, size_t n)
{
	return &w->cuts[levels * (w->n + 1) + n];
}

static void targets_divide(const struct work *w)
{
	for (size_t n = 1; n <= w->n; n++)
		targets_level(w, 0, n, &levels_cut_at(w, 1, n)->chi2);
	for (size_t m = 2; m <= targets_most_levels(w); m++)
		for (size_t n = m; n <= w->n; n++) {
			struct cut *best = levels_cut_at(w, m, n);

			best->chi2 = INFINITY;
			for (size_t begin = m - 1; begin < n; begin++) {
				double chi2;

				targets_level(w, begin, n, &chi2);
				chi2 += levels_cut_at(w, m - 1, begin)->chi2;
				if (chi2 < best->chi2)
					*best = (struct cut){ chi2, begin };
			}
		}
}

/* The best fit of each shape so far. */
struct fit {
	double chi2;
	size_t dof, levels;
};

/* Another one, with @k parameters, of which @fitted are not places. */
static void shape_offer(const struct work *w, struct transition_trend *t, struct fit *fits,
			enum transition_shape shape, double chi2, size_t k, size_t fitted,
			size_t levels)
{
	double bic = chi2 + k * log(w->n);

	if (!(bic < t->bic[shape]))
		return;
	t->bic[shape] = bic;
	fits[shape] = (struct fit){ chi2, w->n - fitted, levels };
}

/*
 * A shape contained in another is better if it is nearly as good. Return: the shape;
 * TRANSITION_UNKNOWN: a line and levels fit equally well
 */
static enum transition_shape shape_choose(const double *bic)
{
	enum transition_shape stepped = bic[TRANSITION_JUMP] < bic[TRANSITION_STEPS] +
					TRANSITION_BETTER ? TRANSITION_JUMP :
					TRANSITION_STEPS;

	if (bic[TRANSITION_FLAT] < fmin(bic[TRANSITION_LINEAR], bic[stepped]) + TRANSITION_BETTER)
		return TRANSITION_FLAT;
	if (fabs(bic[TRANSITION_LINEAR] - bic[stepped]) < TRANSITION_BETTER)
		return TRANSITION_UNKNOWN;
	return bic[TRANSITION_LINEAR] < bic[stepped] ? TRANSITION_LINEAR : stepped;
}

static void trend_set_levels(const struct work *w, struct transition_trend *t, size_t levels)
{
	size_t end = w->n;

	t->levels = levels;
	while (levels) {
		size_t begin = levels_cut_at(w, levels, end)->begin;
		double chi2;

		levels--;
		t->level_ns[levels] = targets_level(w, begin, end, &chi2);
		t->level_khz[levels] = w->targets[begin].khz;
		end = begin;
	}
}

static void trend_fit_line(const struct work *w, struct transition_trend *t, double *chi2)
{
	double c0, c1, cov00, cov01, cov11, half;

	gsl_fit_wlinear(w->x, 1, w->w, 1, w->y, 1, w->n, &c0, &c1, &cov00, &cov01, &cov11, chi2);
	/* at least the uncertainty by the targets' distance from the line */
	half = interval_t(w->n - 2) * sqrt(cov11 * fmax(*chi2 / (w->n - 2), 1));
	t->slope = (struct value){ c1, c1 - half, c1 + half };
}

static bool targets_are_narrow(const struct work *w, double mean)
{
	for (size_t i = 0; i < w->n; i++)
		if (fabs(w->y[i] - mean) > TRANSITION_FLAT_WITHIN * mean)
			return false;
	return true;
}

static void trend_choose_shape(const struct work *w, struct transition_trend *t)
{
	bool narrow = targets_are_narrow(w, t->mean_ns.v);
	struct fit fits[TRANSITION_SHAPES] = { 0 };
	double chi2, next = INFINITY;

	targets_divide(w);
	shape_offer(w, t, fits, TRANSITION_FLAT, levels_cut_at(w, 1, w->n)->chi2, 1, 1, 1);
	trend_fit_line(w, t, &chi2);
	shape_offer(w, t, fits, TRANSITION_LINEAR, chi2, 2, 2, 0);
	for (size_t m = 2; m <= targets_most_levels(w); m++)
		shape_offer(w, t, fits, m > 2 ? TRANSITION_STEPS : TRANSITION_JUMP,
			    levels_cut_at(w, m, w->n)->chi2, 3 * m - 2, 2 * m - 1, m);
	t->shape = narrow ? TRANSITION_FLAT : shape_choose(t->bic);
	if (t->shape == TRANSITION_UNKNOWN)
		return;
	for (enum transition_shape s = TRANSITION_FLAT; s < TRANSITION_OTHER; s++)
		if (s != t->shape)
			next = fmin(next, t->bic[s]);
	t->better = next - t->bic[t->shape];
	t->chi2 = fits[t->shape].chi2;
	t->dof = fits[t->shape].dof;
	trend_set_levels(w, t, fits[t->shape].levels);
	if (!narrow && gsl_cdf_chisq_Q(t->chi2, t->dof) < NO_FIT)
		t->shape = TRANSITION_OTHER;
}

/* Standard deviation of the targets. */
static struct value targets_mean(const struct work *w)
{
	double mean = gsl_stats_mean(w->y, 1, w->n), half;

	if (w->n < 2)
		return (struct value){ mean, NAN, NAN };
	half = interval_t(w->n - 1) * gsl_stats_sd(w->y, 1, w->n) / sqrt(w->n);
	return (struct value){ mean, mean - half, mean + half };
}

static int trend_alloc(struct work *w, size_t n)
{
	w->points = calloc(n + 1, sizeof(*w->points));
	w->targets = calloc(n + 1, sizeof(*w->targets));
	w->x = calloc(n + 1, sizeof(*w->x));
	w->y = calloc(n + 1, sizeof(*w->y));
	w->w = calloc(n + 1, sizeof(*w->w));
	w->sd = calloc(n + 1, sizeof(*w->sd));
	w->outliers = calloc(n + 1, sizeof(*w->outliers));
	w->cuts = calloc((TRANSITION_LEVELS_MOST + 1) * (n + 1), sizeof(*w->cuts));
	return w->points && w->targets && w->x && w->y && w->w && w->sd && w->outliers &&
	       w->cuts ? 0 : -ENOMEM;
}

int transition_trend(const struct transition_point *points, size_t n, bool up,
		     struct transition_trend *t)
{
	struct work w = { 0 };
	int ret = trend_alloc(&w, n);

	*t = (struct transition_trend){ .mean_ns = unknown, .slope = unknown, .chi2 = NAN,
					.better = NAN };
	for (enum transition_shape s = 0; s < TRANSITION_SHAPES; s++)
		t->bic[s] = INFINITY;
	if (!ret) {
		points_select(&w, points, n, up);
		ret = trend_make_targets(&w, &t->far);
	}
	if (!ret && w.n) {
		t->targets = w.n;
		t->pairs = w.n_points;
		t->mean_ns = targets_mean(&w);
		if (w.n >= TRANSITION_TARGETS_LEAST)
			trend_choose_shape(&w, t);
	}
	free(w.points);
	free(w.targets);
	free(w.x);
	free(w.y);
	free(w.w);
	free(w.sd);
	free(w.outliers);
	free(w.cuts);
	return ret;
}

const char *transition_shape_name(enum transition_shape s)
{
	static const char * const names[TRANSITION_SHAPES] = {
		[TRANSITION_UNKNOWN] = "not known", [TRANSITION_FLAT] = "flat",
		[TRANSITION_LINEAR] = "linear",
		[TRANSITION_JUMP] = "two levels", [TRANSITION_STEPS] = "steps",
		[TRANSITION_OTHER] = "none of these",
	};

	return s < TRANSITION_SHAPES ? names[s] : "?";
}
