/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds entries of a list by a hash of their names; the list and the comparison are the caller's.
 * Recordings may have any number of names, which rules out linear searches.
 */
#ifndef KJOULE_HASH_INDEX_H
#define KJOULE_HASH_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define KJOULE_HASH_INDEX_NONE	UINT32_MAX

/* Zeroed at first. */
struct kjoule_hash_index {
	size_t n, room;
	struct kjoule_index_slot {
		uint64_t hash;
		uint32_t entry;		/* + 1, 0: free */
	} *slots;
};

/** kjoule_hash_text() - of a number and a text, which may be ""; different in every process */
uint64_t kjoule_hash_text(uint64_t number, const char *text);
/** kjoule_hash_index_add() - @entry is found by @hash from now on. Return: 0 or -ENOMEM */
int kjoule_hash_index_add(struct kjoule_hash_index *index, uint64_t hash, uint32_t entry);
/**
 * kjoule_hash_index_next() - the next entry with this hash
 * @probe: 0 at first
 * Return: the entry, to be compared, or KJOULE_HASH_INDEX_NONE
 */
uint32_t kjoule_hash_index_next(const struct kjoule_hash_index *index, uint64_t hash,
				size_t *probe);
void kjoule_hash_index_free(struct kjoule_hash_index *index);

#endif /* KJOULE_HASH_INDEX_H */
