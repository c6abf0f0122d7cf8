/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of a benchmark on a chip that boosts: was it boosted, throttled, or a mix of both, and how long would it have taken at
 * one of the two speeds all the time? From what was seen while it ran. Pure functions.
 */
#ifndef KJOULE_BOOST_JUDGE_H
#define KJOULE_BOOST_JUDGE_H

#include <stddef.h>
#include "analysis/boost/boost.h"

enum boost_class {
	BOOST_BOOSTED,
	BOOST_THROTTLED,
	BOOST_MIXED,
	BOOST_DISTURBED,	/* others took CPU time */
	BOOST_UNJUDGED,		/* too short, or no frequency is known */
	BOOST_CLASSES
};

const char *boost_class_name(enum boost_class class);

/* A part of the run of less than this is none: it is one speed to the other's end. */
#define BOOST_RUN_PURE		0.025

/*
 * What others had is the difference of what ticks saw and of what the kernel's books say. They may have this part of one CPU, or
 * that of each where it is more: the kernel's own threads, and what the books are off by, grow with the CPUs.
 */
#define BOOST_RUN_OTHERS	0.02
#define BOOST_RUN_OTHERS_CPU	0.01

/* And so many slices of the run: the ticks of those at its ends are not all its own. */
#define BOOST_RUN_OTHERS_SLICES	2.5

/*
 * And so many standard deviations of what ticks see. Each finds its CPU busy or not, as a draw does: with b of n CPUs busy in the
 * mean, what they say b is has a variance of b (1 - b / n) tick / seconds.
 */
#define BOOST_RUN_OTHERS_SD	3.0

/* It may be slower than what is sustained for this part of its time: a governor that has to see it first. */
#define BOOST_RUN_SLOWER	0.05

/* And by then it has seen it: what is slower up to there and then no more is not the run's own speed, whatever part it is. */
#define BOOST_RUN_GOVERNOR_S	0.2

/* Runs of fewer slices are not judged. */
#define BOOST_RUN_LEAST		10

/**
 * struct boost_judge - what runs are judged by
 * @boost_khz,@sustained_khz: reference speeds of the chip, under a load; .v is NAN where it is not known, .lo and .hi are their 95 %
 *		interval, NAN if there is none
 * @others:	CPUs that others had during the run; NAN: not known
 * @cpus:	CPUs that are watched
 * @tick_s:	time between two ticks
 */
struct boost_judge {
	struct value boost_khz, sustained_khz;
	double others;
	unsigned int cpus;
	double tick_s;
};

/**
 * struct boost_run - what came of it
 * @class:	what it was
 * @seconds:	it took
 * @boosted_s,@sustained_s,@slower_s: of these it ran above, at, and below the sustained frequency
 * @boost_khz:	mean of the first, if that is as fast as the chip boosts; else what the chip boosts to; NAN where neither is known
 * @sustained_khz: what it was judged by: the chip's, or its own if it is a heavier load than the chip's speeds are of
 * @r:		@boost_khz over @sustained_khz
 * @others:	CPUs that others had meanwhile
 * @busy:	CPUs that were busy in the mean
 * @khz,@w:	means
 * @as_boosted_s,@as_sustained_s: how long it would have taken at one speed, with a 95 % interval; NAN where that is not known
 *
 * A program that keeps its CPU busy does in the time t at r times the sustained frequency what takes r t there (the paper's
 * equation 2): as_sustained = r boosted + sustained, and as_boosted is that over r. What waits for memory gains less.
 *
 * The interval of as_sustained has two parts, added as squares: a slice of a mixed run that may belong to either speed,
 * (r - 1) slice; and boosted r rel, with rel the reference speeds' relative half widths added as squares (0 of one without an
 * interval). The relative interval of as_boosted is that of as_sustained and rel, added likewise: it is divided by r once more.
 */
struct boost_run {
	enum boost_class class;
	double seconds, boosted_s, sustained_s, slower_s;
	double boost_khz, sustained_khz, r, others, busy, khz, w;
	struct value as_boosted_s, as_sustained_s;
};

/**
 * boost_run_judge() - a run from @from_s to @to_s
 *
 * As far as its own record goes it is judged by that. The mean of what it ran above the sustained speed is its boosted speed if
 * that is at least (1 - 2 BOOST_LEAST) times the chip's, or the chip's is not known: with fewer CPUs at work some chips boost to
 * more, and that is no less of a boost. What is slower is boosted in part. A run that would be mixed, but has one frequency from its
 * beginning to its end, is throttled, to a speed between the two, unless that is the boosted one by what counts. It is corrected by
 * the part all the same.
 *
 * A run that is slower than sustained for more than BOOST_RUN_SLOWER of its time, while others do not disturb it, draws more than
 * the load that the chip's speeds are of. The mean of what is slower is what it sustains, and what it is judged and corrected by.
 */
struct boost_run boost_run_judge(const struct boost_slice *slices, size_t n, double from_s, double to_s,
				 const struct boost_judge *by);

#endif /* KJOULE_BOOST_JUDGE_H */
