// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Levels, and single series with a change, of known truth: where the change is, how certain, and
 * the verdict on each other series.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/support/synthetic.h"
#include "tests/support/transitions.h"
#include "tests/support/unit.h"

#define CALIBRATION	10000

static size_t runs_of(size_t n)
{
	return getenv("KJOULE_TEST_QUICK") ? n / 20 : n;
}

/* --- levels --- */

TEST(test_level_covers_the_truth)
{
	static double loops[CALIBRATION];
	const size_t runs = runs_of(400);
	struct made_change c = made_fast;
	struct transition_level l;
	uint64_t seed = 7;
	size_t inside = 0;

	c.resolution = 30;
	for (size_t i = 0; i < runs; i++) {
		made_loops(&c, c.from, &seed, loops, CALIBRATION);
		assert_int_equal(transition_level(loops, CALIBRATION, c.resolution, &l), 0);
		inside += l.mean_ns.lo <= c.from && c.from <= l.mean_ns.hi;
		/*
		 * those that are not within the noise, of 20 in which something else ran for up to
		 * 20 us
		 */
		assert_in_range(l.left_out, 5, 40);
		assert_int_equal(l.n + l.left_out, CALIBRATION);
		assert_true(l.sd_ns > 10 && l.sd_ns < 25);
		assert_float_equal(l.median_ns, c.from, 30);
	}
	printf("level: inside %zu times of %zu\n", inside, runs);
	assert_true(inside >= 0.93 * runs);
}

/* A level that drifts is not as sure as so many loops would be. */
TEST(test_drift_makes_a_level_unsure)
{
	static double loops[CALIBRATION];
	struct transition_level still, drifting;
	uint64_t seed = 7;

	made_loops(&made_slow, 50e3, &seed, loops, CALIBRATION);
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &still), 0);
	for (size_t i = 0; i < CALIBRATION; i++)
		loops[i] *= 1 + 0.01 * i / CALIBRATION;
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &drifting), 0);
	assert_true(drifting.mean_sd > 3 * still.mean_sd);
}

/* Six of ten have one length, two are shorter, two longer: the middle half does not show that. */
TEST(test_loops_of_three_lengths_are_one_level)
{
	static const double steps[10] = { 0, 0, -1700, 0, 1700, 0, 1700, 0, -1700, 0 };
	static double loops[CALIBRATION];
	struct transition_level l;
	uint64_t seed = 7;

	for (size_t i = 0; i < CALIBRATION; i++)
		loops[i] = 27500 + steps[(size_t)(10 * rnd_unit(&seed))] + 50 * made_normal(&seed);
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &l), 0);
	assert_int_equal(l.left_out, 0);
	assert_true(fabs(l.mean_ns.v - 27500) < 60 && l.mean_ns.lo < 27500 && l.mean_ns.hi > 27500);
	assert_true(l.sd_ns > 1000 && l.sd_ns < 1500);
	/* with the short ones gone the long ones are something that came in between */
	for (size_t i = 0; i < CALIBRATION; i++)
		if (loops[i] < 27000)
			loops[i] += 1700;
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &l), -ENODATA);
}

TEST(test_level_needs_times)
{
	static double loops[CALIBRATION];
	struct transition_level l;

	for (size_t i = 0; i < CALIBRATION; i++)
		loops[i] = 1000;
	assert_int_equal(transition_level(loops, 0, 1, &l), -ENODATA);
	assert_int_equal(transition_level(loops, TRANSITION_LEVEL_LEAST - 1, 1, &l), -ENODATA);
	assert_true(isnan(l.mean_ns.v) && isnan(l.sd_ns));
	/* all alike */
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &l), 0);
	assert_float_equal(l.mean_ns.v, 1000, 1e-9);
	assert_true(l.sd_ns > 0 && l.mean_ns.lo < 1000 && l.mean_ns.hi > 1000);
	/* all but one */
	loops[77] = 1e9;
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &l), 0);
	assert_float_equal(l.mean_ns.v, 1000, 1e-9);
	assert_int_equal(l.left_out, 1);
	/* two frequencies in one */
	for (size_t i = 0; i < CALIBRATION / 5; i++)
		loops[i] = 2000;
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &l), -ENODATA);
	assert_true(isnan(l.mean_ns.v));
	loops[3] = NAN;
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &l), -EINVAL);
	loops[3] = 0;
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &l), -EINVAL);
	loops[3] = INFINITY;
	assert_int_equal(transition_level(loops, CALIBRATION, 0, &l), -EINVAL);
	loops[3] = 1000;
	assert_int_equal(transition_level(loops, CALIBRATION, NAN, &l), -EINVAL);
}

