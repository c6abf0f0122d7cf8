// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report says before its figures: what the measurement cost, how well that is
 * known, and what found no room.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <json-c/json.h>
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define MS	1000000ull
#define T0	1000000000ull

/* A fifth of a second of a program at 1 W. */
static void record_without(const char *name, uint64_t children_lost)
{
	static struct kjoule_meta meta;
	struct buffer b = { 0 };

	make_meta(&meta, 1, MS, KJOULE_TARGET_SYSTEM);
	meta.session.children_lost = children_lost;
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 200; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, (uint64_t[]){ k * 1000, k * 500 });
		put_sample(&b, k, 0x10001000, 0, 1000000, 0);
	}
	write_recording(temp_path(name), &meta, &b, 1, "/nonexistent/program", 200);
}

static void record_plain(const char *name)
{
	record_without(name, 0);
}

/* Who sees the report only, without the messages, sees that as well. */
TEST(a_recording_that_was_cut_short_says_so)
{
	struct stat st;

	record_plain("short");
	assert_int_equal(kjoule("report %s", temp_path("short")), 0);
	assert_null(strstr(out, "# cut short"));
	assert_int_equal(stat(temp_path("short"), &st), 0);
	assert_int_equal(truncate(temp_path("short"), st.st_size - 20), 0);
	assert_int_equal(kjoule("report %s", temp_path("short")), 1);
	assert_true(says(out, "# cut short  the recording has no end"));
}

/*
 * The mean power of ticks, and half of the interval of the program's energy. Each takes
 * 2 us by its own clock.
 */
static double ticks_w(double handler_ns, double idle_w, double *half_j)
{
	const struct kjoule_calibration cal = { .ticks = 100,
						.tick_ns = handler_ns + 1000,
						.handler_ns = handler_ns,
						.entry_ns = 1000,
						.freq_khz = 1000000,
						.n_domains = 1,
						.irq_uw = { 2e6 },
						.idle_uw = { idle_w * 1e6 },
						.idle_uj = { NAN } };
	struct json_object *doc, *row;
	double w;

	put_calibration(&cal);
	record_plain("longer");
	doc = kjoule_json(0, "report --json %s", temp_path("longer"));
	row = find_row(doc, "function", NULL);
	*half_j = (number(row, "energy_hi_package_j") - number(row, "energy_lo_package_j")) / 2;
	w = number(find_row(doc, "ticks", NULL), "power_package_w");
	assert_true(near(json_object_get_double(json_object_array_get_idx(
				 member(member(doc, "cost"), "ticks_w"), 0)),
			 w, 1e-6));
	return w;
}

/*
 * Ticks that take longer than in the calibration wait, or do more: the middle, and the interval is
 * wider.
 */
TEST(what_ticks_take_longer_may_be_waiting)
{
	double usual_j, half_j;

	assert_true(near(ticks_w(2000, 1, &usual_j), 2, 1e-6));
	/* a third of 3 us, between 1 W and 2 W */
	assert_true(near(ticks_w(1000, 1, &half_j), 2 - 0.5 / 3, 1e-6));
	assert_true(half_j > usual_j);
	assert_true(near(ticks_w(1000, NAN, &half_j), 2, 1e-6));
	assert_true(near(ticks_w(1000, 3, &half_j), 2, 1e-6));
	/* those that take less do less */
	assert_true(near(ticks_w(2500, 1, &half_j), 2, 1e-6));
}

