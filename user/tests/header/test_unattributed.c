// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of recordings with several sources, of CPUs that were left alone, and what
 * script shows of them: made-up recordings whose truth is known.
 */
#include <math.h>
#include <string.h>
#include <json-c/json.h>
#include "attribute/energy_columns.h"
#include "lib/file/recording.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define MS	1000000ull
#define T0	1000000000ull

static struct json_object *others(struct json_object *doc, const char *source)
{
	struct json_object *o;

	for (size_t i = 0; (o = item_of(doc, "unattributed", i)); i++)
		if (!strcmp(text_of(o, "source"), source))
			return o;
	return NULL;
}

/*
 * Two seconds of a program on CPU 0: 1 W for a second, 3 W for another one, as the source
 * "test" tells. Next to it two zones of powercap that have twice as much and half of that, a
 * gauge of 5 W and 7 W, a thermometer and a counter of events.
 */
static void record_many(const char *name)
{
	static struct kjoule_meta meta;
	struct buffer b = { 0 };
	uint64_t uj[2] = { 0, 0 };

	make_meta(&meta, 1, MS, KJOULE_TARGET_SYSTEM);
	strcpy(add_source(&meta, "powercap:intel-rapl:0", KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY,
			  "package")->meter, "powercap");
	strcpy(add_source(&meta, "powercap:intel-rapl:0:0", KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY,
			  "core")->meter, "powercap");
	strcpy(meta.session.sources[2].inside, "powercap:intel-rapl:0");
	add_source(&meta, "hwmon:board/power1", KJOULE_KIND_GAUGE, KJOULE_QUANTITY_POWER, "board");
	add_source(&meta, "thermal:thermal_zone0", KJOULE_KIND_GAUGE, KJOULE_QUANTITY_TEMPERATURE,
		   "pkg");
	add_source(&meta, "perf:cpu/instructions/", KJOULE_KIND_ENERGY, KJOULE_QUANTITY_COUNT,
		   "instructions");
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 2000; k++) {
		uint64_t now = T0 + k * MS;

		if (k % 10 == 0)
			put_energy(&b, k, 3, uj);
		if (k % 50 == 0) {
			put_value(&b, 1, now, 2 * uj[0]);
			put_value(&b, 2, now + 1000, uj[0]);
			/* a reading holds for the time since the one before */
			put_value(&b, 3, now, k <= 1000 ? 5000000 : 7000000);
			put_value(&b, 4, now, k < 1000 ? 40000 : 50000);
		}
		if (k % 100 == 0)
			put_energy_of(&b, 5, 0, k, 0, 1, &(uint64_t){ k * 1000ull });
		put_sample(&b, k, k < 1000 ? 0x10001000 : 0x10002000,
			   k < 1000 ? 0 : KJOULE_SAMPLE_KERNEL, 1000000, 0);
		uj[0] += k < 1000 ? 1000 : 3000;
		uj[1] += 500;
	}
	write_recording(temp_path(name), &meta, &b, 1, "/nonexistent/program", 2000);
}

