// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The models of power as the report has them: recordings of blocks shorter than the counter's
 * period, and of long ones.
 */
#include <math.h>
#include <string.h>
#include <json-c/json.h>
#include "tests/support/alternating.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define PROGRAM	"/nonexistent/program"

/* Three places of samples: in the program, in the kernel, and unknown. */
static void put_block(struct buffer *b, uint32_t tick, uint32_t block)
{
	static const uint64_t ip[] = { 0x10001000, 0xffffffff81000000, 0 };
	static const uint32_t flags[] = { 0, KJOULE_SAMPLE_KERNEL, KJOULE_SAMPLE_KERNEL |
					  KJOULE_SAMPLE_IP_HIDDEN };

	put_sample(b, tick, ip[block], flags[block], 1000000, 100);
	if (block == 0)
		put_chain(b, 0, 0, 2, (uint64_t[]){ ip[0], 0x10002000 });
}

/* One in so many ticks is another process's, in record(); 0: none. */
static unsigned int visits;

/* @lost_at: from this tick on some samples are lost; @core: the second domain moves as well */
static void record(const char *name, const struct alternating *a, uint64_t lost_at)
{
	uint64_t seed = 1;
	struct kjoule_meta meta;
	struct buffer b = { 0 };
	size_t r = 0;

	make_meta(&meta, 1, a->interval_s * 1e9, KJOULE_TARGET_PROCESS);
	meta.session.jitter_ns = a->jitter * a->interval_s * 1e9;
	put_task(&b, 100, 100);
	for (size_t i = 0; i < a->n_ticks; i++) {
		if (i >= lost_at && i < lost_at + 5000) {
			if (i == lost_at)
				put_lost(&b, i, 5000, 5000);
			while (r < a->n_readings && a->readings[r].tick == i)
				r++;
			continue;
		}
		for (; r < a->n_readings && a->readings[r].tick == i; r++)
			put_energy(&b, i, 3,
				   (uint64_t[]){ a->readings[r].uj, a->readings[r].uj / 2 });
		if (!visits || rnd(&seed) % visits)
			put_block(&b, i, a->stream[i].block);
	}
	write_recording(temp_path(name), &meta, &b, 1, PROGRAM, a->n_ticks);
}

/* Alternating blocks of 0.3, 0.4 and 0.5 of the period: 20 ticks to it, 40 s. */
static struct alternating fine = { .n_blocks = 3, .length = { 0.3, 0.4, 0.5 }, .varies = 0.05,
				   .power_w = { 1, 3, 2 }, .period_s = 10e-3, .ticks = 20,
				   .jitter = 1, .total_s = 40 };

/* The row of a block; two of them have no name. */
static struct json_object *row_of(struct json_object *doc, unsigned int block)
{
	static const char *const names[] = { "[unknown]", "[unknown]", "[hidden]" };
	static const char *const objects[] = { PROGRAM, "[kernel]", "[kernel]" };
	struct json_object *row = row_with(doc, "kind", "function", "function", names[block],
					   "object", objects[block], NULL);

	if (!row)
		print_message("no row of block %u\n%s\n", block, out);
	return row;
}

/*
 * Others have the CPU for a tick now and then: that is in no figure of the program, and made one
 * with none of its blocks.
 */
TEST(bystanders_are_no_part_of_it)
{
	static const char *const how[] = { "--model mixture", "--model auto", "--model cpm" };

	visits = 20;
	alternating_run(&fine, 1);
	record("visited", &fine, UINT64_MAX);
	alternating_free(&fine);
	visits = 0;
	for (size_t i = 0; i < 3; i++) {
		struct json_object *doc = report_json(how[i], "visited"),
			*rows = member(doc, "rows");
		double samples = number(member(doc, "counters"), "samples");

		assert_string_equal(text_of(member(doc, "model"), "name"),
				    i < 2 ? "mixture" : "cpm");
		if (i < 2)
			assert_int_equal(number(member(doc, "model"), "not_separable"), 0);
		for (size_t k = 0; k < json_object_array_length(rows); k++) {
			struct json_object *row = json_object_array_get_idx(rows, k);

			assert_null(strstr(text_of(row, "function"), "bystanders"));
			assert_null(strstr(text_of(row, "comm"), "bystanders"));
			if (!strcmp(text_of(row, "kind"), "total"))
				assert_true(near(number(row, "time_s"), samples * fine.interval_s,
						 1e-6));
		}
	}
}

