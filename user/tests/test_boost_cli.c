// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line of `kjoule boost`, as far as it goes without the module: plan's figures are the paper's, and what can not
 * be asked for is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>
#include <cmocka.h>
#include "tool.h"

static void plan_has_the_paper_s_figures(void **state)
{
	const double slower[] = { 0, 0, 0, 0.037037, 0.111111, 0.111111 };
	struct json_object *doc, *runs, *row;

	(void)state;
	assert_int_equal(kjoule("boost plan --r 1.125 --boost 55s --window 2m --json"), 0);
	doc = json_tokener_parse(out);
	assert_non_null(doc);
	assert_true(near(number(doc, "speedup_error_2x"), 0.058824, 1e-6));
	assert_true(near(number(doc, "speedup_error_10x"), 0.111111, 1e-6));
	assert_true(near(number(doc, "observed_2x"), 2.125, 1e-9));
	assert_true(near(number(doc, "length_s"), 687.5, 1e-6));
	assert_true(near(number(doc, "window_s"), 120, 1e-9));
	/* parts in the head, percent in the rows */
	row = json_object_array_get_idx(member(doc, "rows"), 0);
	assert_true(near(number(row, "steady_error_percent"), 12.5, 1e-6));
	assert_true(near(number(row, "slowdown_percent"), 0, 1e-6));
	runs = member(doc, "back_to_back_slowdown");
	assert_int_equal(json_object_array_length(runs), 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(near(json_object_get_double(json_object_array_get_idx(runs, i)), slower[i], 1e-6));
	json_object_put(doc);
}

static void plan_says_what_to_do(void **state)
{
	(void)state;
	assert_int_equal(kjoule("boost plan --r 3 --boost 55s --bound 5"), 0);
	assert_true(says(out, "runs of 2200 s and longer"));
	assert_true(says(out, "`kjoule boost window` measures"));
	assert_int_equal(kjoule("boost plan --r 1.04 --boost 55s --bound 5 --window 100s"), 0);
	assert_true(says(out, "every length is good"));
	assert_true(says(out, "for 100 s before each run"));
	/* of runs that are longer than the boost the first is slower, too */
	assert_int_equal(kjoule("boost plan --r 1.125 --boost 10s --run 20s --runs 2"), 0);
	assert_true(says(out, "are slower than one that boosts to its end by 5.6, 11.1 %"));
	assert_int_equal(kjoule("boost plan --r 1.125 --boost 55s --plot /nowhere/at/all.svg"), 1);
	assert_true(says(err, "/nowhere/at/all.csv"));
	assert_int_equal(kjoule("boost plan --r 1.125 --boost 55s --csv"), 0);
	assert_true(says(out, "run_s,steady_error_percent,slowdown_percent,observed_2x"));
}

static void what_can_not_be_asked_for_is_said(void **state)
{
	static const struct {
		const char *arguments, *why;
	} bad[] = {
		{ "boost", "trace, window, cause, run or plan" },
		{ "boost fly", "fly: no such thing to do" },
		{ "boost plan --r 1.1", "plan needs --r and --boost" },
		{ "boost plan --r 0.9 --boost 1s", "--r 0.9" },
		{ "boost plan --r 2 --boost soon", "--boost soon" },
		{ "boost plan --r 2 --boost 1s --bound 0", "--bound 0" },
		{ "boost plan --r 2 --boost 1s extra", "extra: no such argument" },
		{ "boost plan --r 2 --boost 1s --load saxpy", "an option that it does not take" },
		{ "boost trace --load burn", "saxpy, multiply, memory or mixed" },
		{ "boost trace --slice 1us", "1ms to 1s" },
		{ "boost trace -C x", "-C x" },
		{ "boost trace --plot a.gif", ".svg or .png" },
		{ "boost trace --history clean", "an option that it does not take" },
		{ "boost window --fan x", "an option that it does not take" },
		{ "boost trace --load saxpy -- true", "--load and a command, true" },
		{ "boost trace -- true -- true", "one command only" },
		{ "boost cause -- true", "true: no such argument" },
		{ "boost run", "run needs a command" },
		{ "boost run -- true --", "run needs a command" },
		{ "boost run -- -- true", "a command is missing" },
		{ "boost run --history dirty true", "clean, saturated or as-is" },
		{ "boost run --boosted 90MHz true", "--boosted goes with --sustained" },
		{ "boost run --boosted 80MHz --sustained 90MHz true", "not above --sustained" },
		{ "boost run --sustained 80MHz --history saturated true", "needs --boosted and --boost" },
		{ "boost cause --runs 0", "--runs 0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int code = kjoule("%s", bad[i].arguments);

		if (code != 2 || !says(err, bad[i].why))
			fail_msg("%s: exit code %d, %s", bad[i].arguments, code, err);
	}
}

static void a_command_that_is_not_there_is_no_run(void **state)
{
	(void)state;
	assert_int_equal(kjoule("boost run no-such-command-at-all"), 127);
	assert_true(says(err, "no-such-command-at-all"));
	assert_int_equal(kjoule("boost run /etc/passwd"), 126);
	assert_int_equal(kjoule("boost trace --idle 1s -- no-such-command-at-all"), 127);
	assert_int_equal(kjoule("boost cause --fan /nowhere/pwm1"), 1);
	assert_true(says(err, "/nowhere/pwm1"));
}

static void help_is_given(void **state)
{
	(void)state;
	assert_int_equal(kjoule("boost --help"), 0);
	assert_true(says(out, "kjoule boost plan"));
	assert_int_equal(kjoule("boost trace --help"), 0);
	assert_int_equal(kjoule("help boost"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_has_the_paper_s_figures),
		cmocka_unit_test(plan_says_what_to_do),
		cmocka_unit_test(what_can_not_be_asked_for_is_said),
		cmocka_unit_test(a_command_that_is_not_there_is_no_run),
		cmocka_unit_test(help_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, tool_done);
}
