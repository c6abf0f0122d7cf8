// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line of `kjoule boost`, as far as it goes without the module: plan's figures are the
 * paper's, and what cannot be asked for is said.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <json-c/json.h>
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

TEST(plan_has_the_paper_s_figures)
{
	const double slower[] = { 0, 0, 0, 0.037037, 0.111111, 0.111111 };
	struct json_object *doc, *runs, *row;

	doc = kjoule_json(0, "boost plan --r 1.125 --boost 55s --window 2m --json");
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
		assert_true(near(json_object_get_double(json_object_array_get_idx(runs, i)),
				 slower[i], 1e-6));
}

TEST(plan_says_what_to_do)
{
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

/* Plan with a file that has this. Return: exit code */
static int plan_from(const char *text, const char *options)
{
	const char *path = temp_path("measured.json");

	write_file(path, text, strlen(text));
	return kjoule("boost plan --json %s --from %s", options, path);
}

static double planned(const char *key)
{
	struct json_object *doc = json_tokener_parse(out);
	double v = number(doc, key);

	json_object_put(doc);
	return v;
}

TEST(plan_takes_what_was_measured)
{
	static const char trace[] = "{ \"verdict\": \"ends\", \"boost_s\": 5.5, \"r\": 1.25, \"rows\": [ { \"r\": 7 } ] }\n";
	static const char window[] = "{ \"boost_s\": 6, \"r\": null, \"window_s\": 12 }";
	char other[300];

	assert_int_equal(plan_from(trace, ""), 0);
	assert_true(near(planned("r"), 1.25, 1e-9));
	assert_true(near(planned("boost_s"), 5.5, 1e-9));
	assert_true(isnan(planned("window_s")));
	/* what is given wins, wherever it is; of several files the last that has it */
	assert_int_equal(plan_from(trace, "--boost 55s --window 2m"), 0);
	assert_true(near(planned("r"), 1.25, 1e-9));
	assert_true(near(planned("boost_s"), 55, 1e-9));
	assert_true(near(planned("window_s"), 120, 1e-9));
	snprintf(other, sizeof(other), "--from %s", temp_path("trace.json"));
	write_file(temp_path("trace.json"), trace, strlen(trace));
	assert_int_equal(plan_from(window, other), 0);
	assert_true(near(planned("r"), 1.25, 1e-9));
	assert_true(near(planned("boost_s"), 6, 1e-9));
	assert_true(near(planned("window_s"), 12, 1e-9));
	/* plan's own has the same */
	write_file(temp_path("trace.json"), out, strlen(out));
	assert_int_equal(kjoule("boost plan --from %s --r 2 --json", temp_path("trace.json")), 0);
	assert_true(near(planned("r"), 2, 1e-9));
	assert_true(near(planned("boost_s"), 6, 1e-9));
}

TEST(what_was_not_measured_is_said)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "is empty" },
		{ "PHASE  FROM s\n", "is no JSON document" },
		{ "{ \"r\": 1.25,", "is not whole" },
		{ "{ \"r\": 1.25, \"boost_s\": 5 } { }", "is no JSON document" },
		{ "[ { \"r\": 1.25, \"boost_s\": 5 } ]", "without names" },
		{ "5", "without names" },
		{ "null", "without names" },
		{ "{ \"verdict\": \"lasts\", \"r\": null }",
		  "none of r, boost_s and window_s; its verdict is \"lasts\"" },
		{ "{ \"r\": 1.25 }",
		  "has no boost_s: was there a boost that ends? give it by --boost" },
		{ "{ \"boost_s\": 5 }", "has no r: was there a boost that ends? give it by --r" },
		{ "{ \"verdict\": \"rises\", \"r\": 0.9, \"boost_s\": 5 }",
		  "r is 0.9, which cannot be; its verdict is \"rises\"" },
		{ "{ \"r\": 1.25, \"boost_s\": 0 }", "boost_s is 0, which cannot be" },
		{ "{ \"r\": 1.25, \"boost_s\": 5, \"window_s\": -1.5 }",
		  "window_s is -1.5, which cannot be" },
		{ "{ \"r\": \"1.25\", \"boost_s\": 5 }", "r is \"1.25\", which cannot be" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int code = plan_from(bad[i].text, "");

		if (code != 1 || !says(err, bad[i].why) || !says(err, "measured.json"))
			fail_msg("%s: exit code %d, %s", bad[i].text, code, err);
	}
	assert_int_equal(kjoule("boost plan --from /nowhere/at/all"), 1);
	assert_true(says(err, "--from /nowhere/at/all: No such file"));
	assert_true(says(err, "`kjoule boost trace --json`"));
	assert_int_equal(kjoule("boost plan --from /"), 1);
	assert_true(says(err, "--from /: Is a directory"));
}

