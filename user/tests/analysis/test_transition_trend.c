// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the delays of a machine's pairs look like together, on simulated machines shaped like those
 * of the FTaLaT paper.
 */
#include <math.h>
#include <stdio.h>
#include "tests/support/synthetic.h"
#include "tests/support/transitions.h"
#include "tests/support/unit.h"

#define MOST		16
#define RUNS		100

/* Delays of a machine with @n frequencies, in microseconds. */
struct machine {
	size_t n;
	double (*delay)(size_t from, size_t to, size_t n);
	double error;	/* standard deviation, a part of the delay; intervals include it */
	double wild;	/* so many pairs are off by half */
};

static double flat(size_t from, size_t to, size_t n)
{
	(void)from;
	(void)to;
	(void)n;
	return 20;
}

static double steps_up(size_t from, size_t to, size_t n)
{
	double place = (double)to / (n - 1);

	return to < from ? 20 : place < 0.3 ? 26 : place < 0.7 ? 44 : 62;
}

static double linear_up(size_t from, size_t to, size_t n)
{
	return to < from ? 20 : 22 + 40.0 * to / (n - 1);
}

/* Westmere: what is higher than where it comes from takes longer besides */
static double from_too(size_t from, size_t to, size_t n)
{
	return to < from ? 20 : steps_up(from, to, n) + 1.0 * (to - from) / n;
}

static double two(size_t from, size_t to, size_t n)
{
	return to < from ? 20 : to < n / 2 ? 26 : 62;
}

static double zigzag(size_t from, size_t to, size_t n)
{
	(void)from;
	(void)n;
	return to % 2 ? 30 : 60;
}

static struct transition_trend trend_of(const struct machine *m, bool up, uint64_t seed)
{
	struct transition_point points[MOST * MOST];
	struct transition_trend t;
	size_t n = 0;

	for (size_t from = 0; from < m->n; from++)
		for (size_t to = 0; to < m->n; to++) {
			double ns = 1e3 * m->delay(from, to, m->n), sd = m->error * ns;
			double v = (ns + sd * made_normal(&seed)) *
				   (rnd_unit(&seed) < m->wild ? 1.5 : 1);

			if (from != to)
				points[n++] = (struct transition_point){ 1600000 + 200000 * from,
									 1600000 + 200000 * to,
									 { v, v - 1.96 * sd,
									   v + 1.96 * sd } };
		}
	assert_int_equal(transition_trend(points, n, up, &t), 0);
	return t;
}

/* How often of RUNS a machine's shape is named, and the other direction's flat. */
static void check(const char *what, const struct machine *of, enum transition_shape shape,
		  size_t levels)
{
	struct machine m = *of;

	for (m.n = 8; m.n <= 10; m.n++) {
		size_t right = 0, flat_down = 0, right_levels = 0;

		for (int i = 0; i < RUNS; i++) {
			struct transition_trend up = trend_of(&m, true, 100 + i),
			down = trend_of(&m, false, 100 + i);

			right += up.shape == shape;
			right_levels += up.shape == shape && up.levels == levels;
			flat_down += down.shape == TRANSITION_FLAT;
			assert_true(!isnan(up.better) && isfinite(up.mean_ns.v));
		}
		printf("%s, %zu frequencies, %.0f %% error, %.0f %% wild: %zu of %d right, %zu with as many levels; down flat %zu\n",
		       what, m.n, 100 * m.error, 100 * m.wild, right, RUNS,
		       right_levels, flat_down);
		assert_true(right >= 0.97 * RUNS);
		assert_true(right_levels >= 0.95 * RUNS);
		assert_true(m.delay == zigzag || flat_down >= 0.97 * RUNS);
	}
}

static void check_errors(const char *what, double (*delay)(size_t, size_t, size_t),
			 enum transition_shape shape, size_t levels)
{
	static const double errors[] = { 0.002, 0.01, 0.03 };

	for (size_t i = 0; i < 3; i++) {
		struct machine m = { .delay = delay, .error = errors[i] };

		check(what, &m, shape, levels);
	}
}

TEST(test_steps_are_named)
{
	check_errors("steps", steps_up, TRANSITION_STEPS, 3);
}

TEST(test_line_is_named)
{
	check_errors("line", linear_up, TRANSITION_LINEAR, 0);
}

TEST(test_flat_is_named)
{
	check_errors("flat", flat, TRANSITION_FLAT, 1);
}

TEST(test_two_levels_are_no_steps)
{
	check_errors("two levels", two, TRANSITION_JUMP, 2);
}

