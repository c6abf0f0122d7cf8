// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of several runs differs: how often a good one is named, and whether a bad one is.
 */
#include <math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include "analysis/stats/outliers.h"
#include "tests/support/unit.h"

#define SETS	20000

static gsl_rng *rng;

static double named(size_t n, double sd, double wild)
{
	double x[40], own[40];
	struct outlier out[40];
	unsigned int sets = 0;

	for (unsigned int s = 0; s < SETS; s++) {
		bool any = false;

		for (size_t i = 0; i < n; i++) {
			x[i] = 10 + gsl_ran_gaussian(rng, 1) + (i ? 0 : wild);
			own[i] = sd;
		}
		assert_int_equal(outliers_find(x, own, n, out, NULL), 0);
		for (size_t i = 0; i < n; i++)
			any |= out[i].differs && (!wild || !i);
		sets += any;
	}
	return (double)sets / SETS;
}

TEST(a_good_run_is_named_in_one_set_of_sixty)
{
	static const size_t sizes[] = { 3, 4, 5, 6, 7, 8, 10, 11, 15, 20, 30, 40 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double p = named(sizes[i], 0, 0);

		print_message("%2zu runs: a good one is named in %.2f %% of all sets\n", sizes[i],
			      100 * p);
		assert_true(p < 0.021 && p > 0.004);
	}
}

TEST(a_run_that_is_far_off_is_named)
{
	assert_true(named(5, 0, 40) > 0.95);
	assert_true(named(10, 0, 12) > 0.95);
	assert_true(named(30, 0, 8) > 0.95);
}

/*
 * What is known to one part in ten cannot differ by one in a hundred, however well the others
 * agree.
 */
TEST(too_few_runs_name_no_outlier)
{
	static const double x[] = { 10, 10, 10, 10, 10, 10.1 }, vague[] = { 1, 1, 1, 1, 1, 1 };
	static const double sure[] = { 0.01, 0.01, 0.01, 0.01, 0.01, NAN };
	struct outlier out[6];
	double median;

	assert_int_equal(outliers_find(x, vague, 6, out, &median), 0);
	assert_false(out[5].differs);
	assert_int_equal(outliers_find(x, sure, 6, out, &median), 0);
	assert_true(out[5].differs);
	assert_false(out[0].differs);
	assert_true(isinf(out[5].score));
	assert_true(fabs(out[5].difference - 0.1) < 1e-12);
	assert_true(median == 10);
	assert_true(named(6, 0.5, 0) < 0.01);
}

TEST(two_runs_cannot_be_separated)
{
	static const double x[] = { 1, 100 }, sd[] = { 0.1, 0.1 };
	struct outlier out[2];
	double median;

	assert_int_equal(outliers_find(x, sd, 2, out, &median), 0);
	assert_false(out[0].differs || out[1].differs);
	assert_int_equal(outliers_find(x, sd, 0, out, &median), 0);
	assert_true(isnan(median));
	assert_true(isinf(outliers_bound(2)));
}

int main(void)
{
	int failed;

	rng = gsl_rng_alloc(gsl_rng_mt19937);
	failed = tests_run(NULL, NULL);
	gsl_rng_free(rng);
	return failed;
}
