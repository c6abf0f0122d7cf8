// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hash table of list entries; see hash_index.h. Open addressing, at most half full.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "lib/base/hash_index.h"

/*
 * Numbers and texts come from files that may have been made to collide, which takes quadratic time.
 * So they are hashed with a secret, by SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", 2012), keyed by the sixteen random bytes that the kernel gives each process.
 */
static const uint64_t *hash_secret(void)
{
	static uint64_t words[2];
	static bool known;

	if (!known) {
		const void *random = (const void *)getauxval(AT_RANDOM);

		if (random)
			memcpy(words, random, sizeof(words));
		known = true;
	}
	return words;
}

static uint64_t word_rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = word_rotate(v[1], 13) ^ v[0];
	v[3] = word_rotate(v[3], 16) ^ v[2];
	v[0] = word_rotate(v[0], 32) + v[3];
	v[2] += v[1];
	v[3] = word_rotate(v[3], 21) ^ v[0];
	v[1] = word_rotate(v[1], 17) ^ v[2];
	v[2] = word_rotate(v[2], 32);
}

static void sip_add(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

uint64_t kjoule_hash_text(uint64_t number, const char *text)
{
	const uint64_t *key = hash_secret();
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
			  key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull };
	size_t len = strlen(text), rest = len % 8;
	uint64_t word;

	sip_add(v, number);
	for (const char *end = text + len - rest; text < end; text += 8) {
		memcpy(&word, text, 8);
		sip_add(v, word);
	}
	word = (uint64_t)(len + 8) << 56;
	for (size_t i = 0; i < rest; i++)
		word |= (uint64_t)(unsigned char)text[i] << 8 * i;
	sip_add(v, word);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void index_insert(struct kjoule_hash_index *index, uint64_t hash, uint32_t slot)
{
	size_t at = hash & (index->room - 1);

	while (index->slots[at].entry)
		at = (at + 1) & (index->room - 1);
	index->slots[at] = (struct kjoule_index_slot){ hash, slot };
}

int kjoule_hash_index_add(struct kjoule_hash_index *index, uint64_t hash, uint32_t entry)
{
	if (2 * (index->n + 1) > index->room) {
		struct kjoule_hash_index bigger = { .n = index->n,
					       .room = index->room ? 2 * index->room : 64 };

		bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
		if (!bigger.slots)
			return -ENOMEM;
		for (size_t i = 0; i < index->room; i++)
			if (index->slots[i].entry)
				index_insert(&bigger, index->slots[i].hash, index->slots[i].entry);
		free(index->slots);
		*index = bigger;
	}
	index_insert(index, hash, entry + 1);
	index->n++;
	return 0;
}

uint32_t kjoule_hash_index_next(const struct kjoule_hash_index *index, uint64_t hash, size_t *probe)
{
	while (index->room) {
		const struct kjoule_index_slot *slot =
			&index->slots[(hash + (*probe)++) & (index->room - 1)];

		if (!slot->entry)
			break;
		if (slot->hash == hash)
			return slot->entry - 1;
	}
	return KJOULE_HASH_INDEX_NONE;
}

void kjoule_hash_index_free(struct kjoule_hash_index *index)
{
	free(index->slots);
	memset(index, 0, sizeof(*index));
}
