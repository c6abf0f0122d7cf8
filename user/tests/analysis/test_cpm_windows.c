// SPDX-License-Identifier: GPL-2.0-or-later
/* Co-running sets and their windows, compared with counting tick by tick. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/cpm/cpm.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define STREAMS	12
#define BLOCKS	6
#define TICKS	4000
#define NOTHING	UINT32_MAX

/* What runs on a CPU at each tick. */
struct truth {
	uint32_t block[STREAMS][TICKS];
	bool interpolated[STREAMS][TICKS];
};

/*
 * Runs of all lengths, with and without unsampled ticks between them; some idle, some interpolated.
 */
static void make_stream(struct tick_stream *l, struct truth *t, size_t i, uint64_t *seed)
{
	for (uint64_t tick = 0; tick < TICKS;) {
		uint64_t dice = rnd(seed), n = dice & 1 ? 1 : 1 + (dice >> 1) % 20;
		struct cpm_tick entry = { .tick = tick, .block = (dice >> 20) % BLOCKS,
					  .interpolated = (dice >> 30) % 8 == 0 };

		n = n < TICKS - tick ? n : TICKS - tick;
		entry.more = n - 1;
		if ((dice >> 40) % 5) {
			assert_int_equal(tick_stream_put(l, &entry, 0), 0);
			for (uint64_t k = tick; k < tick + n; k++) {
				t->block[i][k] = entry.block;
				t->interpolated[i][k] = entry.interpolated;
			}
		}
		tick += n;
	}
	assert_int_equal(tick_stream_seal(l), 0);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The blocks that run at a tick and count, in order. Return: how many */
static size_t run_at(const struct truth *t, size_t streams, const uint8_t *kinds, uint64_t tick,
		     uint32_t *blocks, bool *interpolated)
{
	size_t n = 0;

	*interpolated = false;
	for (size_t i = 0; i < streams; i++) {
		uint32_t block = t->block[i][tick];

		if (block == NOTHING || kinds[block] == CPM_IDLE)
			continue;
		blocks[n++] = block;
		*interpolated |= t->interpolated[i][tick];
	}
	qsort(blocks, n, sizeof(*blocks), by_number);
	return n;
}

static void check_events(size_t streams, uint64_t seed)
{
	static const uint8_t kinds[BLOCKS] = { CPM_BUSY, CPM_BUSY, CPM_IDLE, CPM_BUSY, CPM_MARGINAL,
					       CPM_BUSY };
	struct truth *t = calloc(1, sizeof(*t));
	struct tick_stream packed[STREAMS] = { { 0 } };
	struct cpm_stream all[STREAMS] = { { 0 } };
	struct cpm_vectors v;
	struct cpm_events e;
	uint64_t tick = 0, unsampled = 0, busy = 0;

	memset(t->block, 0xff, sizeof(t->block));
	for (size_t i = 0; i < streams; i++) {
		make_stream(&packed[i], t, i, &seed);
		all[i].packed = &packed[i];
	}
	assert_int_equal(cpm_vectors_new(all, streams, kinds, &v), 0);
	assert_int_equal(cpm_events_begin(&v, &e), 0);
	while (cpm_events_next(&e)) {
		uint32_t blocks[STREAMS];
		bool interpolated;

		for (; tick < e.tick; tick++, unsampled++)
			assert_int_equal(run_at(t, streams, kinds, tick, blocks, &interpolated), 0);
		for (; tick < e.tick + e.count; tick++, busy++) {
			size_t n = run_at(t, streams, kinds, tick, blocks, &interpolated);

			assert_true(n > 0);
			assert_int_equal(v.first[e.vector + 1] - v.first[e.vector], n);
			assert_memory_equal(v.members + v.first[e.vector], blocks,
					    n * sizeof(*blocks));
			assert_int_equal(e.interpolated, interpolated);
		}
	}
	assert_int_equal(v.ticks, busy);
	assert_true(streams > 3 || unsampled > 10);
	assert_true(busy > TICKS / 3);
	cpm_events_end(&e);
	cpm_vectors_free(&v);
	for (size_t i = 0; i < streams; i++)
		tick_stream_free(&packed[i]);
	free(t);
}

TEST(events_are_what_runs_at_each_tick)
{
	static const size_t streams[] = { 1, 2, 3, 8, 9, STREAMS };

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		check_events(streams[i], 20 + i);
}

#define MANY	80000		/* blocks, and so vectors */
#define RUNS	120000
#define WINDOWS	400

/* Vectors by numbers of up to three bytes, counts from a tick to days, in each window. */
TEST(windows_have_what_ran_in_them)
{
	static const uint32_t lengths[] = { 1, 2, 200, 256, 257, 300, 65536, 65537, 70000,
					    1u << 29 };
	uint8_t *kinds = calloc(MANY, 1);
	uint64_t *counts = calloc(MANY + 2, sizeof(*counts)), seed = 3, next = 0;
	struct cpm_reading readings[WINDOWS];
	struct tick_stream packed = { 0 };
	struct cpm_stream stream = { .packed = &packed };
	struct cpm_vectors v;
	struct cpm_domain d;
	struct cpm_windows c;
	struct cpm_events e;
	bool more;

	for (size_t i = 0; i < RUNS; i++) {
		uint32_t n = rnd(&seed) % 50 ?
			     1 : lengths[rnd(&seed) % (sizeof(lengths) / sizeof(lengths[0]))];
		struct cpm_tick entry = { .tick = next, .block = i < MANY ? i : rnd(&seed) % MANY,
					  .more = n - 1 };

		if (i % (RUNS / WINDOWS) == 150)
			readings[i / (RUNS / WINDOWS)] =
				(struct cpm_reading){ next + n / 2, i * 1000 };
		assert_int_equal(tick_stream_put(&packed, &entry, 0), 0);
		next += n + (i % 77 == 5 ? 3 : 0);
	}
	assert_int_equal(tick_stream_seal(&packed), 0);
	assert_int_equal(cpm_vectors_new(&stream, 1, kinds, &v), 0);
	assert_int_equal(v.n_vectors, MANY + 1);
	assert_int_equal(cpm_solve(&v, readings, WINDOWS, next, 1, NULL, NULL, NAN, &d), 0);
	assert_int_equal(cpm_windows_begin(&d, &c), 0);
	assert_int_equal(cpm_events_begin(&v, &e), 0);
	more = cpm_events_next(&e);
	while (cpm_windows_next(&c)) {
		uint64_t unsampled = c.w.to - c.w.from;

		memset(counts, 0, (MANY + 2) * sizeof(*counts));
		while (more && e.tick < c.w.to) {
			uint64_t to = e.tick + e.count < c.w.to ? e.tick + e.count : c.w.to;

			counts[e.vector] += to - e.tick;
			unsampled -= to - e.tick;
			e.count -= to - e.tick;
			e.tick = to;
			if (!e.count)
				more = cpm_events_next(&e);
		}
		counts[CPM_UNSAMPLED] = unsampled;
		for (size_t p = 0; p < c.w.n_parts; p++) {
			assert_int_equal(c.w.parts[p].count, counts[c.w.parts[p].vector]);
			assert_true(c.w.parts[p].count > 0);
			counts[c.w.parts[p].vector] = 0;
		}
		for (uint32_t k = 0; k < v.n_vectors; k++)
			assert_int_equal(counts[k], 0);
		if (c.number < WINDOWS)
			assert_int_equal(c.w.to, readings[c.number].tick);
		if (c.number > 1 && c.number < WINDOWS)
			assert_true(c.w.known && c.w.uj == readings[c.number].uj -
				    readings[c.number - 1].uj);
	}
	assert_false(more);
	assert_int_equal(c.number, WINDOWS);
	assert_int_equal(c.w.to, next);
	cpm_events_end(&e);
	cpm_windows_end(&c);
	cpm_domain_free(&d);
	cpm_vectors_free(&v);
	tick_stream_free(&packed);
	free(kinds);
	free(counts);
}