/* A tick's power is that of the source that the column is of; which are not calibrated is said. */
TEST(each_source_has_its_own_cost_of_ticks)
{
	const struct kjoule_calibration cal = { .ticks = 100,
						.tick_ns = 3000,
						.handler_ns = 2000,
						.entry_ns = 1000,
						.freq_khz = 1000000,
						.n_domains = 3,
						.source = { 0, 0, 5 },
						.domain = { 0, 1, 0 },
						.irq_uw = { 2e6, NAN, 7e6 },
						.idle_uj = { NAN, NAN, NAN } };
	static struct kjoule_meta meta;
	struct buffer b = { 0 };
	struct json_object *doc, *w;

	make_meta(&meta, 1, MS, KJOULE_TARGET_SYSTEM);
	add_source(&meta, "hwmon:board/power1", KJOULE_KIND_GAUGE, KJOULE_QUANTITY_POWER, "board");
	for (int i = 0; i < 3; i++)
		add_source(&meta, "thermal:thermal_zone0", KJOULE_KIND_GAUGE,
			   KJOULE_QUANTITY_TEMPERATURE, "x");
	add_source(&meta, "perf:power/energy-pkg/", KJOULE_KIND_ENERGY, KJOULE_QUANTITY_ENERGY,
		   "pmu");
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 1000; k++) {
		if (k % 20 == 0) {
			put_energy(&b, k, 3, (uint64_t[]){ k * 1000, k * 500 });
			put_energy_of(&b, 5, 0, k, 0, 1, &(uint64_t){ k * 2000 });
			put_value(&b, 1, T0 + k * MS, 5000000);
		}
		put_sample(&b, k, 0x10001000, 0, 1000000, 0);
	}
	put_calibration(&cal);
	write_recording(temp_path("costs"), &meta, &b, 1, "/nonexistent/program", 1000);
	doc = kjoule_json(0,
			  "report --json --source perf:power/energy-pkg/,test,hwmon:board/power1 %s",
			  temp_path("costs"));
	w = member(member(doc, "cost"), "interrupts_w");
	assert_int_equal(json_object_array_length(w), 4);
	assert_true(near(json_object_get_double(json_object_array_get_idx(w, 0)), 2, 1e-9));
	assert_null(json_object_array_get_idx(w, 1));
	assert_null(json_object_array_get_idx(w, 2));
	assert_true(near(json_object_get_double(json_object_array_get_idx(w, 3)), 7, 1e-9));
	assert_true(near(number(find_row(doc, "ticks", NULL), "power_pmu_w"), 7, 1e-6));
}

/* Where intervals are wide because of the calibration, a line says so, and what to do. */
TEST(a_noisy_calibration_is_told)
{
	static const char note[] = "the calibration was noisy: what ticks took is known to 40 % only";
	struct kjoule_calibration cal = { .ticks = 100,
					  .tick_ns = 3000,
					  .tick_error_ns = 30,
					  .handler_ns = 2000,
					  .entry_ns = 1000,
					  .freq_khz = 1000000,
					  .n_domains = 2,
					  .source = { 0, 1 },
					  .irq_uw = { 2e6, 2e6 } };
	struct json_object *doc;

	for (int noisy = 0; noisy < 4; noisy++) {
		/* quiet; in the column's domain; in another source's; in the time */
		cal.irq_error_uw[0] = noisy == 1 ? 0.4e6 : 0.02e6;
		cal.irq_error_uw[1] = noisy == 2 ? 0.4e6 : 0.02e6;
		cal.tick_error_ns = noisy == 3 ? 600 : 30;
		put_calibration(&cal);
		record_plain("noise");
		assert_int_equal(kjoule("report -v %s", temp_path("noise")), 0);
		assert_int_equal(strstr(out, note) != NULL, noisy == 1 || noisy == 3);
		assert_int_equal(kjoule("report -v --raw %s", temp_path("noise")), 0);
		assert_null(strstr(out, "noisy"));
		doc = kjoule_json(0, "report --json %s", temp_path("noise"));
		assert_true(near(number(member(doc, "cost"), "calibration_error"),
				 noisy == 1 || noisy == 3 ? 0.4 : 0.028, 0.003));
	}
}

