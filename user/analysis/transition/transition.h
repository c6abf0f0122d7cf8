/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a change of a CPU's frequency takes, from the times of a short loop of dependent adds
 * that ran before, during and after the request: FTaLaT's question (Mazouz, Laurent, Pradelle,
 * Jalby: Evaluation of CPU Frequency Transition Latency, sections 2 and 3). Pure functions, all
 * times in nanoseconds of one clock that does not follow the frequency.
 *
 * A level (transition_level.c) is the time of a loop at one frequency. A try (transition_try.c) is
 * one series, a pair (transition_pair.c) its repeats for two frequencies, a trend
 * (transition_trend.c) the shape of all pairs of a machine. An unknown figure is NAN, and a verdict
 * says why.
 */
#ifndef KJOULE_TRANSITION_H
#define KJOULE_TRANSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/stats/interval.h"

/* --- levels --- */

/* Fewer loops are no level; the paper takes 10,000. */
#define TRANSITION_LEVEL_LEAST	50

/* Levels must differ by so many standard deviations of one loop for a series to be followed. */
#define TRANSITION_FOLLOW	2.5

/*
 * A mean counts as at a level if it is within such a part of it, and within such a part of the
 * distance to the other level: clocks and voltages wander, and with 10,000 loops every difference
 * is significant.
 */
#define TRANSITION_NEAR		0.01
#define TRANSITION_NEAR_STEP	0.25

/**
 * struct transition_level - time of a loop at one frequency
 * @n,@left_out: loops used, and outliers: interrupts, SMIs
 * @mean_ns: with its 95 % interval
 * @mean_sd,@dof: standard deviation of the mean, and its degrees of freedom
 * @median_ns: of all loops
 * @sd_ns: robust standard deviation of a single loop, at least the clock's resolution's
 */
struct transition_level {
	size_t n, left_out;
	struct value mean_ns;
	double mean_sd, dof;
	double median_ns, sd_ns;
};

/**
 * transition_level() - calibrate
 * @loop_ns: times of @n loops, all at one frequency, in the order they ran in
 * @resolution_ns: of the clock; 0: as fine as the times
 *
 * The spread is that of the middle half, IQR / 1.349, or that of the narrower tail (median to the
 * first or the ninth tenth, / 1.2816) where that is wider, and at least resolution / sqrt(6), the
 * deviation of the difference of two truncated readings; loops that are 6 of it off the median are
 * left out. The interval of the mean is that of the means of 32 batches of consecutive loops (t
 * with 31 degrees of freedom), so that a drift makes it wider, and never narrower than sd /
 * sqrt(n).
 *
 * Return: 0; -ENODATA: too few loops, or more than a tenth are far off; -EINVAL: a time that is
 *   none; -ENOMEM
 */
int transition_level(const double *loop_ns, size_t n, double resolution_ns,
		     struct transition_level *l);

enum transition_apart {
	TRANSITION_APART,
	TRANSITION_SAME,	/* the means do not differ by Welch's test */
	TRANSITION_TWINS,	/* they differ, but by less than the noise of a single loop */
};

/**
 * struct transition_difference - of two means
 * @ns: with its 95 % interval
 * @t,@dof: Welch's t, its degrees of freedom (Satterthwaite)
 * @differ: at 95 %
 */
struct transition_difference {
	struct value ns;
	double t, dof;
	bool differ;
};

/**
 * transition_welch() - two means, their standard deviations and degrees of freedom
 *
 *	t = (a - b) / sqrt(s_a^2 + s_b^2)
 *	dof = (s_a^2 + s_b^2)^2 / (s_a^4 / dof_a + s_b^4 / dof_b)
 */
struct transition_difference transition_welch(double a, double sd_a, double dof_a, double b,
					      double sd_b, double dof_b);

/**
 * transition_levels_apart() - can a change from one to the other be followed?
 * @d: out, may be NULL
 *
 * Welch's test as in the paper, and TRANSITION_FOLLOW: with that distance the sum of the log
 * likelihood ratios of four loops on the wrong side of a change is 12.5 +- 5, so that a change is
 * known to within three.
 */
enum transition_apart transition_levels_apart(const struct transition_level *a,
					      const struct transition_level *b,
					      struct transition_difference *d);

