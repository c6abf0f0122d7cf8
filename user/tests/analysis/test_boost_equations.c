// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The equations of the paper on thermally adaptive chips, at its own numbers. Where it prints them
 * rounded, or contradicts itself, the formula's value is expected.
 */
#include <math.h>
#include "analysis/boost/boost_equations.h"
#include "tests/support/unit.h"

/* The paper's machine: 2.7 over 2.4 GHz, 55 s. */
#define R	1.125
#define TB	55.0

static void near(double found, double wanted, double most)
{
	if (!(fabs(found - wanted) <= most))
		fail_msg("%.6g is not %.6g within %g", found, wanted, most);
}

TEST(equation_3_gives_what_the_paper_says)
{
	near(boost_equations_speedup(2, R), 0.058824, 1e-6);		/* printed as 5.8 % */
	near(boost_equations_speedup(10, R), 0.111111, 1e-6);		/* "the same 11 %" */
	near(boost_equations_speedup(2, 1.25), 0.111111, 1e-6);		/* 11 % */
	near(boost_equations_speedup(2, 3), 0.5, 1e-12);
	near(boost_equations_speedup(10, 3), 1.5, 1e-12);
	near(boost_equations_speedup(1, 3), 0, 1e-12);	/* nothing was gained, nothing is wrong */
}

TEST(a_true_2x_is_observed_as_2125)
{
	/*
	 * the faster one just fits into the boost; its error follows from equation 3 with what was
	 * observed
	 */
	near(boost_equations_observed(R, TB, 2 * R * TB, 2), 2.125, 1e-12);
	near(boost_equations_speedup(2.125, R), 2.125 / 2 - 1, 1e-12);
	/* both fit, or both are long: nearly the truth */
	near(boost_equations_observed(R, TB, TB, 2), 2, 1e-12);
	near(boost_equations_observed(R, TB, 1000 * TB, 2), 2, 2e-3);
	/* and at no other length it is more */
	for (double work = 1; work < 1000; work *= 1.01)
		assert_true(boost_equations_observed(R, TB, work, 2) <= 2.125 + 1e-12);
}

TEST(long_runs_are_as_wrong_as_figure_5_has_it)
{
	/* "1 % after ten minutes" */
	near(boost_equations_steady(R, TB, 600), 0.011458, 1e-6);
	near(boost_equations_steady(R, TB, 10), 0.125, 1e-12);		/* within the boost */
	near(boost_equations_steady(3, TB, 2200), 0.05, 1e-12);
	near(boost_equations_length(3, TB, 0.05) / 60, 36.67, 0.01);	/* "at least 37 minutes" */
	/*
	 * The caption asks for twenty minutes at 25 %, which the equation does not: 275 s are 5 %
	 * and twenty minutes 1.1 %; its own curve for 12.5 % needs ten for as much.
	 */
	near(boost_equations_length(1.25, TB, 0.05), 275, 1e-9);
	near(boost_equations_length(R, TB, 0.05), 137.5, 1e-9);
	near(boost_equations_length(R, TB, 0.2), 0, 0);
	assert_true(isinf(boost_equations_length(R, TB, 0)));
}

TEST(slowdown_grows_as_figure_4_has_it)
{
	near(boost_equations_slowdown(R, TB, 20), 0, 1e-12);
	near(boost_equations_slowdown(R, TB, TB), 0, 1e-12);
	near(boost_equations_slowdown(R, TB, 2 * TB), 0.5 / 9, 1e-12);
	near(boost_equations_slowdown(R, TB, 1e9), 1.0 / 9, 1e-6);
}

TEST(six_runs_are_as_figure_6_on_this_profile)
{
	const double wanted[] = { 0, 0, 0, 5.0 / 15 / 9, 1.0 / 9, 1.0 / 9 };
	double slower[6];

	boost_equations_runs(R, TB, 15, slower, 6);
	for (size_t i = 0; i < 6; i++)
		near(slower[i], wanted[i], 1e-12);
}

TEST(time_is_the_inverse_of_work)
{
	for (double t = 0; t < 300; t += 7.3)
		near(boost_equations_time(R, TB, boost_equations_work(R, TB, t)), t, 1e-9);
}

TEST(impossible_values_give_no_number)
{
	assert_true(isnan(boost_equations_speedup(2, 0.9)));
	assert_true(isnan(boost_equations_speedup(0.5, R)));
	assert_true(isnan(boost_equations_steady(R, TB, 0)));
	assert_true(isnan(boost_equations_steady(NAN, TB, 1)));
	assert_true(isnan(boost_equations_work(R, -1, 1)));
	assert_true(isnan(boost_equations_time(R, TB, -1)));
	assert_true(isnan(boost_equations_length(R, TB, -0.1)));
	assert_true(isnan(boost_equations_observed(R, TB, 1, 0)));
}
