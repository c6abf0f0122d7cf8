// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ring reader, with good rings and with any other content.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/control/ring.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define SIZE	4096

struct fixture {
	struct kjoule_ring_head head;
	struct kjoule_ring_tail tail;
	uint8_t data[SIZE] __attribute__((aligned(8)));
	struct kjoule_ring_reader reader;
	uint8_t out[SIZE] __attribute__((aligned(8)));
	size_t used;
};

static void reset(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->reader.head = &f->head;
	f->reader.tail = &f->tail;
	f->reader.data = f->data;
	f->reader.size = SIZE;
}

static int drain(struct fixture *f, size_t room)
{
	return kjoule_ring_drain(&f->reader, f->out, room, &f->used);
}

/* As the module writes: a record at head, a pad before it if it would be split. */
static void produce(struct fixture *f, const void *rec, size_t len)
{
	uint64_t at = f->head.head % SIZE;

	if (at + len > SIZE) {
		struct kjoule_record pad = { KJOULE_RECORD_PAD, 0, SIZE - at };

		memcpy(f->data + at, &pad, sizeof(pad));
		f->head.head += SIZE - at;
		at = 0;
	}
	memcpy(f->data + at, rec, len);
	f->head.head += len;
}

TEST(records_come_out_in_order_without_pads)
{
	static struct fixture f;
	uint32_t produced = 0, seen = 0;

	reset(&f);
	for (int round = 0; round < 500; round++) {
		const struct kjoule_record *rec;
		size_t off = 0;

		for (int i = 0; i < 1 + round % 37; i++) {
			struct buffer b = { 0 };

			put_sample(&b, produced++, 0x1000, 0, 0, 0);
			produce(&f, b.data, b.len);
			free(b.data);
		}
		assert_int_equal(drain(&f, SIZE), 0);
		while (kjoule_record_next(f.out, f.used, &off, &rec) > 0) {
			assert_int_equal(rec->type, KJOULE_RECORD_SAMPLE);
			assert_int_equal(((const struct kjoule_sample *)rec)->tick, seen++);
		}
		assert_int_equal(seen, produced);
		assert_int_equal(f.tail.tail, f.head.head);
	}
	assert_int_equal(f.reader.damaged, 0);
}

TEST(a_small_buffer_gets_whole_records)
{
	static struct fixture f;
	struct buffer b = { 0 };
	uint32_t seen = 0;
	int more;

	reset(&f);
	put_sample(&b, 0, 0, 0, 0, 0);
	for (int i = 0; i < 100; i++)
		produce(&f, b.data, b.len);
	free(b.data);
	do {
		more = drain(&f, 100);
		assert_in_range(more, 0, 1);
		assert_int_equal(f.used % sizeof(struct kjoule_sample), 0);
		seen += f.used / sizeof(struct kjoule_sample);
	} while (more);
	assert_int_equal(seen, 100);
}

TEST(an_impossible_head_is_not_followed)
{
	static const uint64_t heads[] = { SIZE + 8, 1ull << 40, UINT64_MAX - 7, 12, 7 };
	static struct fixture f;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		reset(&f);
		f.head.head = heads[i];
		assert_int_equal(drain(&f, SIZE), -EBADMSG);
		assert_int_equal(f.used, 0);
		assert_int_equal(f.reader.damaged, 1);
		assert_int_equal(f.tail.tail, heads[i]);
	}
}

TEST(what_is_good_before_damage_comes_out)
{
	static struct fixture f;
	struct buffer b = { 0 };

	reset(&f);
	put_sample(&b, 1, 0, 0, 0, 0);
	put_sample(&b, 2, 0, 0, 0, 0);
	put_bytes(&b, "\1\0\0\0\0\0\0\0", 8);	/* a sample of no size */
	put_sample(&b, 3, 0, 0, 0, 0);
	produce(&f, b.data, b.len);
	free(b.data);
	assert_int_equal(drain(&f, SIZE), -EBADMSG);
	assert_int_equal(f.used, 2 * sizeof(struct kjoule_sample));
	assert_int_equal(f.tail.tail, f.head.head);
	assert_int_equal(drain(&f, SIZE), 0);
	assert_int_equal(f.used, 0);
}

