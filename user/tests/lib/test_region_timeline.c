// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions as they are read and reported: simulated marks, a recording with known regions, and
 * invalid files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/file/datafile.h"
#include "lib/file/recording.h"
#include "lib/region/mark_ring.h"
#include "lib/region/region_timeline.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define END	1000000

static struct kjoule_regions *regions;

static const char *at(uint32_t tid, uint64_t time_ns)
{
	return regions->paths[kjoule_regions_find(regions, tid, time_ns)].text;
}

/* What the next make() is of: put_batch() makes a batch of the units. */
static struct buffer batches, side, units;

static void put_batch(uint32_t ring, uint64_t first, uint64_t lost)
{
	put_region_batch(&batches, ring, first, &units, lost);
	buffer_free(&units);
}

/* The batches and the side band become regions; all are emptied. */
static void make(void)
{
	kjoule_regions_free(regions);
	assert_int_equal(kjoule_regions_new(batches.data, batches.len, side.data, side.len, 1000,
					    END, &regions), 0);
	buffer_free(&batches);
	buffer_free(&side);
}

/* A thread that begins "a" at 2000 and "a/b" at 3000, and ends that at 4000. */
static void put_a_and_b(uint32_t pid, uint32_t tid)
{
	put_region_start(&units, 1500, pid, tid);
	put_region_define(&units, 1, 0, "a");
	put_region_define(&units, 2, 1, "b");
	put_region_mark(&units, KJOULE_REGION_BEGIN, 2000, 1);
	put_region_mark(&units, KJOULE_REGION_BEGIN, 3000, 2);
	put_region_mark(&units, KJOULE_REGION_END, 4000, 1);
}

TEST(a_mark_holds_until_the_next)
{
	put_a_and_b(10, 11);
	put_region_mark(&units, KJOULE_REGION_END, 5000, 0);
	put_batch(7, 0, 0);
	make();
	assert_string_equal(at(11, 1999), "[outside of regions]");
	assert_string_equal(at(11, 2000), "a");
	assert_string_equal(at(11, 2999), "a");
	assert_string_equal(at(11, 3000), "a/b");
	assert_string_equal(at(11, 4000), "a");
	assert_string_equal(at(11, 5000), "[outside of regions]");
	assert_string_equal(at(10, 2500), "[outside of regions]");
	assert_int_equal(kjoule_regions_count(regions, 10, 2)->marked_ns, 2000);
	assert_int_equal(kjoule_regions_count(regions, 10, 3)->marked_ns, 1000);
	assert_int_equal(regions->unended, 0);
}

static void put_early(void)
{
	put_region_start(&units, 100, 10, 10);
	put_region_define(&units, 1, 0, "a");
	put_region_mark(&units, KJOULE_REGION_BEGIN, 400, 1);
}

TEST(times_are_those_of_the_recording)
{
	put_early();
	put_batch(0, 0, 0);
	make();
	assert_string_equal(at(10, 5000), "a");
	assert_int_equal(kjoule_regions_count(regions, 10, 2)->marked_ns, END - 1000);
	assert_int_equal(kjoule_regions_count(regions, 10, 2)->unended, 1);
	/* nor is what comes behind it a part of it */
	put_early();
	put_region_mark(&units, KJOULE_REGION_END, END + 5000, 0);
	put_batch(0, 0, 0);
	make();
	assert_int_equal(kjoule_regions_count(regions, 10, 2)->marked_ns, END - 1000);
	assert_int_equal(kjoule_regions_count(regions, 10, 2)->unended, 0);
}

