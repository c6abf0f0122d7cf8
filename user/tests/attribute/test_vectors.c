// SPDX-License-Identifier: GPL-2.0-or-later
/* Co-running sets: two CPUs with known turns, alone, in parallel and idle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "tests/support/alternating.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

/* Of 100 ticks each: one CPU at 1 W, both at 3 W, the other at 1.5 W, none at 0.5 W. 8 s, 12 J. */
static const unsigned int power_mw[] = { 1000, 3000, 1500, 500 };

static void record(const char *name, uint32_t target)
{
	struct buffer b[2] = { { 0 } };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 2, 1000000, target);
	put_task(&b[0], 100, 100);
	put_task(&b[1], 100, 100);
	for (uint32_t k = 0; k < 8000; k++) {
		/* the end of an unsampled time is not recorded */
		unsigned int turn = (k / 100 + 3) % 4;

		if (k % 10 == 0)
			put_energy(&b[0], k, 3, uj);
		/* in the kernel, so that there are two functions without any file */
		if (turn < 2)
			put_sample(&b[0], k, 0x10001000, 0, 1000000, 100);
		if (turn == 1 || turn == 2)
			put_sample(&b[1], k, 0xffffffff81000000, KJOULE_SAMPLE_KERNEL,
				   1000000, 100);
		uj[0] += power_mw[turn];
		uj[1] += 500;
	}
	write_recording(temp_path(name), &meta, b, 2, "/nonexistent/program", 8000);
}

static struct json_object *find(struct json_object *doc, unsigned int members, const char *object)
{
	struct json_object *row;

	for (size_t i = 0; (row = item_of(doc, "rows", i)); i++)
		if (json_object_array_length(member(row, "corunning")) == members &&
		    (!object || !strcmp(text_of(item_of(row, "corunning", 0), "object"), object)))
			return row;
	print_message("no vector of %u\n%s\n", members, out);
	return NULL;
}

static void is_2_s_at(struct json_object *row, double w)
{
	assert_non_null(row);
	assert_int_equal(number(row, "ticks"), 2000);
	assert_true(near(number(row, "time_s"), 2, 1e-9));
	assert_true(near(number(row, "power_package_w"), w, 0.01));
	assert_true(near(number(row, "energy_package_j"), 2 * w, 0.02));
	assert_true(number(row, "time_lo_s") < 2 && number(row, "time_hi_s") > 2);
	assert_true(near(number(row, "energy_package_percent"), 100 * 2 * w / 12, 0.2));
}

TEST(vectors_have_what_was_spent_meanwhile)
{
	struct json_object *doc, *rows;
	double total = 0;

	record("process", KJOULE_TARGET_PROCESS);
	doc = kjoule_json(0, "report --vectors --json %s", temp_path("process"));
	is_2_s_at(find(doc, 1, "/nonexistent/program"), 1);
	is_2_s_at(find(doc, 2, NULL), 3);
	is_2_s_at(find(doc, 1, "[kernel]"), 1.5);
	is_2_s_at(find(doc, 1, ""), 0.5);
	rows = member(doc, "rows");
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		total += number(json_object_array_get_idx(rows, i), "energy_package_j");
	assert_true(near(total, 12, 0.02));
	assert_null(member(find(doc, 1, "[kernel]"), "idle_cpus"));
	assert_int_equal(kjoule("report --vectors %s", temp_path("process")), 0);
	assert_true(says(out, "[unknown] (program) | [unknown] (program)"));
	assert_true(says(out, "[bystanders]"));
}

TEST(idle_cpus_of_a_machine_are_reported)
{
	struct json_object *doc;

	record("machine", KJOULE_TARGET_SYSTEM);
	doc = kjoule_json(0, "report --vectors --json %s", temp_path("machine"));
	assert_int_equal(number(find(doc, 0, NULL), "idle_cpus"), 2);
	assert_int_equal(number(find(doc, 2, NULL), "idle_cpus"), 0);
	assert_int_equal(number(find(doc, 1, "[kernel]"), "idle_cpus"), 1);
	is_2_s_at(find(doc, 0, NULL), 0.5);
	assert_int_equal(kjoule("report --vectors %s", temp_path("machine")), 0);
	assert_true(says(out, "IDLE"));
	assert_true(says(out, "[idle]"));
}

/*
 * Half of the interval of the time of user code that takes turns with the kernel, every so many of
 * which are missed.
 */
static double half_width(unsigned int missed)
{
	struct json_object *doc;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 };
	double half;

	make_meta(&meta, 1, 1000000, KJOULE_TARGET_PROCESS);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 8000; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		if (missed && k % 100 == 96 && k < 7900) {
			put_gap(&b, k, missed);
			k += missed - 1;
			continue;
		}
		put_sample(&b, k, k / 100 % 2 ? 0xffffffff81000000 : 0x10001000,
			   k / 100 % 2 ? KJOULE_SAMPLE_KERNEL : 0, 1000000, 100);
		uj[0] += 1000;
		uj[1] += 500;
	}
	write_recording(temp_path("missed"), &meta, &b, 1, "/nonexistent/program", 8000);
	doc = kjoule_json(0, "report --vectors --json %s", temp_path("missed"));
	half = (number(find(doc, 1, "/nonexistent/program"), "time_hi_s") -
		number(find(doc, 1, "/nonexistent/program"), "time_lo_s")) / 2;
	return half;
}

/*
 * Where in eight missed ticks one followed the other is not known: 8^2 / 12 instead of 1 / 12 an
 * edge.
 */
