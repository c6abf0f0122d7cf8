// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule annotate: blocks, lines and instructions of the function of looped.c, and what there is to
 * be said where there is no code, no source and no sample.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "lib/region/mark_ring.h"
#include "tests/support/looped.h"
#include "tests/support/series.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static struct json_object *annotate(const char *how, const char *name)
{
	return kjoule_json(0, "annotate --json %s %s", how, temp_path(name));
}

/* Rows of a kind, one after the other; @i is 0 at first. */
static struct json_object *next(struct json_object *doc, const char *kind, size_t *i)
{
	struct json_object *row;

	while ((row = item_of(doc, "rows", (*i)++)))
		if (!strcmp(text_of(row, "kind"), kind))
			return row;
	return NULL;
}

TEST(blocks_have_their_figures)
{
	struct json_object *doc = annotate("", "precise"), *row;
	unsigned int sampled = 0, looping = 0;
	size_t i = 0;

	row = next(doc, "function", &i);
	assert_string_equal(text_of(row, "function"), "a_loop_and_more");
	assert_int_equal(number(row, "samples"), 6000);
	assert_true(near(number(row, "energy_package_j"), 9, 0.05));
	assert_null(next(doc, "function", &i));		/* the kernel's has no code to show */
	for (i = 0; (row = next(doc, "block", &i));) {
		looping += number(row, "loop_depth") == 1;
		if (!member(row, "samples"))
			continue;
		sampled++;
		assert_int_equal(number(row, "samples"), 3000);
		assert_true(near(number(row, "power_package_w"), number(row, "loop_depth") ? 1 : 2,
				 0.01));
		assert_true(near(number(row, "percent"), number(row, "loop_depth") ? 33.3 : 66.7,
				 0.5));
	}
	assert_int_equal(sampled, 2);
	assert_true(looping >= 1);
}

/* The first of three seconds is a region of the program. */
TEST(a_region_cuts_figures_and_samples)
{
	struct buffer units = { 0 }, batches = { 0 };
	struct json_object *doc, *row;
	double samples = 0;
	size_t i = 0;

	put_region_start(&units, 999000000, 100, 100);
	put_region_define(&units, 1, 0, "first");
	put_region_mark(&units, KJOULE_REGION_BEGIN, 999500000, 1);
	put_region_mark(&units, KJOULE_REGION_END, 3999500000, 0);
	put_region_batch(&batches, 0, 0, &units, 0);
	put_regions(&batches, NULL);
	free(units.data);
	looped_record("region", looped_path(), KJOULE_SAMPLE_PRECISE);
	doc = annotate("--region first", "region");
	row = next(doc, "function", &i);
	assert_int_equal(number(row, "samples"), 2000);
	assert_true(near(number(row, "energy_package_j"), 3, 0.05));
	for (i = 0; (row = next(doc, "instruction", &i));)
		samples += member(row, "samples") ? number(row, "samples") : 0;
	assert_int_equal(samples, 2000);
	doc = annotate("", "region");
	i = 0;
	assert_int_equal(number(next(doc, "function", &i), "samples"), 6000);
}

/*
 * The loop for 6 s at 20 W, then what comes after at as much. @stops: the counter is read until
 * this tick only; @later: another library has taken the place of the program's code from then on;
 * @lost: 100 samples in the middle of the loop; @second: it is another function that comes after it
 */
static const char *second;

static void record_in_two_halves(const char *name, uint32_t stops, uint32_t later, bool lost,
				 bool source)
{
	uint64_t after = second ? looped_function(second).offset : looped.after_offset;
	struct buffer b = { 0 }, more = { 0 };
	struct kjoule_meta meta;
	uint64_t uj = 0;

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	if (!source) {
		meta.session.sources[0] = meta.session.sources[1];
		meta.session.n_sources = 1;
	}
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 9000; k++) {
		if (lost && k == 3000) {
			put_lost(&b, k, 100, 100);
			k += 99;
			uj += 100 * 20000;
			continue;
		}
		if (k % 10 == 0 && k < stops && source)
			put_energy(&b, k, 3, (uint64_t[]){ uj, uj / 2 });
		put_sample(&b, k, 0x10000000 + (k < 6000 ? looped.loop_offset : after),
			   KJOULE_SAMPLE_PRECISE, 1000000, 100);
		uj += 20000 + k % 7;
	}
	if (later) {
		put_map(&more, 100, meta.session.t0_ns + later * 1000000ull, 0x10000000,
			0x10000000, 0, "/nonexistent/library");
		put_regions(NULL, &more);
	}
	write_recording(temp_path(name), &meta, &b, 1, looped_path(), 9000);
}

