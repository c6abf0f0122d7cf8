// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A part of a recording's time: report --from and --to.
 */
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "analysis/ticks/timeline.h"
#include "lib/base/cpus.h"
#include "lib/base/error.h"
#include "lib/control/control.h"
#include "lib/file/recording.h"
#include "report/report.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define INTERVAL	1000000
#define T0		5000000000ull
#define SEED		77
#define JITTER		700000
#define PROGRAM		"/nonexistent/program"

static void add(struct timeline *tl, struct kjoule_session_info *s)
{
	struct buffer b = { 0 };

	*s = (struct kjoule_session_info){ .t0_ns = T0,
					   .interval_ns = INTERVAL,
					   .jitter_ns = JITTER,
					   .seed = SEED,
					   .n_sources = 1,
					   .sources = { { .n_domains = 1 } } };
	kjoule_cpus_add(&s->cpus, 0);
	tl->session = s;
	put_task(&b, 1, 1);
	for (uint32_t tick = 0; tick < 100; tick++) {
		if (tick == 45) {
			put_gap(&b, 45, 10);
			tick = 54;
			continue;
		}
		if (tick == 70) {
			put_lost(&b, 70, 8, 8);
			tick = 77;
			continue;
		}
		if (tick % 10 == 0)
			put_energy(&b, tick, 1, (uint64_t[]){ 1000 + tick * 5 });
		put_sample(&b, tick, 0x1000 + tick, 0, 0, 10 * tick);
	}
	assert_int_equal(timeline_add(tl, 0, 0, b.data, b.len, UINT64_MAX), 0);
	timeline_finish(tl);
	free(b.data);
}

TEST(a_part_has_what_was_in_it)
{
	struct timeline tl = { 0 };
	struct kjoule_session_info s;
	const struct timeline_cpu *c;
	uint64_t due[100];

	add(&tl, &s);
	for (uint64_t tick = 0; tick < 100; tick++)
		due[tick] = timeline_due(&s, tick);
	timeline_cut(&tl, &s, 30, 75);
	c = tl.cpus;
	/* 30 to 44, 55 to 69 */
	assert_int_equal(c->n_samples, 30);
	for (size_t i = 0; i < c->n_samples; i++) {
		uint64_t was = c->samples[i].ip - 0x1000;

		assert_int_equal(c->samples[i].tick, was - 30);
		assert_true(was >= 30 && was < 75);
		/* jitter is that of the tick as it was */
		assert_int_equal(timeline_due(&s, c->samples[i].tick), due[was]);
		assert_int_equal(timeline_first(&s, due[was]), c->samples[i].tick);
	}
	assert_int_equal(c->n_gaps, 1);
	assert_int_equal(c->gaps[0].first, 15);
	assert_int_equal(c->gaps[0].count, 10);
	/* of eight lost samples it is not known how many were before the end */
	assert_int_equal(c->n_holes, 1);
	assert_false(c->holes[0].known);
	assert_int_equal(tl.end_tick, 45);
	assert_int_equal(c->next_tick, 45);
	/* readings at 30, 40, 60; that of 50 was missed, that of 70 lost */
	assert_int_equal(tl.series[0].n, 3);
	assert_int_equal(tl.series[0].readings[0].tick, 0);
	assert_int_equal(tl.series[0].readings[0].value, 1150);
	assert_int_equal(tl.series[0].readings[2].tick, 30);
	timeline_free(&tl);
}

TEST(parts_of_parts_and_ends_inside_of_gaps)
{
	struct timeline tl = { 0 };
	struct kjoule_session_info s;
	uint64_t due;

	add(&tl, &s);
	due = timeline_due(&s, 52);
	timeline_cut(&tl, &s, 20, 50);
	assert_int_equal(tl.cpus[0].gaps[0].count, 5);
	assert_int_equal(tl.cpus[0].n_holes, 0);
	timeline_cut(&tl, &s, 28, 30);
	assert_int_equal(s.first_tick, 48);
	assert_int_equal(tl.cpus[0].n_samples, 0);
	assert_int_equal(tl.cpus[0].gaps[0].first, 0);
	assert_int_equal(tl.cpus[0].gaps[0].count, 2);
	assert_int_equal(timeline_due(&s, 4), due);
	timeline_free(&tl);
}

