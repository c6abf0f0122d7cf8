// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code by line, loop, block and the user's blocks: recordings whose samples are in the function of
 * looped.c, and how the names of blocks are parsed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <json-c/json.h>
#include "attribute/code_units.h"
#include "attribute/user_blocks.h"
#include "tests/support/looped.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

/* The unit of that kind whose figure @key has this value. */
static struct json_object *unit(struct json_object *doc, const char *kind, const char *key,
				double value)
{
	struct json_object *row;

	for (size_t i = 0; (row = item_of(doc, "rows", i)); i++)
		if (!strcmp(text_of(row, "kind"), kind) && number(row, key) == value)
			return row;
	print_message("no %s with %s %g\n%s\n", kind, key, value, out);
	return NULL;
}

static void is_3_s_at(struct json_object *row, double w)
{
	assert_non_null(row);
	assert_int_equal(number(row, "samples"), 3000);
	assert_true(near(number(row, "power_package_w"), w, 0.01));
}

TEST(lines_are_separate)
{
	struct json_object *doc = report_json("--by line", "usual"), *row;

	row = unit(doc, "line", "source_line", looped.loop_line);
	is_3_s_at(row, 1);
	assert_non_null(strstr(text_of(row, "source_file"), "looped.c"));
	assert_string_equal(text_of(row, "in_function"), "a_loop_and_more");
	assert_non_null(strstr(text_of(row, "function"), "looped.c:"));
	is_3_s_at(unit(doc, "line", "source_line", looped.after_line), 2);
	/* the kernel's code has no lines here: it stays what it is */
	assert_non_null(find_row(doc, "function", "[kernel]"));
	assert_int_equal(kjoule("report --by line %s", temp_path("usual")), 0);
	assert_true(says(out, "\n3000 samples of the recording are counted by function: the kernel's"));
	assert_true(says(out, "* : imprecise instruction pointers: some samples may be of the code"));
	assert_int_equal(kjoule("report --by line %s", temp_path("precise")), 0);
	assert_null(strstr(out, "imprecise"));
}

TEST(loops_and_blocks_are_separate)
{
	struct json_object *doc = report_json("--by loop", "precise"), *row;

	row = unit(doc, "loop", "loop_depth", 1);
	is_3_s_at(row, 1);
	assert_true(number(row, "start") <= looped.loop && looped.loop < number(row, "end"));
	assert_true(looped.after >= number(row, "end") || looped.after < number(row, "start"));
	assert_int_equal(number(row, "precise_percent"), 100);
	assert_true(says(out, "a_loop_and_more, outside of loops"));
	doc = report_json("--by block", "precise");
	for (int i = 0; i < 2; i++) {
		struct json_object *rows = member(doc, "rows");
		uint64_t at = i ? looped.after : looped.loop;
		unsigned int found = 0;

		for (size_t k = 0; k < json_object_array_length(rows); k++) {
			row = json_object_array_get_idx(rows, k);
			if (strcmp(text_of(row, "kind"), "block") || at < number(row, "start") ||
			    at >= number(row, "end"))
				continue;
			found++;
			is_3_s_at(row, i ? 2 : 1);
		}
		assert_int_equal(found, 1);
	}
}

TEST(objects_and_processes_are_sums)
{
	struct json_object *doc = report_json("--by object", "usual"), *row;

	row = find_row(doc, "object", looped_path());
	assert_non_null(row);
	assert_int_equal(number(row, "samples"), 6000);
	row = find_row(doc, "object", "[kernel]");
	assert_non_null(row);
	assert_int_equal(number(row, "samples"), 3000);
	doc = report_json("--by process", "usual");
	assert_null(find_row(doc, "function", NULL));
	row = find_row(doc, "process", NULL);
	assert_int_equal(number(row, "samples"), 9000);
	assert_true(near(number(row, "energy_package_j"), 12, 0.05));
}

