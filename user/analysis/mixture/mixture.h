/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mixture model: powers of blocks shorter than the update period of the energy counter, from
 * recordings without pauses. There are many ticks between two updates of the counter, and
 *
 *	E_j = sum over b of P_b * t_bj + noise
 *
 * so that least squares over thousands of windows j gives the powers P_b, if windows differ in
 * content. The occupancies t_bj are sampled: such errors in the variables pull the powers to each
 * other. The covariance of the sampling errors is taken out of the normal matrix (the moment
 * correction, Fuller, "Measurement Error Models", 1987, section 2.2), see mixture.c. Pure
 * functions.
 */
#ifndef KJOULE_MIXTURE_H
#define KJOULE_MIXTURE_H

#include "analysis/cpm/cpm.h"

/* Ticks [from, to) of unknown code: windows with such a tick are left out. */
struct mixture_range {
	uint64_t from, to;
};

#define MIXTURE_NONE	UINT32_MAX	/* class of vectors that are left out with their windows */

/**
 * struct mixture_input - a counter's windows and their classes
 * @vectors: the vectors of their ticks
 * @domain: the windows, from cpm_solve()
 * @class_of: of each vector, below @n_classes or MIXTURE_NONE; vectors with a marginal block are
 *   left out as well
 * @jitter: the most that ticks are delayed at random, in intervals
 * @unknown: in order, without overlap
 */
struct mixture_input {
	const struct cpm_vectors *vectors;
	const struct cpm_domain *domain;
	const uint32_t *class_of;
	uint32_t n_classes;
	double jitter;
	const struct mixture_range *unknown;
	size_t n_unknown;
};

enum mixture_why {
	MIXTURE_SOLVED,
	MIXTURE_FEW_WINDOWS,	/* fewer than MIXTURE_WINDOWS usable */
	MIXTURE_COARSE,		/* fewer than MIXTURE_TICKS ticks to a window */
	MIXTURE_ALIKE,		/* windows do not differ in content */
};

#define MIXTURE_WINDOWS	200
#define MIXTURE_TICKS	3
#define MIXTURE_BATCHES	40
#define MIXTURE_BIASES	3

/**
 * struct mixture - the solution
 * @why: there is none; only @windows, @left_out, @window_ticks and figures of runs are valid then
 * @uj_per_tick: of each class
 * @covariance: of these, n_classes^2, by leaving out one batch of windows at a time
 * @bias: n_classes of each kind: their change if the sampling errors' covariance is off. For
 *   several classes add them up, of each kind the absolute value
 * @dof: degrees of freedom of @covariance
 * @reliability: the part of the windows' differences that is not sampling error, in the direction
 *   where it is least; at most 1, below 0 if there are only errors
 * @direction: that direction: of each class, weighted by its time
 * @windows: used
 * @left_out: known ones that were not
 * @used: of each of the domain's windows
 * @ticks: of each class, in the windows used
 * @run_ticks: of each class, mean length of its runs; NAN: no whole one
 * @brief: of each class: many of its runs fall between two ticks
 * @border: how often the runs of two classes border on each other, in proportion; n_classes^2
 * @window_ticks: mean of the windows used
 */
struct mixture {
	uint32_t n_classes;
	enum mixture_why why;
	double *uj_per_tick, *covariance, *bias, dof;
	double reliability, *direction;
	uint64_t windows, left_out;
	bool *used, *brief;
	double *ticks, *run_ticks, *border;
	double window_ticks;
};

/**
 * mixture_solve() - the power of each class
 * Return: 0 (look at @why), or -ENOMEM
 */
int mixture_solve(const struct mixture_input *in, struct mixture *m);
void mixture_free(struct mixture *m);
/**
 * mixture_half() - half of the 95 % interval of a sum of powers, weighted by @weights: microjoule a
 * tick
 */
double mixture_half(const struct mixture *m, const double *weights);
/** mixture_variance() - its variance */
double mixture_variance(const struct mixture *m, const double *weights);
/** mixture_bias() - its possible bias */
double mixture_bias(const struct mixture *m, const double *weights);

#endif /* KJOULE_MIXTURE_H */
