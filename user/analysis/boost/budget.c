// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See budget.h. Both models have two positive parameters: their logarithms are fitted with GSL's
 * Levenberg-Marquardt, from the best of a grid of starting points.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include "analysis/boost/budget.h"

#define PARAMETERS	2
#define GRID		40
#define ITERATIONS	200
#define TOLERANCE	1e-10

static double model_weighted_boost(double tau, double full, double idle)
{
	double more = expm1(full / tau);		/* 1/g - 1 */

	/* ln(1/g - (1/g - 1) e), written so that a large 1/g does no harm */
	return tau * log1p(more * -expm1(-idle / tau));
}

static double model_box_boost(double tau, double full, double idle)
{
	return full < tau ? fmin(full / (tau - full) * idle, full) : NAN;
}

double budget_boost(enum budget_kind kind, double tau, double full, double idle)
{
	if (!(tau > 0) || !(full > 0) || !(idle >= 0))
		return NAN;
	return kind == BUDGET_WEIGHTED ? model_weighted_boost(tau, full, idle) :
					 model_box_boost(tau, full, idle);
}

double budget_window(enum budget_kind kind, double tau, double full)
{
	if (!(tau > 0) || !(full > 0))
		return NAN;
	if (kind == BUDGET_BOX)
		return full < tau ? BUDGET_BACK * (tau - full) : NAN;
	return -tau * log1p(-expm1(BUDGET_BACK * full / tau) / expm1(full / tau));
}

double budget_full(double tau, double idle_w, double boost_w, double limit_w)
{
	if (!(tau > 0) || !(boost_w > limit_w) || !(limit_w > idle_w))
		return NAN;
	return tau * log((boost_w - idle_w) / (boost_w - limit_w));
}

struct problem {
	enum budget_kind kind;
	const struct budget_point *points;
	size_t n;
};

/* From logarithms: full, and tau or by how much it is longer than full. */
static void parameters_unpack(enum budget_kind kind, const gsl_vector *x, double *tau, double *full)
{
	*full = exp(gsl_vector_get(x, 0));
	*tau = exp(gsl_vector_get(x, 1)) + (kind == BUDGET_BOX ? *full : 0);
}

static int points_residuals(const gsl_vector *x, void *data, gsl_vector *f)
{
	const struct problem *p = data;
	double tau, full;

	parameters_unpack(p->kind, x, &tau, &full);
	for (size_t i = 0; i < p->n; i++) {
		double off = budget_boost(p->kind, tau, full, p->points[i].idle) -
			     p->points[i].boost;

		if (!isfinite(off))
			return GSL_EDOM;
		gsl_vector_set(f, i, off / p->points[i].sd);
	}
	return GSL_SUCCESS;
}

static double residuals_sum_squares(const struct problem *p, const gsl_vector *x)
{
	double sum = 0, tau, full;

	parameters_unpack(p->kind, x, &tau, &full);
	for (size_t i = 0; i < p->n; i++) {
		double off = budget_boost(p->kind, tau, full, p->points[i].idle) -
			     p->points[i].boost;

		sum += off * off / (p->points[i].sd * p->points[i].sd);
	}
	return isfinite(sum) ? sum : INFINITY;
}

/*
 * Starting point: the longest boost is nearly the full one, history is forgotten in the idle times.
 */
static void fit_find_start(const struct problem *p, gsl_vector *x)
{
	double longest = 0, most = 0, best = INFINITY, at = 0;

	for (size_t i = 0; i < p->n; i++) {
		longest = fmax(longest, p->points[i].idle);
		most = fmax(most, p->points[i].boost);
	}
	gsl_vector_set(x, 0, log(most));
	for (unsigned int i = 0; i < GRID; i++) {
		double sum;

		gsl_vector_set(x, 1, log(longest) + log(1000) * ((double)i / GRID - 0.7));
		sum = residuals_sum_squares(p, x);
		if (sum < best) {
			best = sum;
			at = gsl_vector_get(x, 1);
		}
	}
	gsl_vector_set(x, 1, at);
}

