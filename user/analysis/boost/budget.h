/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a chip remembers of the power that it drew, and so for how long it may boost: two models of it, fitted to how
 * long boosts lasted that came after some time of idleness, which came after the chip had used its boost up (Emurian et
 * al., Pitfalls of Accurately Benchmarking Thermally Adaptive Chips, section 2 and figure 3). Pure functions; times in
 * any one unit, the same for all.
 */
#ifndef KJOULE_BUDGET_H
#define KJOULE_BUDGET_H

#include <stddef.h>
#include "analysis/stats/interval.h"

/* A boost that came after so long a time of idleness. @sd: standard deviation of @boost */
struct budget_point {
	double idle, boost, sd;
};

/* Boosts after different times of idleness that a fit needs at least. */
#define BUDGET_LEAST	4

/* The window is the idleness after which the boost is back to this part of what it is after any longer one. */
#define BUDGET_BACK	0.99

enum budget_kind {
	BUDGET_WEIGHTED,	/* the exponentially weighted mean of the power is held below a limit */
	BUDGET_BOX,		/* the plain mean over the last so many seconds is */
	BUDGET_KINDS
};

/**
 * struct budget - a model, fitted
 * @tau:	of BUDGET_WEIGHTED the time constant, of BUDGET_BOX the length of the window, with 95 % intervals
 * @full:	how long a boost is after an idleness without end
 * @window:	the idleness after which it is BUDGET_BACK of that
 * @rms:	of what is left, in standard deviations of a point: some 1 where the model is right
 */
struct budget {
	struct value tau, full, window;
	double rms;
};

/**
 * budget_boost() - how long a boost lasts after @idle
 *
 * BUDGET_WEIGHTED: with the power P_i when idle, P_b when boosting and the limit L, at which the mean is when it begins to be
 * idle, the mean is P_i + (L - P_i) exp(-idle / tau) at the end of it, and reaches L again after
 *
 *	tau ln(1/g - (1/g - 1) exp(-idle / tau)),	g = (P_b - L) / (P_b - P_i)
 *
 * which goes to full = tau ln(1/g); so tau and full say all.
 *
 * BUDGET_BOX: what idleness saved is spent at the rate k = (L - P_i) / (P_b - L) until it leaves the window:
 *
 *	min(k idle, full),	full = tau k / (1 + k)
 */
double budget_boost(enum budget_kind kind, double tau, double full, double idle);

/** budget_window() - the idleness after which budget_boost() is BUDGET_BACK of full */
double budget_window(enum budget_kind kind, double tau, double full);

/** budget_full() - how long a boost lasts after all was forgotten, by powers: tau ln((P_b - P_i) / (P_b - L)) */
double budget_full(double tau, double idle_w, double boost_w, double limit_w);

/**
 * budget_fit() - the model that comes closest to the points, by weighted least squares
 * Return: 0; -EINVAL: a point that cannot be; -ENODATA: there are fewer than BUDGET_LEAST points or boosts that do not differ; -ERANGE: it does not
 * converge; -ENOMEM
 */
int budget_fit(enum budget_kind kind, const struct budget_point *points, size_t n, struct budget *b);

#endif /* KJOULE_BUDGET_H */
