/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of a benchmark on a chip that boosts: was it boosted, throttled, or a mix of both, and how long would it have taken at
 * one of the two speeds all the time? From what was seen while it ran. Pure functions.
 */
#ifndef KJOULE_BOOST_JUDGE_H
#define KJOULE_BOOST_JUDGE_H

#include <stddef.h>
#include "boost.h"

enum boost_class {
	BOOST_BOOSTED,
	BOOST_THROTTLED,
	BOOST_MIXED,
	BOOST_DISTURBED,	/* others took CPU time, or it ran slower than the chip sustains */
	BOOST_UNJUDGED,		/* too short, or no frequency is known */
	BOOST_CLASSES
};

const char *boost_class_name(enum boost_class class);

/* A part of the run of less than this is none: it is one speed to the other's end. */
#define BOOST_RUN_PURE		0.025

/* Others may have this part of one CPU, and so many slices of it: it is the difference of what ticks saw and of what the kernel's books say. */
#define BOOST_RUN_OTHERS	0.02
#define BOOST_RUN_OTHERS_SLICES	2.5

/* It may be slower than what is sustained for this part of its time: a governor that has to see it first. */
#define BOOST_RUN_SLOWER	0.05

/* Runs of fewer slices are not judged. */
#define BOOST_RUN_LEAST		10

/**
 * struct boost_run - what came of it
 * @seconds:	it took
 * @boosted_s,@sustained_s,@slower_s: of these it ran above, at, and below the sustained frequency
 * @boost_khz:	mean of the first; NAN without any
 * @r:		@boost_khz over the sustained frequency; 1 without any
 * @others:	CPUs that others had meanwhile
 * @khz,@w:	means
 * @as_boosted_s,@as_sustained_s: how long it would have taken at one speed, with an interval; NAN where that is not known
 *
 * A program that keeps its CPU busy does in the time t at r times the sustained frequency what takes r t there (the paper's
 * equation 2): as_sustained = r boosted + sustained, and as_boosted is that over r. What waits for memory gains less.
 */
struct boost_run {
	enum boost_class class;
	double seconds, boosted_s, sustained_s, slower_s;
	double boost_khz, r, others, khz, w;
	struct value as_boosted_s, as_sustained_s;
};

/**
 * boost_run_judge() - a run from @from_s to @to_s
 * @sustained_khz: that the chip sustains; NAN: not known
 * @boost_khz:	that it boosts to, for runs that never do; NAN: not known
 * @others:	CPUs that others had meanwhile; NAN: not known
 */
struct boost_run boost_run_judge(const struct boost_slice *slices, size_t n, double from_s, double to_s, double sustained_khz,
				 double boost_khz, double others);

#endif /* KJOULE_BOOST_JUDGE_H */