/**
 * transition_near() - how far from @level a mean may be to count as it, with the other level of the
 * pair, ns
 */
double transition_near(double level, double other);

/* --- one try --- */

/* A pass of the loop; @start_ns: since the request, negative before it. */
struct transition_loop {
	double start_ns, loop_ns;
};

/**
 * struct transition_series - the measurement of one try
 * @loops: in order; those before the request first. The time between two is unknown
 * @request_ns: from the request until its call returned
 */
struct transition_series {
	const struct transition_loop *loops;
	size_t n;
	double request_ns;
};

/* Loops before the request that are needed, and loops after the last change: used, and at least. */
#define TRANSITION_BEFORE_LEAST		5
#define TRANSITION_CONFIRM		100
#define TRANSITION_CONFIRM_LEAST	50

/* Limit of a good try's uncertainty in loops, and of the unknown time next to a change. */
#define TRANSITION_OFF_MOST		3.0
#define TRANSITION_GAP_MOST		2.0

/* So many of the loops before the request, and of those that confirm, may be outliers. */
#define TRANSITION_FAR_MOST		0.2

enum transition_verdict {
	TRANSITION_GOOD,
	TRANSITION_NEVER,	/* at the end of the series the CPU runs as before */
	TRANSITION_ELSEWHERE,	/* it has settled at another speed, see @speed_ratio */
	/* the series ends too soon after the last change, or after the request */
	TRANSITION_UNCONFIRMED,
	TRANSITION_NOT_FROM,	/* it did not run at the first frequency at the request */
	/* changed before the request's call returned, or just after: an upper bound only */
	TRANSITION_IN_CALL,
	TRANSITION_HIDDEN,	/* a change is in a gap between loops, or next to one */
	TRANSITION_DISTURBED,	/* something else ran at a change */
	/* noise: a change is uncertain by more than TRANSITION_OFF_MOST loops */
	TRANSITION_VAGUE,
	TRANSITION_TOO_NEAR,	/* the two levels are not apart */
	TRANSITION_BAD,		/* no series: times that are none, or go backwards */
	TRANSITION_VERDICTS
};

/** transition_verdict_name() - for messages */
const char *transition_verdict_name(enum transition_verdict v);

/**
 * struct transition_change - from one level to another
 * @ns: begin, since the request: the last time at the level before
 * @end_ns: when the CPU runs at the level after
 * @pause_ns: the CPU stops in between: length of the loop with the change less the mean of both
 *   levels. For a single change the error is up to half of the levels' distance, so it may be below
 *   0. NAN: the change is in an unknown time
 * @pause_most_ns: upper bound: that time; @pause_ns if known
 * @after_ns,@before_ns: certainly not before the one (end of the last loop that certainly has not
 *   changed) and certainly over at the other (start of the first that certainly has); odds of 1000
 * @unchanged,@changed: the indexes of these loops in the series; SIZE_MAX: none after the request
 * @loop_start_ns: start of the loop with the change, or of the time between two loops
 * @from_ns,@to_ns: the levels
 */
struct transition_change {
	double ns, end_ns, pause_ns, pause_most_ns;
	double after_ns, before_ns;
	size_t unchanged, changed;
	double loop_start_ns;
	double from_ns, to_ns;
};

/**
 * struct transition_try - the result of a series
 * @first,@last: change, the same one unless there are several; NAN in it unless the verdict is good
 * @changes: how many, 0 if there is none
 * @settled_ns: @last.end_ns: from then on the CPU runs at the new frequency
 * @pause_ns,@pause_most_ns: of all changes together
 * @request_ns: length of the request's call
 * @speed_ratio: speed at the end, relative to the requested one; NAN: unknown. Not exactly 1 even
 *   for a good one
 * @end: distance of the end's mean loop from the requested level
 * @confirming: loops that this is from
 * @far: loops of the whole series that no level explains
 * @adjacent_ns: start of a loop near the first change, and not in it, with a longer pause; NAN:
 *   there is none
 */
struct transition_try {
	enum transition_verdict verdict;
	struct transition_change first, last;
	size_t changes;
	double settled_ns, pause_ns, pause_most_ns, request_ns;
	double speed_ratio;
	struct transition_difference end;
	size_t confirming, far;
	double adjacent_ns;
};

