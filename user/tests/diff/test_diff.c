// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What differs between two sides: made-up recordings whose differences are known, and pairs that
 * have none.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "analysis/runs/difference.h"
#include "tests/support/looped.h"
#include "tests/support/series.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static char text[8192];

/* "diff --json ARGS A", paths by name, "--" kept. */
static const char *with_paths(const char *args)
{
	char copy[1024], *save = NULL;
	size_t at = 0;

	snprintf(copy, sizeof(copy), "%s", args);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		at += snprintf(text + at, sizeof(text) - at, "%s ",
			       word[0] == '@' ? temp_path(word + 1) : word);
	return text;
}

static struct json_object *diff(const char *args)
{
	return kjoule_json(0, "diff --json %s", with_paths(args));
}

static struct json_object *row_of(struct json_object *doc, const char *kind, const char *object)
{
	struct json_object *row = find_row(doc, kind, object);

	if (!row)
		print_message("no %s of %s\n%s\n", kind, object ? object : "any", out);
	assert_non_null(row);
	return row;
}

static const char *word(struct json_object *row, const char *key)
{
	return json_object_get_string(figure_of(row, key));
}

/* 5 s at 1 W and then at 1.3 W; the kernel's 5 s at 2 W are as they were. */
TEST(differences_are_what_they_are)
{
	struct json_object *doc, *row;

	series_record(&(struct series_run){ .name = "a", .ticks = 10000, .watt = 1 });
	series_record(&(struct series_run){ .name = "b", .ticks = 10000, .watt = 1.3,
					    .phase = 13 });
	doc = diff("@a @b");
	row = row_of(doc, "function", "program");
	assert_true(near(number(row, "energy_difference_package_j"), 1.5, 0.03));
	assert_true(number(row, "energy_difference_lo_package_j") < 1.5 &&
		    number(row, "energy_difference_hi_package_j") > 1.5);
	assert_true(near(number(row, "power_difference_package_w"), 0.3, 0.005));
	assert_true(near(number(row, "energy_package_ratio"), 1.3, 0.01));
	assert_true(number(row, "energy_package_ratio_lo") < 1.3 &&
		    number(row, "energy_package_ratio_hi") > 1.3);
	assert_string_equal(word(row, "energy_package_differs"), "surely");
	assert_string_equal(word(row, "power_package_differs"), "surely");
	assert_string_equal(word(row, "in"), "both");
	assert_true(near(number(row, "time_difference_s"), 0, 0.1));
	row = row_of(doc, "function", "[kernel]");
	assert_string_equal(word(row, "power_package_differs"), "no");
	assert_true(number(row, "power_difference_lo_package_w") < 0 &&
		    number(row, "power_difference_hi_package_w") > 0);
	/* the largest difference of energy comes first */
	row = json_object_array_get_idx(member(doc, "rows"), 0);
	assert_string_equal(word(row, "object"), "program");
	/* what is there adds up to the total's */
	{
		struct json_object *rows = member(doc, "rows");
		double sum = 0;
		double total = number(row_of(doc, "total", NULL), "energy_difference_package_j");

		for (size_t i = 0; i < json_object_array_length(rows); i++)
			if (strcmp(word(json_object_array_get_idx(rows, i), "kind"), "total"))
				sum += number(json_object_array_get_idx(rows, i), "energy_difference_package_j");
		assert_true(near(sum, total, 1e-6));
	}
	/* the other way round it is less */
	doc = diff("@b @a");
	row = row_of(doc, "function", "program");
	assert_true(near(number(row, "energy_difference_package_j"), -1.5, 0.03));
	assert_true(near(number(row, "energy_package_ratio"), 1 / 1.3, 0.01));
	assert_int_equal(kjoule("diff %s", with_paths("@a @b")), 0);
	assert_true(says(out, "is half of the 95 % interval of B-A; details: -v"));
	assert_true(says(out, "+30."));
	assert_true(says(out, "**"));
	assert_true(says(out, "not how much runs differ: for that, record --runs 3 or more of each side"));
	assert_int_equal(kjoule("diff --csv %s", with_paths("@a @b")), 0);
	assert_true(!strncmp(out, "kind,comm,function,object,mode,in,samples_a,", 44));
}