TEST(the_user_s_blocks_come_first)
{
	struct json_object *doc;
	char how[512];

	snprintf(how, sizeof(how), "--block hot=looped.c:%d", looped.loop_line);
	doc = report_json(how, "usual");
	is_3_s_at(find_row(doc, "named", NULL), 1);
	/* what is left of the function stays the function */
	is_3_s_at(find_row(doc, "function", looped_path()), 2);
	/* merged, by lines and by addresses */
	snprintf(how, sizeof(how), "--by block --block both=support/looped.c:%d-%d --block both=test_code_units:0x%lx-0x%lx",
		 looped.loop_line, looped.loop_line, (unsigned long)looped.after,
		 (unsigned long)looped.after + 1);
	doc = report_json(how, "usual");
	assert_int_equal(number(find_row(doc, "named", NULL), "samples"), 6000);
	doc = report_json("--block all=a_loop_and_more", "usual");
	assert_int_equal(number(find_row(doc, "named", NULL), "samples"), 6000);
	assert_null(find_row(doc, "function", looped_path()));
}

TEST(what_was_not_sampled_has_no_number)
{
	assert_int_equal(kjoule("report --block cold=looped.c:1-2 %s", temp_path("usual")), 1);
	assert_true(says(err, "--block cold: no sample of what was asked for fell into it"));
	assert_null(strstr(out, "cold"));
	assert_int_equal(kjoule("report --comm others --block hot=a_loop_and_more %s",
				temp_path("usual")), 1);
	/* a part of it is enough to be measured, but the other one is reported */
	assert_int_equal(kjoule("report --block hot=nosuchfunction,a_loop_and_more %s",
				temp_path("usual")), 0);
	assert_true(says(err, "--block hot: no sample fell into nosuchfunction"));
	assert_true(says(out, "hot"));
}

TEST(a_budget_names_who_breaks_it)
{
	struct json_object *doc = report_json("--by line --power-budget 1.5W", "usual"), *row;
	char how[64];

	row = unit(doc, "line", "source_line", looped.loop_line);
	assert_string_equal(text_of(row, "over_budget"), "no");
	row = unit(doc, "line", "source_line", looped.after_line);
	assert_string_equal(text_of(row, "over_budget"), "yes");
	assert_null(member(find_row(doc, "process", NULL), "over_budget"));
	/* the very power that was found for the loop is inside of its interval */
	row = unit(doc, "line", "source_line", looped.loop_line);
	assert_true(number(row, "power_lo_package_w") < number(row, "power_hi_package_w"));
	snprintf(how, sizeof(how), "--by line --power-budget %.9gmW",
		 1000 * number(row, "power_package_w"));
	doc = report_json(how, "usual");
	row = unit(doc, "line", "source_line", looped.loop_line);
	assert_string_equal(text_of(row, "over_budget"), "perhaps");
	assert_int_equal(kjoule("report --by line --power-budget 1.5 %s", temp_path("usual")), 0);
	assert_true(says(out, "! : draws more package power than the budget of 1.5 W: 1, for 2.99"));
}

/* Who is below the limit breaks a budget all the same. */
TEST(a_budget_counts_what_is_hidden)
{
	struct json_object *doc = report_json("--by line --power-budget 1.5W --percent-limit 60",
					 "usual"), *hidden;

	hidden = member(doc, "hidden_over_budget");
	assert_int_equal(number(member(hidden, "yes"), "blocks"), 1);
	assert_true(near(number(member(hidden, "yes"), "time_s"), 3, 0.02));
	assert_int_equal(number(member(hidden, "perhaps"), "blocks"), 0);
	assert_int_equal(kjoule("report --by line --power-budget 1.5 --percent-limit 60 %s",
				temp_path("usual")), 0);
	assert_true(says(out, "than the budget of 1.5 W: 0, for 0 s"));
	assert_true(says(out, "of what is below the limit and not shown: draws more: 1, for 2.99"));
	assert_int_equal(kjoule("report --by line --power-budget 1.5 --percent-limit 1 %s",
				temp_path("usual")), 0);
	assert_null(strstr(out, "of what is below the limit"));
}