TEST(test_levels_that_differ_by_noise_are_not_apart)
{
	struct transition_level a, same, twin, other,
		none = { .mean_ns = { NAN, NAN, NAN }, .mean_sd = NAN, .sd_ns = NAN };
	struct transition_difference d;
	uint64_t seed = 7;
	size_t told = 0;

	made_level(&made_slow, 60e3, &seed, &a);
	made_level(&made_slow, 60e3 * 1.005, &seed, &twin);
	made_level(&made_slow, 60e3 * 1.04, &seed, &other);
	assert_int_equal(transition_levels_apart(&a, &twin, &d), TRANSITION_TWINS);
	assert_true(d.differ && d.ns.hi < 0);
	assert_int_equal(transition_levels_apart(&a, &other, &d), TRANSITION_APART);
	assert_true(d.ns.lo <= -0.04 * 60e3 && d.ns.hi >= -0.04 * 60e3);
	assert_int_equal(transition_levels_apart(&a, &none, &d), TRANSITION_SAME);
	assert_int_equal(transition_levels_apart(&none, &none, NULL), TRANSITION_SAME);
	/* 95 %: the same frequency twice counts as different in one of twenty cases */
	for (size_t i = 0; i < runs_of(400); i++) {
		made_level(&made_slow, 60e3, &seed, &same);
		made_level(&made_slow, 60e3, &seed, &a);
		told += transition_levels_apart(&a, &same, NULL) != TRANSITION_SAME;
	}
	printf("the same frequency twice: separated %zu times of %zu\n", told, runs_of(400));
	assert_true(told <= 0.08 * runs_of(400) + 1);
}

TEST(test_welch_is_as_in_the_books)
{
	/*
	 * equal variances and sizes: twice the degrees of freedom; one that is exact: those of the
	 * other
	 */
	struct transition_difference d = transition_welch(10, 1, 9, 7, 1, 9);

	assert_float_equal(d.dof, 18, 1e-9);
	assert_float_equal(d.t, 3 / sqrt(2), 1e-9);
	assert_float_equal(d.ns.hi - 3, 2.1009 * sqrt(2), 1e-3);
	assert_true(d.differ);
	d = transition_welch(10, 1, 9, 8, 0, 9);
	assert_float_equal(d.dof, 9, 1e-9);
	assert_false(d.differ);
	assert_true(transition_welch(2, 0, 9, 1, 0, 9).differ);
	assert_false(transition_welch(1, 0, 9, 1, 0, 9).differ);
	assert_false(transition_welch(NAN, 1, 9, 1, 1, 9).differ);
}

/* --- a try --- */

struct trying {
	struct made_change c;
	struct transition_level from, to;
	uint64_t seed;
};

static struct trying trying(const struct made_change *c)
{
	struct trying t = { .c = *c, .seed = 99 };

	made_level(c, c->from, &t.seed, &t.from);
	made_level(c, c->to, &t.seed, &t.to);
	return t;
}

static struct transition_try try_once(struct trying *of, struct made_series *m)
{
	struct transition_try t;

	made_tries(&of->c, &of->from, &of->to, &of->seed, &t, m, 1);
	return t;
}

static void assert_no_number(const struct transition_try *t)
{
	assert_int_not_equal(t->verdict, TRANSITION_GOOD);
	assert_true(isnan(t->first.ns) && isnan(t->first.end_ns) && isnan(t->last.ns) &&
		    isnan(t->settled_ns) && isnan(t->pause_ns) && isnan(t->first.after_ns) &&
		    isnan(t->last.before_ns));
}