/* Pairs of runs of the same: one in twenty may seem to differ, and not more. */
TEST(what_does_not_differ_seldom_seems_to)
{
	unsigned int told = 0, surely = 0, pairs = getenv("KJOULE_TEST_QUICK") ? 6 : 60;

	for (unsigned int i = 0; i < pairs; i++) {
		struct json_object *doc, *row;

		series_record(&(struct series_run){ .name = "same.a", .ticks = 2000, .watt = 1,
						    .phase = 17 * i });
		series_record(&(struct series_run){ .name = "same.b", .ticks = 2000, .watt = 1,
						    .phase = 17 * i });
		doc = diff("@same.a @same.b");
		row = row_of(doc, "function", "program");
		told += strcmp(word(row, "power_package_differs"), "no") != 0;
		surely += !strcmp(word(row, "power_package_differs"), "surely");
	}
	print_message("of %u pairs that do not differ %u seem to, %u surely\n", pairs, told, surely);
	assert_true(told <= 6 && surely <= 1);
}

/*
 * Turns of some two ticks under a counter that moves every ten: only the user code's power is
 * another one, and the kernel's seems to be, far beyond its interval. Neither is shown. Of turns of
 * a hundred it is.
 */
TEST(what_is_mixed_with_its_neighbours_is_not_told)
{
	static const char *const objects[] = { "program", "[kernel]" };
	struct json_object *doc, *row;

	series_record(&(struct series_run){ .name = "ma", .ticks = 10000, .turn = 2, .watt = 1 });
	series_record(&(struct series_run){ .name = "mb", .ticks = 10000, .turn = 2, .watt = 1.3,
					    .phase = 13 });
	doc = diff("@ma @mb");
	for (int i = 0; i < 2; i++) {
		row = row_of(doc, "function", objects[i]);
		assert_true(number(row, "window_share_package_a") < 0.5 &&
			    number(row, "window_share_core_b") < 0.5);
		assert_string_equal(word(row, "power_package_differs"), "unknown");
		assert_string_equal(word(row, "energy_package_differs"), "unknown");
		assert_string_equal(word(row, "power_core_differs"), "unknown");
		assert_string_equal(word(row, "time_differs"), "no");
	}
	/*
	 * the kernel did not change, and what it has of its neighbour did, by more than its
	 * interval
	 */
	print_message("%.3f and %.3f W, seems to differ by %.3f to %.3f W\n",
		      number(row, "power_a_package_w"), number(row, "power_b_package_w"),
		      number(row, "power_difference_lo_package_w"),
		      number(row, "power_difference_hi_package_w"));
	assert_true(number(row, "power_difference_lo_package_w") > 0.1 ||
		    number(row, "power_difference_hi_package_w") < -0.1);
	assert_true(fabs(number(row, "power_difference_package_w")) < 0.5);
	/* both together are no mixture */
	row = row_of(doc, "total", NULL);
	assert_string_equal(word(row, "power_package_differs"), "surely");
	doc = diff("--by process @ma @mb");
	assert_string_equal(word(row_of(doc, "process", NULL), "power_package_differs"), "surely");
	assert_int_equal(kjoule("diff %s", with_paths("@ma @mb")), 0);
	assert_true(says(out, "  ~  ") &&
		    says(out, "~ : runs too shortly between two updates of the energy counter, on one side at least"));
	/* one side is enough, and the other way round */
	series_record(&(struct series_run){ .name = "ml", .ticks = 10000, .watt = 1.3 });
	doc = diff("@ml @mb");
	row = row_of(doc, "function", "program");
	assert_true(number(row, "window_share_package_a") > 0.95);
	assert_string_equal(word(row, "power_package_differs"), "unknown");
	series_record(&(struct series_run){ .name = "la", .ticks = 10000, .watt = 1 });
	doc = diff("@la @ml");
	assert_string_equal(word(row_of(doc, "function", "program"), "power_package_differs"),
			    "surely");
	assert_int_equal(kjoule("diff %s", with_paths("@la @ml")), 0);
	assert_null(strchr(out, '~'));
}

