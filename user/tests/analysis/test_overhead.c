// SPDX-License-Identifier: GPL-2.0-or-later
/* Cost of sampling, the interval that keeps it below a bound, and how report and record show it. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <json-c/json.h>
#include "analysis/profile/overhead.h"
#include "cli/args.h"
#include "record/record.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define MS	1000000ull

/* 100 s of which 40 are idle; 1 s of ticks: what took 59 s took 60. */
TEST(it_is_a_part_of_what_ran)
{
	const struct overhead_cpu cpus[] = {
		{ .cpu = 0, .time_s = 100, .idle_s = 40, .taken_s = 1 },
		{ .cpu = 1, .time_s = 100, .idle_s = 99.95, .taken_s = 0.03 },
		{ .cpu = 2, .time_s = 100, .idle_s = 0, .taken_s = 3 },
		{ .cpu = 3, .time_s = 100, .idle_s = 100, .taken_s = 0 },
	};

	assert_true(near(overhead_part(&cpus[0]), 1 / 59.0, 1e-12));
	assert_true(isnan(overhead_part(&cpus[3])));
	assert_true(near(overhead_all(cpus, 4), 4.03 / (160.05 - 4.03), 1e-9));
	/* the second one was hardly ever busy: its part says nothing */
	assert_int_equal(overhead_most(cpus, 4)->cpu, 2);
	assert_null(overhead_most(&cpus[3], 1));
	assert_true(isnan(overhead_all(NULL, 0)));
}

/* The recorder on a CPU of its own takes nothing; on one that is always busy all its wakeups. */
TEST(who_records_counts_where_others_would_run)
{
	const struct overhead_cpu own = { .time_s = 100, .idle_s = 90, .awake_s = 10 };
	const struct overhead_cpu shared = { .time_s = 100, .taken_s = 2, .awake_s = 8 };
	const struct overhead_cpu half = { .time_s = 100, .idle_s = 45, .awake_s = 10 };
	const struct overhead_cpu both[] = { own, shared };

	assert_true(isnan(overhead_part(&own)));
	assert_null(overhead_most(&own, 1));
	assert_true(near(overhead_all(&shared, 1), 10 / 90.0, 1e-12));
	assert_true(near(overhead_ticks(&shared, 1), 2 / 90.0, 1e-12));
	/* others ran in half of the rest of the time */
	assert_true(near(overhead_all(&half, 1), 10 * 0.5 / 45, 1e-12));
	/* for nine tenths of the time the other CPU was idle */
	assert_true(near(overhead_all(both, 2), (2 + 0.1 * 8) / 90.0, 1e-12));
}

/* Ticks of the chosen interval take the requested part, to a nanosecond; of a shorter one more. */
TEST(the_interval_keeps_the_bound)
{
	uint64_t ns;

	for (double bound = 0.0001; bound <= 0.25; bound *= 1.7) {
		for (double tick = 300; tick < 1e6; tick *= 3.1) {
			assert_int_equal(overhead_interval(tick, bound, 1000, UINT64_MAX, &ns), 0);
			assert_true(tick / (ns - tick) <= bound * (1 + 1e-12));
			assert_true(tick / (ns - 1 - tick) > bound * (1 - 1e-12));
		}
	}
	/* the module has limits */
	assert_int_equal(overhead_interval(1000, 0.25, 50000, MS, &ns), 0);
	assert_int_equal(ns, 50000);
	assert_int_equal(overhead_interval(20000, 0.01, 50000, MS, &ns), -ERANGE);
	assert_int_equal(overhead_interval(NAN, 0.01, 0, MS, &ns), -EINVAL);
	assert_int_equal(overhead_interval(0, 0.01, 0, MS, &ns), -EINVAL);
	assert_int_equal(overhead_interval(1000, 0.3, 0, MS, &ns), -EINVAL);
}