/*
 * The paper's own case: two blocks by turns, shorter than the counter's period. Their intervals
 * know nothing of each other.
 */
TEST(a_budget_does_not_judge_what_is_mixed)
{
	struct json_object *doc, *row;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 9000; k++) {
		bool high = k / 4 % 2;

		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, 0x10000000 + (high ? looped.after_offset : looped.loop_offset), 0,
			   1000000, 100);
		uj[0] += (high ? 2540 : 1680) + k % 7;
	}
	write_recording(temp_path("mixed"), &meta, &b, 1, looped_path(), 9000);
	/* between their powers: neither keeps nor breaks it */
	for (int above = 0; above < 2; above++) {
		doc = report_json(above ? "--by line --power-budget 2.6W" :
				  "--by line --power-budget 1.6W", "mixed");
		for (int i = 0; i < 2; i++) {
			row = unit(doc, "line", "source_line",
				   i ? looped.after_line : looped.loop_line);
			assert_true(number(row, "window_share") < 0.85 &&
				    number(row, "power_lo_package_w") > 1.6);
			assert_true(number(row, "power_hi_package_w") < 2.6);
			if (above)
				assert_null(member(row, "over_budget"));
			else
				assert_string_equal(text_of(row, "over_budget"), "perhaps");
		}
	}
}

/*
 * What was met in one reading has a power without an interval: that it is within a budget is not
 * known.
 */
TEST(a_budget_does_not_judge_without_an_interval)
{
	struct json_object *doc, *row;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 9000; k++) {
		bool rare = k >= 4003 && k < 4007;

		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, 0x10000000 + (rare ? looped.after_offset : looped.loop_offset), 0,
			   1000000, 100);
		uj[0] += 1000 + k % 7;
	}
	write_recording(temp_path("rare"), &meta, &b, 1, looped_path(), 9000);
	doc = report_json("--by line --power-budget 1.5W", "rare");
	row = unit(doc, "line", "source_line", looped.after_line);
	assert_true(near(number(row, "power_package_w"), 1, 0.02));
	assert_null(figure_of(row, "power_lo_package_w"));
	assert_null(member(row, "over_budget"));
	row = unit(doc, "line", "source_line", looped.loop_line);
	assert_string_equal(text_of(row, "over_budget"), "no");
	/* above, it is a hint */
	doc = report_json("--by line --power-budget 0.5W", "rare");
	row = unit(doc, "line", "source_line", looped.after_line);
	assert_string_equal(text_of(row, "over_budget"), "perhaps");
	assert_int_equal(kjoule("report --by line --power-budget 1.5W --percent-limit 0 %s",
				temp_path("rare")), 0);
	assert_true(says(out, "- : not known: it has no power or no interval, or it is mixed (~): 1, for 0.00"));
	assert_int_equal(kjoule("report --by line --power-budget 1.5W --percent-limit 5 %s",
				temp_path("rare")), 0);
	assert_true(says(out, "of what is below the limit and not shown: draws more: 0, for 0 s; perhaps: 0, for 0 s; not known: 1, for 0.00"));
}

TEST(the_worst_case_is_wider)
{
	struct json_object *docs[2] = { report_json("--interval combined", "usual"),
					report_json("--interval worst-case", "usual") };
	double width[2];

	for (unsigned int i = 0; i < 2; i++) {
		struct json_object *row = find_row(docs[i], "function", looped_path());

		width[i] = number(row, "energy_hi_package_j") - number(row, "energy_lo_package_j");
		assert_true(number(row, "energy_lo_package_j") < number(row, "energy_package_j"));
		if (i) {
			assert_true(near(number(row, "energy_lo_package_j"),
					 number(row, "time_lo_s") *
					 number(row, "power_lo_package_w"), 1e-6));
			assert_true(near(number(row, "energy_hi_package_j"),
					 number(row, "time_hi_s") *
					 number(row, "power_hi_package_w"), 1e-6));
		}
	}
	assert_true(width[1] > width[0]);
}