TEST(mixture_separates_blocks_that_cpm_does_not)
{
	struct json_object *doc = report_json("--model mixture", "fine"),
		*cpm = report_json("", "fine");
	double sum = 0, sums[2] = { 0 };

	assert_string_equal(text_of(member(doc, "model"), "name"), "mixture");
	assert_string_equal(text_of(member(cpm, "model"), "name"), "cpm");
	assert_int_equal(number(member(doc, "model"), "not_separable"), 0);
	assert_true(number(member(doc, "model"), "windows") > 3900);
	for (unsigned int b = 0; b < 3; b++) {
		struct json_object *row = row_of(doc, b), *other = row_of(cpm, b);

		assert_string_equal(text_of(row, "model"), "mixture");
		assert_null(member(row, "model_note"));
		assert_null(member(row, "window_share"));
		assert_true(fabs(number(row, "power_package_w") / fine.power_w[b] - 1) < 0.03);
		assert_true(fabs(number(row, "power_core_w") / fine.power_w[b] * 2 - 1) < 0.03);
		assert_true(number(row, "power_lo_package_w") < fine.power_w[b] * 1.01);
		assert_true(number(row, "power_hi_package_w") > fine.power_w[b] * 0.99);
		if (b != 2)
			assert_true(fabs(number(other, "power_package_w") / fine.power_w[b] - 1) >
				    0.1);
	}
	for (int i = 0; i < 2; i++) {
		struct json_object *rows = member(i ? cpm : doc, "rows");

		for (size_t k = 0; k < json_object_array_length(rows); k++) {
			struct json_object *row = json_object_array_get_idx(rows, k);

			if (!strcmp(text_of(row, "kind"), "total"))
				sums[i] = number(row, "energy_package_j");
			else if (!i && strcmp(text_of(row, "kind"), "process"))
				sum += number(row, "energy_package_j");
		}
	}
	assert_true(near(sum, sums[0], 1e-3) && near(sums[0], sums[1], 0.1));
	assert_int_equal(kjoule("report -v --model mixture %s", temp_path("fine")), 0);
	assert_true(says(out, "# model      name mixture, requested mixture"));
	assert_null(strstr(out, "even grid"));
	assert_null(strstr(out, "~"));
	assert_int_equal(kjoule("report --model mixture --csv %s", temp_path("fine")), 0);
	assert_true(says(out, "model,model_note"));
	assert_true(says(out, ",mixture,"));
}

TEST(auto_reports_its_choice_and_why)
{
	struct json_object *doc = report_json("--model auto", "fine");

	assert_string_equal(text_of(member(doc, "model"), "name"), "mixture");
	assert_string_equal(text_of(member(doc, "model"), "requested"), "auto");
	assert_non_null(strstr(text_of(member(doc, "model"), "reason"), "ticks at a time"));
	assert_int_equal(kjoule("report -v --model auto %s", temp_path("fine")), 0);
	assert_true(says(out, "name mixture, requested auto, reason \"[unknown] runs for 5.9 ticks at a time, and the counter moves every 20"));
	doc = report_json("--model auto", "coarse");
	assert_string_equal(text_of(member(doc, "model"), "name"), "cpm");
	assert_non_null(strstr(text_of(member(doc, "model"), "reason"), "8 update periods"));
	assert_int_equal(kjoule("report -v --model auto %s", temp_path("coarse")), 0);
	assert_true(says(out, "name cpm, requested auto, reason "));
	assert_int_equal(kjoule("report -v --model auto --vectors %s", temp_path("fine")), 0);
	doc = report_json("--model auto", "standing");
	assert_string_equal(text_of(member(doc, "model"), "name"), "cpm");
	assert_non_null(strstr(text_of(member(doc, "model"), "reason"), "no energy"));
}

TEST(inseparable_blocks_have_one_row)
{
	struct json_object *doc = report_json("--model mixture", "short"), *row, *merged;
	double samples = 0;

	row = find_named(doc, "[unknown] + [unknown] (not separable)");
	assert_non_null(row);
	assert_string_equal(text_of(row, "model_note"), "runs too short for the rate");
	assert_int_equal(number(member(doc, "model"), "not_separable"), 2);
	merged = json_object_array_get_idx(member(member(doc, "model"), "merged"), 0);
	assert_string_equal(text_of(merged, "function"), "[unknown] + [unknown] (not separable)");
	assert_int_equal(json_object_array_length(member(merged, "members")), 2);
	for (size_t i = 0; i < 2; i++)
		samples += number(json_object_array_get_idx(member(merged, "members"), i),
				  "samples");
	assert_int_equal(samples, number(row, "samples"));
	/* the third is long, and separate */
	/* (0.11 * 1 W + 0.12 * 4 W) / 0.23 */
	assert_true(fabs(number(row, "power_package_w") / 2.565 - 1) < 0.05);
	row = row_of(doc, 2);
	assert_non_null(row);
	assert_true(fabs(number(row, "power_package_w") / 2 - 1) < 0.03);
	assert_int_equal(kjoule("report --model mixture %s", temp_path("short")), 0);
	assert_true(says(out, "[unknown] + [unknown] (not separable)\n"));
	assert_int_equal(kjoule("report --model mixture --fields energy,function %s",
				temp_path("short")), 0);
	assert_true(says(out, "[unknown] + [unknown] (not separable)"));
	assert_true(says(out, "together they are right"));
}