TEST(test_steps_that_depend_on_the_first_frequency_too)
{
	const struct machine m = { .delay = from_too, .error = 0.01 };

	check("steps, a little from the first frequency", &m, TRANSITION_STEPS, 3);
}

/* Pairs that are off are not the machine's shape. */
TEST(test_wild_pairs_do_not_change_it)
{
	struct machine m = { .n = 10, .delay = linear_up, .error = 0.01, .wild = 0.05 };
	size_t right = 0;

	for (int i = 0; i < RUNS; i++)
		right += trend_of(&m, true, 100 + i).shape == TRANSITION_LINEAR;
	m.delay = steps_up;
	for (int i = 0; i < RUNS; i++)
		right += trend_of(&m, true, 100 + i).shape == TRANSITION_STEPS;
	printf("one pair in twenty off by half: %zu of %d right\n", right, 2 * RUNS);
	assert_true(right >= 1.6 * RUNS);
}

/* A shape that is none of them gets no name of theirs. */
TEST(test_others_have_no_name)
{
	const struct machine m = { .n = 10, .delay = zigzag, .error = 0.01 };

	for (int i = 0; i < RUNS; i++)
		assert_int_equal(trend_of(&m, true, 100 + i).shape, TRANSITION_OTHER);
}

TEST(test_slope_and_levels_are_right)
{
	struct machine m = { .n = 10, .delay = linear_up, .error = 0.01 };
	struct transition_trend t;
	size_t inside = 0;

	for (int i = 0; i < RUNS; i++) {
		double truth = 40e3 / 9 / 200000;

		t = trend_of(&m, true, 100 + i);
		inside += t.slope.lo <= truth && truth <= t.slope.hi;
	}
	printf("slope inside of its interval %zu times of %d\n", inside, RUNS);
	assert_true(inside >= 0.93 * RUNS);
	m.delay = steps_up;
	t = trend_of(&m, true, 100);
	assert_int_equal(t.levels, 3);
	assert_int_equal(t.level_khz[0], 1800000);
	assert_int_equal(t.level_khz[1], 2200000);
	assert_int_equal(t.level_khz[2], 3000000);
	assert_float_equal(t.level_ns[0], 26e3, 0.5e3);
	assert_float_equal(t.level_ns[1], 44e3, 0.5e3);
	assert_float_equal(t.level_ns[2], 62e3, 0.5e3);
	assert_int_equal(t.targets, 9);
	assert_int_equal(t.pairs, 45);
}

/* Delays within a few percent of each other are flat, whatever a test says. */
static double nearly(size_t from, size_t to, size_t n)
{
	(void)from;
	return 20 + 1.0 * to / n;
}

TEST(test_small_differences_are_flat)
{
	const struct machine m = { .n = 10, .delay = nearly, .error = 0.0005 };

	assert_int_equal(trend_of(&m, true, 1).shape, TRANSITION_FLAT);
}

TEST(test_too_few_have_no_shape)
{
	struct machine m = { .delay = linear_up, .error = 0.01 };
	struct transition_point points[3] = {
		{ 1600000, 1800000, { NAN, NAN, NAN } }, { 1600000, 2000000, { 0, 0, 0 } },
		{ 1600000, 2200000, { 5, NAN, NAN } },
	};
	struct transition_trend t;

	for (m.n = 2; m.n <= 5; m.n++) {
		t = trend_of(&m, true, 1);
		assert_int_equal(t.shape, TRANSITION_UNKNOWN);
		assert_int_equal(t.targets, m.n - 1);
	}
	assert_int_equal(transition_trend(NULL, 0, true, &t), 0);
	assert_int_equal(t.shape, TRANSITION_UNKNOWN);
	assert_true(isnan(t.mean_ns.v));
	assert_int_equal(transition_trend(points, 3, true, &t), 0);
	assert_int_equal(t.targets, 2);
	assert_int_equal(transition_trend(points, 3, false, &t), 0);
	assert_int_equal(t.targets, 0);
}

/* All delays equal, and all of them 0. */
TEST(test_no_spread_at_all)
{
	struct transition_point points[10];
	struct transition_trend t;

	for (double ns = 0; ns <= 20e3; ns += 20e3) {
		for (size_t i = 0; i < 10; i++)
			points[i] = (struct transition_point){ 1600000, 1800000 + 200000 * i,
							       { ns, ns, ns } };
		assert_int_equal(transition_trend(points, 10, true, &t), 0);
		assert_int_equal(t.shape, TRANSITION_FLAT);
		assert_float_equal(t.mean_ns.v, ns, 1e-9);
		assert_true(isfinite(t.chi2) && isfinite(t.better) &&
			    isfinite(t.bic[TRANSITION_FLAT]));
	}
}
