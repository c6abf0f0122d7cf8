/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How sure a figure is: 95 % intervals for times, means and sums. Pure functions.
 */
#ifndef KJOULE_INTERVAL_H
#define KJOULE_INTERVAL_H

#include "cpm.h"

/* A figure with its 95 % interval; NAN where it can not be told. */
struct value {
	double v, lo, hi;
};

/** interval_t() - quantile of Student's t for a two-sided 95 % interval; @dof > 0 */
double interval_t(double dof);

/**
 * struct time_sum - how long a group of blocks ran, in ticks
 * @ticks:	all its ticks, made up ones included
 * @real:	samples
 * @fine:	edges of runs too short to be resolved by the ticks
 * @coarse:	edges between runs of at least INTERVAL_RESOLVED ticks
 * @variance:	of @ticks: see interval_times()
 */
struct time_sum {
	double ticks, real;
	uint64_t fine, coarse;
	double variance;
};

#define INTERVAL_RESOLVED	4

/**
 * interval_times() - times of groups of blocks and how sure they are
 * @end_tick:	after the last tick of the recording
 * @jitter:	by how much ticks are delayed at random at most, as a part of the interval
 *
 * ALEA's time estimate (equation 1) is a systematic sample: blocks longer than the
 * interval are caught at every tick and only the ends of their runs are uncertain,
 * each uniformly within one tick: variance 1/12 an edge, and that of the tick's own place
 * with jitter, (1 + jitter^2) / 12. Runs of a few ticks do
 * not tell where their edges are; for them half a squared successive difference,
 * which is 1/2 an edge, is right if samples are independent (it then is the
 * binomial variance) and too wide otherwise. Made up ticks between two blocks add
 * the variance of not knowing where in the gap one followed the other.
 *
 * Return: 0 or -ENOMEM
 */
int interval_times(const struct cpm_lane *lanes, size_t n_lanes, uint64_t end_tick, double jitter,
		   const uint32_t *group_of, uint32_t n_groups, struct time_sum *out);

/** interval_time() - the interval, in ticks. Poisson's where there are few samples, all apart */
struct value interval_time(const struct time_sum *t);

/**
 * interval_means() - mean of a frequency over each group's time
 * @values:	for each lane, one for each of its ticks; 0: not known
 * @lost:	for each lane, what interrupts take: @lost[lane] / value is the part of a sample's
 *		interval that is not the group's own. They take the longer the slower the CPU is
 * @out:	NAN for groups without any value
 *
 * The interval comes from the means of up to 32 batches of consecutive samples,
 * because samples that follow each other are not independent.
 *
 * Return: 0 or -ENOMEM
 */
int interval_means(const struct cpm_lane *lanes, size_t n_lanes, const uint32_t *const *values,
		   const double *lost, const uint32_t *group_of, uint32_t n_groups, struct value *out);

#endif /* KJOULE_INTERVAL_H */
