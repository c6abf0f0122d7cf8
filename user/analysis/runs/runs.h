/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several recordings of one program as one: the figures of an average run, their intervals, and how much
 * runs differ. Pure functions.
 *
 * ALEA takes its samples from many runs, each with a first phase of its own, and averages the execution
 * time (Mukhanov et al., ACM TACO 14(1), 2017, section 3.2). So here: a block's time and energy are the means over
 * the runs, t = sum t_k / R and E = sum E_k / R, runs in which it was not met counting as 0; its power is that of all
 * of its samples, P = sum E_k / sum t_k, so that E = P * t (equation 3) holds for the average run as well.
 *
 * The interval of a sum of R runs with within-run variances s_k^2 (analysis/profile/profile.h) and sample variance S^2 between them:
 *
 *	within  = sum s_k^2
 *	between = max(0, S^2 - within / R)	what runs differ by beyond what sampling makes them, from 3 runs on
 *	V       = within + R * between
 *	half    = t(dof) * sqrt(V),  1 / dof = (1 - f) / dof_within + f / (R - 1),  f = sqrt(R * between / V)
 *
 * E[S^2] is the variance between runs plus the mean of s_k^2: one-way analysis of variance with random effects.
 * dof goes from what the windows of all runs together have to R - 1 as the runs themselves become what the sum is
 * unsure about. In simulated runs of normal figures (tests/test_runs.c) the interval of 95 % has the truth in 91 to
 * 97 % with 3 runs and in 93 to 97 % from 5 runs on, whichever of the two prevails. Where a run's own variance cannot
 * be told (a block with a window or two) S^2 alone counts. With two runs nothing is said of what lies between.
 * How far off the calibration may be, and the bias that refinement leaves, are no deviations that more runs would
 * make smaller: their means are added as analysis/profile/profile.c does.
 */
#ifndef KJOULE_RUNS_H
#define KJOULE_RUNS_H

#include "analysis/profile/profile.h"

/* From so many runs on it can be told how much they differ. */
#define RUNS_SPREAD	3

/**
 * struct runs_between - standard deviation between runs, beyond what sampling makes of it
 * NAN where it cannot be told; 0 where runs differ by no more than they seem to.
 * @seen:	in how many runs the block was met
 */
struct runs_between {
	double time_s;
	double j[PROFILE_DOMAINS];
	size_t seen;
};

/**
 * runs_average() - a group of blocks in an average run
 * @groups:	of each run, before profile_net(); with time_s 0 where the run has not met it
 * @n:		runs, at least 1
 * @out:	samples and distinct readings are those of all runs, all else is of an average run
 * @between:	may be NULL
 *
 * An energy that a run does not know (NAN) takes no part in the energy and the power; it does in the time.
 *
 * Return: 0 or -ENOMEM
 */
int runs_average(const struct profile_group *const *groups, size_t n, unsigned int n_domains,
		 struct profile_group *out, struct runs_between *between);

#endif /* KJOULE_RUNS_H */
