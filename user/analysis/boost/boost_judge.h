/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A benchmark run on a chip that boosts: was it boosted, throttled or mixed, and how long would it
 * have taken at either speed throughout? Pure functions.
 */
#ifndef KJOULE_BOOST_JUDGE_H
#define KJOULE_BOOST_JUDGE_H

#include <stddef.h>
#include "analysis/boost/boost.h"

enum boost_class {
	BOOST_BOOSTED,
	BOOST_THROTTLED,
	BOOST_MIXED,
	BOOST_DISTURBED,	/* other load took CPU time */
	BOOST_UNJUDGED,		/* too short, or no known frequency */
	BOOST_CLASSES
};

const char *boost_class_name(enum boost_class class);

/* A smaller part of the run at the other speed is ignored. */
#define BOOST_RUN_PURE		0.025

/*
 * Other load is the difference between ticks and the kernel's counters. It may be this part of one
 * CPU, or that of each if it is more: kernel threads and the counters' errors grow with the CPUs.
 */
#define BOOST_RUN_OTHERS	0.02
#define BOOST_RUN_OTHERS_CPU	0.01

/* And so many slices: the ticks at both ends are not all the run's own. */
#define BOOST_RUN_OTHERS_SLICES	2.5

/*
 * And so many standard deviations of the ticks. Each is a draw: with b of n CPUs busy in the mean,
 * the variance of their estimate of b is b (1 - b / n) tick / seconds.
 */
#define BOOST_RUN_OTHERS_SD	3.0

/* It may be slower than sustained for this part of its time, while a governor reacts. */
#define BOOST_RUN_SLOWER	0.05

/* A governor has reacted by then: a run that is slow only before has a higher own speed. */
#define BOOST_RUN_GOVERNOR_S	0.2

/* Runs of fewer slices are not judged. */
#define BOOST_RUN_LEAST		10

/**
 * struct boost_judge - the references for runs
 * @boost_khz,@sustained_khz: speeds of the chip under a load with 95 % intervals; .v is NAN if
 *   unknown, .lo and .hi if there is no interval
 * @others: CPUs taken by other load during the run; NAN: unknown
 * @cpus: CPUs that are watched
 * @tick_s: time between two ticks
 */
struct boost_judge {
	struct value boost_khz, sustained_khz;
	double others;
	unsigned int cpus;
	double tick_s;
};

/**
 * struct boost_run - the result
 * @class: the verdict
 * @seconds: length of the run
 * @boosted_s,@sustained_s,@slower_s: of these above, at, and below the sustained frequency
 * @boost_khz: mean of the first, if as fast as the chip boosts; else the chip's; NAN: neither is
 *   known
 * @sustained_khz: the reference: the chip's, or the run's own if its load is heavier
 * @r: @boost_khz over @sustained_khz
 * @others: CPUs taken by other load
 * @busy: mean number of busy CPUs
 * @khz,@w: means
 * @as_boosted_s,@as_sustained_s: time at one speed throughout, with a 95 % interval; NAN: unknown
 *
 * A program that keeps its CPU busy for t at r times the sustained frequency does what takes r t
 * there (the paper's equation 2): as_sustained = r boosted + sustained, and as_boosted is that over
 * r. A program that waits for memory gains less.
 *
 * The interval of as_sustained has two parts, added as squares: one slice of a mixed run that may
 * belong to either speed, (r - 1) slice; and boosted r rel, with rel the reference speeds' relative
 * half widths added as squares (0 for one without an interval). The relative interval of as_boosted
 * is that of as_sustained and rel, added likewise, for it is divided by r once more.
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
 * The run's own record comes first. The mean of what it ran above the sustained speed is its
 * boosted speed if that is at least (1 - 2 BOOST_LEAST) times the chip's, or the chip's is unknown:
 * with fewer busy CPUs some chips boost higher. A slower mean counts as boosted in part. A mixed
 * run at one frequency throughout is throttled, to a speed between the two, unless that is the
 * boosted one within BOOST_LEAST; it is corrected by the part all the same.
 *
 * A run that is slower than sustained for more than BOOST_RUN_SLOWER of its time, undisturbed, is a
 * heavier load than the chip's speeds were measured with. The mean of its slower part is then its
 * sustained speed and its reference.
 */
struct boost_run boost_run_judge(const struct boost_slice *slices, size_t n, double from_s,
				 double to_s, const struct boost_judge *by);

#endif /* KJOULE_BOOST_JUDGE_H */
