/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a change of a CPU's frequency takes, from the times of a short loop of dependent adds that ran before, while
 * and after it was asked for: FTaLaT's question (Mazouz, Laurent, Pradelle, Jalby: Evaluation of CPU Frequency
 * Transition Latency, sections 2 and 3). Whoever has measured calls this; who and how is none of its business. Pure
 * functions, all times in nanoseconds of one clock that does not follow the frequency.
 *
 * A level (transition_level.c) is what the loop takes at one frequency. A try (transition_try.c) is one series, a pair
 * (transition_pair.c) the repeats of it for two frequencies, a trend (transition_trend.c) what the pairs of a machine
 * look like together. What cannot be told has a verdict that says why, and no number: NAN.
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

/* The levels of two frequencies differ by at least so many standard deviations of one loop, or no series can be followed. */
#define TRANSITION_FOLLOW	2.5

/*
 * A mean is as good as a level if it is within such a part of it, and within such a part of the distance to the other
 * level: clocks and voltages wander, and with 10,000 loops every difference can be told.
 */
#define TRANSITION_NEAR		0.01
#define TRANSITION_NEAR_STEP	0.25

/**
 * struct transition_level - what one loop takes at one frequency
 * @n,@left_out:	loops that count, and those that are too far from the others: interrupts, SMIs
 * @mean_ns:		with its 95 % interval
 * @mean_sd,@dof:	standard deviation of the mean, and its degrees of freedom
 * @median_ns:		of all loops
 * @sd_ns:		robust standard deviation of a single loop, at least what the clock's resolution makes of it
 */
struct transition_level {
	size_t n, left_out;
	struct value mean_ns;
	double mean_sd, dof;
	double median_ns, sd_ns;
};

/**
 * transition_level() - calibrate
 * @loop_ns:		times of @n loops, all at one frequency, in the order they ran in
 * @resolution_ns:	of the clock; 0: as fine as the times look
 *
 * The spread is that of the middle half, IQR / 1.349, or that of the narrower tail (median to the first or the ninth
 * tenth, / 1.2816) where that is wider, and at least resolution / sqrt(6), the deviation of the difference of two
 * readings that were cut off; loops that are 6 of it off the median are left out. The
 * interval of the mean is that of the means of 32 stretches of consecutive loops (t with 31 degrees of freedom), so
 * that a drift makes it wider, and never narrower than sd / sqrt(n).
 *
 * Return: 0; -ENODATA: too few loops, or more than a tenth of them is far off; -EINVAL: a time that is none;
 * -ENOMEM
 */
int transition_level(const double *loop_ns, size_t n, double resolution_ns, struct transition_level *l);

enum transition_apart {
	TRANSITION_APART,
	TRANSITION_SAME,	/* Welch's test cannot tell the means apart */
	TRANSITION_TWINS,	/* they differ, but by less than a series can show: noise of a single loop */
};

/**
 * struct transition_difference - of two means
 * @ns:		with its 95 % interval
 * @t,@dof:	Welch's t, its degrees of freedom (Satterthwaite)
 * @differ:	at 95 %
 */
struct transition_difference {
	struct value ns;
	double t, dof;
	bool differ;
};

/**
 * transition_welch() - two means, their standard deviations and degrees of freedom
 *
 *	t = (a - b) / sqrt(s_a^2 + s_b^2),	dof = (s_a^2 + s_b^2)^2 / (s_a^4 / dof_a + s_b^4 / dof_b)
 */
struct transition_difference transition_welch(double a, double sd_a, double dof_a, double b, double sd_b, double dof_b);

/**
 * transition_levels_apart() - can a change from one to the other be followed at all?
 * @d:		out, may be NULL
 *
 * Welch's test as in the paper, and besides TRANSITION_FOLLOW: with that distance the sum of the log likelihood
 * ratios of four loops on the wrong side of a change is 12.5 +- 5, so that a change is known to within three.
 */
