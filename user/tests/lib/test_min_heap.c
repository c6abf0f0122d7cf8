// SPDX-License-Identifier: GPL-2.0-or-later
/* The heap of streams and the hash index, which keep walks over many CPUs and names short. */
#include "lib/base/hash_index.h"
#include "lib/base/min_heap.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

TEST(the_earliest_stream_comes_first_and_of_equals_the_lowest)
{
	struct kjoule_min_heap e;
	uint64_t seed = 1;

	for (size_t n = 0; n < 40; n++) {
		uint64_t when = 0;
		size_t who = 0;

		assert_int_equal(kjoule_min_heap_init(&e, n), 0);
		for (size_t i = 0; i < n; i++)
			kjoule_min_heap_push(&e, rnd(&seed) % 20, i);
		for (size_t i = 0; i < n; i++) {
			const struct kjoule_min_heap_entry *first = kjoule_min_heap_first(&e);
			uint64_t now = first->when;

			assert_true(!i || now > when || (now == when && first->who > who));
			when = now;
			who = first->who;
			assert_int_equal(kjoule_min_heap_pop(&e), who);
		}
		assert_null(kjoule_min_heap_first(&e));
		kjoule_min_heap_exit(&e);
	}
}

TEST(every_entry_is_found_by_its_hash)
{
	struct kjoule_hash_index index = { 0 };
	size_t probe = 0;

	assert_int_equal(kjoule_hash_index_next(&index, 5, &probe), KJOULE_HASH_INDEX_NONE);
	/* hashes that fall on the same slots, and each three times */
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(kjoule_hash_index_add(&index, (uint64_t)(i % 1000) << 12, i), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t sum = 0, n = 0, entry;

		probe = 0;
		while ((entry = kjoule_hash_index_next(&index, (uint64_t)i << 12, &probe)) !=
		       KJOULE_HASH_INDEX_NONE) {
			sum += entry;
			n++;
		}
		assert_int_equal(n, 3);
		assert_int_equal(sum, 3 * i + 3000);
	}
	probe = 0;
	assert_int_equal(kjoule_hash_index_next(&index, 7, &probe), KJOULE_HASH_INDEX_NONE);
	kjoule_hash_index_free(&index);
}