/* A third of the time is a third of the function, and not so many seconds against joules. */
TEST(what_has_no_energy_stands_by_its_time)
{
	struct json_object *doc, *row;
	bool seen = false;
	size_t at = 0;

	record_in_two_halves("stopped", 6200, 0, false, true);
	doc = annotate("", "stopped");
	for (size_t i = 0; (row = next(doc, "block", &i));) {
		if (!member(row, "samples") || number(row, "samples") != 3000)
			continue;
		assert_null(figure_of(row, "energy_package_j"));
		assert_true(near(number(row, "percent"), 33.3, 1));
		seen = true;
	}
	assert_true(seen);
	/* nor is a function below the limit for that */
	second = "main";
	record_in_two_halves("stopped", 6200, 0, false, true);
	second = NULL;
	doc = annotate("--percent-limit 30", "stopped");
	row = next(doc, "function", &at);
	assert_string_equal(text_of(row, "function"), "a_loop_and_more");
	row = next(doc, "function", &at);
	assert_true(row && !strcmp(text_of(row, "function"), "main") &&
		    !figure_of(row, "energy_package_j"));
}

/* Without a word a table with "-" in it looks measured. */
TEST(what_makes_figures_doubtful_is_said)
{
	record_in_two_halves("stopped", 6200, 0, false, true);
	assert_int_equal(kjoule("annotate %s", temp_path("stopped")), 0);
	assert_true(says(out, "; warnings below; details: -v\n# unmeasured package, core: of 31."));
	record_in_two_halves("none", 0, 0, false, false);
	assert_int_equal(kjoule("annotate %s", temp_path("none")), 0);
	assert_true(says(out, "# energy: no source was used"));
	record_in_two_halves("lost", 9000, 0, true, true);
	assert_int_equal(kjoule("annotate %s", temp_path("lost")), 0);
	assert_true(says(out, "# lost       100 samples lost"));
	record_in_two_halves("good", 9000, 0, false, true);
	assert_int_equal(kjoule("annotate %s", temp_path("good")), 0);
	assert_true(says(out, "; warnings below; details: -v\nENERGY J"));
	assert_int_equal(kjoule("annotate -q %s", temp_path("good")), 0);
	assert_true(out[0] && out[0] != '#');
}

/* What lies where the function was is none of its instructions, nor of its time. */
TEST(code_of_a_library_that_came_later_is_not_counted)
{
	struct json_object *doc, *row;
	double samples = 0;
	size_t i = 0;

	record_in_two_halves("later", 9000, 3000, false, true);
	doc = annotate("", "later");
	assert_int_equal(number(next(doc, "function", &i), "samples"), 3000);
	for (i = 0; (row = next(doc, "instruction", &i));)
		samples += member(row, "samples") ? number(row, "samples") : 0;
	assert_int_equal(samples, 3000);
	doc = kjoule_json(0, "report --json %s", temp_path("later"));
	/* less the 3 us that a tick takes */
	assert_true(near(number(find_row(doc, "function", looped_path()), "time_s"), 3 * 0.997,
			 0.005));
	assert_true(near(number(find_row(doc, "function", "/nonexistent/library"), "time_s"),
			 6 * 0.997, 0.005));
}