enum transition_apart transition_levels_apart(const struct transition_level *a, const struct transition_level *b,
					      struct transition_difference *d);

/** transition_near() - how far from @level a mean may be to count as it, with the other level of the pair, ns */
double transition_near(double level, double other);

/* --- one try --- */

/* A pass of the loop; @start_ns: since the request, negative before it. */
struct transition_loop {
	double start_ns, loop_ns;
};

/**
 * struct transition_series - what was measured of one try
 * @loops:	in order; those before the request first. Nothing is known of the time between two
 * @request_ns:	from the request until its call returned
 */
struct transition_series {
	const struct transition_loop *loops;
	size_t n;
	double request_ns;
};

/* Loops before the request that are needed, and loops after the last change: as many as are looked at, and at least. */
#define TRANSITION_BEFORE_LEAST		5
#define TRANSITION_CONFIRM		100
#define TRANSITION_CONFIRM_LEAST	50

/* A try that may be off by more loops than this is not good, nor one with a change beside so many loops' time unseen. */
#define TRANSITION_OFF_MOST		3.0
#define TRANSITION_GAP_MOST		2.0

/* Of the loops before the request, and of those that confirm: so many may be far off, in which something else ran. */
#define TRANSITION_FAR_MOST		0.2

enum transition_verdict {
	TRANSITION_GOOD,
	TRANSITION_NEVER,	/* at the end of the series the CPU runs as before, or again */
	TRANSITION_ELSEWHERE,	/* it has settled at another speed, see @speed_ratio */
	TRANSITION_UNCONFIRMED,	/* the series ends too soon after the last change, or after the request */
	TRANSITION_NOT_FROM,	/* it did not run at the first frequency when the request was made */
	TRANSITION_IN_CALL,	/* changed before the request's call returned, or just after: an upper bound only */
	TRANSITION_HIDDEN,	/* a change is in a gap between loops, or beside one */
	TRANSITION_DISTURBED,	/* something else ran at a change */
	TRANSITION_VAGUE,	/* noise: a change cannot be placed to within TRANSITION_OFF_MOST loops */
	TRANSITION_TOO_NEAR,	/* the two levels are not apart */
	TRANSITION_BAD,		/* no series: times that are none, or go backwards */
	TRANSITION_VERDICTS
};

/** transition_verdict_name() - a word or two for people */
const char *transition_verdict_name(enum transition_verdict v);

/**
 * struct transition_change - from one level to another
 * @ns:		when it begins, since the request: the last that runs at the level before
 * @end_ns:	when the CPU runs at the level after
 * @pause_ns:	it stands still between them: what the loop takes that has the change in it, less the mean of both
 *		levels, as the change is anywhere in it. Of one change it may be off by half of the levels' distance, and is
 *		below 0 by as much where the CPU does not stand still. NAN: the change is in a time of which nothing is known
 * @pause_most_ns: it is no longer than that time; @pause_ns where that is known
 * @after_ns,@before_ns: it was certainly not before the one (end of the last loop that certainly has not changed) and
 *		certainly over at the other (start of the first that certainly has); odds of 1000
 * @unchanged,@changed: the indexes of these loops in the series; SIZE_MAX: there is none after the request
 * @loop_start_ns: start of the loop with the change in it, or of the time between two loops
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
 * struct transition_try - what a series tells
 * @first,@last: change, the same one unless it went in @changes steps; NAN in it unless the verdict is good
 * @changes:	how many, 0 if there is none
 * @settled_ns:	@last.end_ns: from then on the CPU runs at the new frequency
 * @pause_ns,@pause_most_ns: of all changes together
 * @request_ns:	what the request's call took
 * @speed_ratio: speed at the end, against that asked for; NAN: not known. Not 1 exactly even with a good one
 * @end:	how far the end's mean loop is from the level asked for
 * @confirming:	loops that this is from
 * @far:	loops of the whole series that no level explains
 * @adjacent_ns:	start of a loop near the first change, and not in it, that stands for longer than that does; NAN: there is none
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
 * The loops are those of a path through levels: @from, @to, and a grid of others around them, 1 % or one standard
 * deviation apart. Each loop has the likelihood of its level's normal distribution, and at least that of a loop that
 * has nothing to do with any (1 in 100, at any length): a single long loop says nothing, wherever it is. Going to
 * another level costs PATH_CHANGE, so that three loops at least must agree on it. The best path is Viterbi's; levels of
 * it that are near @from or @to (transition_near()) are these. Where it leaves @from is the first change, where it comes
 * to @to for good the last one.
 *
 * A change is placed by maximum likelihood, and its interval has all places whose likelihood is at least 1/1000 of the
 * best one's. Loops between two that fit their levels have the change in them. With one such loop it began, with equal
 * chances, anywhere in as much of it as a loop takes before the change, and is over as much of a loop before its end as one
 * takes after: ns = start + from / 2, end_ns = start + loop - to / 2. A loop that long may as well have an SMI in
 * it: transition_pair() tells by the other repeats.
 * Where there is no such loop it is in the time between two, and taken to be in the middle of that; of its pause no more is
 * known than that it is no longer.
 *
 * The loops before the request, and TRANSITION_CONFIRM loops after the last change, are compared with their levels by
 * Welch's test for a difference of more than transition_near(): one that is significant, and matters.
 *
 * Return: 0, @t->verdict says whether it is of use; -ENOMEM
 */
