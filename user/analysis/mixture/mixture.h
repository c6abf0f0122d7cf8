/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mixture model: powers of blocks that are all shorter than the update period of the energy counter, out of
 * recordings that stop nothing. Between two moves of the counter many ticks fall, and
 *
 *	E_j = sum over b of P_b * t_bj + noise
 *
 * so that least squares over thousands of windows j tells the powers P_b, if what the windows hold differs.
 * The occupancies t_bj are sampled: such errors in the variables pull the powers together. They are corrected by
 * taking the covariance of the sampling errors out of the normal matrix (the moment correction, Fuller,
 * "Measurement Error Models", 1987, section 2.2), see mixture.c. Pure functions.
 */
#ifndef KJOULE_MIXTURE_H
#define KJOULE_MIXTURE_H

#include "analysis/cpm/cpm.h"

/* Ticks [from, to) of which nobody knows what ran: windows with such a tick tell nothing. */
struct mixture_range {
	uint64_t from, to;
};

#define MIXTURE_NONE	UINT32_MAX	/* class of vectors that are not looked at, nor are their windows */

/**
 * struct mixture_input - a counter's windows, and what is told apart in them
 * @vectors:	what ran
 * @domain:	the windows, from cpm_solve()
 * @class_of:	of each vector, below @n_classes or MIXTURE_NONE; vectors with a marginal block are not looked at either
 * @jitter:	by how much ticks are delayed at random at most, as a part of the interval
 * @unknown:	in order, none overlaps
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
	MIXTURE_FEW_WINDOWS,	/* fewer than MIXTURE_WINDOWS could be used */
	MIXTURE_COARSE,		/* fewer than MIXTURE_TICKS ticks to a window */
	MIXTURE_ALIKE,		/* the windows do not differ in what they hold */
};

#define MIXTURE_WINDOWS	200
#define MIXTURE_TICKS	3
#define MIXTURE_BATCHES	40
#define MIXTURE_BIASES	3

/**
 * struct mixture - solved
 * @why:	there is no answer; nothing below is to be used then but @windows, @left_out, @window_ticks and what
 *		is told of runs
 * @uj_per_tick: of each class
 * @covariance:	of these, n_classes^2, from leaving out one batch of windows after another
 * @bias:	n_classes of each kind: by how much they move if what is known of the sampling errors is off. Of several
 *		classes the sum counts, and of kinds its absolute value
 * @dof:	degrees of freedom of @covariance
 * @reliability: of what differs between windows, the part that is not sampling error, in the direction in which that is
 *		least; 1 at most, and below 0 if there is nothing but errors
 * @direction:	that direction: of each class, weighed by its time
 * @windows:	that were used
 * @left_out:	known ones that were not
 * @used:	of each of the domain's windows
 * @ticks:	of each class, in the windows that were used
 * @run_ticks:	of each class, mean length of its runs; NAN: it has none that is whole
 * @brief:	of each class: many of its runs fall between two ticks
 * @border:	how often the runs of two classes border on each other, in proportion; n_classes^2
 * @window_ticks: mean of the windows that were used
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
/** mixture_half() - half of the 95 % interval of a sum of powers, each times @weights: microjoule a tick */
double mixture_half(const struct mixture *m, const double *weights);
/** mixture_variance() - of such a sum */
double mixture_variance(const struct mixture *m, const double *weights);
/** mixture_bias() - how far off it may be besides */
double mixture_bias(const struct mixture *m, const double *weights);

#endif /* KJOULE_MIXTURE_H */