/* A function of both parameters, with the interval that follows from their covariance. */
static struct value parameters_figure(double (*of)(enum budget_kind, double, double),
				      enum budget_kind kind, const gsl_vector *x,
				      const gsl_matrix *covariance, double t)
{
	gsl_vector *near = gsl_vector_alloc(PARAMETERS);
	double tau, full, slope[PARAMETERS], variance = 0;
	struct value v = { NAN, NAN, NAN };

	if (!near)
		return v;
	parameters_unpack(kind, x, &tau, &full);
	v.v = of(kind, tau, full);
	for (size_t i = 0; i < PARAMETERS; i++) {
		const double step = 1e-5;

		gsl_vector_memcpy(near, x);
		gsl_vector_set(near, i, gsl_vector_get(x, i) + step);
		parameters_unpack(kind, near, &tau, &full);
		slope[i] = (of(kind, tau, full) - v.v) / step;
	}
	gsl_vector_free(near);
	for (size_t i = 0; i < PARAMETERS; i++)
		for (size_t k = 0; k < PARAMETERS; k++)
			variance += slope[i] * slope[k] * gsl_matrix_get(covariance, i, k);
	v.lo = v.v - t * sqrt(variance);
	v.hi = v.v + t * sqrt(variance);
	return v;
}

static double parameters_tau(enum budget_kind kind, double tau, double full)
{
	(void)kind;
	(void)full;
	return tau;
}

static double parameters_full(enum budget_kind kind, double tau, double full)
{
	(void)kind;
	(void)tau;
	return full;
}

static void budget_set_figures(const struct problem *p, gsl_multifit_nlinear_workspace *w,
			       gsl_matrix *covariance, struct budget *b)
{
	const gsl_vector *x = gsl_multifit_nlinear_position(w);
	double sum = residuals_sum_squares(p, x), dof = (double)p->n - PARAMETERS;
	double t = interval_t(dof);

	gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0, covariance);
	b->rms = sqrt(sum / dof);
	/* points that agree by chance do not narrow the interval */
	t *= fmax(b->rms, 1);
	b->tau = parameters_figure(parameters_tau, p->kind, x, covariance, t);
	b->full = parameters_figure(parameters_full, p->kind, x, covariance, t);
	b->window = parameters_figure(budget_window, p->kind, x, covariance, t);
}

static int budget_fit_solve(struct problem *p, gsl_multifit_nlinear_workspace *w, gsl_vector *x)
{
	gsl_multifit_nlinear_fdf fdf = { .f = points_residuals, .n = p->n, .p = PARAMETERS,
					 .params = p };
	int info;

	fit_find_start(p, x);
	if (gsl_multifit_nlinear_init(x, &fdf, w) ||
	    gsl_multifit_nlinear_driver(ITERATIONS, TOLERANCE, TOLERANCE, 0, NULL, NULL, &info,
					w) == GSL_EMAXITER)
		return -ERANGE;
	return isfinite(residuals_sum_squares(p, gsl_multifit_nlinear_position(w))) ? 0 : -ERANGE;
}

int budget_fit(enum budget_kind kind, const struct budget_point *points, size_t n, struct budget *b)
{
	gsl_multifit_nlinear_parameters with = gsl_multifit_nlinear_default_parameters();
	struct problem p = { kind, points, n };
	gsl_multifit_nlinear_workspace *w;
	gsl_error_handler_t *handler;
	gsl_matrix *covariance;
	bool differ = false;
	gsl_vector *x;
	int ret = -ENOMEM;

	*b = (struct budget){ { NAN, NAN, NAN }, { NAN, NAN, NAN }, { NAN, NAN, NAN }, NAN };
	for (size_t i = 0; i < n; i++) {
		if (!(points[i].idle > 0) || !(points[i].boost >= 0) || !(points[i].sd > 0))
			return -EINVAL;
		differ |= fabs(points[i].boost - points[0].boost) >
			  2 * hypot(points[i].sd, points[0].sd);
	}
	if (n < BUDGET_LEAST || !differ)
		return -ENODATA;
	/* failures are reported by the return value */
	handler = gsl_set_error_handler_off();
	w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &with, n, PARAMETERS);
	covariance = gsl_matrix_alloc(PARAMETERS, PARAMETERS);
	x = gsl_vector_alloc(PARAMETERS);
	if (w && covariance && x)
		ret = budget_fit_solve(&p, w, x);
	if (!ret)
		budget_set_figures(&p, w, covariance, b);
	gsl_vector_free(x);
	gsl_matrix_free(covariance);
	if (w)
		gsl_multifit_nlinear_free(w);
	gsl_set_error_handler(handler);
	return ret;
}
