// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hash table of list entries; see index.h. Open addressing, at most half full.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "index.h"

/*
 * Numbers and texts come from files that may have been made to meet in one slot, which takes a
 * time that grows with the square of their number. So where they are is different in every
 * process: the kernel gives each sixteen random bytes.
 */
static const uint64_t *secret(void)
{
	static uint64_t words[2];

	if (!words[1]) {
		const void *random = (const void *)getauxval(AT_RANDOM);

		if (random)
			memcpy(words, random, sizeof(words));
		words[1] |= 1;	/* to multiply by */
	}
	return words;
}

uint64_t kjoule_index_hash(uint64_t number, const char *text)
{
	const uint64_t *s = secret();
	uint64_t h = (number ^ s[0]) * s[1];

	h ^= h >> 32;
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
	h *= s[1];
	return h ^ h >> 32;
}

static void insert(struct kjoule_index *index, uint64_t hash, uint32_t slot)
{
	size_t at = hash & (index->room - 1);

	while (index->slots[at].entry)
		at = (at + 1) & (index->room - 1);
	index->slots[at] = (struct kjoule_index_slot){ hash, slot };
}

int kjoule_index_add(struct kjoule_index *index, uint64_t hash, uint32_t entry)
{
	if (2 * (index->n + 1) > index->room) {
		struct kjoule_index bigger = { .n = index->n,
					       .room = index->room ? 2 * index->room : 64 };

		bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
		if (!bigger.slots)
			return -ENOMEM;
		for (size_t i = 0; i < index->room; i++)
			if (index->slots[i].entry)
				insert(&bigger, index->slots[i].hash, index->slots[i].entry);
		free(index->slots);
		*index = bigger;
	}
	insert(index, hash, entry + 1);
	index->n++;
	return 0;
}

uint32_t kjoule_index_next(const struct kjoule_index *index, uint64_t hash, size_t *probe)
{
	while (index->room) {
		const struct kjoule_index_slot *slot =
			&index->slots[(hash + (*probe)++) & (index->room - 1)];

		if (!slot->entry)
			break;
		if (slot->hash == hash)
			return slot->entry - 1;
	}
	return KJOULE_INDEX_NONE;
}

void kjoule_index_free(struct kjoule_index *index)
{
	free(index->slots);
	memset(index, 0, sizeof(*index));
}
