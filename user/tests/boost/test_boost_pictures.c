// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures of `kjoule boost` of slices and runs that are made up: panels share their time axis,
 * bars have whole numbers and a scale that no rounding fills.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "boost/bench.h"
#include "tests/support/drawn.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define SLICES	1000

static struct boost_slice slices[SLICES];

/* A load from 5 s on that boosts for 5 s. */
static int make_slices(void **state)
{
	(void)state;
	for (size_t i = 0; i < SLICES; i++) {
		double t = i * 0.02;
		bool boosts = t < 10;

		slices[i] = (struct boost_slice){
			.t_s = t, .len_s = 0.02, .busy = 2, .mine = 2, .celsius = 40 + t,
			.w = boosts ? 45 : 28, .khz = boosts ? 3600000 : 2800000,
			.work = boosts ? 1e7 : 8e6,
		};
	}
	return 0;
}

/* The script of a picture of loads. */
static char *draw(const struct boost_drawn *drawn, size_t n, double left_s)
{
	const char *svg = temp_path("load.svg");
	int ret;

	drawn_begin();
	ret = boost_draw_slices(svg, true, "2 threads of saxpy", slices, SLICES, drawn, n, left_s);
	assert_int_equal(ret, 0);
	return drawn_end();
}

TEST_WITH(panels_share_one_time_axis, make_slices, NULL)
{
	const struct boost_drawn one = { "load", 0, 5, 20, 5 };
	char *script = draw(&one, 1, -1.5);
	const char *axis = strstr(script, "set xlabel");

	assert_true(drawn_count(script, "\nplot ") == 4 &&
		    says(script, "set multiplot layout 4,1 margins screen"));
	assert_true(drawn_count(script, "margin") == 1 && drawn_count(script, "set xrange") == 1 &&
		    says(script, "set xrange [-1.5:15]"));
	/* it has its numbers and its name below the last of them */
	assert_true(says(script, "set format x ''") && drawn_count(script, "set xlabel") == 1 &&
		    axis);
	assert_true(says(axis, "set xlabel 'time since the load began, s'") &&
		    drawn_count(axis, "\nplot ") == 1);
	assert_true(says(script, "title 'Boost under 2 threads of saxpy (dashed: its end)'") &&
		    says(script, "set arrow from 5, graph 0"));
	assert_true(says(script, "'power, W'") && says(script, "'frequency, MHz'") &&
		    says(script, "'throughput, passes/s'") &&
		    says(script, "'temperature, \u00b0C'"));
	/* nor is there room for what is not known */
	for (size_t i = 0; i < SLICES; i++)
		slices[i].celsius = slices[i].work = NAN;
	script = draw(&one, 1, 0);
	axis = strstr(script, "set xlabel");
	assert_true(says(script, "layout 2,1") && drawn_count(script, "\nplot ") == 2 && axis &&
		    drawn_count(axis, "\nplot ") == 1);
}

/* However often it was tried; nor is the key over the lines. */
TEST_WITH(conditions_have_one_entry_each, make_slices, NULL)
{
	const struct boost_drawn loads[] = { { "as it is", 5, 5, 10, 4 },
					    { "weaker", 10, 10, 15, NAN },
					    { "as it is", 15, 15, 20, 4 } };
	char *script = draw(loads, 3, 0);

	assert_true(drawn_count(script, "title 'as it is'") == 1 &&
		    drawn_count(script, "title 'weaker'") == 1);
	assert_true(says(script, "($1 == 3 ? $3 : NaN):4 with lines lw 1.5 lc 1 notitle") &&
		    says(script, "set key horizontal center top at screen"));
	assert_int_equal(drawn_count(script, "nohead"), 2);
}

static char *commands[2][3] = { { "./work", "one" }, { "./work", "two" } };
static char **both[] = { commands[0], commands[1] };

/* The script of a picture of runs that are slower by these parts than boosted; NAN: not known. */
static char *bench(size_t n_commands, size_t n, const double *slower, const double *seconds)
{
	struct boost_bench_mean means[2] = { { .least = 1 }, { .least = 1 } };
	struct boost_options opt = { .force = true,
				    .run = { .commands = both, .n_commands = n_commands } };
	struct boost_bench b = {
		.opt = &opt, .speeds = { 3600000, 3000000, 2, false }, .n = n, .means = means };
	const char *svg = temp_path("runs.svg");

	opt.plot = svg;
	b.runs = calloc(n, sizeof(*b.runs));
	assert_non_null(b.runs);
	for (size_t i = 0; i < n; i++) {
		struct boost_bench_run *r = &b.runs[i];

		*r = (struct boost_bench_run){ .command = i % n_commands, .times = 1 };
		r->judged.seconds = seconds ? seconds[i] : 1;
		r->judged.as_boosted_s.v = r->judged.seconds * (1 - slower[i]);
	}
	drawn_begin();
	assert_int_equal(boost_bench_export(&b), 0);
	free(b.runs);
	return drawn_end();
}

TEST(runs_have_whole_numbers)
{
	double slower[120] = { 0.05 };
	char *script;

	script = bench(2, 6, slower, NULL);
	assert_true(says(script, "set xlabel 'run'\nset xrange [0.5:3.5]\nset xtics 1,1\nplot"));
	assert_true(says(script, "title './work one'") && says(script, "title './work two'") &&
		    says(script, "set key outside below"));
	assert_true(says(script, "title 'How much slower runs were than at the boosted speed'"));
	assert_true(drawn_count(script, "set ylabel 'slower, %'") == 1 &&
		    drawn_count(script, "set yrange") == 1);
	/* that of the other panel is in seconds */
	assert_true(says(script, "set xlabel 'length of the run, s'\nset xrange [0:*]\n"
				 "set xtics autofreq"));
	script = bench(1, 120, slower, NULL);
	assert_true(says(script, "set xrange [0.5:120.5]\nset xtics 0,8\n"));
}

TEST(rounding_is_no_bar)
{
	double noise[] = { 4e-7, 0, -3e-7, 1e-7 }, faster[] = { -0.1, 0.2, 0.1, 0 },
	       some[] = { 0.1, NAN, 0.1, 0.1 };
	double none[] = { NAN, NAN, NAN, NAN }, took[] = { 1, 2, 1, 1 };
	char *script = bench(1, 4, noise, NULL);

	assert_true(says(script, "set yrange [0:1.05]\n"));
	/* but what is faster has one */
	script = bench(1, 4, faster, NULL);
	assert_true(says(script, "set yrange [-10.5:21]\n"));
	/* and what they are compared with is said */
	script = bench(1, 4, some, took);
	assert_true(says(script, "than at the boosted speed, or where that is not known the "
				 "fastest of their command'"));
	script = bench(1, 4, none, took);
	assert_true(says(script,
			 "than the fastest of their command (the boosted speed is not known)'") &&
		    says(script, "set yrange [0:52.5]\n"));
}

TEST(plan_says_of_which_chip)
{
	char *script;
	const char *svg = temp_path("plan.svg");

	drawn_begin();
	assert_int_equal(kjoule("boost plan --r 1.125 --boost 55s --plot %s", svg), 0);
	script = drawn_end();
	assert_true(says(script, "title 'Runs from a clean history on a chip of r = 1.125 whose "
				 "boost lasts 55 s (dashed)'"));
}
