// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks that were packed are what they were.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/ticks/tick_stream.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define N	200000

struct entry {
	struct cpm_tick t;
	uint32_t value;
};

/* All that an entry can be: large and small, of each kind, with gaps before it. */
static struct entry make_entry(uint64_t *state, uint64_t next)
{
	static const uint32_t blocks[] = { 200, 40000, 9000000, UINT32_MAX - 5 },
		values[] = { 3, 2600, 3000000, UINT32_MAX };
	struct entry e = { .t = { .tick = next } };
	uint64_t dice = rnd(state);

	e.t.block = rnd(state) % blocks[dice & 3];
	e.value = dice >> 2 & 1 ? 2600000 : rnd(state) % values[dice >> 3 & 3];
	if (dice >> 5 & 1)
		e.t.block = dice >> 6 & 3;
	if ((dice >> 8 & 15) == 0)
		e.t.tick += 1 + rnd(state) % (dice >> 12 & 1 ? 3 : 1ull << 40);
	if ((dice >> 16 & 7) == 0)
		e.t.more = rnd(state) % (dice >> 19 & 1 ? 40 : CPM_MORE_MOST + 1ull);
	e.t.interpolated = (dice >> 24 & 15) == 0;
	e.t.skipped = (dice >> 28 & 15) == 0;
	return e;
}

TEST(what_is_packed_comes_out_again)
{
	struct entry *all = calloc(N, sizeof(*all));
	struct tick_stream packed = { 0 };
	struct cpm_stream stream = { .packed = &packed };
	struct tick_stream_cursor c;
	uint64_t seed = 5, next = 0;
	size_t i = 0;

	for (size_t k = 0; k < N; k++) {
		all[k] = make_entry(&seed, next);
		next = all[k].t.tick + all[k].t.more + 1;
		assert_int_equal(tick_stream_put(&packed, &all[k].t, all[k].value), 0);
	}
	assert_int_equal(tick_stream_seal(&packed), 0);
	for (int again = 0; again < 2; again++) {
		tick_stream_begin(&c, &stream, NULL);
		for (i = 0; tick_stream_next(&c); i++) {
			uint32_t more = 0;

			assert_true(i < N);
			assert_int_equal(c.t.tick, all[i].t.tick);
			assert_int_equal(c.t.block, all[i].t.block);
			assert_int_equal(c.t.interpolated, all[i].t.interpolated);
			assert_int_equal(c.t.skipped, all[i].t.skipped);
			assert_int_equal(c.value, all[i].value);
			/* samples that are alike are one */
			for (more = all[i].t.more; more < c.t.more; more++, i++) {
				assert_int_equal(all[i + 1].t.block, c.t.block);
				assert_int_equal(all[i + 1].value, c.value);
				assert_int_equal(all[i + 1].t.tick,
						 all[i].t.tick + all[i].t.more + 1);
				assert_false(all[i + 1].t.interpolated || all[i + 1].t.skipped ||
					     all[i + 1].t.more);
			}
			assert_int_equal(c.t.more, more);
		}
		assert_int_equal(i, N);
	}
	tick_stream_free(&packed);
	free(all);
}

static void put(struct tick_stream *l, uint64_t tick, uint32_t block, uint32_t value)
{
	assert_int_equal(tick_stream_put(l, &(struct cpm_tick){ .tick = tick, .block = block },
					 value), 0);
}