/* All of some tries end with @verdict, and without a number. */
static void all_end(struct trying *of, enum transition_verdict verdict)
{
	for (int i = 0; i < 50; i++) {
		struct transition_try t = try_once(of, NULL);

		assert_int_equal(t.verdict, verdict);
		assert_no_number(&t);
	}
}

static void check_interval(const char *what, const struct made_change *c, double succeed)
{
	struct trying of = trying(c);
	size_t runs = runs_of(500), good = 0, inside = 0;
	double off = 0, loop = fmax(c->from, c->to), mean = 0;

	for (size_t i = 0; i < runs; i++) {
		struct made_series m;
		struct transition_try t = try_once(&of, &m);

		if (t.verdict)
			continue;
		good++;
		off = fmax(off, fabs(t.first.ns - m.first));
		mean += t.first.ns - m.first;
		inside += t.first.after_ns <= m.first && m.settled <= t.last.before_ns;
		assert_true(t.first.after_ns <= t.first.ns && t.first.ns <= t.first.before_ns);
		assert_true(t.first.after_ns <= t.first.end_ns &&
			    t.first.end_ns <= t.first.before_ns);
		if (isnan(t.first.pause_ns))
			assert_true(t.first.end_ns == t.first.ns && t.first.pause_most_ns > 0);
		else
			assert_true(fabs(t.first.pause_ns - t.first.end_ns + t.first.ns) < 1e-6);
		assert_true(t.first.unchanged == SIZE_MAX || t.first.unchanged < t.first.changed);
		assert_float_equal(t.speed_ratio, 1, 0.02);
	}
	printf("%s: %zu of %zu good, %.1f %% of them certain of the truth, off by %.2f loops at most, by %.3f on the average\n",
	       what, good, runs, 100.0 * inside / good, off / loop, mean / good / loop);
	assert_true(good >= succeed * runs);
	assert_true(inside >= 0.99 * good);
	assert_true(off <= TRANSITION_OFF_MOST * loop);
	/*
	 * errors of up to half a loop: three standard deviations of their mean, and what the first
	 * and the last bit of a loop hide
	 */
	assert_true(fabs(mean / good) <= (3 * 0.29 / sqrt(good) + 0.02) * loop);
}

TEST(test_change_is_between_what_is_certain)
{
	struct made_change near = made_slow, no_pause = made_slow, joined = made_slow;

	/* one loop's end is the next one's start, but for where interrupts are let in */
	joined.gap = 0;
	check_interval("60 to 30 us, loops without gaps", &joined, 0.98);
	joined.pause = 0;
	check_interval("60 to 30 us, loops without gaps, no pause", &joined, 0.98);
	check_interval("60 to 30 us, 1 % noise", &made_slow, 0.98);
	check_interval("1063 to 500 ns", &made_fast, 0.98);
	/* neighbours, a few standard deviations of the loops apart */
	near.to = 57e3;
	near.noise = 0.01;
	check_interval("60 to 57 us, 1 % noise", &near, 0.98);
	near.noise = 0.015;
	check_interval("60 to 57 us, 1.5 % noise", &near, 0.8);
	no_pause.pause = 0;
	check_interval("60 to 30 us, no pause", &no_pause, 0.98);
	no_pause.from = 30e3;
	no_pause.to = 60e3;
	check_interval("30 to 60 us, no pause", &no_pause, 0.98);
	near.pause = 0;
	near.noise = 0.01;
	check_interval("60 to 57 us, 1 % noise, no pause", &near, 0.98);
}