TEST(what_can_not_be_asked_for_is_said)
{
	static const struct {
		const char *arguments, *why;
	} bad[] = {
		{ "boost", "trace, window, cause, run or plan" },
		{ "boost fly", "'fly': no such thing to do" },
		{ "boost plan --r 1.1", "plan needs --r and --boost" },
		{ "boost plan --r 1.1", "or --from" },
		{ "boost trace --from x", "unknown option '--from'" },
		{ "boost plan --r 0.9 --boost 1s", "--r '0.9': out of range" },
		{ "boost plan --r 2 --boost soon", "--boost 'soon': not understood" },
		{ "boost plan --r 2 --boost 1s --bound 0", "--bound has to be above 0" },
		{ "boost plan --r 2 --boost 1s extra", "'extra': no such argument" },
		{ "boost plan --r 2 --boost 1s --load saxpy", "unknown option '--load'" },
		{ "boost trace --load burn", "saxpy, multiply, memory or mixed" },
		{ "boost trace --slice 1us", "1ms to 1s" },
		{ "boost trace -C x", "-C 'x'" },
		{ "boost trace --temperature hwmon:a/temp1,hwmon:b/temp1", "one source" },
		{ "boost trace --plot a.gif", ".svg or .png" },
		{ "boost trace --history clean", "unknown option '--history'" },
		{ "boost window --fan x", "unknown option '--fan'" },
		{ "boost trace --load saxpy -- true", "--load and a command, 'true'" },
		{ "boost trace -- true -- true", "one command only" },
		{ "boost cause -- true", "'true': no such argument" },
		{ "boost run", "run needs a command" },
		{ "boost run -- true --", "run needs a command" },
		{ "boost run -- -- true", "a command is missing" },
		{ "boost run --history dirty true", "clean, saturated or as-is" },
		{ "boost run --boosted 90MHz true", "option '--boosted' needs '--sustained'" },
		{ "boost run --boosted 80MHz --sustained 90MHz true", "not above --sustained" },
		{ "boost run --sustained 80MHz --history saturated true",
		  "needs --boosted and --boost" },
		{ "boost cause --runs 0", "--runs '0'" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int code = kjoule("%s", bad[i].arguments);

		if (code != 2 || !says(err, bad[i].why))
			fail_msg("%s: exit code %d, %s", bad[i].arguments, code, err);
	}
}

TEST(a_command_that_is_not_there_is_no_run)
{
	assert_int_equal(kjoule("boost run no-such-command-at-all"), 127);
	assert_true(says(err, "no-such-command-at-all"));
	assert_int_equal(kjoule("boost run /etc/passwd"), 126);
	assert_int_equal(kjoule("boost trace --idle 1s -- no-such-command-at-all"), 127);
	assert_int_equal(kjoule("boost cause --fan /nowhere/pwm1"), 1);
	assert_true(says(err, "/nowhere/pwm1"));
}

TEST(help_is_given)
{
	assert_int_equal(kjoule("boost --help"), 0);
	assert_true(says(out, "  plan    what a boost does to benchmarks\n"));
	assert_int_equal(kjoule("boost trace --help"), 0);
	assert_int_equal(kjoule("help boost"), 0);
}