TEST(forks_go_on_and_threads_and_programs_begin_anew)
{
	put_a_and_b(10, 10);
	put_batch(0, 0, 0);
	put_fork_event(&side, 3500, 10, 10, 20, 20);
	put_fork_event(&side, 3600, 20, 20, 30, 30);
	put_fork_event(&side, 3700, 10, 10, 10, 15);
	put_exec_event(&side, 4500, 30, 30);
	put_exit_event(&side, 6000, 20, 20);
	put_exit_event(&side, 7000, 10, 10);
	/* the number comes back */
	put_fork_event(&side, 8000, 1, 1, 20, 20);
	/* the first child begins and ends something itself */
	put_region_start(&units, 4100, 20, 20);
	put_region_define(&units, 1, 0, "a");
	put_region_define(&units, 2, 1, "b");
	put_region_define(&units, 3, 2, "c");
	put_region_mark(&units, KJOULE_REGION_BEGIN, 4100, 3);
	put_region_mark(&units, KJOULE_REGION_END, 4200, 2);
	put_batch(1, 0, 0);
	make();
	assert_string_equal(at(20, 4099), "a/b");
	assert_string_equal(at(20, 4100), "a/b/c");
	assert_string_equal(at(20, 3499), "[outside of regions]");
	assert_string_equal(at(20, 5000), "a/b");
	assert_string_equal(at(20, 6001), "[outside of regions]");
	assert_string_equal(at(30, 4400), "a/b");
	assert_string_equal(at(30, 4600), "[outside of regions]");
	assert_string_equal(at(15, 3800), "[outside of regions]");
	assert_string_equal(at(10, 6999), "a");
	assert_string_equal(at(10, 7000), "[outside of regions]");
	/* what a child has not ended it had not begun */
	assert_int_equal(regions->unended, 1);
	assert_int_equal(regions->entered, 3);
	assert_int_equal(kjoule_regions_count(regions, 20, 3)->marked_ns, 2500 - 100);
}

TEST(lost_marks_are_a_gap_and_no_guess)
{
	put_a_and_b(10, 10);
	put_region_mark(&units, KJOULE_REGION_LOST, 6000, 5);
	put_region_mark(&units, KJOULE_REGION_BEGIN, 7000, 2);
	put_batch(0, 0, 5);
	/* another thread lost them at its end, without room to report when */
	put_a_and_b(10, 11);
	put_batch(1, 0, 3);
	/* of this one the begin, of another region inside of it as well */
	put_region_start(&units, 1500, 20, 20);
	put_region_define(&units, 1, 0, "a");
	put_region_mark(&units, KJOULE_REGION_LOST, 2000, 2);
	put_region_mark(&units, KJOULE_REGION_END, 3000, 1);
	put_batch(2, 0, 2);
	make();
	assert_string_equal(at(10, 5999), "a");
	assert_string_equal(at(10, 6000), "[marks lost]");
	assert_string_equal(at(10, 7000), "a/b");
	assert_string_equal(at(11, 3500), "a/b");
	assert_string_equal(at(11, 4001), "[marks lost]");
	assert_int_equal(regions->lost, 10);
	assert_string_equal(at(20, 2500), "[marks lost]");
	assert_string_equal(at(20, 3000), "a");
	assert_int_equal(kjoule_regions_count(regions, 20, 2)->unended, 1);
	/* a chunk is gone: its marks, and what was defined in it */
	put_a_and_b(10, 10);
	put_batch(0, 0, 0);
	put_region_mark(&units, KJOULE_REGION_BEGIN, 7000, 2);
	put_batch(0, 100, 0);
	put_region_start(&units, 8000, 10, 12);
	put_region_define(&units, 1, 0, "new");
	put_region_mark(&units, KJOULE_REGION_BEGIN, 9000, 1);
	put_batch(0, 101, 0);
	make();
	assert_string_equal(at(10, 3500), "a/b");
	assert_string_equal(at(10, 7500), "[marks lost]");
	assert_string_equal(at(12, 9000), "new");
	/* the missing units, and the mark of an unknown ring */
	assert_int_equal(regions->lost, 100 - 9 + 1);
}

TEST(garbage_is_counted_and_left_out)
{
	static const struct kjoule_region_unit bad[] = {
		{ 2000, 600, KJOULE_REGION_BEGIN, 1, 0 }, { 2000, 1, 77, 1, 0 },
		{ 2000, 0, KJOULE_REGION_BEGIN, 1, 0 },
		{ 2000, 0, KJOULE_REGION_DEFINE, 1, 0 },
		{ 2000, 5, KJOULE_REGION_DEFINE, 1, 0 }, { 2000, 5, KJOULE_REGION_DEFINE, 1, 400 },
		{ 2000, 7, KJOULE_REGION_BEGIN, 1, 0 }, { 2000, 0, KJOULE_REGION_START, 1, 0 },
		{ 2000, 0, KJOULE_REGION_BEGIN, 0, 0 }, { 2000, 0, KJOULE_REGION_DEFINE, 200, 0 },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_a_and_b(10, 10);
		put_bytes(&units, &bad[i], sizeof(bad[i]));
		put_batch(0, 0, 0);
		make();
		assert_int_equal(regions->damaged, 1);
		assert_string_equal(at(10, 3500), "a/b");
		assert_int_equal(regions->entered, i == 6 ? 3 : 2);
	}
	/* batches of no ring, longer than a ring, longer than what there is */
	for (size_t i = 0; i < 3; i++) {
		struct kjoule_region_batch batch = { i ? 0 : KJOULE_REGION_RINGS,
						     i == 1 ? KJOULE_REGION_UNITS + 1 : 5, 0, 0,
						     0 };

		put_bytes(&batches, &batch, sizeof(batch));
		put_bytes(&batches, bad, 64);
		make();
		assert_int_equal(regions->damaged, 1);
		assert_int_equal(regions->marks, 0);
	}
}

