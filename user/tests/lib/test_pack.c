// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packing records: what goes in comes out, in fewer bytes, and any content is unpacked without a
 * crash.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/control/ring.h"
#include "lib/file/pack.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

static void pack_all(const struct buffer *in, struct buffer *out)
{
	struct kjoule_packer p = { 0 };
	const struct kjoule_record *rec;
	uint8_t item[65536 + KJOULE_PACK_SURPLUS];
	size_t off = 0;

	while (kjoule_record_next(in->data, in->len, &off, &rec) > 0) {
		size_t n = kjoule_pack(&p, rec, item);

		assert_true(n <= rec->size + (size_t)KJOULE_PACK_SURPLUS);
		put_bytes(out, item, n);
	}
	assert_int_equal(off, in->len);
}

TEST(what_is_packed_comes_out_again)
{
	static const uint64_t jumps[] = { 0, 1, 7, 127, 128, 255, 256, 32767, 32768, 65535, 65536,
		1u << 24, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 40, UINT64_MAX };
	struct buffer in = { 0 }, packed = { 0 };
	uint64_t seed = 1;
	uint8_t *out;
	size_t len;
	uint32_t k = 0;

	for (int i = 0; i < 20000; i++) {
		uint64_t j[4];

		for (int n = 0; n < 4; n++)
			j[n] = jumps[rnd(&seed) % (sizeof(jumps) / sizeof(jumps[0]))] *
			       (rnd(&seed) & 1 ? -1 : 1);
		k += rnd(&seed) % 8 ? 1 : j[0];
		put_sample(&in, k, 0x401000 + j[1], rnd(&seed) % 20 ? 2 : j[2], 100000 + j[2],
			   j[3]);
		if (i % 7 == 0)
			put_energy(&in, k, 5, j);
		if (i % 11 == 0)
			put_task(&in, i, i);
		if (i % 101 == 0)
			put_gap(&in, k, j[0]);
		if (i % 103 == 0)
			put_lost(&in, k, j[0], j[1]);
	}
	pack_all(&in, &packed);
	assert_int_equal(kjoule_unpack(packed.data, packed.len, &out, &len), 0);
	assert_int_equal(len, in.len);
	assert_memory_equal(out, in.data, len);
	free(out);
	free(in.data);
	free(packed.data);
}

/* Some at a time or one by one, up to whatever is no sample, and up to where the stream is cut. */
TEST(samples_come_as_they_are_one_by_one)
{
	struct kjoule_unpacker *one = malloc(sizeof(*one)), *some = malloc(sizeof(*some));
	struct buffer in = { 0 }, packed = { 0 };
	uint64_t seed = 6, uj = 0;

	for (uint32_t k = 0; k < 3000; k += rnd(&seed) % 10 ? 1 : 3) {
		put_sample(&in, k, 0x401000 + rnd(&seed) % 90000, rnd(&seed) % 20 ? 2 : 0,
			   100000 + rnd(&seed) % 70000, rnd(&seed) % 90000);
		if (rnd(&seed) % 40 == 0)
			put_energy(&in, k, 1, &uj);
	}
	pack_all(&in, &packed);
	for (size_t cut = packed.len; cut > packed.len - 60; cut--) {
		struct kjoule_sample samples[50];
		size_t n, n_samples = 0, n_others = 0;

		kjoule_unpack_begin(one, packed.data, cut);
		kjoule_unpack_begin(some, packed.data, cut);
		do {
			n = kjoule_unpack_samples(some, samples, 1 + rnd(&seed) % 50);
			for (size_t i = 0; i < n; i++, n_samples++) {
				const struct kjoule_record *rec = kjoule_unpack_next(one);

				assert_non_null(rec);
				assert_memory_equal(rec, &samples[i], sizeof(samples[i]));
			}
			if (!n) {
				const struct kjoule_record *rec = kjoule_unpack_next(one);
				const struct kjoule_record *other = kjoule_unpack_next(some);

				assert_int_equal(!rec, !other);
				if (!rec)
					break;
				assert_int_equal(other->size, rec->size);
				assert_memory_equal(other, rec, rec->size);
				n_others++;
			}
		} while (true);
		assert_int_equal(one->bad, some->bad);
		assert_true(n_samples > 2000 && n_others > 30);
	}
	free(in.data);
	free(packed.data);
	free(one);
	free(some);
}

TEST(usual_samples_take_few_bytes)
{
	struct buffer in = { 0 }, packed = { 0 };
	uint64_t seed = 2;

	for (uint32_t k = 0; k < 1000; k++)
		put_sample(&in, k, 0x401000 + rnd(&seed) % 500, 2, 100000,
			   20000 + rnd(&seed) % 30000);
	pack_all(&in, &packed);
	assert_true(packed.len < 5100);
	free(in.data);
	free(packed.data);
}

TEST(a_stream_cut_anywhere_gives_what_is_whole)
{
	struct buffer in = { 0 }, packed = { 0 };
	uint64_t uj = 7;
	uint8_t *out;
	size_t len;

	put_task(&in, 1, 2);
	for (uint32_t k = 0; k < 50; k++) {
		put_sample(&in, k, 0x401000 + k * 300, k & 1, 100000 + 1000 * k, 20000 * k);
		put_energy(&in, k, 1, &uj);
	}
	pack_all(&in, &packed);
	for (size_t cut = 0; cut < packed.len; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		memcpy(copy, packed.data, cut);
		kjoule_unpack(copy, cut, &out, &len);
		assert_true(len <= in.len);
		assert_memory_equal(out, in.data, len);
		free(out);
		free(copy);
	}
	free(in.data);
	free(packed.data);
}

TEST(any_content_is_unpacked_without_a_crash)
{
	uint64_t seed = 5;
	uint8_t data[256];

	for (int round = 0; round < 50000; round++) {
		size_t n = rnd(&seed) % sizeof(data), len, off = 0;
		const struct kjoule_record *rec;
		uint8_t *out;

		for (size_t i = 0; i < n; i++)
			data[i] = rnd(&seed) & (rnd(&seed) & 1 ? 0xff : 0x18);
		kjoule_unpack(data, n, &out, &len);
		while (kjoule_record_next(out, len, &off, &rec) > 0)
			;
		free(out);
	}
}