/**
 * transition_try() - find the change in a series
 *
 * The loops are those of a path through levels: @from, @to, and a grid of others around them, 1 %
 * or one standard deviation apart. Each loop has the likelihood of its level's normal distribution,
 * and at least that of an outlier (1 in 100, at any length): a single long loop says nothing. Going
 * to another level costs PATH_CHANGE, so that at least three loops must agree on it. The best path
 * is Viterbi's; levels of it near @from or @to (transition_near()) are these. Where it leaves @from
 * is the first change, where it finally gets to @to the last one.
 *
 * A change is placed by maximum likelihood, and its interval has all places whose likelihood is at
 * least 1/1000 of the best one's. Loops between two that fit their levels have the change in them.
 * With one such loop it began, with equal chances, anywhere in as much of it as a loop takes before
 * the change, and is over as much of a loop before its end as one takes after: ns = start + from /
 * 2, end_ns = start + loop - to / 2. A loop that long may as well have an SMI in it:
 * transition_pair() decides by the other repeats. Without such a loop it is in the time between
 * two, and taken to be in its middle; its pause is no longer than that.
 *
 * The loops before the request, and TRANSITION_CONFIRM loops after the last change, are compared
 * with their levels by Welch's test for a difference of more than transition_near(): one that is
 * significant, and matters.
 *
 * Return: 0, @t->verdict says whether it is of use; -ENOMEM
 */
int transition_try(const struct transition_series *s, const struct transition_level *from,
		   const struct transition_level *to, struct transition_try *t);

/* --- a pair --- */

/* Good tries to have (the paper's 31), most tries in all, and most without a good one. */
#define TRANSITION_REPEATS	31
#define TRANSITION_TRIES_MOST	(4 * TRANSITION_REPEATS)
#define TRANSITION_HOPELESS	12

enum transition_state {
	TRANSITION_MORE,	/* more tries are needed */
	TRANSITION_KNOWN,
	TRANSITION_FAILED,	/* @why */
};

/**
 * struct transition_pair - the result of the repeats
 * @verdicts: number of tries by verdict; those whose pause, number of changes or request's call is
 *   unlike the others' count as disturbed
 * @why: with TRANSITION_FAILED: the most frequent verdict other than good
 * @first_ns,@last_ns,@settled_ns: medians of when the first change begins, the last one begins, and
 *   the CPU runs at the new frequency, each since the request
 * @pause_ns: likewise, of those in which it is known
 * @request_ns: length of the call, from all tries
 * @changes: median number of steps
 * @speed_ratio: with TRANSITION_ELSEWHERE: the median
 * @phase: 0: changes fall into loops everywhere, 1: always at the same, unknown place of a loop
 */
struct transition_pair {
	enum transition_state state;
	enum transition_verdict why;
	size_t tries, verdicts[TRANSITION_VERDICTS];
	struct value first_ns, last_ns, settled_ns, pause_ns, request_ns;
	double changes, speed_ratio, phase;
};

/**
 * transition_pair() - combine tries
 * @tries: @n so far
 * @repeats: good ones to have, 0: TRANSITION_REPEATS; at most four times as many are tried
 * @verdicts: out, one for each try, may be NULL: a try whose pause, number of changes (if four of
 *   five have the same) or request's call is unlike the others' is TRANSITION_DISTURBED
 *
 * Pauses are alike, and disturbances are not: one that is off by more than TRANSITION_GAP_MOST
 * loops from most of them, or an outlier among those that are left (outliers_find()), is an SMI or
 * a preemption, or one has hidden the pause: its try is not good, as the change may be anywhere in
 * such a loop. If half of the good ones have a pause next to the change and at the same time, it is
 * the change's, which was misplaced, and none is good. Unless half of them are near each other none
 * is good.
 *
 * The interval of a median is that of the order statistics: of n values, the r-th and the (n + 1 -
 * r)-th with the largest r for which 2 P(B(n, 1/2) < r) <= 5 %, 10 of 31, for any distribution. A
 * value is only known to within one loop. If the loops' starts are random relative to the change,
 * that is an error like any other, and in the order statistics. If a CPU takes equally long each
 * time and the loops begin equally long after the request, the change falls at the same place of a
 * loop in each repeat, and more repeats do not help: half a loop, and half of the difference of a
 * loop's two times for the pause, is added to each side, times the length R of the mean of the unit
 * vectors at the starts' phases (Rayleigh), which is no less than needed for phases that are evenly
 * spread over a part of the loop. A measurement should begin the first loop after a random wait of
 * up to one loop.
 *
 * Return: 0 or -ENOMEM
 */
