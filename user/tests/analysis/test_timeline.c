// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From records to samples: tick numbers, gaps, losses, readings, skew.
 */
#include <string.h>
#include "analysis/ticks/timeline.h"
#include "lib/control/control.h"
#include "lib/control/ring.h"
#include "lib/file/recording.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

static struct timeline tl;
static struct buffer a, b;		/* records of CPU 0 and of CPU 1 */

/* What the records become, with ticks below @most; they are freed. */
static void make(const struct kjoule_session_info *session, uint32_t package, uint64_t most)
{
	timeline_free(&tl);
	tl = (struct timeline){ .session = session };
	assert_int_equal(timeline_add(&tl, 0, package, a.data, a.len, most), 0);
	if (b.len)
		assert_int_equal(timeline_add(&tl, 1, package, b.data, b.len, most), 0);
	timeline_finish(&tl);
	buffer_free(&a);
	buffer_free(&b);
}

TEST(ticks_go_on_past_32_bits)
{
	put_task(&a, 1, 1);
	put_sample(&a, 5, 0, 0, 0, 0);
	put_sample(&a, 0xfffffff0u, 0, 0, 0, 0);
	put_sample(&a, 3, 0, 0, 0, 0);
	put_gap(&a, 4, 1ull << 33);
	put_sample(&a, 4, 0, 0, 0, 0);
	make(NULL, 0, UINT64_MAX);
	assert_int_equal(tl.cpus[0].n_samples, 4);
	assert_int_equal(tl.cpus[0].samples[0].tick, 5);
	assert_int_equal(tl.cpus[0].samples[1].tick, 0xfffffff0u);
	assert_int_equal(tl.cpus[0].samples[2].tick, 0x100000003ull);
	assert_int_equal(tl.cpus[0].gaps[0].first, 0x100000004ull);
	assert_int_equal(tl.cpus[0].samples[3].tick, 0x100000004ull + (1ull << 33));
	assert_int_equal(tl.end_tick, 0x100000005ull + (1ull << 33));
}

TEST(impossible_ticks_are_left_out)
{
	put_task(&a, 1, 1);
	put_sample(&a, 100, 0, 0, 0, 0);
	put_sample(&a, 99, 0, 0, 0, 0);	/* back in time: would be 2^32 - 1 ticks later */
	put_gap(&a, 101, 1ull << 50);
	put_sample(&a, 102, 0, 0, 0, 0);
	make(NULL, 0, 1000);
	assert_int_equal(tl.disorder, 2);
	assert_int_equal(tl.cpus[0].n_samples, 2);
	assert_int_equal(tl.cpus[0].n_gaps, 0);
}

TEST(samples_have_the_task_before_them)
{
	struct kjoule_lost lost = { .rec = { KJOULE_RECORD_LOST, KJOULE_LOST_IN_FILE,
					     sizeof(lost) } };

	put_sample(&a, 0, 0, 0, 0, 0);
	put_task(&a, 11, 10);
	put_sample(&a, 1, 0, 0, 0, 0);
	put_lost(&a, 2, 5, 3);
	put_sample(&a, 6, 0, 0, 0, 0);
	put_bytes(&a, &lost, sizeof(lost));
	put_sample(&a, 9, 0, 0, 0, 0);
	make(NULL, 0, UINT64_MAX);
	assert_int_equal(tl.cpus[0].samples[0].tgid, TIMELINE_NO_TASK);
	assert_int_equal(tl.cpus[0].samples[1].pid, 11);
	assert_int_equal(tl.cpus[0].samples[1].tgid, 10);
	assert_int_equal(tl.cpus[0].samples[2].tgid, 10);
	/* after a hole in the file it is unknown */
	assert_int_equal(tl.cpus[0].samples[3].tgid, TIMELINE_NO_TASK);
	assert_int_equal(tl.cpus[0].n_holes, 2);
	assert_int_equal(tl.cpus[0].holes[0].from, 2);
	assert_int_equal(tl.cpus[0].holes[0].to, 6);
	assert_int_equal(tl.cpus[0].holes[0].samples, 3);
	assert_true(tl.cpus[0].holes[0].known);
	assert_int_equal(tl.cpus[0].holes[1].from, 6);
	assert_int_equal(tl.cpus[0].holes[1].to, 9);
	assert_false(tl.cpus[0].holes[1].known);
}

TEST(readings_of_a_package_are_put_in_order)
{
	put_energy(&a, 0, 3, (uint64_t[]){ 10, 1 });
	put_energy(&a, 10, 1, (uint64_t[]){ 20 });
	put_energy(&b, 5, 5, (uint64_t[]){ 15, 700 });
	put_energy(&b, 12, 1, (uint64_t[]){ 18 });	/* less than before */
	put_energy(&b, 14, 1, (uint64_t[]){ 30 });
	make(NULL, 4, UINT64_MAX);
	assert_int_equal(tl.n_series, 3);
	assert_int_equal(tl.series[0].n, 4);
	assert_int_equal(tl.series[0].readings[1].tick, 5);
	assert_int_equal(tl.series[0].readings[3].value, 30);
	assert_int_equal(tl.series[1].domain, 1);
	assert_int_equal(tl.series[1].n, 1);
	assert_int_equal(tl.series[2].domain, 2);
	assert_int_equal(tl.series[2].n, 1);
	assert_int_equal(tl.series[2].readings[0].value, 700);
	assert_int_equal(tl.backwards, 1);
}