TEST(other_sources_stand_beside_and_are_not_added)
{
	struct json_object *doc, *o;

	record_many("many");
	doc = report_json("--raw", "many");
	assert_true(near(number(find_row(doc, "total", NULL), "energy_package_j"), 4, 0.03));
	assert_true(
		near(number(find_row(doc, "function", "/nonexistent/program"), "power_package_w"),
		     1, 0.01));
	assert_false(
		json_object_object_get_ex(find_row(doc, "total", NULL), "energy_board_j", NULL));
	assert_null(others(doc, "test"));
	assert_int_equal(json_object_array_length(member(doc, "unattributed")), 5);
	assert_true(near(number(others(doc, "powercap:intel-rapl:0"), "energy_j"), 2 * 3.85, 1e-6));
	o = others(doc, "powercap:intel-rapl:0:0");
	assert_true(near(number(o, "energy_j"), 3.85, 1e-6));
	assert_string_equal(text_of(o, "inside"), "powercap:intel-rapl:0");
	o = others(doc, "hwmon:board/power1");
	assert_true(near(number(o, "energy_j"), 5 + 0.95 * 7, 1e-6));
	assert_true(near(number(o, "covered_s"), 1.95, 1e-6));
	o = others(doc, "thermal:thermal_zone0");
	assert_true(near(number(o, "mean_c"), 45, 1e-6));
	assert_true(near(number(o, "max_c"), 50, 1e-6));
	assert_true(near(number(others(doc, "perf:cpu/instructions/"), "count"), 1900000, 0));
	assert_int_equal(kjoule("report -v %s", temp_path("many")), 0);
	assert_true(says(out, "# energy     source test\n"));
	assert_true(says(out, "powercap:intel-rapl:0: domain package, quantity energy, readings 40, covered 1.95 s, energy 7.7 J, power 3.9487 W\n"));
	assert_true(says(out, "inside powercap:intel-rapl:0, "));
	assert_true(says(out, "mean 45 C, min 40 C, max 50 C\n"));
}

/* A source of two packages, each read @n times, next to the one that is attributed. */
static void record_scopes_beside(const char *name, unsigned int n)
{
	static struct kjoule_meta meta;
	struct kjoule_source_info *src;
	struct buffer b[2] = { 0 };

	make_meta(&meta, 2, MS, KJOULE_TARGET_SYSTEM);
	src = add_source(&meta, "other", KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY, "package");
	src->reads = 40;
	src->errors = 79;
	for (uint32_t p = 0; p < 2; p++) {
		assert_int_equal(kjoule_scope_set(src, p, p), 0);
		put_task(&b[p], 100, 100);
		for (uint32_t k = 0; k < 100; k++) {
			if (k % 10 == 0 && !p)
				put_energy(&b[p], k, 1, &(uint64_t){ k * 1000 });
			if (k < n * 10 && k % 10 == 0)
				put_energy_of(&b[p], 1, p, k, 0, 1, &(uint64_t){ k * 1000 });
			put_sample(&b[p], k, 0x10001000, 0, 1000000, 0);
		}
	}
	write_recording(temp_path(name), &meta, b, 2, "/nonexistent/program", 100);
	kjoule_session_info_clear(&meta.session);
}

/* A reading of each package tells of no difference, however many packages there are. */
TEST(energy_takes_two_readings_of_one_counter)
{
	struct json_object *doc, *o;

	record_scopes_beside("once", 1);
	doc = report_json("--raw", "once");
	o = others(doc, "other");
	assert_true(near(number(o, "readings"), 2, 0));
	assert_null(member(o, "energy_j"));
	assert_null(member(o, "power_w"));
	assert_int_equal(kjoule("report -v %s", temp_path("once")), 0);
	assert_true(says(out, "other: domain package, quantity energy, readings 2\n"));
	/* errors are of domains, readings of the source: there may be more of them */
	assert_true(says(out, "reads 40, errors 79\n"));
	record_scopes_beside("twice", 2);
	doc = report_json("--raw", "twice");
	assert_true(near(number(others(doc, "other"), "energy_j"), 2 * 0.01, 1e-9));
}