TEST(uncertainty_is_allowed_for)
{
	struct kjoule_calibration cal = { .ticks = 100, .tick_ns = 3000, .tick_error_ns = 30,
					  .handler_spread_ns = 40 };

	assert_true(near(overhead_tick_ns(&cal), 1.25 * 3100, 1e-9));
	cal.handler_spread_ns = NAN;
	assert_true(near(overhead_tick_ns(&cal), 1.25 * 3060, 1e-9));
	cal.ticks = 0;
	assert_true(isnan(overhead_tick_ns(&cal)));
}

TEST(record_chooses_within_its_limits)
{
	const struct kjoule_info info = { .min_interval_ns = 50000, .max_interval_ns = 1000 * MS };
	struct kjoule_calibration cal = { .ticks = 100, .tick_ns = 10000 };
	struct record_options opt = { .verb = "record", .overhead = 0.01 };
	struct kjoule_error why;
	uint64_t ns;

	assert_int_equal(record_bounded_interval(&opt, &cal, &info, &ns, &why), 0);
	/*
	 * 10 us in 1.343 ms: three quarters of the bound, a quarter more, and one part in 126.618
	 * longer
	 */
	assert_int_equal(ns, 1679167 + (uint64_t)(1679167 / 126.618));
	opt.jitter_ns = 2 * MS;
	assert_int_equal(record_bounded_interval(&opt, &cal, &info, &ns, &why), -ERANGE);
	assert_true(says(why.text, "--jitter of 2000.000 us must be less than the interval, which --overhead 1 % makes 1692.428 us"));
	opt.jitter_ns = 0;
	opt.overhead = 1e-6;
	assert_int_equal(record_bounded_interval(&opt, &cal, &info, &ns, &why), -ERANGE);
	assert_true(says(why.text, "a tick takes 12.50 us here, so there could be one each 16.6667 s; the module takes an interval of 1 s at most: allow 0.00168 % or more"));
	/* what it advises is taken */
	opt.overhead = 0.0000169;
	assert_int_equal(record_bounded_interval(&opt, &cal, &info, &ns, &why), 0);
	cal.ticks = 0;
	assert_int_equal(record_bounded_interval(&opt, &cal, &info, &ns, &why), -ERANGE);
	assert_true(says(why.text, "what a tick takes is not known"));
}

/* A quarter of the bound is the recorder's: it sleeps to keep its wakeups within that. */
TEST(the_recorder_keeps_its_part)
{
	struct record_options opt = { .overhead = 0.01 };

	/* two CPUs: 5 ms a second */
	assert_int_equal(record_bounded_sleep(&opt, 2, 0.002, 0.1, 200, 2000), 300);
	assert_int_equal(record_bounded_sleep(&opt, 2, 0.004, 10, 200, 2000), 200);
	assert_int_equal(record_bounded_sleep(&opt, 2, 0.050, 0.1, 200, 2000), 2000);
	opt.overhead = 0;
	assert_int_equal(record_bounded_sleep(&opt, 2, 0.050, 0.1, 200, 2000), 200);
}

TEST(contradictions_are_refused)
{
	static const struct {
		const char *options, *words;
	} cases[] = {
		{ "--overhead 1% -i 1ms", "'--overhead' and '--interval' cannot be used together" },
		{ "-F 100 --overhead 1", "'--overhead' and '--rate' cannot be used together" },
		{ "--overhead 1% --edge", "'--overhead' and '--edge' cannot be used together" },
		{ "--overhead 1% --vpm f", "'--overhead' and '--vpm' cannot be used together" },
		{ "--overhead 1% --no-calibrate",
		  "'--overhead' and '--no-calibrate' cannot be used together" },
		{ "--overhead 0", "out of range" },
		{ "--overhead 26%", "up to 25 % of the time" },
		{ "--overhead 1W", "not understood" },
		{ "--overhead ''", "not understood" },
		{ "--overhead -1", "not understood" },
	};
	double percent;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(kjoule("record %s -- true", cases[i].options), 2);
		assert_true(says(err, cases[i].words));
		assert_int_equal(out[0], 0);
	}
	assert_int_equal(args_percent("0.5%", &percent), 0);
	assert_true(percent == 0.5);
	assert_int_equal(args_percent("%", &percent), -EINVAL);
	assert_int_equal(args_percent("1%%", &percent), -EINVAL);
}