/* Readings of blocks: those that were made inside. */
TEST(readings_that_reach_over_an_end_are_left_out)
{
	struct kjoule_session_info s = { .t0_ns = T0, .interval_ns = INTERVAL, .n_sources = 1 };
	struct timeline tl = { .session = &s };
	struct kjoule_vpm_reading r = { .rec = { KJOULE_RECORD_READING, 0, sizeof(r) } };
	struct buffer b = { 0 };

	put_task(&b, 1, 1);
	for (uint32_t tick = 0; tick < 100; tick += 10) {
		put_sample(&b, tick, 0x1000, 0, 0, 0);
		r.tick = r.number = tick + 1;
		r.armed_ns = T0 + tick * INTERVAL;
		r.hit_ns = r.armed_ns + INTERVAL / 2;
		r.stop_ns = r.hit_ns + INTERVAL;
		r.ready_ns = r.hit_ns + 6 * INTERVAL;
		put_bytes(&b, &r, sizeof(r));
	}
	assert_int_equal(timeline_add(&tl, 0, 0, b.data, b.len, UINT64_MAX), 0);
	timeline_finish(&tl);
	assert_int_equal(tl.cpus[0].n_readings, 10);
	/* from the middle of that which begins at 20 to the middle of that which begins at 60 */
	timeline_cut(&tl, &s, 24, 64);
	assert_int_equal(tl.cpus[0].n_readings, 3);
	assert_int_equal(tl.cpus[0].readings[0].number, 31);
	assert_int_equal(tl.cpus[0].readings[2].number, 51);
	timeline_free(&tl);
	free(b.data);
}

/* Ten seconds of the program at 1 W, ten of the kernel at 3 W; the counter moves every 10 ms. */
static int make_recording(void **state)
{
	struct kjoule_meta meta;
	struct buffer b = { 0 };
	uint64_t uj = 0;

	(void)state;
	make_meta(&meta, 1, INTERVAL, KJOULE_TARGET_SYSTEM);
	meta.session.jitter_ns = JITTER;
	meta.session.seed = SEED;
	put_task(&b, 100, 100);
	for (uint32_t tick = 0; tick < 20000; tick++) {
		if (tick % 10 == 0)
			put_energy(&b, tick, 3, (uint64_t[]){ uj, uj / 2 });
		uj += tick < 10000 ? 1000 : 3000;
		put_sample(&b, tick, tick < 10000 ? 0x10001000 : 0xffffffff81000000,
			   tick < 10000 ? 0 : KJOULE_SAMPLE_KERNEL, 1000000, 100);
	}
	write_recording(temp_path("two"), &meta, &b, 1, PROGRAM, 20000);
	return 0;
}

static void report(const char *how, double total_s, double first_s, double second_s)
{
	struct json_object *doc, *row;

	doc = kjoule_json(0, "report --raw --json %s %s", how, temp_path("two"));
	assert_true(near(number(find_row(doc, "total", NULL), "time_s"), total_s, 2e-3));
	row = find_row(doc, "function", PROGRAM);
	assert_true(first_s > 0 ? row && near(number(row, "time_s"), first_s, 2e-3) : !row);
	assert_true(!row || near(number(row, "power_package_w"), 1, 1e-3));
	row = find_row(doc, "function", "[kernel]");
	assert_true(second_s > 0 ? row && near(number(row, "time_s"), second_s, 2e-3) : !row);
	assert_true(!row || near(number(row, "power_package_w"), 3, 1e-3));
	/* nothing is idle for what was left out before */
	assert_null(find_named(doc, "[idle]"));
	assert_true(near(number(doc, "duration_s"), 20, 0.1));
}

TEST(a_report_is_of_the_part)
{
	report("", 20, 10, 10);
	report("--from 2s --to 6500ms", 4.5, 4.5, 0);
	report("--from 8s --to 15s", 7, 2, 5);
	report("--from 12s", 8, 0, 8);
	report("--to 1m", 20, 10, 10);
	assert_int_equal(kjoule("report --from 8s --to 15s %s", temp_path("two")), 0);
	assert_true(says(out, "# shown: 8 s to 15 s of it; "));
	assert_int_equal(kjoule("report -v --from 8s --to 15s %s", temp_path("two")), 0);
	assert_true(says(out, "# shown: 8 s to 15 s of it"));
}