/* A session of 2 CPUs, 1 kHz from 1 s on, with the sources of make_meta(). */
static struct kjoule_meta session_of_two(void)
{
	struct kjoule_meta meta;

	make_meta(&meta, 2, 1000000, KJOULE_TARGET_SYSTEM);
	return meta;
}

TEST(a_reading_divides_the_ticks_before_it_from_those_after)
{
	struct kjoule_meta meta = session_of_two();

	/* at tick 3, before its sample; then on going idle, and on waking; then at tick 20 */
	put_energy_of(&a, 0, 0, 3, 20000, 1, (uint64_t[]){ 10 });
	put_sample(&a, 3, 0, 0, 0, 20000);
	put_energy_of(&a, 0, 0, 3, 300000, 1, (uint64_t[]){ 20 });
	put_skipped(&a, 4, 16, 1003300000, 1019400000);
	put_energy_of(&a, 0, 0, 19, 400000, 1, (uint64_t[]){ 30 });
	put_energy_of(&a, 0, 0, 20, 10000, 1, (uint64_t[]){ 40 });
	put_sample(&a, 20, 0, 0, 0, 10000);
	/* no sample at this tick: it was not the target, and the reading is late */
	put_energy_of(&b, 0, 0, 25, 700000, 1, (uint64_t[]){ 50 });
	make(&meta.session, 0, 1000);
	assert_int_equal(tl.n_series, 1);
	assert_int_equal(tl.series[0].n, 5);
	assert_int_equal(tl.series[0].readings[0].tick, 3);
	assert_int_equal(tl.series[0].readings[1].tick, 4);
	assert_int_equal(tl.series[0].readings[1].time_ns, 1003300000);
	assert_int_equal(tl.series[0].readings[2].tick, 20);
	assert_int_equal(tl.series[0].readings[2].value, 30);
	assert_int_equal(tl.series[0].readings[3].tick, 20);
	assert_int_equal(tl.series[0].readings[4].tick, 26);
	assert_int_equal(tl.cpus[0].n_skipped, 1);
	assert_int_equal(tl.cpus[0].skipped[0].first, 4);
	assert_int_equal(tl.cpus[0].skipped[0].count, 16);
	assert_int_equal(tl.cpus[0].skipped[0].end_ns, 1019400000);
	assert_int_equal(tl.cpus[0].next_tick, 21);
	/* what lies between ticks is not late */
	assert_int_equal(tl.max_late_ns, 20000);
	assert_int_equal(tl.disorder, 0);
}

TEST(sources_and_scopes_are_kept_apart)
{
	struct kjoule_meta meta = session_of_two();

	put_energy_of(&a, 0, 0, 1, 0, 1, (uint64_t[]){ 10 });
	put_energy_of(&a, 0, 1, 1, 0, 1, (uint64_t[]){ 5 });
	put_energy_of(&a, 0, 0, 2, 0, 3, (uint64_t[]){ 20, 7 });
	put_energy_of(&a, 0, 1, 2, 0, 1, (uint64_t[]){ 6 });
	put_energy_of(&a, 1, 0, 2, 0, 1, (uint64_t[]){ 6 });	/* the frequency source has none */
	put_energy_of(&a, 9, 0, 2, 0, 1, (uint64_t[]){ 6 });	/* there is no such source */
	put_energy_of(&a, 0, 5, 2, 0, 1, (uint64_t[]){ 6 });	/* no such CPU */
	make(&meta.session, 0, 1000);
	assert_int_equal(tl.n_series, 3);
	assert_int_equal(tl.series[0].n, 2);
	assert_int_equal(tl.series[1].scope, 1);
	assert_int_equal(tl.series[1].n, 2);
	assert_int_equal(tl.series[2].domain, 1);
	assert_int_equal(tl.disorder, 3);
	assert_int_equal(tl.backwards, 0);
}

