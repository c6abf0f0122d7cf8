// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording whose records are left in the file is the same as one whose records are in memory:
 * its timeline, samples and blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "attribute/blocks.h"
#include "recording/view.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define TICKS	20000
#define CPUS	3

/* CPUs with all kinds of events: gaps, losses, idle times, other tasks, delays of all sorts. */
static void make_stream(struct buffer *b, uint32_t cpu)
{
	uint64_t seed = 100 + cpu, uj[2] = { 0, 0 };
	uint32_t switched = 0;

	/* CPU 1 meets 400 before CPU 0 does, and before CPU 0 meets 500 */
	put_task(b, cpu == 1 ? 400 : 100, cpu == 1 ? 400 : 100);
	for (uint32_t k = cpu; k < TICKS; k++) {
		uint64_t dice = rnd(&seed);

		if (!cpu && k % 10 == 0) {
			uj[0] += 9000 + dice % 2000;
			uj[1] += 4000;
			put_energy(b, k, 3, uj);
		}
		if (!cpu && switched < 2 && k >= 3000 * (switched + 1)) {
			put_task(b, 500 - 100 * switched, 500 - 100 * switched);
			put_sample(b, k, 0x10001000, 0, 1000000, 1);
			switched++;
			continue;
		}
		if (dice % 400 == 1)
			put_task(b, dice >> 20 & 1 ? 100 + cpu : 300, dice >> 20 & 1 ? 100 : 300);
		if (dice % 300 == 2) {
			put_gap(b, k, 1 + dice / 300 % 40);
			k += dice / 300 % 40;
			continue;
		}
		if (dice % 500 == 3) {
			put_lost(b, k, 4, 3);
			k += 3;
			continue;
		}
		if (dice % 500 == 4) {
			put_skipped(b, k, 6, 1000000000ull + k * 1000000ull,
				    1000000000ull + (k + 6) * 1000000ull);
			k += 5;
			continue;
		}
		put_sample(b, k, dice >> 30 & 7 ? 0x10001000 + (dice >> 33) % 4096 :
			   0xffffffff81000000 + (dice >> 40), dice >> 30 & 7 ?
			   0 : KJOULE_SAMPLE_KERNEL, dice >> 34 & 3 ? 1000000 + (dice >> 36) % 5 :
			   0, dice >> 40 & 63 ? (dice >> 46) % 3000 : (dice >> 46) % 900000);
	}
}

static const char *record(uint32_t target)
{
	struct buffer streams[CPUS] = { { 0 } };
	struct kjoule_meta meta;

	make_meta(&meta, CPUS, 1000000, target);
	meta.session.jitter_ns = 300000;
	for (uint32_t i = 0; i < CPUS; i++)
		make_stream(&streams[i], i);
	for (int i = 0; i < 50; i++)
		put_wakeup(i % CPUS, 1000000000ull + i * 300000000ull,
			   1000000000ull + i * 300000000ull + 5000000);
	write_recording(temp_path("records"), &meta, streams, CPUS, "/nonexistent/program", TICKS);
	return temp_path("records");
}

static void open_both(const char *path, struct view *kept, struct view *left)
{
	struct kjoule_error err = { "" };

	assert_int_equal(view_open(path, kept, &err), 0);
	kjoule_recording_keep_most = 0;
	assert_int_equal(view_open(path, left, &err), 0);
	kjoule_recording_keep_most = 4u << 20;
	assert_false(kept->rec.left_in_file);
	assert_true(left->rec.left_in_file);
	assert_null(left->rec.streams[0].records);
	assert_non_null(left->load);
}

/* The same, the timeline of what is left in the file made already. */
static void load_both(const char *path, struct view *kept, struct view *left)
{
	open_both(path, kept, left);
	assert_int_equal(view_load(left), 0);
	assert_null(left->load);
}

#define SAME(array, n)	do { \
	assert_int_equal(a->n, b->n); \
	if (a->n) \
		assert_memory_equal(a->array, b->array, a->n * sizeof(*a->array)); \
} while (0)