TEST(instructions_have_their_samples)
{
	struct json_object *doc = annotate("", "usual"), *row;
	uint64_t last = 0, samples = 0;
	bool loop = false, after = false, ret = false;
	size_t i = 0;

	while ((row = next(doc, "instruction", &i))) {
		uint64_t at = number(row, "address");

		assert_true(at > last);
		last = at;
		samples += number(row, "samples");
		loop |= at == looped.loop && number(row, "samples") == 3000;
		after |= at == looped.after && number(row, "samples") == 3000;
		ret |= !strncmp(text_of(row, "text"), "ret", 3);
	}
	assert_true(loop && after && ret);
	assert_int_equal(samples, 6000);
}

TEST(lines_have_their_text)
{
	struct json_object *doc = annotate("--by line", "usual"), *row;
	unsigned int found = 0;
	size_t i = 0;

	while ((row = next(doc, "line", &i))) {
		int line = number(row, "source_line");

		assert_non_null(strstr(text_of(row, "source_file"), "looped.c"));
		/* where the test was built the file is there */
		if (line == looped.loop_line && !access(text_of(row, "source_file"), R_OK))
			assert_non_null(strstr(text_of(row, "text"), "p[i & 3] += i ^ n;"));
		else if (line == looped.loop_line)
			assert_string_equal(text_of(row, "text"), "");
		if (line != looped.loop_line && line != looped.after_line) {
			assert_null(member(row, "samples"));
			continue;
		}
		found++;
		assert_int_equal(number(row, "samples"), 3000);
		assert_true(near(number(row, "power_package_w"), line == looped.loop_line ? 1 : 2,
				 0.01));
	}
	assert_int_equal(found, 2);
}

TEST(hot_code_is_marked)
{
	assert_int_equal(kjoule("annotate %s", temp_path("precise")), 0);
	assert_true(says(out, ">>"));
	assert_true(says(out, "a_loop_and_more (test_annotate)"));
	assert_true(says(out, "in a loop of depth 1:"));
	assert_true(says(out, "looped.c:"));
	assert_null(strchr(out, '\033'));	/* no colour in a pipe */
	assert_null(strstr(out, "imprecise"));
	assert_int_equal(kjoule("annotate --no-source %s", temp_path("usual")), 0);
	assert_null(strstr(out, "looped.c"));
	assert_true(says(out, "imprecise instruction pointers: some samples may be of the code before"));
}

/*
 * Blocks of a function by turns of a few ticks, and the counter moves every ten: each one's power
 * is the other's, too.
 */
TEST(power_that_is_mixed_is_marked)
{
	uint64_t uj[2] = { 0, 0 }, noise = 1;
	struct json_object *doc, *reported, *row;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	unsigned int found = 0;
	size_t i = 0;

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 9000; k++) {
		bool first = k % 7 < 3;

		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		put_sample(&b, k, 0x10000000 + (first ? looped.loop_offset : looped.after_offset),
			   KJOULE_SAMPLE_PRECISE, 1000000, 100);
		uj[0] += (first ? 1000 : 2000) + (int64_t)(200 * rnd_unit(&noise)) - 100;
	}
	write_recording(temp_path("mixed"), &meta, &b, 1, looped_path(), 9000);
	doc = annotate("", "mixed");
	reported = kjoule_json(0, "report --by block --json %s", temp_path("mixed"));
	while ((row = next(doc, "block", &i))) {
		struct json_object *rows = member(reported, "rows");

		if (!member(row, "samples")) {
			assert_null(member(row, "window_share"));
			continue;
		}
		for (size_t k = 0; k < json_object_array_length(rows); k++) {
			struct json_object *like = json_object_array_get_idx(rows, k);

			if (strcmp(text_of(like, "kind"), "block") ||
			    number(like, "start") != number(row, "address"))
				continue;
			found++;
			assert_true(near(number(row, "window_share"), number(like, "window_share"),
					 1e-9));
		}
		assert_true(number(row, "window_share") > 0.2 && number(row, "window_share") < 0.7);
	}
	assert_int_equal(found, 2);
	/* the function is all that ran */
	i = 0;
	assert_true(number(next(doc, "function", &i), "window_share") > 0.99);
	assert_int_equal(kjoule("annotate %s", temp_path("mixed")), 0);
	assert_true(says(out, ">>~ ") &&
		    says(out, "~ : runs too shortly between two updates of the energy counter"));
	assert_int_equal(kjoule("annotate --csv %s", temp_path("mixed")), 0);
	assert_true(says(out, ",freq_mhz,window_share,address,"));
	assert_int_equal(kjoule("annotate %s", temp_path("precise")), 0);
	assert_null(strchr(out, '~'));
}