/*
 * Static functions and clones have one name at several places: whose code it is must not depend on
 * who came first.
 */
TEST(functions_of_one_name_are_two)
{
	struct view_place places[2] = {
		{ .symbol = "helper", .object = looped_path(), .known = true,
		  .address = looped.loop, .start = looped.loop, .end = looped.loop + 32 },
		{ .symbol = "helper", .object = looped_path(), .known = true,
		  .address = looped.after, .start = looped.after, .end = looped.after + 8 },
	};
	static const enum code_unit_kind kinds[] = { CODE_UNIT_LOOP, CODE_UNIT_BLOCK,
						     CODE_UNIT_LINE, CODE_UNIT_OBJECT };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const struct code_unit *unit[2];
		struct user_blocks_part *part;
		struct code_units *g;

		assert_int_equal(code_units_new(kinds[k], NULL, &g), 0);
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(code_units_find(g, &places[i], false, &unit[i], &part), 0);
		if (kinds[k] == CODE_UNIT_OBJECT) {
			assert_ptr_equal(unit[0], unit[1]);
		} else {
			assert_ptr_not_equal(unit[0], unit[1]);
			assert_int_equal(unit[0]->around, looped.loop);
			assert_int_equal(unit[1]->around, looped.after);
		}
		code_units_free(g);
	}
}

TEST(names_are_read)
{
	static const char *const wrong[] = {
		"", "x", "x=", "=f", "x=,", "x=f,", "x=a.c:2-1", "x=a.c:0-1", "x=a.c:1-",
		"x=a.c:1-2-3", "x=a.c:1x",
		"x=o:0x5-0x5", "x=o:0x5", "x=o:0x5-", "x=a.c:99999999999999999999",
	};
	struct kjoule_line line = { .file = "/src/a/b.c", .line = 7, .function = "inner" };
	struct user_blocks_code code = { .object = "/usr/lib/libx.so", .symbol = "outer",
					 .address = 0x1234, .lines = &line, .n_lines = 1 };
	struct user_blocks_part *part;
	const char *why;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct user_blocks named = { 0 };

		if (user_blocks_add(&named, wrong[i], &why) != -EINVAL)
			print_message("%s\n", wrong[i]);
		assert_int_equal(user_blocks_add(&named, wrong[i], &why), -EINVAL);
		assert_true(why[0]);
		user_blocks_free(&named);
	}
	static const struct { const char *text; bool is; } parts[] = {
		{ "x=b.c:7", true }, { "x=a/b.c:1-7", true }, { "x=/src/a/b.c:7-9", true },
		{ "x=.c:7", false },
		{ "x=b.c:8-9", false }, { "x=inner", true }, { "x=outer", true },
		{ "x=ns::inner", false },
		{ "x=libx.so:0x1234-0x1235", true }, { "x=libx.so:0x1000-0x1234", false },
		{ "x=x.so:0x1000-0x2000", false }, { "x=nothing,b.c:7", true },
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct user_blocks named = { 0 };

		assert_int_equal(user_blocks_add(&named, parts[i].text, &why), 0);
		assert_int_equal(user_blocks_find(&named, &code, &part) != NULL, parts[i].is);
		assert_int_equal(part != NULL, parts[i].is);
		user_blocks_free(&named);
	}
}

TEST(wrong_command_lines_are_2)
{
	static const char *const lines[] = {
		"report --by word", "report --by", "report --block", "report --block hot",
		"report --block hot=a.c:9-1",
		"report -g --by line", "report --folded --block x=f",
		"report --children --by object",
		"report --by process --block x=f",
		"report --power-budget 0", "report --power-budget -1", "report --power-budget 2V",
		"report --power-budget 2W --children",
		"report --interval wide", "report --vectors --sort time",
		"report --by process --power-budget 2W", "report --power-budget 2MW",
		"report --interval worst-case --vectors",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(kjoule("%s", lines[i]), 2);
		assert_string_equal(out, "");
	}
}

int main(void)
{
	return tests_run(looped_setup, NULL);
}