TEST(test_steps_have_a_first_and_a_last_change)
{
	struct made_change c = made_slow;
	double off_first = 0, off_last = 0, off_pause = 0;
	struct trying of;

	c.n_steps = 2;
	c.step[0] = 50e3;
	c.step[1] = 40e3;
	c.step_after = 400e3;
	c.pause = 100e3;
	of = trying(&c);
	for (size_t i = 0; i < runs_of(100); i++) {
		struct made_series m;
		struct transition_try t = try_once(&of, &m);

		if (t.verdict == TRANSITION_HIDDEN)
			continue;
		assert_int_equal(t.verdict, TRANSITION_GOOD);
		assert_int_equal(t.changes, 3);
		off_first = fmax(off_first, fabs(t.first.ns - m.first));
		off_last =
			fmax(off_last,
			     fmax(fabs(t.last.ns - m.last), fabs(t.settled_ns - m.settled)));
		off_pause = fmax(off_pause, fabs(t.pause_ns - 300e3));
		assert_float_equal(t.first.to_ns, 50e3, 1.5e3);
		assert_float_equal(t.last.from_ns, 40e3, 1.5e3);
	}
	printf("three steps: first off by %.2f loops at most, last by %.2f, all pauses together by %.1f us of 300\n",
	       off_first / c.from, off_last / c.from, off_pause / 1e3);
	assert_true(off_first < c.from && off_last < c.from && off_pause < 30e3);
}

/* Single long loops away from the change, many of them. */
TEST(test_stray_loops_are_no_change)
{
	struct made_change c = made_slow;
	size_t good = 0, clean = 0, runs = runs_of(500);
	struct trying of;

	c.stray = 0.05;
	c.stray_ns = 1000e3;
	of = trying(&c);
	for (size_t i = 0; i < runs; i++) {
		struct made_series m;
		struct transition_try t = try_once(&of, &m);

		if (m.disturbed)
			continue;
		clean++;
		good += !t.verdict;
		assert_true(t.verdict || fabs(t.first.ns - m.first) < c.from);
		assert_true(t.verdict || t.changes == 1);
	}
	printf("one loop in twenty stray: %zu of %zu undisturbed ones good\n", good, clean);
	assert_true(good >= 0.95 * clean);
}

TEST(test_levels_that_are_not_apart_have_no_number)
{
	struct made_change c = made_slow;
	struct trying of;

	c.to = 0.985 * c.from;
	of = trying(&c);
	all_end(&of, TRANSITION_TOO_NEAR);
}

TEST(test_never_reached_has_no_number)
{
	struct made_change c = made_slow;
	struct trying of;

	c.latency = INFINITY;
	c.timeout = 10e6;
	of = trying(&c);
	all_end(&of, TRANSITION_NEVER);
	/* nor with a lot that is stray */
	c.stray = 0.05;
	c.stray_ns = 500e3;
	of = trying(&c);
	all_end(&of, TRANSITION_NEVER);
}

TEST(test_too_slow_has_no_number)
{
	struct made_change c = made_slow;
	struct trying of;

	c.latency = 12e6;
	c.timeout = 10e6;
	of = trying(&c);
	all_end(&of, TRANSITION_NEVER);
	/* nor where that is over after some loops */
	c.timeout = 1e6;
	of = trying(&c);
	all_end(&of, TRANSITION_NEVER);
	/* and when a few were at the new frequency */
	c.latency = 0.5e6;
	of = trying(&c);
	all_end(&of, TRANSITION_UNCONFIRMED);
	c.timeout = 10e6;
	/* changed just before */
	c.latency = 9e6;
	of = trying(&c);
	all_end(&of, TRANSITION_UNCONFIRMED);
}

/* Another frequency than the requested one: a little off, in the middle, beyond. */
TEST(test_elsewhere_has_no_number_but_its_speed)
{
	static const double settled[] = { 0.95, 1.05, 1.5, 0.75, 1.03, 0.6 };
	struct made_change c = made_slow;
	struct trying of = trying(&c);

	for (size_t i = 0; i < sizeof(settled) / sizeof(settled[0]); i++) {
		of.c.to = c.to * settled[i];
		all_end(&of, TRANSITION_ELSEWHERE);
		assert_float_equal(try_once(&of, NULL).speed_ratio, 1 / settled[i], 0.01);
	}
	/* by less than matters */
	of.c.to = c.to * 1.005;
	assert_int_equal(try_once(&of, NULL).verdict, TRANSITION_GOOD);
}