/* What was not calibrated is less sure than what was calibrated badly. */
TEST(no_calibration_is_wider_than_a_noisy_one)
{
	struct kjoule_calibration cal = { .ticks = 100,
					  .tick_ns = 2000,
					  .tick_error_ns = 400,
					  .handler_ns = 2000,
					  .freq_khz = 1000000,
					  .n_domains = 1,
					  .irq_uw = { 2e6 },
					  .irq_error_uw = { 0.02e6 } };
	struct json_object *doc, *row;
	double width[2], time[2];

	for (int none = 0; none < 2; none++) {
		if (none)
			cal.ticks = 0;
		put_calibration(&cal);
		record_plain("none");
		assert_int_equal(kjoule("report -v %s", temp_path("none")), 0);
		assert_int_equal(says(out, "there was no calibration, and the intervals are wider for it"), none);
		doc = kjoule_json(0, "report --json %s", temp_path("none"));
		row = json_object_array_get_idx(member(doc, "rows"), 0);
		width[none] =
			number(row, "energy_hi_package_j") - number(row, "energy_lo_package_j");
		time[none] = number(row, "time_hi_s") - number(row, "time_lo_s");
	}
	assert_true(width[1] > width[0] && time[1] >= time[0]);
}

/* The same of other interrupts, and of what is not known of them. */
TEST(noisy_other_interrupts_are_told)
{
	static const struct {
		double part, error;
		const char *says;
	} with[] = {
		{ 0.015, 0.0004, "other interrupts 1.5 %" },
		{ 0.015, 0.004, "other interrupts 1.5 %" },
		{ 0, 0.02, "what other interrupts took is not known, at most 4.0 %" },
		{ 0, 0.0004, NULL },
		/* more than a fifth, and what no calibration can have found */
		{ 0.3, 0.01, "what other interrupts took is not known, at most 32.0 %" },
		{ 0.01, -7, "other interrupts 1 %" },
		{ -0.5, 0.01, "what other interrupts took is not known, at most 52.0 %" },
	};
	static const double told[] = { 0.0008, 0.008, 0.04, 0.0008, 0.32, 0, 0.52 };
	struct kjoule_calibration cal = { .ticks = 100,
					  .tick_ns = 3000,
					  .tick_error_ns = 30,
					  .handler_ns = 2000,
					  .entry_ns = 1000,
					  .freq_khz = 1000000,
					  .n_domains = 2,
					  .source = { 0, 1 },
					  .irq_uw = { 2e6, 2e6 } };
	double width[7], joule[7];

	for (int i = 0; i < 7; i++) {
		struct json_object *doc, *row;

		cal.other_part = with[i].part;
		cal.other_error = with[i].error;
		put_calibration(&cal);
		record_plain("others");
		assert_int_equal(kjoule("report -v %s", temp_path("others")), 0);
		if (with[i].says)
			assert_true(says(out, with[i].says));
		else
			assert_null(strstr(out, "what other interrupts"));
		assert_int_equal(says(out, "the calibration was noisy: what other interrupts took is known to 0.8 %"),
				 i == 1);
		doc = kjoule_json(0, "report --json %s", temp_path("others"));
		assert_true(
			near(number(member(doc, "cost"), "other_interrupts_error"), told[i], 1e-9));
		row = find_row(doc, "function", "/nonexistent/program");
		width[i] = number(row, "time_hi_s") - number(row, "time_lo_s");
		joule[i] = number(row, "energy_hi_package_j") - number(row, "energy_lo_package_j");
	}
	/* at 2 W */
	assert_true(joule[2] > 0.99 * 2 * 2 * 0.02 * 0.2 * 2 &&
		    joule[2] < joule[3] + 2.2 * 2 * 0.02 * 0.2 * 2);
	/* two standard errors of a fifth of a second, both ways */
	assert_true(width[1] > 0.99 * 2 * 2 * 0.004 * 0.2 &&
		    width[1] < 1.2 * width[0] + 2 * 2 * 0.004 * 0.2);
	assert_true(width[2] > 0.99 * 2 * 2 * 0.02 * 0.2);
	assert_true(width[3] < width[1]);
}