TEST(another_source_can_be_attributed)
{
	struct json_object *doc, *o;

	record_many("many");
	/* a meter: its zones side by side, one inside the other */
	doc = report_json("--raw --source powercap", "many");
	o = find_row(doc, "function", "[kernel]");
	assert_true(near(number(o, "power_package_w"), 6, 0.05));
	assert_true(near(number(o, "power_core_w"), 3, 0.05));
	assert_null(others(doc, "powercap:intel-rapl:0"));
	assert_true(near(number(others(doc, "test"), "energy_j"), 3.97, 1e-6));
	o = json_object_array_get_idx(member(member(doc, "energy"), "domains"), 1);
	assert_int_equal(json_object_get_int(member(o, "parent")), 0);

	/* power becomes energy */
	doc = report_json("--raw --source hwmon:board/power1", "many");
	o = find_row(doc, "function", "[kernel]");
	assert_true(near(number(o, "power_board_w"), 7, 0.01));
	assert_true(near(number(find_row(doc, "function", "/nonexistent/program"), "power_board_w"),
			 5, 0.01));

	/* two at once: columns of their own, with names that differ */
	doc = report_json("--raw --source test,powercap:intel-rapl:0", "many");
	o = find_row(doc, "function", "[kernel]");
	assert_true(near(number(o, "power_package_w"), 3, 0.03));
	assert_true(near(number(o, "power_powercap_intel_rapl_0_package_w"), 6, 0.05));

	assert_int_equal(kjoule("report -v --source hwmon:board/power1 %s", temp_path("many")), 0);
	assert_true(says(out, ", from power, "));
	assert_int_equal(kjoule("report --source nothing %s", temp_path("many")), 1);
	assert_true(says(err, "--source nothing: not in this recording; it has test, powercap:intel-rapl:0"));
	assert_int_equal(kjoule("report --source thermal:thermal_zone0 %s", temp_path("many")), 1);
	assert_true(says(err, "it tells of no energy"));
}

/* Drivers do not agree on the sign of what a battery gives. */
TEST(the_first_reading_tells_the_sign_of_power)
{
	struct timeline_reading r[] = { { 0, 0, -5000000 }, { 0, 1000000000, -5000000 },
					{ 0, 2000000000, 7000000 }, { 0, 3000000000, -3000000 } };
	struct timeline_series s = { .quantity = KJOULE_QUANTITY_POWER, .n = 4, .readings = r };
	double uj[4];

	energy_columns_uj(&s, uj);
	assert_true(near(uj[1], 5e6, 1e-6));
	assert_true(near(uj[2], 5e6, 1e-6));	/* it was charged meanwhile */
	assert_true(near(uj[3], 8e6, 1e-6));
	for (int i = 0; i < 4; i++)
		r[i].value = -r[i].value;
	energy_columns_uj(&s, uj);
	assert_true(near(uj[3], 8e6, 1e-6));
}

/* Zones of two packages: 5 W and 1 W. */
static void record_packages(const char *name, bool scoped)
{
	static struct kjoule_meta meta;
	struct buffer b[2] = { 0 };

	make_meta(&meta, 2, MS, KJOULE_TARGET_SYSTEM);
	meta.session.n_sources = 1;	/* the frequency source in the place of the other one */
	meta.session.sources[0] = meta.session.sources[1];
	for (uint32_t p = 0; p < 2; p++) {
		struct kjoule_source_info *src =
			add_source(&meta, p ? "powercap:intel-rapl:1" : "powercap:intel-rapl:0",
				   KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY, "package");

		strcpy(src->meter, "powercap");
		if (scoped)
			assert_int_equal(kjoule_scope_set(src, p, p), 0);
	}
	for (uint32_t p = 0; p < 2; p++) {
		put_task(&b[p], 100, 100);
		for (uint32_t k = 0; k < 1000; k++) {
			if (k % 20 == 0)
				put_value(&b[!p], p, T0 + k * MS, k * (p ? 1000 : 5000));
			put_sample(&b[p], k, p ? 0x10002000 : 0x10001000,
				   p ? KJOULE_SAMPLE_KERNEL : 0, 1000000, 0);
		}
	}
	write_recording(temp_path(name), &meta, b, 2, "/nonexistent/program", 1000);
	kjoule_session_info_clear(&meta.session);
}

