// SPDX-License-Identifier: GPL-2.0-or-later
/* The average run: coverage of its intervals, whatever runs differ by. */
#include <math.h>
#include <string.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include "analysis/runs/runs.h"
#include "tests/support/unit.h"

#define SETS	4000
#define MOST	30

static gsl_rng *rng;

/*
 * A run of 1000 ticks of 1 ms at 2 W: time known to @within_s, energy besides that to @residual_j.
 */
static void make(struct profile_group *g, double time_s, double energy_j, double within_s,
		 double residual_j)
{
	memset(g, 0, sizeof(*g));
	g->samples = 1000;
	g->count = (struct time_sum){ .ticks = 1000 * time_s, .real = 1000, .coarse = 100,
				      .variance = pow(1000 * within_s, 2) };
	g->time_s = g->net_s = (struct value){ time_s, time_s - 1.96 * within_s,
					       time_s + 1.96 * within_s };
	g->khz = (struct value){ 1e6, 1e6, 1e6 };
	g->energy[0].j = g->energy[0].net_j = (struct value){ energy_j, NAN, NAN };
	g->energy[0].residual_j = residual_j;
	g->energy[0].dof = 39;
	g->energy[0].readings = 100;
	g->energy[0].share = 1;
}

/*
 * Coverage of time, energy and power with runs that differ by @between times what each is known to.
 */
static void coverage(size_t n, double between, double *covered, double *width)
{
	static struct profile_group g[MOST];
	const struct profile_group *of[MOST];
	const double within = 0.01, residual = 0.02;
	size_t in[3] = { 0 };
	double half = 0;

	for (unsigned int s = 0; s < SETS; s++) {
		struct profile_group out;

		for (size_t i = 0; i < n; i++) {
			double t = 1 + gsl_ran_gaussian(rng, between * within);
			double w = 2 + gsl_ran_gaussian(rng, between * residual);
			double sampled = t + gsl_ran_gaussian(rng, within);

			/* the energy of the found ticks, and the error of its windows */
			make(&g[i], sampled, w * sampled + gsl_ran_gaussian(rng, residual),
			     within, residual);
			of[i] = &g[i];
		}
		assert_int_equal(runs_average(of, n, 1, &out, NULL), 0);
		in[0] += out.time_s.lo <= 1 && out.time_s.hi >= 1;
		in[1] += out.energy[0].j.lo <= 2 && out.energy[0].j.hi >= 2;
		in[2] += out.energy[0].w.lo <= 2 && out.energy[0].w.hi >= 2;
		half += (out.time_s.hi - out.time_s.lo) / 2 / SETS;
	}
	for (int i = 0; i < 3; i++)
		covered[i] = (double)in[i] / SETS;
	*width = half / (1.96 * within * sqrt((1 + between * between) / n));
}

TEST(intervals_cover_the_truth_whatever_runs_differ_by)
{
	static const double betweens[] = { 0, 0.5, 1, 2, 4, 10 };
	static const size_t sizes[] = { 3, 5, 10, 30 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t k = 0; k < sizeof(betweens) / sizeof(betweens[0]); k++) {
			double covered[3], width;

			coverage(sizes[i], betweens[k], covered, &width);
			print_message("%2zu runs that differ by %4.1f: time %.3f, energy %.3f, power %.3f covered, %.2f times as wide as known spreads would make it\n",
				      sizes[i], betweens[k], covered[0], covered[1],
				      covered[2], width);
			for (int f = 0; f < 3; f++)
				assert_in_range(1000 * covered[f], sizes[i] < 5 ? 890 : 920, 985);
			assert_true(width < (sizes[i] < 5 ? 2 : 1.4));
		}
	}
}

/* What two runs know of themselves is not what a third would do: the report says so. */
TEST(of_two_runs_that_differ_the_interval_is_too_narrow)
{
	double covered[3], width;

	coverage(2, 0, covered, &width);
	assert_in_range(1000 * covered[0], 935, 970);
	coverage(2, 1, covered, &width);
	print_message("2 runs that differ by 1: time %.3f covered\n", covered[0]);
	assert_in_range(1000 * covered[0], 810, 870);
	coverage(2, 3, covered, &width);
	print_message("2 runs that differ by 3: time %.3f covered\n", covered[0]);
	assert_in_range(1000 * covered[0], 430, 500);
}