TEST(test_began_elsewhere_has_no_number)
{
	struct trying of = trying(&made_slow);

	of.c.from = 1.1 * made_slow.from;
	all_end(&of, TRANSITION_NOT_FROM);
	of.c.from = made_slow.to;
	all_end(&of, TRANSITION_NOT_FROM);
}

TEST(test_gap_that_hides_a_change_has_no_number)
{
	struct trying of = trying(&made_fast);
	struct transition_series cut;
	struct transition_try t;
	struct made_series m;
	size_t n = 0;

	made_new(&of.c, &of.seed, &m);
	/* the loop with the change and two besides are not there */
	for (size_t i = 0; i < m.s.n; i++)
		if (m.loops[i].start_ns + m.loops[i].loop_ns < m.first - of.c.from ||
		    m.loops[i].start_ns > m.settled + of.c.to)
			m.loops[n++] = m.loops[i];
	cut = (struct transition_series){ m.loops, n, m.s.request_ns };
	assert_int_equal(transition_try(&cut, &of.from, &of.to, &t), 0);
	assert_int_equal(t.verdict, TRANSITION_HIDDEN);
	assert_no_number(&t);
	made_free(&m);
}

/*
 * The next two loops after a change take a little more than those of their level do. The change is
 * not in them.
 */
TEST(test_slow_loops_after_a_change_are_after_it)
{
	struct made_change c = made_slow;
	struct transition_loop loops[200];
	struct transition_level from, to;
	struct transition_try try;
	uint64_t seed = 7;

	c.noise = 0.0005;
	made_level(&c, c.from, &seed, &from);
	made_level(&c, c.to, &seed, &to);
	for (double slow = 1.004; slow < 1.015; slow += 0.003) {
		struct transition_series s = { loops, 0, c.request };
		double t = -20.5 * c.from;

		while (s.n < 200) {
			double level = s.n < 60 ? c.from : c.to;

			loops[s.n] = (struct transition_loop){ t,
							       level *
							       (1 + c.noise * made_normal(&seed)) };
			if (s.n == 59)
				loops[s.n].loop_ns += c.pause;
			if (s.n == 60 || s.n == 61)
				loops[s.n].loop_ns *= slow;
			t += loops[s.n++].loop_ns;
			if (s.n == 20)
				t = c.request;
		}
		assert_int_equal(transition_try(&s, &from, &to, &try), 0);
		assert_int_equal(try.verdict, TRANSITION_GOOD);
		assert_float_equal(try.first.ns, loops[59].start_ns + c.from / 2, c.from / 50);
	}
}

/* Interrupts were on for 100 us, and the CPU stopped for a part of that. */
TEST(test_change_between_loops_has_no_pause)
{
	struct trying of = trying(&made_slow);
	struct transition_loop loops[300];
	enum transition_verdict verdicts[31];
	struct transition_try tries[31];
	struct transition_pair pair;

	for (size_t i = 0; i < 31; i++) {
		double t = -20.5 * of.c.from;
		struct transition_series s = { loops, 0, of.c.request };

		while (s.n < 200) {
			double level = s.n < 40 ? of.c.from : of.c.to;

			loops[s.n] = (struct transition_loop){ t,
							       level *
							       (1 + of.c.noise *
								made_normal(&of.seed)) };
			t += loops[s.n++].loop_ns;
			if (s.n == 20)
				t = of.c.request + of.c.from * i / 31;
			if (s.n == 40)
				t += 100e3;
		}
		assert_int_equal(transition_try(&s, &of.from, &of.to, &tries[i]), 0);
		assert_int_equal(tries[i].verdict, TRANSITION_GOOD);
		assert_true(isnan(tries[i].pause_ns) && fabs(tries[i].pause_most_ns - 100e3) < 1);
		assert_float_equal(tries[i].first.ns, loops[40].start_ns - 50e3, 1);
	}
	assert_int_equal(transition_pair(tries, 31, 31, verdicts, &pair), 0);
	assert_int_equal(pair.state, TRANSITION_KNOWN);
	assert_true(isnan(pair.pause_ns.v) && isnan(pair.pause_ns.lo) && isfinite(pair.last_ns.v));
	/* where others know of a pause, one that does not may have had it, unless that is longer */
	for (size_t i = 0; i < 25; i++)
		tries[i].pause_ns = tries[i].pause_most_ns = 80e3 + i;
	assert_int_equal(transition_pair(tries, 31, 31, verdicts, &pair), 0);
	assert_int_equal(pair.verdicts[TRANSITION_GOOD], 31);
	assert_float_equal(pair.pause_ns.v, 80e3 + 12, 1);
	for (size_t i = 0; i < 25; i++)
		tries[i].pause_ns = tries[i].pause_most_ns = 300e3 + i;
	assert_int_equal(transition_pair(tries, 31, 25, verdicts, &pair), 0);
	assert_int_equal(pair.verdicts[TRANSITION_GOOD], 25);
	assert_int_equal(pair.verdicts[TRANSITION_DISTURBED], 6);
}