/*
 * What alternates with another process within a tick is neither's; what has little time is others'.
 */
TEST(shared_code_has_a_row_next_to_its_processes)
{
	struct json_object *doc = report_json("--model mixture", "shared"), *row;
	double seconds = 0;

	row = find_named(doc, "[unknown] of [unknown] + [unknown] of program (not separable)");
	if (!row)
		row = find_named(doc, "[unknown] of program + [unknown] of [unknown] (not separable)");
	assert_non_null(row);
	assert_string_equal(text_of(row, "comm"), "[not separable]");
	/* (0.11 * 1 W + 0.12 * 4 W) / 0.23 */
	assert_true(fabs(number(row, "power_package_w") / 2.565 - 1) < 0.05);
	row = find_named(doc, "[others]");
	assert_non_null(row);
	assert_string_equal(text_of(row, "model_note"), "too little time for a power of its own");
	for (size_t i = 0; i < json_object_array_length(member(doc, "rows")); i++) {
		row = json_object_array_get_idx(member(doc, "rows"), i);
		if (!strcmp(text_of(row, "kind"), "process"))
			seconds += number(row, "time_s");
		if (!strcmp(text_of(row, "kind"), "total"))
			assert_true(near(number(row, "time_s"), seconds, 1e-6));
	}
	assert_int_equal(kjoule("report --model mixture --percent-limit 0 %s", temp_path("shared")),
			 0);
	assert_true(says(out, "  [not separ...  "));
	assert_true(says(out, "[others] : blocks of less than 1 %"));
}

TEST(no_number_where_there_is_no_answer)
{
	assert_int_equal(kjoule("report --model mixture %s", temp_path("standing")), 1);
	assert_string_equal(out, "");
	assert_true(says(err, "--model mixture: the energy counter was not seen to move twice"));
	assert_int_equal(kjoule("report --model mixture %s", temp_path("brief")), 1);
	assert_string_equal(out, "");
	assert_true(says(err, "it needs 200 windows"));
	assert_int_equal(kjoule("report --model mixture %s", temp_path("slow")), 1);
	assert_string_equal(out, "");
	assert_true(says(err, "ticks between two updates of the counter"));
	assert_int_equal(kjoule("report --model other %s", temp_path("fine")), 2);
	assert_true(says(err, "expected cpm, edge, mixture, vpm or auto"));
	assert_int_equal(kjoule("report --model mixture --raw %s", temp_path("fine")), 2);
	assert_int_equal(kjoule("report --model edge --vectors %s", temp_path("fine")), 2);
}

/* What runs together has the model's powers, and all of it adds up to what was measured. */
TEST(vectors_have_the_powers_of_the_model)
{
	double sums[2] = { 0 }, off[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		struct json_object *doc = report_json(i ? "--vectors" : "--vectors --model mixture",
						 "fine"), *rows = member(doc, "rows");

		assert_string_equal(text_of(member(doc, "model"), "name"), i ? "cpm" : "mixture");
		assert_int_equal(json_object_array_length(rows), 3);
		for (size_t k = 0; k < 3; k++) {
			struct json_object *row = json_object_array_get_idx(rows, k);
			struct json_object *one =
				json_object_array_get_idx(member(row, "corunning"), 0);
			unsigned int b = !strcmp(text_of(one, "function"), "[hidden]") ?
					 2 : !strcmp(text_of(one, "object"), "[kernel]");

			sums[i] += number(row, "energy_package_j");
			off[i] = fmax(off[i],
				      fabs(number(row, "power_package_w") / fine.power_w[b] - 1));
			if (!i) {
				assert_true(number(row, "energy_lo_package_j") < fine.true_j[b] *
					    1.01);
				assert_true(number(row, "energy_hi_package_j") > fine.true_j[b] *
					    0.99);
				assert_true(number(row, "energy_hi_package_j") < fine.true_j[b] *
					    1.1);
			}
		}
	}
	assert_true(off[0] < 0.03);
	assert_true(off[1] > 0.1);
	assert_true(near(sums[0], sums[1], 0.02));
	assert_int_equal(kjoule("report --model mixture --vectors %s", temp_path("brief")), 1);
	assert_string_equal(out, "");
}

/*
 * Five thousand samples in the middle are lost: the windows around are left out, the powers as
 * right as before.
 */
TEST(lost_samples_are_left_out)
{
	struct json_object *doc = report_json("--model mixture", "holed"), *row;

	row = row_of(doc, 0);
	assert_true(fabs(number(row, "power_package_w") - 1) < 0.03);
	assert_true(number(member(doc, "model"), "windows_left_out") >= 1);
	row = row_of(doc, 2);
	assert_true(fabs(number(row, "power_package_w") / 2 - 1) < 0.03);
}