int transition_try(const struct transition_series *s, const struct transition_level *from,
		   const struct transition_level *to, struct transition_try *t);

/* --- a pair --- */

/* Good tries to have (the paper's 31), tries in all at most, and tries without a single good one after which to give up. */
#define TRANSITION_REPEATS	31
#define TRANSITION_TRIES_MOST	(4 * TRANSITION_REPEATS)
#define TRANSITION_HOPELESS	12

enum transition_state {
	TRANSITION_MORE,	/* more tries are needed */
	TRANSITION_KNOWN,
	TRANSITION_FAILED,	/* @why */
};

/**
 * struct transition_pair - what the repeats tell
 * @verdicts:	how many tries ended so; those whose pause, number of changes or request's call is not like the others' count as disturbed
 * @why:	with TRANSITION_FAILED: what most tries that are not good ended with
 * @first_ns,@last_ns,@settled_ns: medians of when the first change begins, the last one begins, and the CPU runs at the new
 *		frequency, each since the request
 * @pause_ns:	likewise, of those in which it is known
 * @request_ns:	what the call takes, from all tries
 * @changes:	median number of steps
 * @speed_ratio: with TRANSITION_ELSEWHERE: the median
 * @phase:	0: changes fall into loops everywhere, 1: always at the same place of a loop, which is not known
 */
struct transition_pair {
	enum transition_state state;
	enum transition_verdict why;
	size_t tries, verdicts[TRANSITION_VERDICTS];
	struct value first_ns, last_ns, settled_ns, pause_ns, request_ns;
	double changes, speed_ratio, phase;
};

/**
 * transition_pair() - put tries together
 * @tries:	@n so far
 * @repeats:	good ones to have, 0: TRANSITION_REPEATS; at most four times as many are tried
 * @verdicts:	out, one for each try, may be NULL: a try whose pause, number of changes (where four of five have the same) or request's call is not like the others' is TRANSITION_DISTURBED
 *
 * Pauses are alike, and what disturbs is not: one that is off by more than TRANSITION_GAP_MOST loops from where most of
 * them are, or is an outlier among those that are left (outliers_find()), is an SMI or a preemption, or one has hidden the pause:
 * its try is no good, as the change may be anywhere in such a loop. Where a half of the good ones have a pause beside the change and at the
 * same time, it is the change's, which was placed wrong, and none is good. Unless a half of them are near each other none is good.
 *
 * The interval of a median is that of the order statistics: of n values, the r-th and the (n + 1 - r)-th with
 * the largest r for which 2 P(B(n, 1/2) < r) <= 5 %, 10 of 31, whatever they are distributed like. A value is only
 * known to within one loop. Where the loops' starts are at random against the change, that is an error like any other, and in
 * the order statistics. Where a CPU takes equally long each time and the loops begin equally long after the request, the
 * change falls at the same place of a loop in each repeat, and no number of repeats tells where: half a loop of it, and half
 * of the difference of a loop's two times for the pause, is added to each side times the length R of the mean of the
 * unit vectors at the starts' phases (Rayleigh), which is no less than needed for phases that are evenly spread over a
 * part of the loop. Who measures should begin the first loop after a random wait of up to one loop.
 *
 * Return: 0 or -ENOMEM
 */