/* One column, each zone charging its own CPUs. */
TEST(zones_of_packages_charge_their_own_cpus)
{
	struct json_object *doc;

	record_packages("two", true);
	doc = report_json("--raw", "two");
	assert_true(
		near(number(find_row(doc, "function", "[kernel]"), "power_package_w"), 1, 0.01));
	assert_true(
		near(number(find_row(doc, "function", "/nonexistent/program"), "power_package_w"),
		     5, 0.05));
	assert_true(near(number(find_row(doc, "total", NULL), "energy_package_j"), 6, 0.1));
	assert_false(json_object_object_get_ex(find_row(doc, "total", NULL),
					       "energy_powercap_intel_rapl_1_package_j", NULL));
}

/* Where it is not known that they have no CPU in common, they are columns of their own. */
TEST(domains_that_may_overlap_are_never_summed)
{
	struct json_object *doc, *row;

	record_packages("overlap", false);
	doc = report_json("--raw", "overlap");
	row = find_row(doc, "total", NULL);
	assert_true(near(number(row, "energy_package_j"), 5, 0.05));
	assert_true(near(number(row, "energy_powercap_intel_rapl_1_package_j"), 1, 0.05));
}

/* Counters that two CPUs do not share: what each runs is charged by its own. */
TEST(scopes_of_a_source_charge_their_own_cpus)
{
	static struct kjoule_meta meta;
	struct buffer b[2] = { 0 };
	struct json_object *doc;

	make_meta(&meta, 2, MS, KJOULE_TARGET_SYSTEM);
	for (uint32_t p = 0; p < 2; p++)
		assert_int_equal(kjoule_scope_set(&meta.session.sources[0], p, p), 0);
	for (uint32_t p = 0; p < 2; p++) {
		put_task(&b[p], 100, 100);
		for (uint32_t k = 0; k < 1000; k++) {
			if (k % 20 == 0)
				put_energy_of(&b[p], 0, p, k, 0, 1,
					      &(uint64_t){ k * (p ? 1000 : 5000) });
			put_sample(&b[p], k, p ? 0x10002000 : 0x10001000,
				   p ? KJOULE_SAMPLE_KERNEL : 0, 1000000, 0);
		}
	}
	write_recording(temp_path("scopes"), &meta, b, 2, "/nonexistent/program", 1000);
	kjoule_session_info_clear(&meta.session);
	doc = report_json("--raw", "scopes");
	assert_true(
		near(number(find_row(doc, "function", "[kernel]"), "power_package_w"), 1, 0.01));
	assert_true(
		near(number(find_row(doc, "function", "/nonexistent/program"), "power_package_w"),
		     5, 0.05));
	/* script says whose each one is, and CPU 0 is no exception */
	assert_int_equal(kjoule("script %s", temp_path("scopes")), 0);
	assert_true(says(out, "energy  package 100000 uJ of CPU 0\n"));
	assert_true(says(out, "energy  package 20000 uJ of CPU 1\n"));
}

/*
 * Four fifths of the program run on CPU 0, whose counter tells 5 W; CPU 1 has one of its own, of
 * which there is nothing, and runs the rest of it, then the kernel, and is idle then.
 */
static void record_one_of_two(const char *name, bool still)
{
	static struct kjoule_meta meta;
	struct buffer b[2] = { 0 };

	make_meta(&meta, 2, MS, KJOULE_TARGET_SYSTEM);
	for (uint32_t p = 0; p < 2; p++) {
		assert_int_equal(kjoule_scope_set(&meta.session.sources[0], p, p), 0);
		put_task(&b[p], 100, 100);
		for (uint32_t k = 0; k < 2000; k++) {
			if (k % 20 == 0 && (!p || still))
				put_energy_of(&b[p], 0, p, k, 0, 1,
					      &(uint64_t){ p ? 7000 : k * 5000 });
			if (p)
				put_sample(&b[p], k, k < 500 ? 0x10001000 : 0x10002000,
					   k < 500  ? 0 :
					   k < 1500 ? KJOULE_SAMPLE_KERNEL :
						      KJOULE_SAMPLE_IDLE,
					   1000000, 0);
			else
				put_sample(&b[p], k, 0x10001000, 0, 1000000, 0);
		}
	}
	write_recording(temp_path(name), &meta, b, 2, "/nonexistent/program", 2000);
	kjoule_session_info_clear(&meta.session);
}