/* 200 ms at 1 kHz, ticks of 5 us, 2 of which they see themselves (so in write_recording()). */
static void write_one(const char *name, uint32_t ppm, double tick_ns, unsigned int awake_ms)
{
	struct kjoule_calibration cal = { .ticks = 100, .tick_ns = tick_ns, .handler_ns = 2000,
					  .entry_ns = tick_ns - 2000, .freq_khz = 1000000,
					  .handler_spread_ns = 1e9 };
	static struct kjoule_meta meta;
	struct buffer b = { 0 };

	make_meta(&meta, 1, MS, KJOULE_TARGET_SYSTEM);
	meta.overhead_ppm = ppm;
	put_task(&b, 100, 100);
	for (uint32_t k = 0; k < 200; k++) {
		if (k % 10 == 0)
			put_energy(&b, k, 3, (uint64_t[]){ k * 1000, k * 500 });
		put_sample(&b, k, 0x10001000, 0, 1000000, 0);
	}
	put_calibration(&cal);
	if (awake_ms)
		put_wakeup(0, 1000 * MS, (1000 + awake_ms) * MS);
	write_recording(temp_path(name), &meta, &b, 1, "/nonexistent/program", 200);
}

static struct json_object *overhead_in(const char *name)
{
	return member(report_json("", name), "overhead");
}

TEST(a_report_prints_it_with_the_bound)
{
	struct json_object *o;

	write_one("met", 10000, 5000, 0);
	o = overhead_in("met");
	assert_true(near(number(o, "part"), 5.0 / 995, 1e-5));
	assert_true(near(number(o, "requested_part"), 0.01, 1e-12));
	assert_true(json_object_get_boolean(member(o, "met")));
	assert_int_equal(kjoule("report -v %s", temp_path("met")), 0);
	assert_true(says(out, "# overhead   part 0.50251 %, ticks 0.50251 %, requested 1 %, met\n"));
	write_one("missed", 1000, 5000, 0);
	o = overhead_in("missed");
	assert_false(json_object_get_boolean(member(o, "met")));
	assert_int_equal(kjoule("report -v %s", temp_path("missed")), 0);
	assert_true(says(out, "record was asked for 0.1 % at most, which was missed"));
	/* 10 ms of the recorder on the only CPU */
	write_one("shared", 10000, 5000, 10);
	o = overhead_in("shared");
	assert_true(near(number(json_object_array_get_idx(member(o, "cpus"), 0),
				"recorder_awake_s"), 0.01, 1e-9));
	assert_true(near(number(o, "part"), 11 / 189.0, 1e-4) &&
		    near(number(o, "ticks_part"), 1 / 189.0, 1e-4));
	assert_false(json_object_get_boolean(member(o, "met")));
	assert_int_equal(kjoule("report -v %s", temp_path("shared")), 0);
	assert_true(says(out, "kjoule slowed the run by 5.8 %"));
	assert_true(says(out, "recorder awake 10 ms"));
	assert_true(says(out, "which was missed: the recorder had to share the program's CPUs"));
	write_one("free", 0, 5000, 0);
	o = overhead_in("free");
	assert_null(member(o, "requested"));
	assert_null(member(o, "met"));
	assert_int_equal(kjoule("report -v %s", temp_path("free")), 0);
	assert_null(strstr(out, "was asked for"));
	/* without costs none is reported */
	assert_int_equal(kjoule("report -v --raw %s", temp_path("met")), 0);
	assert_null(strstr(out, "# overhead"));
}
