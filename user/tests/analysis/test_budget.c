// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a chip remembers of its power, from boosts after times of idleness: on simulated chips of
 * both kinds.
 */
#include <errno.h>
#include <math.h>
#include "analysis/boost/budget.h"
#include "tests/support/transitions.h"
#include "tests/support/unit.h"

/* The Core i7-4500U of the paper: 3, 17, 15 W and 55 s. */
#define TAU	28.3
#define POINTS	9
#define SETS	400

static const double idles[POINTS] = { 5, 10, 20, 30, 45, 60, 80, 120, 200 };

static void near(double found, double wanted, double most)
{
	if (!(fabs(found - wanted) <= most))
		fail_msg("%.6g is not %.6g within %g", found, wanted, most);
}

static void make(enum budget_kind kind, double tau, double full, double part, uint64_t *seed,
		 struct budget_point *points)
{
	for (size_t i = 0; i < POINTS; i++) {
		double boost = budget_boost(kind, tau, full, idles[i]);

		points[i] = (struct budget_point){ idles[i],
						   boost + part * full * made_normal(seed),
						   part * full };
	}
}

TEST(the_paper_s_machine_boosts_for_55_s)
{
	near(budget_full(TAU, 3, 17, 15), 55.07, 0.01);
	assert_true(isnan(budget_full(TAU, 3, 14, 15)));	/* it never reaches the limit */
	assert_true(isnan(budget_full(TAU, 16, 17, 15)));
}

/* By following the mean itself, in small steps. */
static double followed(double tau, double idle_s)
{
	double mean = 15, t = 0;
	const double dt = 1e-4;

	for (double s = 0; s < idle_s; s += dt)
		mean += (3 - mean) * -expm1(-dt / tau);
	for (; mean < 15 && t < 1000; t += dt)
		mean += (17 - mean) * -expm1(-dt / tau);
	return t;
}

TEST(a_weighted_budget_is_what_its_mean_does)
{
	double full = budget_full(TAU, 3, 17, 15);

	for (size_t i = 0; i < POINTS; i++)
		near(budget_boost(BUDGET_WEIGHTED, TAU, full, idles[i]), followed(TAU, idles[i]),
		     0.01);
	near(budget_boost(BUDGET_WEIGHTED, TAU, full, budget_window(BUDGET_WEIGHTED, TAU, full)),
	     0.99 * full, 1e-9);
	/* the paper found 120 s */
	near(budget_window(BUDGET_WEIGHTED, TAU, full), 107.5, 0.5);
}

TEST(a_box_spends_what_idleness_saved)
{
	/*
	 * 120 s at 15 W on the average, 3 W idle and 17 W boosting: six seconds for each second,
	 * 102.9 s in all
	 */
	near(budget_boost(BUDGET_BOX, 120, 120 * 6.0 / 7, 5), 30, 1e-9);
	near(budget_boost(BUDGET_BOX, 120, 120 * 6.0 / 7, 100), 102.857, 1e-3);
	near(budget_window(BUDGET_BOX, 120, 120 * 6.0 / 7), 0.99 * 120 / 7, 1e-9);
	assert_true(isnan(budget_boost(BUDGET_BOX, 50, 55, 1)));
}

/* Of both kinds: the fit is right, its intervals hold, and the other kind is worse. */
static void check_kind(enum budget_kind kind, double tau, double full)
{
	double window = budget_window(kind, tau, full), worst = 0;
	size_t in = 0, all = 0, right = 0;
	uint64_t seed = 7;

	for (size_t set = 0; set < SETS; set++) {
		struct budget_point points[POINTS];
		struct budget b, other;

		make(kind, tau, full, 0.005, &seed, points);
		assert_int_equal(budget_fit(kind, points, POINTS, &b), 0);
		in += b.tau.lo <= tau && tau <= b.tau.hi;
		in += b.full.lo <= full && full <= b.full.hi;
		in += b.window.lo <= window && window <= b.window.hi;
		all += 3;
		worst = fmax(worst, fabs(b.window.v / window - 1));
		right += budget_fit(!kind, points, POINTS, &other) || other.rms > b.rms;
	}
	print_message("kind %d: %zu of %zu intervals hold, the window is %.2f %% off at most, %zu of %d sets are of this kind\n",
		      kind, in, all, 100 * worst, right, SETS);
	assert_true(in >= 0.93 * all);
	assert_true(worst < 0.1);
	assert_true(right >= 0.99 * SETS);
}

TEST(a_weighted_budget_is_found)
{
	check_kind(BUDGET_WEIGHTED, TAU, budget_full(TAU, 3, 17, 15));
}

TEST(a_box_is_found)
{
	check_kind(BUDGET_BOX, 120, 55);
}

TEST(uninformative_traces_are_not_fitted)
{
	struct budget_point points[POINTS];
	struct budget b;
	uint64_t seed = 3;

	make(BUDGET_WEIGHTED, TAU, 55, 0.001, &seed, points);
	assert_int_equal(budget_fit(BUDGET_WEIGHTED, points, BUDGET_LEAST - 1, &b), -ENODATA);
	assert_true(isnan(b.tau.v) && isnan(b.rms));
	for (size_t i = 0; i < POINTS; i++)
		points[i].boost = 55;
	assert_int_equal(budget_fit(BUDGET_WEIGHTED, points, POINTS, &b), -ENODATA);
	points[3].sd = 0;
	assert_int_equal(budget_fit(BUDGET_WEIGHTED, points, POINTS, &b), -EINVAL);
	points[3] = (struct budget_point){ NAN, 1, 1 };
	assert_int_equal(budget_fit(BUDGET_WEIGHTED, points, POINTS, &b), -EINVAL);
}