TEST(names_of_any_number_and_depth_end_somewhere)
{
	char name[32];

	put_region_start(&units, 1500, 10, 10);
	for (uint32_t i = 1; i < 500; i++)
		put_region_define(&units, i, i - 1, "x");
	put_region_mark(&units, KJOULE_REGION_BEGIN, 2000, 499);
	put_batch(0, 0, 0);
	make();
	assert_int_equal(regions->n_paths, 2 + 32);
	assert_string_equal(at(10, 2000), "[marks lost]");
	for (unsigned int k = 0; k < 5 * KJOULE_REGIONS_MOST; k += 400) {
		put_region_start(&units, 1500, 10, 10 + k);
		for (uint32_t i = 1; i <= 400; i++) {
			snprintf(name, sizeof(name), "name %u", k + i);
			put_region_define(&units, i, 0, name);
		}
		put_region_mark(&units, KJOULE_REGION_BEGIN, 2000, 400);
		put_batch(k / 400, 0, 0);
	}
	make();
	assert_int_equal(regions->n_paths, KJOULE_REGIONS_MOST);
	assert_true(regions->left_out > 10000);
	assert_string_equal(at(10, 2000), "name 400");
	assert_string_equal(at(10 + 40 * 400, 2000), "[marks lost]");
}

/*
 * A recording: process 100, of 8,000 ticks of 1 ms on one CPU
 *
 *	[0, 1000)	1 W	no region
 *	[1000, 3000)	3 W	load, of which [1500, 2000) 5 W load/inner
 *	[3000, 5000)	2 W	solve
 *	[5000, 6000)	4 W	another thread, in solve as well, which is not ended
 *	[6000, 8000)	1.5 W	no region; another function
 */

#define WORK	0x10001000	/* two addresses without a symbol, in two objects */
#define MORE	0x7fff0000

static unsigned int milliwatt(uint32_t k)
{
	return k < 1000 ? 1000 : k >= 1500 && k < 2000 ? 5000 : k < 3000 ? 3000 : k < 5000 ?
	       2000 : k < 6000 ? 4000 : 1500;
}

static uint64_t brief_ns = 10000;

static uint64_t before_tick(uint32_t k)
{
	return 1000000000ull + k * 1000000ull - 500000;
}

static void put_marks(void)
{
	put_region_start(&units, before_tick(0), 100, 100);
	put_region_define(&units, 1, 0, "load");
	put_region_define(&units, 2, 1, "inner");
	put_region_define(&units, 3, 0, "solve");
	put_region_define(&units, 4, 0, "brief");
	put_region_mark(&units, KJOULE_REGION_BEGIN, before_tick(1000), 1);
	put_region_mark(&units, KJOULE_REGION_BEGIN, before_tick(1500), 2);
	put_region_mark(&units, KJOULE_REGION_END, before_tick(2000), 1);
	put_region_mark(&units, KJOULE_REGION_END, before_tick(3000), 0);
	put_region_mark(&units, KJOULE_REGION_BEGIN, before_tick(3000), 3);
	put_region_mark(&units, KJOULE_REGION_END, before_tick(5000), 0);
	/* between two ticks */
	put_region_mark(&units, KJOULE_REGION_BEGIN, before_tick(7000), 4);
	put_region_mark(&units, KJOULE_REGION_END, before_tick(7000) + brief_ns, 0);
	put_region_mark(&units, KJOULE_REGION_UNBEGUN, before_tick(7100), 0);
	put_batch(3, 0, 0);
	put_region_start(&units, before_tick(4000), 100, 101);
	put_region_define(&units, 1, 0, "solve");
	put_region_mark(&units, KJOULE_REGION_BEGIN, before_tick(4500), 1);
	put_batch(4, 0, 0);
}