static void same_cpu(const struct timeline_cpu *a, const struct timeline_cpu *b)
{
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->next_tick, b->next_tick);
	SAME(gaps, n_gaps);
	SAME(skipped, n_skipped);
	SAME(holes, n_holes);
	assert_int_equal(a->clocked, b->clocked);
	assert_true(a->slowness == b->slowness && a->slowness > 0);
	assert_true(a->n_samples && !b->n_samples);
}

static void same_samples(const struct view *kept, const struct view *left)
{
	for (size_t c = 0; c < kept->tl.n_cpus; c++) {
		const struct timeline_sample *x, *y;
		struct view_samples *a, *b;
		int ret;

		assert_int_equal(view_samples_open(kept, c, &a), 0);
		assert_int_equal(view_samples_open(left, c, &b), 0);
		while ((ret = view_samples_next(a, &x)) > 0) {
			assert_int_equal(view_samples_next(b, &y), 1);
			assert_memory_equal(x, y, sizeof(*x));
		}
		assert_int_equal(ret, 0);
		assert_int_equal(view_samples_next(b, &y), 0);
		view_samples_close(a);
		view_samples_close(b);
	}
}

static void same_series(const struct timeline *tl, const struct timeline *other)
{
	assert_int_equal(tl->n_series, other->n_series);
	for (size_t i = 0; i < tl->n_series; i++) {
		const struct timeline_series *a = &tl->series[i], *b = &other->series[i];

		SAME(readings, n);
	}
}

static void same_blocks(struct view *kept, struct view *left)
{
	struct blocks a, b;

	assert_int_equal(blocks_new(kept, NULL, false, &a), 0);
	assert_int_equal(blocks_new(left, NULL, false, &b), 0);
	assert_int_equal(a.n_functions, b.n_functions);
	assert_int_equal(a.n_processes, b.n_processes);
	assert_int_equal(a.filled, b.filled);
	assert_int_equal(a.interpolated, b.interpolated);
	assert_int_equal(a.input.n_streams, b.input.n_streams);
	for (size_t f = 0; f < a.n_functions; f++) {
		assert_int_equal(a.functions[f].samples, b.functions[f].samples);
		assert_int_equal(a.functions[f].precise, b.functions[f].precise);
		assert_string_equal(a.functions[f].symbol, b.functions[f].symbol);
		assert_string_equal(a.functions[f].object, b.functions[f].object);
		assert_int_equal(a.functions[f].process, b.functions[f].process);
		assert_int_equal(a.kinds[f], b.kinds[f]);
	}
	for (size_t p = 0; p < a.n_processes; p++) {
		assert_int_equal(a.processes[p].pid, b.processes[p].pid);
		assert_string_equal(a.processes[p].comm, b.processes[p].comm);
	}
	for (size_t l = 0; l < a.input.n_streams; l++) {
		struct tick_stream_cursor x, y;

		assert_true(a.streams[l].usual_khz == b.streams[l].usual_khz);
		tick_stream_begin(&x, &a.streams[l].stream, a.streams[l].freq_khz);
		tick_stream_begin(&y, &b.streams[l].stream, b.streams[l].freq_khz);
		while (tick_stream_next(&x)) {
			assert_true(tick_stream_next(&y));
			assert_memory_equal(&x.t, &y.t, sizeof(x.t));
			assert_int_equal(x.value, y.value);
		}
		assert_false(tick_stream_next(&y));
	}
	assert_int_equal(a.input.n_packages, b.input.n_packages);
	for (size_t p = 0; p < a.input.n_packages; p++) {
		const struct profile_package *x = &a.input.packages[p], *y = &b.input.packages[p];

		assert_int_equal(x->n_readings[0], y->n_readings[0]);
		assert_true(x->n_readings[0] > 100);
		assert_memory_equal(x->readings[0], y->readings[0],
				    x->n_readings[0] * sizeof(*x->readings[0]));
	}
	blocks_free(&a);
	blocks_free(&b);
}

