/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a chip does under a constant load: for how long it boosts, and what follows (Emurian et al.,
 * Pitfalls of Accurately Benchmarking Thermally Adaptive Chips, section 2 and figure 1). Pure
 * functions.
 */
#ifndef KJOULE_BOOST_H
#define KJOULE_BOOST_H

#include <stdbool.h>
#include <stddef.h>
#include "analysis/stats/interval.h"

/**
 * struct boost_slice - one short measurement
 * @t_s: its begin, from any zero
 * @len_s: its length
 * @w: power of the package
 * @khz: mean frequency of the busy CPUs
 * @busy: mean number of busy CPUs
 * @mine: of those, CPUs that ran the measured program
 * @celsius: temperature
 * @work: passes of the load per second
 *
 * Unknown values are NAN.
 */
struct boost_slice {
	double t_s, len_s;
	double w, khz, busy, mine, celsius, work;
};

enum boost_verdict {
	BOOST_ENDS,		/* faster first, then slower: to the end, or for most of the time */
	BOOST_LASTS,		/* one speed, dips aside: no boost, or one that did not end */
	BOOST_RISES,		/* slower first, then faster */
	BOOST_IDLE,		/* the load did not keep the CPUs busy */
	BOOST_UNKNOWN,		/* neither frequency nor work is known, or too short */
	BOOST_VERDICTS
};

const char *boost_verdict_name(enum boost_verdict verdict);

/* The mean values of a time, with 95 % intervals; NAN: unknown. */
struct boost_level {
	double from_s, to_s;
	struct value w, khz, work, celsius;
};

/* Levels that are listed; if there are more, those behind the first are one mean. */
#define BOOST_LEVELS	16

/* Levels that differ by less are one: the effect of r = 1.02 is hardly visible. */
#define BOOST_LEAST	0.01

/* Part of the loaded CPUs that must be busy. */
#define BOOST_BUSY	0.9

/**
 * struct boost_course - a load, from its beginning to its end
 * @verdict: how it went
 * @by_work: levels are of throughput, as the frequency is unknown
 * @n_levels,@levels: in order, without the ramp at the beginning
 * @boost: the first level
 * @sustained: what follows when it has ended: the last level; or the mean of all behind the first,
 *   if there are many levels, or the last is short or as fast as the first
 * @tb_s: length of the boost, from the load's beginning or the end of the ramp; its interval is the
 *   length of a slice
 * @last_s: to the beginning of @sustained; @tb_s if there are two levels
 * @r: @boost over @sustained, in frequency, else in throughput
 * @r_work: in throughput
 * @busy: busy CPUs, of those that were loaded
 *
 * Short dips occur on every machine and do not end a boost. It has ended if the last level is
 * slower than the first by BOOST_LEAST and twenty slices long; or if slower levels fill half of the
 * time behind the first and twenty slices, as under a controller that goes up and down. Then @r is
 * above 1 / (1 - BOOST_LEAST) as well. BOOST_ROSE is defined likewise. Otherwise it lasted: one
 * level with everything in it, and @tb_s, @last_s, @r and @r_work are NAN.
 */
struct boost_course {
	enum boost_verdict verdict;
	bool by_work;
	size_t n_levels;
	struct boost_level levels[BOOST_LEVELS];
	struct boost_level boost, sustained;
	struct value tb_s;
	double last_s;
	double r, r_work;
	double busy;
};

/**
 * boost_course() - judge a load
 * @slices: of equal length, in order and without holes
 * @begin_s,@end_s: when the load began and ended
 * @loaded: CPUs that it was to keep busy
 * Return: 0 (look at @c->verdict) or -ENOMEM
 */
int boost_course(const struct boost_slice *slices, size_t n, double begin_s, double end_s,
		 double loaded, struct boost_course *c);

/**
 * boost_time() - seconds at the boosted speed, the rest being at the sustained one
 * @by_work: speeds are those of the work, not frequencies
 *
 * A slice in which the speed changes counts for (v - sustained) / (boosted - sustained), limited to
 * 0..1. An unknown slice is like the one before; before the first known one it counts as boosted.
 */
double boost_time(const struct boost_slice *slices, size_t n, double from_s, double to_s,
		  double boosted, double sustained, bool by_work);

/** boost_level() - of the slices that lie wholly in this time */
struct boost_level boost_level(const struct boost_slice *slices, size_t n, double from_s,
			       double to_s);

#endif /* KJOULE_BOOST_H */