TEST(slow_values_have_their_own_time)
{
	struct kjoule_meta meta = session_of_two();

	meta.session.sources[0].domains[0].quantity = KJOULE_QUANTITY_TEMPERATURE;
	put_sample(&a, 100, 0, 0, 0, 0);
	put_value(&a, 0, 1050000000, 40000);	/* older than the record before it */
	put_sample(&a, 101, 0, 0, 0, 0);
	put_value(&b, 0, 1020500000, 50000);
	put_value(&b, 0, 1020600000, 45000);	/* before the same tick */
	put_value(&b, 0, 1090000001, 30000);	/* temperatures may fall */
	put_value(&b, 0, 900000000, 20000);	/* before the session's first tick */
	make(&meta.session, 0, 1000);
	assert_int_equal(tl.cpus[0].n_samples, 2);
	assert_int_equal(tl.n_series, 1);
	assert_int_equal(tl.series[0].scope, TIMELINE_NO_SCOPE);
	assert_int_equal(tl.series[0].n, 5);
	assert_int_equal(tl.series[0].readings[0].tick, 0);
	assert_int_equal(tl.series[0].readings[1].tick, 21);
	assert_int_equal(tl.series[0].readings[1].value, 50000);
	assert_int_equal(tl.series[0].readings[2].value, 45000);
	assert_int_equal(tl.series[0].readings[3].tick, 50);
	assert_int_equal(tl.series[0].readings[4].tick, 91);
	assert_int_equal(tl.backwards, 0);
}

TEST(offline_ticks_are_separate_from_missed_ones)
{
	struct kjoule_gap gap = { .rec = { KJOULE_RECORD_GAP, KJOULE_GAP_OFFLINE, sizeof(gap) },
				  .tick = 10, .count = 90 };

	put_gap(&a, 5, 2);
	put_bytes(&a, &gap, sizeof(gap));
	put_skipped(&a, 200, 1ull << 40, 0, 1);	/* cannot be */
	make(NULL, 0, 1000);
	assert_int_equal(tl.cpus[0].n_gaps, 2);
	assert_false(tl.cpus[0].gaps[0].offline);
	assert_true(tl.cpus[0].gaps[1].offline);
	assert_int_equal(timeline_away(&tl.cpus[0], false), 90);
	assert_int_equal(tl.disorder, 1);
}

TEST(skew_is_between_cpus_at_one_tick)
{
	for (uint32_t k = 0; k < 10; k++) {
		put_sample(&a, k, 0, 0, 0, 1000 + k);
		if (k != 5)
			put_sample(&b, k, 0, 0, 0, k == 7 ? 4000 : 900);
	}
	/* 200 in all: differences of 10 to 200 us */
	for (uint32_t k = 0; k < 191; k++) {
		put_sample(&a, 30 + k, 0, 0, 0, 0);
		put_sample(&b, 30 + k, 0, 0, 0, 10000 + 1000 * k);
	}
	put_sample(&b, 2000, 0, 0, 0, 900000);	/* alone at its tick */
	make(NULL, 0, UINT64_MAX);
	assert_int_equal(tl.skew_ticks, 200);
	assert_int_equal(tl.max_skew_ns, 200000);
	assert_int_equal(tl.p99_skew_ns, 198000);	/* two of 200 are above */
	assert_int_equal(tl.max_late_ns, 900000);
}

TEST(any_content_ends_without_a_crash)
{
	struct kjoule_meta meta = session_of_two();
	uint64_t seed = 3, v;

	for (int round = 0; round < 3000; round++) {
		for (int i = 0; i < 300; i++) {
			v = rnd(&seed);
			v = (v & ~0xffffffffull) | (v & 15) | (v >> 16 & 0x38) << 16;
			put_bytes(&a, &v, 8);
		}
		make(round % 2 ? &meta.session : NULL, 0, UINT64_MAX);
	}
}

TEST(jitter_is_below_its_limit_and_repeats)
{
	double sum = 0;

	assert_int_equal(kjoule_jitter(1, 2, 0), 0);
	/* as worked out from Documentation/abi/device.rst */
	assert_int_equal(kjoule_jitter(42, 7, 1000000), 382097);
	assert_int_equal(kjoule_jitter(UINT64_MAX, 123456789, 400000), 234730);
	assert_int_equal(kjoule_jitter(0, 1, 3999999999), 374727709);
	for (uint64_t k = 0; k < 100000; k++) {
		uint64_t j = kjoule_jitter(42, k, 1000);

		assert_true(j < 1000);
		assert_int_equal(j, kjoule_jitter(42, k, 1000));
		sum += j;
	}
	assert_in_range((int)(sum / 100000), 490, 509);
}

/* Impossible times, of a forged file. */
TEST(the_end_of_all_times_is_after_all_ticks)
{
	struct kjoule_session_info s = { .t0_ns = 1000, .interval_ns = 1000000, .jitter_ns = 999999,
					 .seed = 7 };
	uint64_t tick;

	for (int jitter = 0; jitter < 2; jitter++) {
		assert_true(timeline_first(&s, UINT64_MAX - 10) == UINT64_MAX);
		assert_true(timeline_first(&s, UINT64_MAX - s.interval_ns) == UINT64_MAX);
		tick = timeline_first(&s, 5000000000ull);
		assert_true(timeline_due(&s, tick) >= 5000000000ull && timeline_due(&s, tick - 1) <
			    5000000000ull);
		assert_int_equal(timeline_first(&s, 0), 0);
		s.jitter_ns = 0;
	}
}