/*
 * Whose CPUs were held has figures of the constant power model, which is said, and no part of what
 * holding cost.
 */
TEST(what_was_held_is_in_no_total)
{
	struct series_run run = { .name = "held", .ticks = 20000, .watt = 1, .exe = looped_path(),
				  .offset = looped.loop_offset, .paused = true };
	struct json_object *doc, *row;
	double samples;
	size_t i = 0;

	series_record(&run);
	/*
	 * 96 ticks at 1 W next to as many at 2 W; with 4 each at which it was held it would be 32 %
	 */
	assert_int_equal(kjoule("annotate --percent-limit 32.7 %s", temp_path("held")), 0);
	assert_true(says(out, "a_loop_and_more"));
	assert_true(says(err, "held was recorded with --edge: its CPUs were held again and again, which is in no total"));
	assert_true(says(err, "figures are those of the constant power model"));
	assert_int_equal(kjoule("annotate --percent-limit 33.7 %s", temp_path("held")), 1);
	/* nor are the samples of held ticks any instruction's */
	doc = annotate("", "held");
	samples = number(next(doc, "function", &i), "samples");
	assert_true(samples > 0);
	for (i = 0; (row = next(doc, "instruction", &i));)
		samples -= member(row, "samples") ? number(row, "samples") : 0;
	assert_true(samples == 0);
	run.paused = false;
	series_record(&run);
	assert_int_equal(kjoule("annotate %s", temp_path("held")), 0);
	assert_null(strstr(err, "recorded with"));
}

TEST(what_is_not_there_is_told)
{
	struct json_object *doc, *missing;

	assert_int_equal(kjoule("annotate -f nothing %s", temp_path("usual")), 1);
	assert_true(says(err, "no sample in function 'nothing'"));
	assert_string_equal(out, "");
	assert_int_equal(kjoule("annotate --pid 4711 %s", temp_path("usual")), 1);
	assert_int_equal(kjoule("annotate --percent-limit 90 %s", temp_path("usual")), 1);
	assert_true(says(err, "no function with readable code has 90 % of the energy"));
	looped_record("gone", "/nonexistent/program", 0);
	assert_int_equal(kjoule("annotate %s", temp_path("gone")), 1);
	assert_int_equal(kjoule("annotate -f '[unknown]' %s", temp_path("gone")), 0);
	assert_true(says(out, "its code is not to be seen"));
	assert_true(says(err, "/nonexistent/program: no symbols"));
	/* programs are shown as well */
	doc = kjoule_json(0, "annotate --json -f '[unknown]' %s", temp_path("gone"));
	missing = json_object_array_get_idx(member(doc, "missing_code"), 0);
	assert_string_equal(text_of(missing, "function"), "[unknown]");
	assert_true(says(text_of(missing, "reason"), "its code is not to be seen"));
	doc = kjoule_json(0, "annotate --json %s", temp_path("usual"));
	assert_int_equal(json_object_array_length(member(doc, "missing_code")), 0);
}

TEST(wrong_command_lines_are_2)
{
	static const char *const lines[] = {
		"annotate --by loop", "annotate --by line --no-source", "annotate a b",
		"annotate --percent-limit 101",
		"annotate --pid x", "annotate --source ''", "annotate --nonsense", "annotate -f",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(kjoule("%s", lines[i]), 2);
		assert_string_equal(out, "");
	}
	assert_int_equal(kjoule("annotate --help"), 0);
	assert_true(says(out, "kjoule annotate"));
	assert_int_equal(kjoule("annotate /nonexistent/file"), 1);
}

int main(void)
{
	return tests_run(looped_setup, NULL);
}
