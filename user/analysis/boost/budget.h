/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chip's memory of its power, which bounds its boosts: two models, fitted to the lengths of
 * boosts after different idle times, each after the boost was used up (Emurian et al., Pitfalls of
 * Accurately Benchmarking Thermally Adaptive Chips, section 2 and figure 3). Pure functions; times
 * in any one unit.
 */
#ifndef KJOULE_BUDGET_H
#define KJOULE_BUDGET_H

#include <stddef.h>
#include "analysis/stats/interval.h"

/* A boost after an idle time. @sd: standard deviation of @boost */
struct budget_point {
	double idle, boost, sd;
};

/* A fit needs at least so many different idle times. */
#define BUDGET_LEAST	4

/* The window is the idle time after which a boost is this part of the full one. */
#define BUDGET_BACK	0.99

enum budget_kind {
	BUDGET_WEIGHTED,	/* the exponentially weighted mean of the power is limited */
	BUDGET_BOX,		/* the plain mean over the last so many seconds is limited */
	BUDGET_KINDS
};

/**
 * struct budget - a fitted model
 * @tau: with 95 % interval: the time constant (BUDGET_WEIGHTED) or length of the window
 *   (BUDGET_BOX)
 * @full: length of a boost after endless idleness
 * @window: idle time after which it is BUDGET_BACK of that
 * @rms: of the residuals, in standard deviations of a point: about 1 for the right model
 */
struct budget {
	struct value tau, full, window;
	double rms;
};

/**
 * budget_boost() - length of a boost after @idle
 *
 * BUDGET_WEIGHTED: with the power P_i when idle, P_b when boosting and the limit L, where the mean
 * is at the begin of the idle time, the mean at its end is P_i + (L - P_i) exp(-idle / tau), and
 * reaches L again after
 *
 *	tau ln(1/g - (1/g - 1) exp(-idle / tau)),	g = (P_b - L) / (P_b - P_i)
 *
 * which goes to full = tau ln(1/g); tau and full are the parameters.
 *
 * BUDGET_BOX: what idleness saved is spent at the rate k = (L - P_i) / (P_b - L) until it leaves
 * the window:
 *
 *	min(k idle, full),	full = tau k / (1 + k)
 */
double budget_boost(enum budget_kind kind, double tau, double full, double idle);

/** budget_window() - idle time after which budget_boost() is BUDGET_BACK of full */
double budget_window(enum budget_kind kind, double tau, double full);

/** budget_full() - full boost from powers: tau ln((P_b - P_i) / (P_b - L)) */
double budget_full(double tau, double idle_w, double boost_w, double limit_w);

/**
 * budget_fit() - weighted least squares fit to the points
 * Return: 0; -EINVAL: an impossible point; -ENODATA: fewer than BUDGET_LEAST points, or boosts that
 *   do not differ; -ERANGE: no convergence; -ENOMEM
 */
int budget_fit(enum budget_kind kind, const struct budget_point *points, size_t n,
	       struct budget *b);

#endif /* KJOULE_BUDGET_H */