/* What one side has not met: none, or less than it takes to be met. */
TEST(blocks_of_one_side_are_shown)
{
	struct json_object *doc, *row;

	series_record(&(struct series_run){ .name = "a", .ticks = 10000, .watt = 1 });
	series_record(&(struct series_run){ .name = "k", .ticks = 10000, .watt = 1,
					    .kernel_only = true });
	doc = diff("@a @k");
	row = row_of(doc, "function", "program");
	assert_string_equal(word(row, "in"), "a");
	assert_true(near(number(row, "time_difference_s"), -5 * (1 - 0.003), 0.02));
	assert_true(number(row, "time_b_s") == 0);
	assert_true(near(number(row, "time_b_hi_s"), 3.689e-3, 1e-6));
	assert_null(figure_of(row, "power_b_package_w"));
	assert_null(figure_of(row, "power_difference_package_w"));
	assert_string_equal(word(row, "power_package_differs"), "unknown");
	assert_string_equal(word(row, "energy_package_differs"), "surely");
	doc = diff("@k @a");
	row = row_of(doc, "function", "program");
	assert_string_equal(word(row, "in"), "b");
	/* so many times nothing is no number */
	assert_null(figure_of(row, "time_ratio"));
	assert_int_equal(kjoule("diff %s", with_paths("@a @k")), 0);
	assert_true(says(out, "a : no sample of B fell into it"));
}

/*
 * Several on a side: how much runs differ counts, and a difference that is less than that is none.
 */
TEST(sides_of_several_have_what_runs_differ_by)
{
	static const uint32_t ticks[] = { 9500, 10500, 10000, 9600, 10400 };
	struct json_object *doc, *row;

	for (size_t i = 0; i < 5; i++) {
		char a[16], b[16];

		snprintf(a, sizeof(a), "sa.%zu", i + 1);
		snprintf(b, sizeof(b), "sb.%zu", i + 1);
		series_record(&(struct series_run){ .name = a, .ticks = ticks[i], .watt = 1 });
		series_record(&(struct series_run){ .name = b, .ticks = ticks[i] + 200, .watt = 1,
						    .phase = 31 });
	}
	doc = diff("@sa.1 @sb.1");
	row = row_of(doc, "total", NULL);
	assert_string_equal(word(row, "time_differs"), "surely");
	doc = diff("@sa.1 @sa.2 @sa.3 @sa.4 @sa.5 -- @sb.1 @sb.2 @sb.3 @sb.4 @sb.5");
	assert_int_equal(number(member(doc, "a"), "average_of"), 5);
	row = row_of(doc, "total", NULL);
	assert_true(near(number(row, "time_difference_s"), 0.2, 1e-6));
	assert_string_equal(word(row, "time_differs"), "no");
	/* half of each side: t(4) * S / sqrt(5), S = 0.453 */
	assert_true(near((number(row, "time_difference_hi_s") -
			  number(row, "time_difference_lo_s")) / 2,
			 sqrt(2) * 2.776 * 0.4528 / sqrt(5), 0.01));
	assert_int_equal(kjoule("diff %s", with_paths("@sa.1 @sa.2 @sa.3 -- @sb.1 @sb.2 @sb.3")),
			 0);
	assert_null(strstr(out, "for that, record --runs"));
	/* sides need not have as many */
	doc = diff("--without-outliers @sa.1 @sa.2 -- @sb.1");
	assert_int_equal(number(member(doc, "b"), "average_of"), 1);
}

/* Two builds at other places, one of which is called otherwise. */
TEST(builds_are_joined_by_names)
{
	struct json_object *doc, *row;

	series_record(&(struct series_run){ .name = "old", .ticks = 4000, .watt = 1,
					    .exe = "/nonexistent/old/prog",
					    .build_id = "1111111111111111" });
	series_record(&(struct series_run){ .name = "new", .ticks = 4000, .watt = 1,
					    .exe = "/nonexistent/new/prog",
					    .build_id = "2222222222222222", .start = 0x20000000 });
	doc = diff("@old @new");
	row = row_of(doc, "function", "prog");
	assert_string_equal(word(row, "in"), "both");
	assert_true(says(err, "different builds of prog (build ids 111111111111 and 222222222222)"));
	/* as a report they are two programs */
	assert_int_equal(kjoule("report %s", with_paths("@old @new")), 1);
	assert_true(says(err, "different programs are no one average"));
	series_record(&(struct series_run){ .name = "named", .ticks = 4000, .watt = 1,
					    .exe = "/nonexistent/new/prog2" });
	assert_int_equal(kjoule("diff %s", with_paths("@old @named")), 1);
	assert_string_equal(out, "");
	assert_true(says(err, "to compare different programs give --force"));
	doc = diff("--force @old @named");
	assert_true(says(err, "these are different programs"));
	assert_string_equal(word(row_of(doc, "function", "prog"), "in"), "both");
	/*
	 * any other file, too: where the machine is recorded it is not known which is the program
	 */
	series_record(&(struct series_run){ .name = "os", .ticks = 4000, .watt = 1,
					    .exe = "/nonexistent/old/prog", .system = true });
	series_record(&(struct series_run){ .name = "ns", .ticks = 4000, .watt = 1,
					    .exe = "/nonexistent/new/prog", .system = true });
	doc = diff("@os @ns");
	assert_string_equal(word(row_of(doc, "function", "prog"), "in"), "both");
	/* a name that would steer the terminal is shown without that */
	series_record(&(struct series_run){ .name = "evil", .ticks = 4000, .watt = 1,
					    .exe = "/nonexistent/e\033[31m/prog" });
	assert_int_equal(kjoule("diff %s", with_paths("@old @evil")), 0);
	assert_true(says(out, "/nonexistent/e?[31m/prog"));
	assert_null(strchr(out, '\033'));
	/* one build, copied: nothing to be said */
	series_record(&(struct series_run){ .name = "copied", .ticks = 4000, .watt = 1,
					    .exe = "/nonexistent/copy/prog",
					    .build_id = "1111111111111111" });
	doc = diff("@old @copied");
	assert_null(strstr(err, "builds"));
}