/*
 * The CPU was stopped between the note of when it was asked and the request: all of the change is
 * later.
 */
TEST(test_call_that_was_stopped_does_not_count)
{
	struct trying of = trying(&made_slow);
	enum transition_verdict verdicts[31];
	struct transition_try tries[31];
	struct transition_pair pair;

	for (size_t i = 0; i < 31; i++) {
		of.c.request = i == 7 ? 2240e3 : 40e3 + 100 * i;
		of.c.latency = made_slow.latency + of.c.request;
		tries[i] = try_once(&of, NULL);
		tries[i].request_ns = of.c.request;
		assert_true(tries[i].verdict == TRANSITION_GOOD || i != 7);
	}
	assert_int_equal(transition_pair(tries, 31, 20, verdicts, &pair), 0);
	assert_int_equal(verdicts[7], TRANSITION_DISTURBED);
	assert_true(pair.verdicts[TRANSITION_GOOD] >= 28);
	/* calls that take long, each another time, are what the change takes */
	for (size_t i = 0; i < 31; i++)
		tries[i].request_ns = 2240e3 + 20e3 * i;
	assert_int_equal(transition_pair(tries, 31, 20, verdicts, &pair), 0);
	assert_true(pair.verdicts[TRANSITION_GOOD] >= 29 && !verdicts[7]);
}

TEST(test_change_within_the_call_has_no_number)
{
	struct trying of = trying(&made_fast);

	of.c.request = 100e3;
	all_end(&of, TRANSITION_IN_CALL);
	assert_float_equal(try_once(&of, NULL).request_ns, 100e3, 1e-9);
}

/* Noise that makes the levels overlap: within three loops, or unknown. */
TEST(test_noise_is_no_change)
{
	struct made_change c = made_slow;
	struct trying of;

	c.to = 0.93 * c.from;
	c.noise = 0.01;
	of = trying(&c);
	of.c.noise = 0.05;
	for (size_t i = 0; i < runs_of(500); i++) {
		struct made_series m;
		struct transition_try t = try_once(&of, &m);

		assert_true(t.verdict || fabs(t.first.ns - m.first) <= TRANSITION_OFF_MOST *
			    c.from);
	}
}

/* --- what is no series --- */

static enum transition_verdict verdict_of(const struct transition_loop *loops, size_t n,
					  double request_ns)
{
	static struct trying of;
	struct transition_series s = { loops, n, request_ns };
	struct transition_try t;

	if (!of.seed)
		of = trying(&made_fast);
	assert_int_equal(transition_try(&s, &of.from, &of.to, &t), 0);
	if (t.verdict)
		assert_no_number(&t);
	return t.verdict;
}