/* It was not measured, which is not the same as no energy. */
TEST(code_on_cpus_without_a_counter_has_no_energy)
{
	struct json_object *doc, *row;

	for (int still = 0; still < 2; still++) {
		record_one_of_two("one", still);
		doc = report_json("--raw", "one");
		row = find_row(doc, "function", "[kernel]");
		assert_true(near(number(row, "time_s"), 1, 0.01));
		assert_true(isnan(number(row, "energy_package_j")) &&
			    isnan(number(row, "power_package_w")));
		/* nor has what its idle time spent, which is not that of CPU 0 */
		row = find_named(doc, "[idle]");
		assert_true(near(number(row, "time_s"), 0.5, 0.01) &&
			    isnan(number(row, "energy_package_j")));
		/* 10 J were measured in 4/7 of the time, the power of which the total has */
		assert_true(near(number(find_row(doc, "total", NULL), "energy_package_j"),
				 10 * 3.5 / 2, 0.2));
		row = find_row(doc, "function", "/nonexistent/program");
		assert_true(near(number(row, "time_s"), 2.5, 0.01));
		assert_true(near(number(row, "power_package_w"), 5, 0.05));
		assert_true(near(number(json_object_array_get_idx(
						member(member(doc, "energy"), "domains"), 0),
					"unmeasured_part"),
				 1 - 0.98 * 2 / 3.5, 0.001));
		assert_int_equal(kjoule("report --raw %s", temp_path("one")), 0);
		assert_true(says(out, "# unmeasured package: of 44.0 %"));
	}
}

/*
 * Where all CPUs of the recording share a counter script says nothing of it, whichever is the
 * lowest.
 */
TEST(shared_counters_are_nobody_s_in_particular)
{
	static struct kjoule_meta meta;
	struct buffer b[2] = { 0 };

	make_meta(&meta, 2, MS, KJOULE_TARGET_SYSTEM);
	memset(&meta.session.cpus, 0, sizeof(meta.session.cpus));
	kjoule_cpus_add(&meta.session.cpus, 1);
	assert_int_equal(kjoule_scope_set(&meta.session.sources[0], 1, 1), 0);
	put_task(&b[1], 100, 100);
	put_energy_of(&b[1], 0, 1, 0, 0, 1, &(uint64_t){ 77 });
	put_sample(&b[1], 0, 0x10001000, 0, 1000000, 0);
	write_recording(temp_path("shared"), &meta, b, 2, "/nonexistent/program", 10);
	kjoule_session_info_clear(&meta.session);
	assert_int_equal(kjoule("script %s", temp_path("shared")), 0);
	assert_true(says(out, "energy  package 77 uJ\n"));
}

/*
 * A process on CPU 1 at 2 W, which alone is sampled; for half of the time the recorder draws 3 W
 * more, on CPU 0. They have a package in common, or not.
 */
static void record_beside_recorder(const char *name, uint32_t package)
{
	static struct kjoule_meta meta;
	struct buffer b[2] = { 0 };
	uint64_t uj = 0;

	make_meta(&meta, 2, MS, KJOULE_TARGET_PROCESS);
	meta.places[0].package = package;
	memset(&meta.session.cpus, 0, sizeof(meta.session.cpus));
	kjoule_cpus_add(&meta.session.cpus, 1);
	assert_int_equal(kjoule_scope_set(&meta.session.sources[0], 1, 1), 0);
	put_task(&b[1], 100, 100);
	for (uint32_t k = 0; k < 2000; k++) {
		if (k % 10 == 0)
			put_energy_of(&b[1], 0, 1, k, 0, 1, &uj);
		put_sample(&b[1], k, 0x10001000, 0, 1000000, 0);
		uj += 2000 + (k / 50 % 2 ? 3000 : 0);
		if (k % 100 == 50)
			put_wakeup(0, T0 + k * MS, T0 + (k + 50) * MS);
	}
	write_recording(temp_path(name), &meta, b, 2, "/nonexistent/program", 2000);
	kjoule_session_info_clear(&meta.session);
}