TEST(samples_that_are_alike_are_one_entry)
{
	struct tick_stream packed = { 0 };
	struct cpm_stream stream = { .packed = &packed };
	struct tick_stream_cursor c;
	uint64_t ticks = 0;
	size_t n = 0;

	for (uint64_t k = 0; k < 1000; k++)
		put(&packed, k, 7, 100);
	put(&packed, 1000, 7, 101);
	put(&packed, 1002, 7, 101);
	put(&packed, 1003, 8, 101);
	assert_int_equal(tick_stream_seal(&packed), 0);
	assert_true(packed.len < 40);
	tick_stream_begin(&c, &stream, NULL);
	for (; tick_stream_next(&c); n++) {
		ticks += c.t.more + 1;
		assert_true(c.t.more < TICK_STREAM_ALIKE_MOST);
	}
	assert_int_equal(n, 4 + 3);
	assert_int_equal(ticks, 1003);
	/* and all of them can be given another name, and another one */
	for (uint32_t name = 20; name <= 40; name += 20) {
		uint32_t to[64];

		for (uint32_t b = 0; b < 64; b++)
			to[b] = b == 7 || b == 20 ? name : b;
		assert_int_equal(tick_stream_rename(&packed, to, 64), 0);
		tick_stream_begin(&c, &stream, NULL);
		while (tick_stream_next(&c))
			assert_int_equal(c.t.block, c.t.tick == 1003 ? 8 : name);
	}
	tick_stream_free(&packed);
}

/* What was counted while it was written is what there is, whatever became one entry. */
TEST(blocks_are_counted_as_they_are_written)
{
	struct tick_stream_counts counts = { 0 };
	struct stream_count found[2000] = { { 0 } };
	uint64_t seed = 8, next = 0, unseen = 0;

	for (int k = 0; k < 2; k++) {
		struct tick_stream packed = { .counts = &counts };
		struct cpm_stream stream = { .packed = &packed };
		struct tick_stream_cursor c;

		assert_false(tick_stream_unseen(&stream));
		for (size_t i = 0; i < 20000; i++) {
			struct entry e = make_entry(&seed, next);

			e.t.block %= k ? 2000 : 30;
			e.t.more %= 500;
			e.value = rnd(&seed) % 4 ? 2600000 : 0;
			unseen += e.t.interpolated || e.t.skipped;
			assert_int_equal(tick_stream_put(&packed, &e.t, e.value), 0);
			assert_int_equal(tick_stream_unseen(&stream), unseen > 0);
			next = e.t.tick + e.t.more + 1;
		}
		assert_int_equal(tick_stream_seal(&packed), 0);
		tick_stream_begin(&c, &stream, NULL);
		while (tick_stream_next(&c)) {
			found[c.t.block].ticks += c.t.more + 1;
			found[c.t.block].values += c.value ? c.t.more + 1 : 0;
		}
		tick_stream_free(&packed);
		next = unseen = 0;
	}
	assert_true(counts.n >= 2000);
	for (size_t b = 0; b < 2000; b++) {
		assert_int_equal(counts.of[b].ticks, found[b].ticks);
		assert_int_equal(counts.of[b].values, found[b].values);
	}
	free(counts.of);
}

TEST(a_cut_stream_ends_where_it_is_cut)
{
	static const struct cpm_tick ticks[] = { { .tick = 2, .block = 1 },
						 { .tick = 5, .block = 2, .more = 9, .skipped = 1 },
						 { .tick = 20, .block = 3 } };
	struct tick_stream packed = { 0 };

	for (int i = 0; i < 3; i++)
		assert_int_equal(tick_stream_put(&packed, &ticks[i], 0), 0);
	assert_int_equal(tick_stream_seal(&packed), 0);
	for (uint64_t end = 1; end < 25; end++) {
		for (int kind = 0; kind < 2; kind++) {
			struct cpm_stream stream = { .end = end };
			struct tick_stream_cursor c;
			uint64_t n = 0, wanted = 0;

			if (kind)
				stream.packed = &packed;
			else
				stream = (struct cpm_stream){ .ticks = ticks, .n = 3, .end = end };
			tick_stream_begin(&c, &stream, NULL);
			while (tick_stream_next(&c)) {
				n += c.t.more + 1;
				assert_true(c.t.tick + c.t.more < end);
			}
			for (uint64_t t = 0; t < end; t++)
				wanted += t == 2 || t == 20 || (t >= 5 && t < 15);
			assert_int_equal(n, wanted);
		}
	}
	tick_stream_free(&packed);
}