static void record_with(const char *name, bool marked, bool callers)
{
	static const uint64_t called_from[] = { MORE, WORK };
	struct buffer b = { 0 };
	const struct kjoule_calibration free_of_cost = { .ticks = 100, .freq_khz = 1000000 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	for (uint32_t k = 0; k < 8000; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		if (k == 0 || k == 6000)
			put_task(&b, 100, 100);
		if (k == 5000)
			put_task(&b, 101, 100);
		put_sample(&b, k, k < 6000 ? WORK : MORE, KJOULE_SAMPLE_PRECISE, 1000000, 100);
		if (callers)
			put_chain(&b, 0, 0, 1, &called_from[k >= 6000]);
		uj[0] += milliwatt(k);
		uj[1] += 500;
	}
	put_energy(&b, 8000, 3, uj);
	put_map(&side, 100, 900000002, MORE, 0x1000, 0, "/nonexistent/library");
	if (marked)
		put_marks();
	put_regions(&batches, &side);
	put_calibration(&free_of_cost);
	/* the recorder, which is no target, while there was no region */
	put_wakeup(1, before_tick(7500), before_tick(7501));
	write_recording(temp_path(name), &meta, &b, 1, "/nonexistent/program", 8000);
}

static void record(const char *name, bool marked)
{
	record_with(name, marked, false);
}

static struct json_object *find_region(struct json_object *doc, const char *name)
{
	return row_with(doc, "kind", "region", "region", name, NULL);
}

static struct json_object *region(struct json_object *doc, const char *name)
{
	struct json_object *row = find_region(doc, name);

	if (!row)
		fail_msg("no region %s in %s", name, out);
	return row;
}

static void has(struct json_object *row, double s, double j)
{
	/* of each tick 2 us are its own */
	assert_true(near(number(row, "time_s"), s, 0.0021 * s));
	assert_true(near(number(row, "energy_package_j"), j, 0.03));
	assert_true(near(number(row, "power_package_w"), j / s, 0.03));
	assert_true(number(row, "time_lo_s") < number(row, "time_s") &&
		    number(row, "time_hi_s") > number(row, "time_s"));
}

TEST(each_region_has_its_time_and_its_energy)
{
	struct json_object *doc, *row, *head;

	record("regions", true);
	doc = kjoule_json(0, "report --by region --json %s", temp_path("regions"));
	has(region(doc, "load"), 1.5, 4.5);
	has(region(doc, "load/inner"), 0.5, 2.5);
	row = region(doc, "solve");
	has(row, 3, 8);
	assert_true(near(number(row, "marked_s"), 2 + 3.5, 1e-3));
	assert_int_equal(number(row, "entered"), 2);
	assert_int_equal(number(row, "unended"), 1);
	row = region(doc, "[outside of regions]");
	has(row, 3, 4);
	assert_null(member(row, "entered"));
	head = member(doc, "regions");
	assert_int_equal(number(head, "entered"), 5);
	assert_int_equal(number(head, "unended"), 1);
	assert_int_equal(number(head, "unbegun"), 1);
	assert_int_equal(number(head, "threads"), 2);
	assert_int_equal(number(head, "marks_lost"), 0);
}

TEST(the_table_says_what_is_not_in_it)
{
	assert_int_equal(kjoule("report -v --by region %s", temp_path("regions")), 0);
	assert_true(says(out, "REGION"));
	assert_true(says(out, "threads 2, entered 5, "));
	assert_true(says(out, "1 begun and not ended, when a thread, its program or the recording did: solve"));
	assert_true(says(out, "1 ends without a begin"));
	assert_true(says(out, "entered 1 times, for 1e-05 s in all, and never met by a sample: brief"));
	assert_null(strstr(out, "OBJECT"));
	assert_int_equal(kjoule("report --by region --csv %s", temp_path("regions")), 0);
	assert_true(says(out, "region,100,program,load/inner,,,1,0,0.5,"));
	assert_int_equal(kjoule("report --by region --power-budget 2.2W %s", temp_path("regions")),
			 0);
	assert_true(says(out, "than the budget of 2.2 W: 3"));
	assert_int_equal(kjoule("report --by region --vectors %s", temp_path("regions")), 0);
	assert_true(says(out, "load/inner (program)"));
	/* the ordinary report mentions them, and is cut by none */
	assert_int_equal(kjoule("report -v %s", temp_path("regions")), 0);
	assert_true(says(out, "threads 2, entered 5, "));
}

TEST(any_granularity_is_cut_to_a_region)
{
	struct json_object *doc;

	doc = kjoule_json(0, "report --by object --region load --json %s", temp_path("regions"));
	has(find_row(doc, "object", NULL), 2, 7);
	has(find_row(doc, "process", NULL), 2, 7);
	has(find_row(doc, "total", NULL), 8, 19);
	assert_null(strstr(out, "[kjoule record]"));
	assert_int_equal(kjoule("report --by object -v %s", temp_path("regions")), 0);
	assert_true(says(out, "[kjoule record]"));
	doc = kjoule_json(0, "report --region inner --json %s", temp_path("regions"));
	has(find_row(doc, "process", NULL), 0.5, 2.5);
	doc = kjoule_json(0, "report --by region --region load --json %s", temp_path("regions"));
	has(region(doc, "load/inner"), 0.5, 2.5);
	has(region(doc, "load"), 1.5, 4.5);
	assert_null(find_region(doc, "solve"));
	assert_null(find_region(doc, "[outside of regions]"));
	assert_int_equal(kjoule("report --region solve --by process --csv %s",
				temp_path("regions")), 0);
	assert_true(says(out, "process,100,program,program (pid 100),,,3000,"));
}

TEST(callers_are_cut_to_a_region_as_well)
{
	unsigned long long samples = 0;
	char *line;

	record_with("called", true, true);
	assert_int_equal(kjoule("report --folded --weight samples --region load %s",
				temp_path("called")), 0);
	for (line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
		assert_int_equal(strncmp(line, "program;", 8), 0);
		samples += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	}
	assert_int_equal(samples, 2000);
	assert_int_equal(kjoule("report --children --region solve --csv %s", temp_path("called")),
			 0);
	assert_true(says(out, ",3000,"));
	assert_int_equal(kjoule("report -g --fields +samples --region solve %s",
				temp_path("called")), 0);
	assert_true(says(out, "<- [unknown]"));
	assert_true(says(out, " 3000 "));
}

TEST(missing_regions_are_reported)
{
	static const char *const wrong[] = {
		"report --by region -g", "report --by region --block x=f",
		"report --region x --vectors", "report --region ''",
		"report --by regions", "annotate --region ''",
	};

	assert_int_equal(kjoule("report --region nowhere %s", temp_path("regions")), 1);
	assert_string_equal(out, "");
	assert_true(says(err, "--region nowhere: never entered in this recording; it has "));
	assert_true(says(err, "load/inner"));
	assert_int_equal(kjoule("report --region brief %s", temp_path("regions")), 1);
	assert_true(says(err, "--region brief: entered 1 times, for 1e-05 s in all, but no sample"));
	assert_int_equal(kjoule("annotate --region nowhere %s", temp_path("regions")), 1);
	assert_true(says(err, "--region nowhere: never entered"));
	record("unmarked", false);
	assert_int_equal(kjoule("report --by region %s", temp_path("unmarked")), 1);
	assert_true(says(err, "no program has marked a region; see kjoule_region(3)"));
	assert_int_equal(kjoule("report --region load %s", temp_path("unmarked")), 1);
	assert_int_equal(kjoule("report --json %s", temp_path("unmarked")), 0);
	assert_true(says(out, "\"regions\": null"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(kjoule("%s", wrong[i]), 2);
}

TEST(several_recordings_have_their_regions_together)
{
	struct json_object *doc, *row;
	const char *b = temp_path("longer"), *c = temp_path("again");
	const char *a = temp_path("regions");

	record("again", true);
	brief_ns = 20000000;
	record("longer", true);
	brief_ns = 10000;
	doc = kjoule_json(0, "report --by region --json %s %s", a, b);
	has(region(doc, "load"), 1.5, 4.5);
	row = region(doc, "solve");
	has(row, 3, 8);
	assert_int_equal(number(row, "runs"), 2);
	assert_int_equal(number(row, "samples"), 6000);
	assert_int_equal(number(row, "entered"), 4);
	assert_int_equal(number(row, "unended"), 2);
	assert_true(near(number(row, "marked_s"), 2 + 3.5, 1e-3));
	/* of the first run no sample has met it, but it was there */
	row = region(doc, "brief");
	assert_true(near(number(row, "time_s"), 0.01, 1e-4));
	assert_int_equal(number(row, "samples"), 20);
	assert_int_equal(number(row, "runs"), 1);
	assert_int_equal(number(row, "entered"), 2);
	assert_true(near(number(row, "marked_s"), (0.02 + 1e-5) / 2, 1e-7));
	assert_null(member(region(doc, "[outside of regions]"), "entered"));
	assert_null(member(row, "mode"));
	has(find_row(doc, "total", NULL), 8, 19);
	/* in the other order its place is there before it has a sample */
	assert_int_equal(kjoule("report --by region %s %s", b, a), 0);
	assert_null(strstr(out, "never met by a sample"));
	assert_true(says(out, "# figures are means"));
	assert_true(says(out, "longer: of regions, 1 ends without a begin"));
	assert_int_equal(kjoule("report --by region %s %s", a, c), 0);
	assert_true(says(out, "entered 2 times, for 1e-05 s in a run, and never met by a sample: brief"));
	assert_int_equal(kjoule("report --by region --model auto --csv %s %s", a, b), 0);
	assert_true(says(out, "region,,program,load/inner,,,2,0,0.5,"));

	doc = kjoule_json(0, "report --by object --region load --json %s %s", a, b);
	has(find_row(doc, "object", NULL), 2, 7);
	has(find_row(doc, "process", NULL), 2, 7);
	has(find_row(doc, "total", NULL), 8, 19);
	assert_null(strstr(out, "[kjoule record]"));
	doc = kjoule_json(0, "report --by region --region load --json %s %s", a, b);
	has(region(doc, "load/inner"), 0.5, 2.5);
	assert_int_equal(number(region(doc, "load/inner"), "entered"), 2);
	assert_null(find_region(doc, "solve"));
	assert_int_equal(kjoule("report --region brief %s %s", a, b), 0);
	assert_int_equal(kjoule("report --region brief %s %s", a, c), 1);
	assert_true(says(err, "--region brief: no sample of what was asked for fell into it in any of these 2 recordings"));
	assert_int_equal(kjoule("report --region nowhere %s %s", a, c), 1);
	assert_true(says(err, "--region nowhere: never entered in this recording; it has "));
	record("unmarked", false);
	assert_int_equal(kjoule("report --by region %s %s", a, temp_path("unmarked")), 1);
	assert_true(says(err, "unmarked: no program has marked a region"));

	doc = kjoule_json(0, "diff --by region --json %s %s", a, b);
	assert_true(says(out, "\"kind\": \"region\""));
	assert_true(says(out, "\"load/inner\""));
	assert_int_equal(kjoule("diff --by region --block x=f %s %s", a, b), 2);
}

TEST(script_has_them_among_the_records)
{
	const char *load, *inner, *sample;

	assert_int_equal(kjoule("script %s", temp_path("regions")), 0);
	load = strstr(out, "     1.999500000 [---] region  program 100/100 load\n");
	assert_non_null(load);
	sample = strstr(load, " 2.000000100 [000] sample");
	assert_non_null(sample);
	inner = strstr(sample, "     2.499500000 [---] region  program 100/100 load/inner\n");
	assert_non_null(inner);
	assert_true(says(inner, "     3.999500000 [---] region  program 100/100 [outside of regions]"));
	assert_true(says(inner, "     5.499500000 [---] region  program 100/101 solve"));
	assert_int_equal(kjoule("script --json %s", temp_path("regions")), 0);
	assert_true(says(out, "\"type\":\"region\",\"pid\":100,\"tid\":100,\"comm\":\"program\""));
	assert_int_equal(kjoule("script --csv %s", temp_path("regions")), 0);
	assert_true(says(out, "2499500000,region,,100,100,program,"));
}

TEST(marks_go_into_the_file_and_out_of_it)
{
	struct kjoule_recording rec;
	struct kjoule_end end = { .reason = "x", .regions = { 1, 2, 3, 4, 5, 6, 7 } }, again;
	char *text = kjoule_end_encode(&end);

	put_marks();
	assert_int_equal(kjoule_recording_load(temp_path("regions"), &rec, NULL), 0);
	assert_int_equal(rec.regions_len, batches.len);
	assert_memory_equal(rec.regions, batches.data, batches.len);
	kjoule_recording_free(&rec);
	buffer_free(&batches);
	assert_int_equal(kjoule_end_decode(text, strlen(text), &again), 0);
	assert_memory_equal(&again.regions, &end.regions, sizeof(end.regions));
	free(text);
}