TEST(an_even_grid_is_reported)
{
	struct json_object *doc = report_json("--model mixture", "even");

	assert_true(json_object_get_boolean(member(member(doc, "model"), "even_grid")));
	assert_int_equal(kjoule("report --model mixture %s", temp_path("even")), 0);
	assert_true(says(out, "record with --jitter"));
}

TEST(callers_and_processes_go_with_it)
{
	struct json_object *doc = report_json("--model mixture --by process", "fine"), *row;

	row = find_row(doc, "process", NULL);
	assert_non_null(row);
	assert_true(fabs(number(row, "energy_package_j") /
			 (fine.true_j[0] + fine.true_j[1] + fine.true_j[2]) - 1) < 0.01);
	assert_null(find_row(doc, "function", NULL));
	doc = report_json("--model mixture --by object", "fine");
	row = find_row(doc, "object", PROGRAM);
	assert_non_null(row);
	assert_true(fabs(number(row, "power_package_w") - 1) < 0.03);
	/* callers have the block's energy between them */
	for (int i = 0; i < 2; i++) {
		double sum = 0, whole = 0;

		doc = report_json(i ? "--model mixture -g" : "-g", "fine");
		for (size_t k = 0; k < json_object_array_length(member(doc, "rows")); k++) {
			row = json_object_array_get_idx(member(doc, "rows"), k);
			if (!strcmp(text_of(row, "kind"), "caller") && number(row, "depth") == 1)
				sum += number(row, "energy_package_j");
			else if (!strcmp(text_of(row, "object"), PROGRAM) &&
				 !strcmp(text_of(row, "kind"), "function"))
				whole = number(row, "energy_package_j");
		}
		assert_true(near(sum, whole, 1e-6) && whole > 1);
	}
	/* blocks that the user has named are there, one with others or not */
	doc = kjoule_json(1, "report --json --model mixture --block x=program:0x1000-0x2000 %s",
			  temp_path("short"));
}

/* Blocks 0 and 1 are two processes', and one tick in 250 is the kernel's. */
static void record_shared(const char *name, const struct alternating *a)
{
	struct kjoule_meta meta;
	struct buffer b = { 0 };
	uint32_t pid = 0;
	size_t r = 0;

	make_meta(&meta, 1, a->interval_s * 1e9, KJOULE_TARGET_SYSTEM);
	meta.session.jitter_ns = a->jitter * a->interval_s * 1e9;
	for (size_t i = 0; i < a->n_ticks; i++) {
		uint32_t block = a->stream[i].block, whose = block == 1 ? 200 : 100;

		for (; r < a->n_readings && a->readings[r].tick == i; r++)
			put_energy(&b, i, 3,
				   (uint64_t[]){ a->readings[r].uj, a->readings[r].uj / 2 });
		if (whose != pid)
			put_task(&b, whose, whose);
		pid = whose;
		if (i % 250 == 100)
			put_block(&b, i, 1);
		else
			put_block(&b, i, block == 1 ? 0 : block);
	}
	write_recording(temp_path(name), &meta, &b, 1, PROGRAM, a->n_ticks);
}

static int make_recordings(void **state)
{
	struct alternating a = fine;

	(void)state;
	alternating_run(&fine, 1);
	record("fine", &fine, UINT64_MAX);
	record("holed", &fine, 30000);
	fine.n_readings = 1;
	record("standing", &fine, UINT64_MAX);
	alternating_free(&fine);
	a.total_s = 1;
	alternating_run(&a, 1);
	record("brief", &a, UINT64_MAX);
	alternating_free(&a);
	a.total_s = 20;
	a.ticks = 2;
	alternating_run(&a, 1);
	record("slow", &a, UINT64_MAX);
	alternating_free(&a);
	a.ticks = 10;
	a.jitter = 0;
	alternating_run(&a, 1);
	record("even", &a, UINT64_MAX);
	alternating_free(&a);
	a = (struct alternating){ .n_blocks = 2, .length = { 15, 20 }, .varies = 0.3,
				  .power_w = { 1, 3 }, .period_s = 10e-3, .ticks = 10,
				  .total_s = 20 };
	alternating_run(&a, 1);
	record("coarse", &a, UINT64_MAX);
	alternating_free(&a);
	a = (struct alternating){ .n_blocks = 3, .length = { 0.11, 0.12, 0.6 }, .varies = 0.3,
				  .power_w = { 1, 4, 2 }, .period_s = 10e-3, .ticks = 10,
				  .jitter = 1, .total_s = 60 };
	alternating_run(&a, 1);
	record("short", &a, UINT64_MAX);
	record_shared("shared", &a);
	alternating_free(&a);
	return 0;
}

int main(void)
{
	return tests_run(make_recordings, NULL);
}
