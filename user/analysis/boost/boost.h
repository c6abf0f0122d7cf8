/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a chip does under a load that does not change: for how long it boosts, and then what (Emurian et al., Pitfalls of
 * Accurately Benchmarking Thermally Adaptive Chips, section 2 and figure 1). Whoever has measured calls this; who and how is
 * none of its business. Pure functions.
 */
#ifndef KJOULE_BOOST_H
#define KJOULE_BOOST_H

#include <stdbool.h>
#include <stddef.h>
#include "analysis/stats/interval.h"

/**
 * struct boost_slice - what was seen in a short time
 * @t_s:	when it began, since whatever is zero
 * @len_s:	how long it is
 * @w:		power of the package
 * @khz:	mean frequency of the CPUs that ran
 * @busy:	CPUs that ran, on the average
 * @mine:	those of them that ran what is being measured
 * @celsius:	temperature
 * @work:	passes of the load a second
 *
 * NAN where it is not known.
 */
struct boost_slice {
	double t_s, len_s;
	double w, khz, busy, mine, celsius, work;
};

enum boost_verdict {
	BOOST_ENDS,		/* faster first, then slower: to the end, or for most of the time */
	BOOST_LASTS,		/* one speed from beginning to end, whatever passed: no boost, or one without end */
	BOOST_RISES,		/* slower first, then faster */
	BOOST_IDLE,		/* the load did not keep the CPUs busy: nothing can be told */
	BOOST_UNKNOWN,		/* neither frequency nor work is known, or for too short a time */
	BOOST_VERDICTS
};

const char *boost_verdict_name(enum boost_verdict verdict);

/* What a stretch of time was like, with 95 % intervals; NAN where it is not known. */
struct boost_level {
	double from_s, to_s;
	struct value w, khz, work, celsius;
};

/* Levels that are told; of more there is a mean of those behind the first. */
#define BOOST_LEVELS	16

/* Levels that differ by less are one: what r = 1.02 would do is hardly to be seen. */
#define BOOST_LEAST	0.01

/* So many CPUs of those that are loaded are to be busy. */
#define BOOST_BUSY	0.9

/**
 * struct boost_course - a load, from its beginning to its end
 * @verdict:	how it went
 * @by_work:	the frequency is not known: levels are those of the throughput
 * @n_levels,@levels: in order; what came before the load's CPUs were at speed is none of them
 * @boost:	the first level
 * @sustained:	what follows when it has ended: the last level; or all behind the first, where there are many levels, or the last is
 *		short or as fast as the first
 * @tb_s:	from the beginning of the load, or from where the CPUs were at speed, to the end of the first level, with what a
 *		slice is long as its interval
 * @last_s:	to the beginning of @sustained; as @tb_s if there are two levels
 * @r:		@boost over @sustained, in frequency, or in throughput where that is all that is known
 * @r_work:	in throughput
 * @busy:	CPUs that ran the load, of those that it was to keep busy
 *
 * Something passes on every machine: a few slower slices are no end of a boost. It has ended if the last level is slower than the
 * first by BOOST_LEAST and twenty slices long; or if what is slower than the first level fills half of the time behind it and twenty
 * slices, as under a controller that goes up and down. Then @r is above 1 / (1 - BOOST_LEAST) as well. It rises likewise. What does
 * neither lasts: it has one level, in which all that passed is, and @tb_s, @last_s, @r and @r_work are NAN.
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
 * boost_course() - what came of a load
 * @slices:	of equal length, in order and without holes
 * @begin_s,@end_s: when the load began and ended
 * @loaded:	CPUs that it was to keep busy
 * Return: 0 (look at @c->verdict) or -ENOMEM
 */
int boost_course(const struct boost_slice *slices, size_t n, double begin_s, double end_s, double loaded,
		 struct boost_course *c);

/**
 * boost_time() - how much of a time was spent at the boosted speed, the rest at the sustained one, seconds
 * @by_work:	speeds are those of the work, not frequencies
 *
 * A slice in which the speed changes counts in part: (v - sustained) / (boosted - sustained) of it, from none to all. What
 * is not known of a slice is as in the one before; before the first that is known it counts as boosted.
 */
double boost_time(const struct boost_slice *slices, size_t n, double from_s, double to_s, double boosted, double sustained,
		  bool by_work);

/** boost_level() - of the slices that are in this time as a whole */
struct boost_level boost_level(const struct boost_slice *slices, size_t n, double from_s, double to_s);

#endif /* KJOULE_BOOST_H */