TEST(random_content_never_crashes)
{
	static struct fixture f;
	uint64_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		const struct kjoule_record *rec;
		size_t off = 0;

		reset(&f);
		for (size_t i = 0; i < SIZE; i += 8) {
			uint64_t v = rnd(&seed);

			/* mostly plausible types and sizes, or it would break off at once */
			if (round & 1)
				v = (v & ~0xffffffffull) | (v & 7) | (v >> 16 & 0x38) << 16;
			memcpy(f.data + i, &v, 8);
		}
		f.head.head = rnd(&seed) % (SIZE + 16);
		drain(&f, 64 + rnd(&seed) % (SIZE - 64));
		while (kjoule_record_next(f.out, f.used, &off, &rec) > 0)
			assert_true(off <= f.used);
		assert_true(f.tail.tail <= f.head.head);
	}
}

TEST(records_are_checked_against_their_type)
{
	static const struct {
		uint8_t type;
		uint16_t size;
		int ret;
	} cases[] = {
		{ KJOULE_RECORD_SAMPLE, 24, 1 }, { KJOULE_RECORD_SAMPLE, 16, -EBADMSG },
		{ KJOULE_RECORD_SAMPLE, 32, 1 }, { KJOULE_RECORD_SAMPLE, 20, -EBADMSG },
		{ KJOULE_RECORD_TASK, 16, 1 }, { KJOULE_RECORD_TASK, 8, -EBADMSG },
		{ KJOULE_RECORD_GAP, 8, -EBADMSG }, { KJOULE_RECORD_LOST, 16, -EBADMSG },
		{ 200, 8, 1 }, { 200, 0, -EBADMSG }, { 200, 4, -EBADMSG },
		{ 200, 1024, -EBADMSG },
	};
	uint64_t buf[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kjoule_record head = { cases[i].type, 0, cases[i].size };
		const struct kjoule_record *rec;
		size_t off = 0;

		memset(buf, 0, sizeof(buf));
		memcpy(buf, &head, sizeof(head));
		assert_int_equal(kjoule_record_next(buf, sizeof(buf), &off, &rec), cases[i].ret);
	}
	/* chains and stacks that hold less than they say */
	{
		static const struct {
			uint16_t kernel, user, size;
			int ret;
		} chains[] = {
			{ 0, 0, 8, 1 }, { 1, 1, 24, 1 }, { 1, 2, 24, -EBADMSG },
			{ 2, 0, 16, -EBADMSG },
			{ 65535, 65535, 64, -EBADMSG },
		};
		struct {
			struct kjoule_stack head;
			uint64_t data[2];
		} s = { .head = { .rec = { KJOULE_RECORD_STACK, 0, sizeof(s) }, .bytes = 13 } };
		const struct kjoule_record *rec;
		size_t off;

		for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
			struct kjoule_chain c = { { KJOULE_RECORD_CHAIN, 0, chains[i].size },
						  chains[i].kernel, chains[i].user };

			off = 0;
			memcpy(buf, &c, sizeof(c));
			assert_int_equal(kjoule_record_next(buf, sizeof(buf), &off, &rec),
					 chains[i].ret);
		}
		off = 0;
		assert_int_equal(kjoule_record_next(&s, sizeof(s), &off, &rec), 1);
		for (s.head.bytes = 17; s.head.bytes; s.head.bytes *= 2) {
			off = 0;
			assert_int_equal(kjoule_record_next(&s, sizeof(s), &off, &rec), -EBADMSG);
		}
		s.head.rec.size = 136;
		s.head.bytes = off = 0;
		assert_int_equal(kjoule_record_next(&s, sizeof(s), &off, &rec), -EBADMSG);
	}
	/* an energy record whose mask asks for more values than it has */
	{
		struct kjoule_energy e = { .rec = { KJOULE_RECORD_ENERGY, 0, 24 }, .domains = 3 };
		const struct kjoule_record *rec;
		size_t off = 0;

		memcpy(buf, &e, sizeof(e));
		assert_int_equal(kjoule_record_next(buf, sizeof(buf), &off, &rec), -EBADMSG);
	}
}