TEST(test_bad_series_are_reported_as_bad)
{
	struct trying of = trying(&made_fast);
	struct transition_loop kept;
	struct made_series m;
	size_t at = 60;

	assert_int_equal(verdict_of(NULL, 0, 0), TRANSITION_NOT_FROM);
	made_new(&of.c, &of.seed, &m);
	kept = m.loops[at];
	assert_int_equal(verdict_of(m.loops, m.s.n, 1), TRANSITION_GOOD);
	assert_int_equal(verdict_of(m.loops, m.s.n, NAN), TRANSITION_BAD);
	assert_int_equal(verdict_of(m.loops, m.s.n, -1), TRANSITION_BAD);
	assert_int_equal(verdict_of(m.loops, 1, 1), TRANSITION_NOT_FROM);
	assert_int_equal(verdict_of(m.loops, 20, 1), TRANSITION_UNCONFIRMED);
	assert_int_equal(verdict_of(m.loops + 20, m.s.n - 20, 1), TRANSITION_NOT_FROM);
	m.loops[at].start_ns -= 5000;
	assert_int_equal(verdict_of(m.loops, m.s.n, 1), TRANSITION_BAD);
	m.loops[at] = kept;
	m.loops[at].loop_ns = NAN;
	assert_int_equal(verdict_of(m.loops, m.s.n, 1), TRANSITION_BAD);
	m.loops[at].loop_ns = -4;
	assert_int_equal(verdict_of(m.loops, m.s.n, 1), TRANSITION_BAD);
	m.loops[at].loop_ns = 1e9;
	assert_int_equal(verdict_of(m.loops, m.s.n, 1), TRANSITION_BAD);
	m.loops[at] = kept;
	m.loops[at].start_ns = INFINITY;
	assert_int_equal(verdict_of(m.loops, m.s.n, 1), TRANSITION_BAD);
	made_free(&m);
}

/* Anything at all in a series, and levels of anything: a verdict, and no NAN in what is good. */
TEST(test_any_series_has_a_verdict)
{
	struct transition_loop loops[300];
	uint64_t seed = 3;

	for (size_t run = 0; run < runs_of(2000); run++) {
		double t = -3000 * rnd_unit(&seed),
		kinds[4] = { 500, 1063, 3000 * rnd_unit(&seed), 1e9 * rnd_unit(&seed) };
		size_t n = 300 * rnd_unit(&seed), same = 1 + 40 * rnd_unit(&seed), kind = 0;
		struct transition_level from, to;
		struct transition_series s = { loops, n, 100 };
		struct transition_try try;

		for (size_t i = 0; i < n; i++) {
			if (i % same == 0)
				kind = 4 * rnd_unit(&seed);
			loops[i] = (struct transition_loop){ t,
							     1e-3 + kinds[kind] *
							     (rnd_unit(&seed) < 0.9 ?
							      1 : rnd_unit(&seed)) };
			t += loops[i].loop_ns +
			     (rnd_unit(&seed) < 0.05 ? 1e4 * rnd_unit(&seed) : 0);
			/* the loop at the request ends before it */
			if (loops[i].start_ns < 0 && t > 0)
				loops[i].loop_ns = fmax(-loops[i].start_ns, 1e-3);
		}
		memset(&from, 0, sizeof(from));
		from = (struct transition_level){ .n = 99, .mean_ns = { 1063, 1062, 1064 },
						  .mean_sd = 0.5, .dof = 31, .sd_ns = 5 };
		to = from;
		to.mean_ns.v = kinds[(run % 3) ? 0 : 3];
		to.sd_ns = 0.005 * to.mean_ns.v;
		assert_int_equal(transition_try(&s, &from, &to, &try), 0);
		assert_in_range(try.verdict, 0, TRANSITION_VERDICTS - 1);
		if (try.verdict)
			assert_no_number(&try);
		else
			assert_true(isfinite(try.first.ns) && isfinite(try.settled_ns) &&
				    isfinite(try.pause_ns) && isfinite(try.speed_ratio) &&
				    try.last.changed < n);
	}
}

TEST(test_all_verdicts_have_names)
{
	for (enum transition_verdict v = 0; v < TRANSITION_VERDICTS; v++)
		assert_true(transition_verdict_name(v)[0] != '?');
	for (enum transition_shape s = 0; s < TRANSITION_SHAPES; s++)
		assert_true(transition_shape_name(s)[0] != '?');
}