static void same_timelines(const struct view *kept, const struct view *left)
{
	assert_int_equal(kept->tl.n_cpus, CPUS);
	assert_int_equal(left->tl.n_cpus, CPUS);
	for (size_t c = 0; c < CPUS; c++) {
		same_cpu(&kept->tl.cpus[c], &left->tl.cpus[c]);
		assert_int_equal(kept->rec.streams[c].len, left->rec.streams[c].len);
	}
	assert_int_equal(kept->tl.end_tick, left->tl.end_tick);
	assert_int_equal(kept->tl.max_late_ns, left->tl.max_late_ns);
	assert_true(kept->tl.skew_ticks > TICKS / 2 && kept->tl.max_skew_ns > 100000);
	assert_int_equal(kept->tl.skew_ticks, left->tl.skew_ticks);
	assert_int_equal(kept->tl.max_skew_ns, left->tl.max_skew_ns);
	assert_int_equal(kept->tl.p99_skew_ns, left->tl.p99_skew_ns);
}

TEST(left_in_the_file_or_in_memory)
{
	static const uint32_t targets[] = { KJOULE_TARGET_PROCESS, KJOULE_TARGET_SYSTEM };
	struct view kept, left;

	for (int i = 0; i < 2; i++) {
		load_both(record(targets[i]), &kept, &left);
		same_timelines(&kept, &left);
		same_series(&kept.tl, &left.tl);
		same_samples(&kept, &left);
		same_blocks(&kept, &left);
		view_close(&kept);
		view_close(&left);
	}
}

/*
 * The blocks come with the timeline, from all CPUs in turns, and have the numbers that they have
 * CPU by CPU.
 */
TEST(gone_through_once)
{
	static const uint32_t targets[] = { KJOULE_TARGET_PROCESS, KJOULE_TARGET_SYSTEM };
	struct view kept, left;

	for (int i = 0; i < 2; i++) {
		open_both(record(targets[i]), &kept, &left);
		assert_int_equal(left.tl.cpus[0].next_tick, 0);
		same_blocks(&kept, &left);
		assert_null(left.load);
		same_timelines(&kept, &left);
		same_samples(&kept, &left);
		view_close(&kept);
		view_close(&left);
	}
}

TEST(damage_is_a_hole_all_the_same)
{
	struct view kept, left;
	size_t len;
	uint8_t *data;

	record(KJOULE_TARGET_PROCESS);
	data = read_file(temp_path("records"), &len);
	data[len / 2] ^= 0x55;
	write_file(temp_path("records"), data, len);
	free(data);
	for (int once = 0; once < 2; once++) {
		(once ? open_both : load_both)(temp_path("records"), &kept, &left);
		assert_true(kept.rec.damage.chunks && left.rec.damage.chunks);
		same_blocks(&kept, &left);
		for (size_t c = 0; c < CPUS; c++) {
			same_cpu(&kept.tl.cpus[c], &left.tl.cpus[c]);
			assert_true(left.tl.cpus[c].n_holes);
		}
		same_samples(&kept, &left);
		view_close(&kept);
		view_close(&left);
	}
}

TEST(a_file_that_changes_meanwhile_is_refused)
{
	const struct timeline_sample *s;
	struct view_samples *samples;
	struct view kept, left;
	size_t n = 0;
	int ret;

	open_both(record(KJOULE_TARGET_PROCESS), &kept, &left);
	assert_int_equal(truncate(temp_path("records"), 20000), 0);
	assert_int_equal(view_samples_open(&left, 1, &samples), 0);
	while ((ret = view_samples_next(samples, &s)) > 0)
		n++;
	assert_int_equal(ret, -ESTALE);
	assert_true(n < TICKS / 2);
	view_samples_close(samples);
	view_close(&kept);
	view_close(&left);
}