/* Two runs say nothing of what lies between runs; each is as sure as it is. */
TEST(of_two_runs_only_the_sampling_counts)
{
	struct profile_group g[2], out;
	const struct profile_group *of[2] = { &g[0], &g[1] };
	struct runs_between between;

	make(&g[0], 1, 2, 0.01, 0.02);
	make(&g[1], 3, 6, 0.01, 0.02);
	assert_int_equal(runs_average(of, 2, 1, &out, &between), 0);
	assert_true(fabs(out.time_s.v - 2) < 1e-12);
	assert_true(fabs(out.time_s.hi - 2 - 1.96 * 0.01 / sqrt(2)) < 1e-5);
	assert_true(isnan(between.time_s));
	assert_true(fabs(out.energy[0].w.v - 2) < 1e-12);
	assert_int_equal(out.samples, 2000);
	assert_int_equal(out.energy[0].readings, 200);
	assert_int_equal(between.seen, 2);
}

/* One run is what it was. */
TEST(an_average_of_one_is_the_run_itself)
{
	const struct profile_group *of[1];
	struct profile_group g, out;

	make(&g, 1, 2, 0.01, 0.02);
	of[0] = &g;
	assert_int_equal(runs_average(of, 1, 1, &out, NULL), 0);
	assert_true(fabs(out.time_s.lo - g.time_s.lo) < 1e-5);
	assert_true(fabs(out.energy[0].j.v - 2) < 1e-12);
	/* t(39) for the windows, both as squares */
	assert_true(fabs(out.energy[0].j.hi - 2 - hypot(1.96 * 0.02, 2.02 * 0.02)) < 0.0005);
	assert_true(fabs(out.energy[0].w.hi - 2 - 2.0227 * 0.02) < 1e-4);
}

/*
 * Blocks with a window or two in each run have no interval there, but there is one in how runs
 * differ.
 */
TEST(what_no_run_shows_the_runs_do)
{
	struct profile_group g[4], out;
	const struct profile_group *of[4];
	struct runs_between between;

	for (size_t i = 0; i < 4; i++) {
		make(&g[i], 1, 2 + 0.1 * (i % 2 ? 1 : -1), 0.01, NAN);
		of[i] = &g[i];
	}
	assert_int_equal(runs_average(of, 4, 1, &out, &between), 0);
	/* t(3) * S / 2, S^2 = 4 * 0.01 / 3 */
	assert_true(fabs(out.energy[0].j.hi - 2 - 3.1824 * sqrt(0.04 / 3) / 2) < 1e-4);
	assert_true(isnan(between.j[0]));
	assert_int_equal(runs_average(of, 2, 1, &out, &between), 0);
	assert_true(isnan(out.energy[0].j.hi));
	assert_false(isnan(out.energy[0].j.v));
}

/* What the calibration may be off by is the same in every run. */
TEST(more_runs_make_no_calibration_better)
{
	static struct profile_group g[MOST];
	const struct profile_group *of[MOST];
	struct profile_group out;

	for (size_t i = 0; i < MOST; i++) {
		make(&g[i], 1, 2, 1e-6, 1e-6);
		g[i].off_s = 0.05;
		g[i].energy[0].off_j = 0.3;
		g[i].energy[0].bias_j = 0.1;
		g[i].energy[0].off_w = 0.2;
		of[i] = &g[i];
	}
	assert_int_equal(runs_average(of, MOST, 1, &out, NULL), 0);
	assert_true(fabs(out.net_s.hi - 1.05) < 1e-4);
	assert_true(fabs(out.energy[0].j.hi - 2 - hypot(0.1, 0.3)) < 1e-4);
	assert_true(fabs(out.energy[0].w.hi - 2 - hypot(0.1, 0.2)) < 1e-4);
}

/* One sample in each of many runs: Poisson's, of all of them together. */
TEST(rare_blocks_are_counted_over_all_runs)
{
	static struct profile_group g[MOST];
	const struct profile_group *of[MOST];
	struct profile_group out;

	memset(g, 0, sizeof(g));
	for (size_t i = 0; i < MOST; i++) {
		g[i].khz = (struct value){ NAN, NAN, NAN };
		if (i < 4) {
			make(&g[i], 0.001, 0.002, 0.001, NAN);
			g[i].count = (struct time_sum){ .ticks = 1, .real = 1, .fine = 2,
							.variance = 1 };
		}
		of[i] = &g[i];
	}
	assert_int_equal(runs_average(of, MOST, 1, &out, NULL), 0);
	assert_true(fabs(out.time_s.v - 0.004 / MOST) < 1e-12);
	/* the exact interval of 4 counts: 1.09 to 10.24 */
	assert_true(fabs(out.time_s.hi / out.time_s.v - 10.2416 / 4) < 1e-3);
	assert_true(out.time_s.lo / out.time_s.v <= 1.0899 / 4 + 1e-3);
}

int main(void)
{
	int failed;

	rng = gsl_rng_alloc(gsl_rng_mt19937);
	failed = tests_run(NULL, NULL);
	gsl_rng_free(rng);
	return failed;
}