TEST(missed_ticks_widen_times)
{
	double sure = half_width(0), less = half_width(8);

	assert_true(sure > 0);
	assert_true(less > 6 * sure && less < 12 * sure);
}

/*
 * ALEA's section 5.2.2: a block of 0.4 update periods on one CPU between others, of 12, on both. 60
 * s, ten ticks to the period. Return: the largest error of the power of the one and of the others
 */
static double concurrency(const char *model, uint64_t seed)
{
	struct alternating a = { .n_blocks = 2, .length = { 12, 0.4 }, .varies = 0.15,
				 .power_w = { 3.4, 1.9 }, .period_s = 10e-3, .ticks = 10,
				 .jitter = 1, .total_s = 60 };
	struct buffer b[2] = { { 0 } };
	struct kjoule_meta meta;
	struct json_object *doc;
	double off = 0;
	size_t r = 0;

	alternating_run(&a, seed);
	make_meta(&meta, 2, a.interval_s * 1e9, KJOULE_TARGET_SYSTEM);
	meta.session.jitter_ns = a.interval_s * 1e9;
	put_task(&b[0], 100, 100);
	put_task(&b[1], 100, 100);
	for (size_t i = 0; i < a.n_ticks; i++) {
		for (; r < a.n_readings && a.readings[r].tick == i; r++)
			put_energy(&b[0], i, 3,
				   (uint64_t[]){ a.readings[r].uj, a.readings[r].uj / 2 });
		put_sample(&b[0], i, a.stream[i].block ? 0x10001000 : 0xffffffff81000000,
			   a.stream[i].block ? 0 : KJOULE_SAMPLE_KERNEL, 1000000, 100);
		if (!a.stream[i].block)
			put_sample(&b[1], i, 0xffffffff81000000, KJOULE_SAMPLE_KERNEL,
				   1000000, 100);
	}
	write_recording(temp_path("concurrency"), &meta, b, 2, "/nonexistent/program", a.n_ticks);
	doc = kjoule_json(0, "report --vectors --model %s --json %s", model,
			  temp_path("concurrency"));
	for (unsigned int n = 1; n <= 2; n++)
		off = fmax(off,
			   fabs(number(find(doc, n, n == 1 ? "/nonexistent/program" : "[kernel]"),
				       "power_package_w") / a.power_w[n == 1] - 1));
	alternating_free(&a);
	return off;
}

TEST(mixture_separates_a_sequential_block_between_parallel_ones)
{
	uint64_t sets = getenv("KJOULE_TEST_QUICK") ? 2 : 20;
	double mixture = 0, cpm = 1;

	for (uint64_t seed = 1; seed <= sets; seed++) {
		mixture = fmax(mixture, concurrency("mixture", seed));
		cpm = fmin(cpm, concurrency("cpm", seed));
	}
	print_message("mixture %.2f %% off at most, constant power %.1f %% at least\n",
		      100 * mixture, 100 * cpm);
	assert_true(mixture < 0.04);
	assert_true(cpm > 0.15);
}

/* Two programs that draw 3 W together break a budget of 2 W, though neither share does. */
TEST(a_budget_is_for_what_is_drawn_together)
{
	struct buffer b[2] = { { 0 } };
	struct kjoule_meta meta;
	struct json_object *doc;
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 2, 1000000, KJOULE_TARGET_SYSTEM);
	put_task(&b[0], 100, 100);
	put_task(&b[1], 100, 100);
	for (uint32_t k = 0; k < 4000; k++) {
		bool both = k / 1000 % 2;

		if (k % 10 == 0)
			put_energy(&b[0], k, 3, uj);
		put_sample(&b[0], k, 0x10001000, 0, 1000000, 100);
		if (both)
			put_sample(&b[1], k, 0xffffffff81000000, KJOULE_SAMPLE_KERNEL,
				   1000000, 100);
		else
			put_sample(&b[1], k, 0, KJOULE_SAMPLE_IDLE, 1000000, 100);
		uj[0] += (both ? 3000 : 1500) + k % 7;
	}
	write_recording(temp_path("both"), &meta, b, 2, "/nonexistent/program", 4000);
	doc = kjoule_json(0, "report --vectors --power-budget 2W --json %s", temp_path("both"));
	assert_string_equal(text_of(find(doc, 2, NULL), "over_budget"), "yes");
	assert_string_equal(text_of(find(doc, 1, "/nonexistent/program"), "over_budget"), "no");
	assert_int_equal(kjoule("report --vectors --power-budget 2W %s", temp_path("both")), 0);
	assert_true(says(out, "! : draws more package power than the budget of 2 W: 1, for "));
	assert_int_equal(kjoule("report --power-budget 2W %s", temp_path("both")), 0);
	assert_true(says(out, "than the budget of 2 W: 0, for 0 s"));
	assert_true(says(out, "--vectors compares what they draw together with a budget"));
}

TEST(it_goes_with_what_is_of_all_that_ran)
{
	static const char *const lines[] = {
		"report --vectors -g", "report --vectors --pid 1", "report --vectors --comm x",
		"report --vectors --block x=f",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(kjoule("%s", lines[i]), 2);
		assert_string_equal(out, "");
	}
	assert_int_equal(kjoule("report --vectors --by object %s", temp_path("process")), 0);
	assert_true(says(out, "program (program)"));
	/* all of a process's code is one, in the kernel or not */
	assert_int_equal(kjoule("report --vectors --by process %s", temp_path("process")), 0);
	assert_true(says(out, "program (pid 100) | program (pid 100)"));
	assert_null(strstr(out, "[unknown]"));
}