TEST(grains_and_formats_work)
{
	static const char *const grains[] =
		{ "process", "object", "function", "line", "loop", "block" };
	struct json_object *doc, *row;

	series_record(&(struct series_run){ .name = "l1", .ticks = 4000, .watt = 1,
					    .exe = looped_path(), .offset = looped.loop_offset });
	series_record(&(struct series_run){ .name = "l2", .ticks = 4000, .watt = 1.5,
					    .exe = looped_path(), .offset = looped.loop_offset,
					    .start = 0x40000000 });
	for (size_t i = 0; i < sizeof(grains) / sizeof(grains[0]); i++) {
		char args[64];

		snprintf(args, sizeof(args), "--by %s @l1 @l2", grains[i]);
		doc = diff(args);
		row = row_of(doc, grains[i], i ? strrchr(looped_path(), '/') + 1 : NULL);
		assert_string_equal(word(row, "in"), "both");
		assert_true(near(number(row, "energy_difference_package_j"), 1, 0.05));
		snprintf(args, sizeof(args), "--by %s --sort %s @l1 @l2", grains[i],
			 i % 2 ? "power" : "name");
		assert_int_equal(kjoule("diff %s", with_paths(args)), 0);
	}
	doc = diff("--block hot=a_loop_and_more @l1 @l2");
	assert_true(near(number(row_of(doc, "named", NULL), "energy_difference_package_j"), 1,
			 0.05));
	assert_int_equal(kjoule("diff --comm absent %s", with_paths("@l1 @l2")), 1);
	assert_true(says(err, "no such process on either side"));
	assert_int_equal(kjoule("diff --comm program %s", with_paths("@l1 @l2")), 0);
}

/*
 * Equation 10 on each side: from the least power in the least time to the most in the most, and
 * never within the usual interval; of every kind of row.
 */
TEST(the_worst_case_is_of_every_row)
{
	static const char *const by[] = { "process", "function" };

	series_record(&(struct series_run){ .name = "wa", .ticks = 4000, .watt = 1 });
	series_record(&(struct series_run){ .name = "wb", .ticks = 4000, .watt = 1.3,
					    .phase = 13 });
	for (size_t i = 0; i < 2; i++) {
		struct json_object *docs[2], *rows[2];
		char args[100];

		for (int worst = 0; worst < 2; worst++) {
			snprintf(args, sizeof(args), "--by %s --interval %s @wa @wb", by[i],
				 worst ? "worst-case" : "combined");
			docs[worst] = diff(args);
			rows[worst] = row_of(docs[worst], by[i], i ? "program" : NULL);
		}
		assert_true(near(number(rows[1], "energy_a_package_j"),
				 number(rows[0], "energy_a_package_j"), 1e-9));
		assert_true(near(number(rows[1], "energy_a_lo_package_j"),
				 fmin(number(rows[0], "energy_a_lo_package_j"),
				      number(rows[1], "time_a_lo_s") *
				      number(rows[1], "power_a_lo_package_w")),
				 1e-6));
		assert_true(near(number(rows[1], "energy_b_hi_package_j"),
				 fmax(number(rows[0], "energy_b_hi_package_j"),
				      number(rows[1], "time_b_hi_s") *
				      number(rows[1], "power_b_hi_package_w")),
				 1e-6));
		/*
		 * all of the process is on the clock: its time has no interval that could make the
		 * energy's wider
		 */
		assert_true(!i || number(rows[1], "energy_difference_hi_package_j") >
			    number(rows[0], "energy_difference_hi_package_j"));
	}
}