int transition_pair(const struct transition_try *tries, size_t n, size_t repeats, enum transition_verdict *verdicts,
		    struct transition_pair *p);

/**
 * transition_median() - median with its distribution-free 95 % interval
 *
 * Return: NAN without values; lo and hi NAN with less than six
 */
struct value transition_median(const double *values, size_t n, double *room);

/* --- the trend --- */

enum transition_shape {
	TRANSITION_UNKNOWN,	/* too few targets, or a line and levels do as well */
	TRANSITION_FLAT,
	TRANSITION_LINEAR,	/* in the target frequency */
	TRANSITION_JUMP,	/* two levels */
	TRANSITION_STEPS,	/* three or more */
	TRANSITION_OTHER,	/* none of these fits */
	TRANSITION_SHAPES
};

/** transition_shape_name() - a word for people */
const char *transition_shape_name(enum transition_shape s);

/* A pair's delay. */
struct transition_point {
	uint32_t from_khz, to_khz;
	struct value ns;
};

/* Targets that a shape needs; levels at most; and what one shape must be better by, in BIC (Kass and Raftery: positive). */
#define TRANSITION_TARGETS_LEAST	5
#define TRANSITION_LEVELS_MOST		8
#define TRANSITION_BETTER		2.0

/* Nothing is exact: such a part of a delay is added to how sure each is, and delays within such a part are flat. */
#define TRANSITION_EXACT		0.01
#define TRANSITION_FLAT_WITHIN		0.05

/**
 * struct transition_trend - delays over the target frequency
 * @targets:	with at least one pair
 * @pairs,@far:	pairs that count, and those of them that differ from the other pairs of the same target by far
 * @bic:	of the best fit of each shape; INFINITY: not tried
 * @better:	by how much that of @shape is less than the next one's; below 0: a simpler shape that is nearly as good
 * @mean_ns:	of all targets
 * @slope:	of the line, ns a kHz
 * @levels:	of steps, @level_ns each, from target @level_khz on; 1 if flat, 0 for a line
 * @chi2,@dof:	of the best fit
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
 * @up:		pairs whose target is above, or those whose target is below
 *
 * Delays of one target from all frequencies are put together by their median, known as well as these agree and no better than
 * TRANSITION_EXACT. With these deviations s_i known, each shape has the parameters that make
 * chi^2 = sum ((y_i - fit_i) / s_i)^2 least, and the best shape has the least BIC = chi^2 + k ln n (Schwarz), with
 * k = 1 flat, 2 linear, 3 m - 2 for m levels and where they begin, which counts twice as the best place is searched for
 * (Zhang and Siegmund, Biometrics 63, 2007); the best places are found among all (dynamic programming), with up to n / 2
 * levels. One that is contained in another (flat in all, two levels in more) is chosen unless the other is better by
 * TRANSITION_BETTER. A shape that is left with a chi^2 that good data exceed in one of 1,000 cases is none of these.
 * Whatever the test says, delays within TRANSITION_FLAT_WITHIN of their mean are flat.
 *
 * Points without a value (NAN) are passed over.
 * Return: 0 or -ENOMEM
 */
int transition_trend(const struct transition_point *points, size_t n, bool up, struct transition_trend *t);

#endif /* KJOULE_TRANSITION_H */