int transition_pair(const struct transition_try *tries, size_t n, size_t repeats,
		    enum transition_verdict *verdicts, struct transition_pair *p);

/**
 * transition_median() - median with its distribution-free 95 % interval
 *
 * Return: NAN without values; lo and hi NAN with less than six
 */
struct value transition_median(const double *values, size_t n, double *room);

/* --- the trend --- */

enum transition_shape {
	TRANSITION_UNKNOWN,	/* too few targets, or a line and levels fit equally well */
	TRANSITION_FLAT,
	TRANSITION_LINEAR,	/* in the target frequency */
	TRANSITION_JUMP,	/* two levels */
	TRANSITION_STEPS,	/* three or more */
	TRANSITION_OTHER,	/* none of these fits */
	TRANSITION_SHAPES
};

/** transition_shape_name() - for messages */
const char *transition_shape_name(enum transition_shape s);

/* A pair's delay. */
struct transition_point {
	uint32_t from_khz, to_khz;
	struct value ns;
};

/* Targets that a shape needs; most levels; least advantage in BIC (Kass and Raftery: positive). */
#define TRANSITION_TARGETS_LEAST	5
#define TRANSITION_LEVELS_MOST		8
#define TRANSITION_BETTER		2.0

/* Such a part of a delay is added to its uncertainty, and delays within such a part are flat. */
#define TRANSITION_EXACT		0.01
#define TRANSITION_FLAT_WITHIN		0.05

/**
 * struct transition_trend - delays over the target frequency
 * @targets: with at least one pair
 * @pairs,@far: pairs used, and those far from the other pairs of the same target
 * @bic: of the best fit of each shape; INFINITY: not tried
 * @better: advantage of @shape over the next one; below 0: a simpler shape that is nearly as good
 * @mean_ns: of all targets
 * @slope: of the line, ns a kHz
 * @levels: of steps, @level_ns each, from target @level_khz on; 1 if flat, 0 for a line
 * @chi2,@dof: of the best fit
 */
struct transition_trend {
	enum transition_shape shape;
	size_t targets, pairs, far;
	double bic[TRANSITION_SHAPES], better;
	struct value mean_ns, slope;
	size_t levels;
	double level_ns[TRANSITION_LEVELS_MOST];
	uint32_t level_khz[TRANSITION_LEVELS_MOST];
	double chi2;
	size_t dof;
};

/**
 * transition_trend() - the shape of the delays of all pairs in one direction (section 3.2)
 * @up: pairs whose target is above, or those whose target is below
 *
 * Delays of one target from all frequencies are combined by their median, with the uncertainty of
 * their agreement, at least TRANSITION_EXACT. With these deviations s_i, each shape has the
 * parameters that minimise chi^2 = sum ((y_i - fit_i) / s_i)^2, and the best shape has the least
 * BIC = chi^2 + k ln n (Schwarz), with k = 1 flat, 2 linear, 3 m - 2 for m levels and where they
 * begin, which counts twice as the best place is searched for (Zhang and Siegmund, Biometrics 63,
 * 2007); the best places are found among all (dynamic programming), with up to n / 2 levels. One
 * that is contained in another (flat in all, two levels in more) is chosen unless the other is
 * better by TRANSITION_BETTER. A shape with a chi^2 that good data exceed in one of 1,000 cases is
 * none of these. Delays within TRANSITION_FLAT_WITHIN of their mean are flat in any case.
 *
 * Points without a value (NAN) are skipped.
 * Return: 0 or -ENOMEM
 */
int transition_trend(const struct transition_point *points, size_t n, bool up,
		     struct transition_trend *t);

#endif /* KJOULE_TRANSITION_H */