TEST(what_can_not_be_compared_is_said)
{
	static const char *const wrong[] = {
		"diff", "diff a", "diff a b c", "diff a -- ", "diff -- a", "diff --sort colour a b",
		"diff --by colour a b",
		"diff --percent-limit x a b", "diff --interval wide a b",
		"diff --without-outliers a b", "diff --nonsense a b",
		"diff --by process --block x=f a b", "diff --source , a b",
	};
	struct json_object *doc, *row;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (kjoule("%s", wrong[i]) != 2)
			print_message("%s\n", wrong[i]);
		assert_int_equal(kjoule("%s", wrong[i]), 2);
		assert_string_equal(out, "");
	}
	series_record(&(struct series_run){ .name = "a", .ticks = 4000, .watt = 1 });
	series_record(&(struct series_run){ .name = "dark", .ticks = 4000, .watt = 1,
					    .no_energy = true });
	assert_int_equal(kjoule("diff %s", with_paths("@a /nonexistent/x")), 1);
	assert_true(says(err, "No such file"));
	assert_int_equal(kjoule("diff %s", with_paths("@a /etc/passwd")), 1);
	assert_int_equal(kjoule("diff %s", with_paths("@a @a")), 1);
	assert_true(says(err, "are the same recording, on both sides"));
	series_record(&(struct series_run){ .name = "sys", .ticks = 4000, .watt = 1,
					    .system = true });
	assert_int_equal(kjoule("diff %s", with_paths("@a @sys")), 1);
	/* energy that one side does not know has no difference; time has */
	doc = diff("@a @dark");
	row = row_of(doc, "total", NULL);
	assert_null(figure_of(row, "energy_difference_package_j"));
	assert_string_equal(word(row, "energy_package_differs"), "unknown");
	assert_true(near(number(row, "time_difference_s"), 0, 1e-9));
	assert_int_equal(kjoule("diff %s", with_paths("@a @dark")), 0);
	assert_true(says(out, "one of the sides does not know it"));
}

/* Fieller's interval against figures worked out by hand: 10 +- 1 and 20 +- 1. */
TEST(ratios_have_fieller_s_interval)
{
	const struct value a = { 10, 9, 11 }, b = { 20, 19, 21 }, vague = { 1, -1, 3 };
	struct difference d = difference_of(&a, &b, 1, 39);

	assert_true(fabs(d.ratio.v - 2) < 1e-12);
	assert_true(fabs(d.ratio.lo - (200 - sqrt(200 * 200 - 99.0 * 399)) / 99) < 1e-9);
	assert_true(fabs(d.ratio.hi - (200 + sqrt(200 * 200 - 99.0 * 399)) / 99) < 1e-9);
	assert_true(fabs(d.by.hi - 10 - sqrt(2)) < 1e-9);
	assert_int_equal(d.sure, DIFFERENCE_SURELY);
	/* twice something that may be nothing has no bound */
	d = difference_of(&vague, &b, 1, 39);
	assert_true(isnan(d.ratio.hi) && fabs(d.ratio.v - 20) < 1e-12);
	/* 2.2 apart, 1.41 is the half: one comparison tells, a hundred do not */
	d = difference_of(&a, &(struct value){ 12.2, 11.2, 13.2 }, 1, 39);
	assert_int_equal(d.sure, DIFFERENCE_SURELY);
	d = difference_of(&a, &(struct value){ 12.2, 11.2, 13.2 }, 100, 39);
	assert_int_equal(d.sure, DIFFERENCE_YES);
	/*
	 * twice as far apart two of them surely differ of ten comparisons, if the intervals rest on
	 * more than two runs
	 */
	d = difference_of(&a, &(struct value){ 13.1, 12.1, 14.1 }, 10, 39);
	assert_int_equal(d.sure, DIFFERENCE_SURELY);
	d = difference_of(&a, &(struct value){ 13.1, 12.1, 14.1 }, 10, 2);
	assert_int_equal(d.sure, DIFFERENCE_YES);
	d = difference_of(&a, &(struct value){ 11, 10, 12 }, 100, 39);
	assert_int_equal(d.sure, DIFFERENCE_NO);
	d = difference_of(&a, &(struct value){ 11, NAN, NAN }, 1, 39);
	assert_int_equal(d.sure, DIFFERENCE_UNKNOWN);
}

int main(void)
{
	return tests_run(looped_setup, NULL);
}