static struct view open_cut(uint64_t from_ms, uint64_t to_ms)
{
	struct kjoule_error why = { "" };
	struct view v;

	assert_int_equal(view_open(temp_path("two"), &v, &why), 0);
	assert_int_equal(view_cut(&v, "two", from_ms * 1000000, to_ms * 1000000, &why), 0);
	return v;
}

/* Samples of a large recording stay in its file, whichever part of them is looked at. */
TEST(a_part_of_a_large_recording_is_read_from_the_file)
{
	static const struct {
		uint64_t from_ms, to_ms;
	} parts[] = { { 0, 4000 }, { 2000, 6500 }, { 9999, 10001 }, { 12000, UINT32_MAX } };
	uint64_t usual = kjoule_recording_keep_most;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct view kept = open_cut(parts[i].from_ms, parts[i].to_ms), left;
		const struct timeline_sample *a, *b;
		struct view_samples *of_kept, *of_left;
		size_t n = 0;

		kjoule_recording_keep_most = 0;
		left = open_cut(parts[i].from_ms, parts[i].to_ms);
		kjoule_recording_keep_most = usual;
		assert_true(left.rec.left_in_file && !kept.rec.left_in_file);
		assert_null(left.tl.cpus[0].samples);
		/* as often as wanted */
		for (int again = 0; again < 2; again++) {
			assert_int_equal(view_samples_open(&kept, 0, &of_kept), 0);
			assert_int_equal(view_samples_open(&left, 0, &of_left), 0);
			for (n = 0; view_samples_next(of_kept, &a) > 0; n++) {
				assert_int_equal(view_samples_next(of_left, &b), 1);
				assert_true(a->tick == b->tick && a->ip == b->ip &&
					    a->late_ns == b->late_ns &&
					    a->freq_khz == b->freq_khz && a->tgid == b->tgid &&
					    a->flags == b->flags);
			}
			assert_int_equal(view_samples_next(of_left, &b), 0);
			view_samples_close(of_kept);
			view_samples_close(of_left);
		}
		assert_int_equal(n, left.tl.end_tick);
		view_close(&kept);
		view_close(&left);
	}
}

/* The report of a part with this tool's own code, as text; the caller frees it. */
static char *report_here(uint64_t from_ns, uint64_t to_ns)
{
	struct attribute_options opt = {
		.format = OUTPUT_JSON, .raw = true, .cut = true, .from_ns = from_ns, .to_ns = to_ns
	};

	begin_to_read();
	assert_int_equal(report_one(temp_path("two"), &opt), 0);
	return end_to_read();
}

TEST(it_has_the_same_report)
{
	uint64_t usual = kjoule_recording_keep_most;
	char *kept = report_here(8000000000ull, 15000000000ull), *left;

	kjoule_recording_keep_most = 0;
	left = report_here(8000000000ull, 15000000000ull);
	/* not that it would be read into memory after all */
	assert_int_equal(kjoule_recording_keep_most, 0);
	kjoule_recording_keep_most = usual;
	assert_true(strlen(kept) > 1000 && !strcmp(kept, left));
}

TEST(a_part_without_a_tick_is_no_report)
{
	assert_int_equal(kjoule("report --from 30s %s", temp_path("two")), 1);
	assert_string_equal(out, "");
	assert_true(says(err, "--from 30 s: the recording has "));
	assert_int_equal(kjoule("report --from 1s --to 1000001us %s", temp_path("two")), 1);
	assert_string_equal(out, "");
	assert_true(says(err, "there is no tick between"));
	assert_int_equal(kjoule("report --from 5s --to 5s %s", temp_path("two")), 2);
	assert_int_equal(kjoule("report --from 5 %s", temp_path("two")), 2);
	assert_int_equal(kjoule("report --from 5s --by region %s", temp_path("two")), 2);
	assert_int_equal(kjoule("report --from 5s %s %s", temp_path("two"), temp_path("two")), 2);
}

int main(void)
{
	return tests_run(make_recording, NULL);
}