/* What the recorder draws is the recorder's, on a CPU that was not sampled, too. */
TEST(the_recorder_pays_for_itself)
{
	record_beside_recorder("recorder", 0);
	for (unsigned int raw = 0; raw < 2; raw++) {
		struct json_object *doc;

		doc = kjoule_json(0, "report --json %s %s", raw ? "--raw" : "",
				  temp_path("recorder"));
		assert_true(near(number(find_row(doc, "function", "/nonexistent/program"),
					"power_package_w"), 2, 0.02));
		assert_true(
			near(number(find_row(doc, "function", ""), "power_package_w"), 3, 0.03));
	}
}

/* On another package it draws on other counters: all that these have seen is the process'. */
TEST(a_recorder_on_another_package_pays_nothing)
{
	struct json_object *doc;

	record_beside_recorder("elsewhere", 1);
	doc = report_json("--raw", "elsewhere");
	assert_true(
		near(number(find_row(doc, "function", "/nonexistent/program"), "power_package_w"),
		     3.5, 0.02));
}

/*
 * CPU 0 works for 0.1 s in each second at 5 W, the package draws 1 W else; CPU 1 is idle all
 * the time. Both are left alone while they are idle, and readings come at the edges only.
 */
static void record_parked(const char *name, uint64_t seconds)
{
	static struct kjoule_meta meta;
	struct buffer b[2] = { 0 };
	uint64_t uj = 0;

	make_meta(&meta, 2, MS, KJOULE_TARGET_SYSTEM);
	put_task(&b[0], 100, 100);
	for (uint64_t s = 0; s < seconds; s++) {
		uint64_t k = 1000 * s, idle_ns = T0 + (k + 100) * MS - MS / 2;

		for (uint64_t i = 0; i < 100; i++) {
			if (i % 10 == 0)
				put_energy_of(&b[0], 0, 0, k + i, 1000, 1, &(uint64_t){ uj });
			put_sample(&b[0], k + i, 0x10001000, 0, 1000000, 1000);
			uj += 5000;
		}
		put_energy_of(&b[0], 0, 0, k + 99, MS / 2, 1, &(uint64_t){ uj });
		put_skipped(&b[0], k + 100, 900, idle_ns, idle_ns + 900 * MS);
		uj += 900000;
		put_energy_of(&b[0], 0, 0, k + 999, MS / 2, 1, &(uint64_t){ uj });
	}
	put_skipped(&b[1], 0, 1000 * seconds, T0, T0 + seconds * 1000 * MS);
	write_recording(temp_path(name), &meta, b, 2, "/nonexistent/program", 1000 * seconds);
}

TEST(parked_cpus_are_idle_and_pay_no_ticks)
{
	struct json_object *doc, *row;

	record_parked("skipped", 20);
	doc = kjoule_json(0, "report --json %s", temp_path("skipped"));
	row = find_named(doc, "[idle]");
	assert_non_null(row);
	/* of both CPUs; no tick has taken anything from them */
	assert_true(near(number(row, "time_s"), 18 + 20, 1e-9));
	assert_true(near(number(row, "energy_package_j"), 18, 0.01));
	assert_true(near(number(row, "samples"), 0, 0));
	row = find_row(doc, "function", "/nonexistent/program");
	assert_true(near(number(row, "energy_package_j"), 10, 0.1));
	assert_true(near(number(row, "window_share"), 1, 1e-9));
	row = find_row(doc, "ticks", NULL);
	assert_true(near(number(row, "time_s"), 2 * 0.003, 0.002));
	assert_true(near(number(find_row(doc, "total", NULL), "energy_package_j"), 28, 0.1));
}