/* A report has eight columns of energy; what more there is does not vanish without a word. */
TEST(domains_without_a_column_are_named)
{
	static struct kjoule_meta meta;
	struct kjoule_source_info *src = &meta.session.sources[0];
	struct buffer b = { 0 };
	struct json_object *doc, *list;

	make_meta(&meta, 1, MS, KJOULE_TARGET_SYSTEM);
	src->n_domains = 9;
	for (uint32_t d = 0; d < 9; d++) {
		src->domains[d] = (struct kjoule_domain_info){ .index = d, .parent = -1 };
		snprintf(src->domains[d].name, sizeof(src->domains[d].name), "rail%u", d);
	}
	add_source(&meta, "hwmon:board/power1", KJOULE_KIND_GAUGE, KJOULE_QUANTITY_POWER, "board");
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 200; k++) {
		uint64_t uj[9];

		for (int d = 0; d < 9; d++)
			uj[d] = k * 1000;
		if (k % 10 == 0)
			put_energy(&b, k, 0x1ff, uj);
		put_sample(&b, k, 0x10001000, 0, 1000000, 0);
	}
	write_recording(temp_path("rails"), &meta, &b, 1, "/nonexistent/program", 200);
	/* one of nine, and one that was never read */
	doc = report_json("--raw --source test,hwmon:board/power1", "rails");
	assert_int_equal(json_object_array_length(member(member(doc, "energy"), "domains")), 8);
	list = member(member(doc, "energy"), "left_out");
	assert_int_equal(json_object_array_length(list), 2);
	assert_string_equal(text_of(json_object_array_get_idx(list, 0), "name"), "rail8");
	assert_string_equal(text_of(json_object_array_get_idx(list, 1), "source"),
			    "hwmon:board/power1");
	assert_int_equal(kjoule("report -v %s", temp_path("rails")), 0);
	assert_true(says(out, "# energy left out rail8: source test\n"));
	record_plain("plain");
	doc = report_json("--raw", "plain");
	assert_int_equal(json_object_array_length(member(member(doc, "energy"), "left_out")), 0);
}

/* Gaps that are too long to tell whose they were leave the figures too low: how far is said. */
TEST(what_is_nobody_s_is_told)
{
	static const enum kjoule_target_kind whom[] = { KJOULE_TARGET_PROCESS,
							KJOULE_TARGET_SYSTEM };
	struct kjoule_gap offline = { .rec = { KJOULE_RECORD_GAP, KJOULE_GAP_OFFLINE,
					       sizeof(offline) },
				      .tick = 300,
				      .count = 40 };
	static struct kjoule_meta meta;

	for (int length = 16; length <= 50; length += 34) {
		for (int i = 0; i < 2; i++) {
			struct buffer b = { 0 };
			struct json_object *doc;
			bool nobody_s = length > 16;

			make_meta(&meta, 1, MS, whom[i]);
			put_task(&b, 100, 100);
			for (uint32_t k = 0; k < 500; k++) {
				if (k == 100) {
					put_gap(&b, k, length);
					k += length;
				}
				if (k == 300) {
					put_bytes(&b, &offline, sizeof(offline));
					k += 40;
				}
				put_sample(&b, k, 0x10001000, 0, 0, 0);
			}
			write_recording(temp_path("gap"), &meta, &b, 1, "/nonexistent/program",
					500);
			doc = report_json("--raw", "gap");
			assert_true(near(number(doc, "missed_unattributed"), nobody_s ? length : 0, 0));
			assert_true(near(number(doc, "missed_interpolated"), nobody_s ? 0 : length, 0));
			assert_int_equal(kjoule("report --raw %s", temp_path("gap")), 0);
			/* 500 ticks less 40 and 50, and these */
			assert_int_equal(nobody_s && !i, says(out,
				"\n# missed     50 ticks (0.050 CPU seconds) in gaps of more than 16 are not attributed: up to 10.9 % of all is not in the figures\n"));
			assert_int_equal(nobody_s && !i, strstr(out, "\n# missed") != NULL);
		}
	}
}

TEST(children_that_were_not_followed_are_told)
{
	struct json_object *doc;

	for (int lost = 0; lost <= 7; lost += 7) {
		record_without("orphans", lost);
		assert_int_equal(kjoule("report %s", temp_path("orphans")), 0);
		assert_int_equal(
			strstr(out, "\n# children   7 could not be followed for want of memory") !=
				NULL,
			lost != 0);
		assert_int_equal(strstr(out, "could not be followed") != NULL, lost != 0);
		doc = report_json("--raw", "orphans");
		assert_true(near(number(doc, "children_lost"), lost, 0));
	}
}
