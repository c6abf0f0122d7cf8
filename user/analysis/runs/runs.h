/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The average of several recordings of one program: figures, their intervals, and how much runs
 * differ. Pure functions.
 *
 * ALEA takes its samples from many runs, each with its own first phase, and averages the execution
 * time (Mukhanov et al., ACM TACO 14(1), 2017, section 3.2). So here: a block's time and energy are
 * the means over the runs, t = sum t_k / R and E = sum E_k / R, 0 for runs without it; its power is
 * that of all of its samples, P = sum E_k / sum t_k, so that E = P * t (equation 3) holds for the
 * average run as well.
 *
 * The interval of a sum of R runs with within-run variances s_k^2 (analysis/profile/profile.h) and
 * sample variance S^2 between them:
 *
 *	within  = sum s_k^2
 *  between = max(0, S^2 - within / R) from 3 runs on
 *	V       = within + R * between
 *	half    = t(dof) * sqrt(V)
 *	1 / dof = (1 - f) / dof_within + f / (R - 1),  f = sqrt(R * between / V)
 *
 * E[S^2] is the variance between runs plus the mean of s_k^2: one-way analysis of variance with
 * random effects. dof goes from that of all runs' windows to R - 1 as the variance between runs
 * prevails. In simulated runs of normal figures (tests/test_runs.c) the 95 % interval covers the
 * true value in 91 to 97 % with 3 runs and in 93 to 97 % from 5 runs on, whichever of the two
 * prevails. If a run's own variance is unknown (a block with a window or two) S^2 alone counts.
 * With two runs the variance between them is not estimated. Errors of the calibration and the bias
 * of refinement do not shrink with more runs: their means are added as in
 * analysis/profile/profile.c.
 */
#ifndef KJOULE_RUNS_H
#define KJOULE_RUNS_H

#include "analysis/profile/profile.h"

/* From so many runs on the variance between them is estimated. */
#define RUNS_SPREAD	3

/**
 * struct runs_between - standard deviation between runs, without that of sampling; NAN: unknown
 * @seen: number of runs with the block
 */
struct runs_between {
	double time_s;
	double j[PROFILE_DOMAINS];
	size_t seen;
};

/**
 * runs_average() - a group of blocks in an average run
 * @groups: of each run, before profile_net(); with time_s 0 in runs without it
 * @n: runs, at least 1
 * @out: samples and distinct readings are those of all runs, all else is of an average run
 * @between: may be NULL
 *
 * A run of unknown energy (NAN) counts for the time, not for energy and power.
 *
 * Return: 0 or -ENOMEM
 */
int runs_average(const struct profile_group *const *groups, size_t n, unsigned int n_domains,
		 struct profile_group *out, struct runs_between *between);

#endif /* KJOULE_RUNS_H */