/* Forty days of an idle CPU, in memory that does not grow with them. */
TEST(long_idle_times_take_no_memory)
{
	static struct kjoule_meta meta;
	struct buffer b = { 0 };
	struct json_object *doc;
	uint64_t ticks = 40ull * 86400 * 1000, at = 0;

	make_meta(&meta, 1, MS, KJOULE_TARGET_SYSTEM);
	put_task(&b, 100, 100);
	for (uint64_t k = 0; k < 50; k++) {
		put_energy_of(&b, 0, 0, at, 0, 1, &(uint64_t){ at * 1000 });
		put_sample(&b, at, 0x10001000, 0, 1000000, 0);
		put_skipped(&b, at + 1, ticks / 50 - 1, T0 + at * MS, T0 + (at + ticks / 50) * MS);
		at += ticks / 50;
	}
	write_recording(temp_path("long"), &meta, &b, 1, "/nonexistent/program", ticks);
	doc = report_json("--raw", "long");
	assert_true(near(number(find_named(doc, "[idle]"), "time_s"), (ticks - 50) * 1e-3, 1e-3));
	assert_true(
		near(number(find_row(doc, "total", NULL), "energy_package_j"), ticks * 1e-3, 1));
}

TEST(ticks_of_an_offline_cpu_are_told_as_that)
{
	struct kjoule_gap gap = { .rec = { KJOULE_RECORD_GAP, KJOULE_GAP_OFFLINE, sizeof(gap) },
				  .tick = 50, .count = 10 };
	static struct kjoule_meta meta;
	struct buffer b = { 0 };
	struct json_object *doc;

	make_meta(&meta, 1, MS, KJOULE_TARGET_SYSTEM);
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 100; k++) {
		if (k < 50 || k >= 60)
			put_sample(&b, k, 0x10001000, 0, 0, 0);
		if (k == 50)
			put_bytes(&b, &gap, sizeof(gap));
	}
	write_recording(temp_path("offline"), &meta, &b, 1, "/nonexistent/program", 100);
	doc = report_json("--raw", "offline");
	/* ten ticks would have been given to the program, had they been missed */
	assert_true(near(number(find_named(doc, "[offline]"), "time_s"), 0.010, 1e-9));
	assert_true(near(number(member(doc, "counters"), "offline"), 10, 0));
	assert_int_equal(kjoule("report -v %s", temp_path("offline")), 0);
	assert_true(says(out, "offline 10, "));
	assert_int_equal(kjoule("script %s", temp_path("offline")), 0);
	assert_true(says(out, "gap     10 ticks: the CPU was offline"));
}

TEST(script_shows_every_source)
{
	struct json_object *line;
	char *end;

	record_many("many");
	assert_int_equal(kjoule("script %s", temp_path("many")), 0);
	assert_true(says(out, "energy  package 0 uJ core 0 uJ\n"));
	assert_true(says(out, "value   powercap:intel-rapl:0 package 100000 uJ"));
	assert_true(says(out, "value   thermal:thermal_zone0 pkg 40000 mC"));
	assert_true(says(out, "value   hwmon:board/power1 board 5000000 uW"));
	assert_true(says(out, "energy  perf:cpu/instructions/ instructions 100000 counts"));
	assert_int_equal(kjoule("script --json %s", temp_path("many")), 0);
	end = strstr(out, "\"type\":\"value\"");
	assert_non_null(end);
	*strchr(end, '\n') = '\0';
	while (end > out && end[-1] != '\n')
		end--;
	line = json_tokener_parse(end);
	assert_string_equal(text_of(line, "source"), "powercap:intel-rapl:0");
	assert_true(near(number(line, "powercap_intel_rapl_0_package_uj"), 0, 0));
	assert_true(near(number(line, "duration_ns"), 1000, 0));
	json_object_put(line);
	record_parked("skipped", 2);
	assert_int_equal(kjoule("script %s", temp_path("skipped")), 0);
	assert_true(says(out, "skipped 900 ticks, idle for 900.000 ms"));
}
