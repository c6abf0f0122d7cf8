// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds vectors by their members, and chooses those that are kept; see vector_table.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/cpm/vector_table.h"

/* Limit by 32 bit numbers, with a base for each, whatever the memory. */
#define VECTORS_MOST	(1u << 28)
#define MEMBERS_MOST	(1u << 30)

static uint64_t blocks_hash(const uint32_t *blocks, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = (h ^ blocks[i]) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static bool vector_has_blocks(const struct cpm_vectors *v, uint32_t vector, const uint32_t *blocks,
			      size_t n)
{
	const uint32_t *members = v->members + v->first[vector];

	if (v->first[vector + 1] - v->first[vector] != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (members[i] != blocks[i])
			return false;
	return true;
}

/* Put all vectors into an empty table. */
static void vector_slots_fill(struct cpm_vectors *v)
{
	for (uint32_t i = 0; i < v->n_vectors; i++) {
		uint32_t n = v->first[i + 1] - v->first[i];
		uint64_t at = blocks_hash(v->members + v->first[i], n) & (v->room - 1);

		while (v->slots[at])
			at = (at + 1) & (v->room - 1);
		v->slots[at] = i + 1;
	}
}

static int vector_slots_grow(struct cpm_vectors *v)
{
	uint32_t room = v->room ? 2 * v->room : 1024;
	uint32_t *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(v->slots);
	v->slots = slots;
	v->room = room;
	vector_slots_fill(v);
	return 0;
}

/* Make room for so many more vectors and members. Return: 0 or -ENOMEM */
static int vectors_reserve(struct vector_table *t, size_t vectors, size_t members)
{
	struct cpm_vectors *v = t->v;
	size_t room;
	void *p;

	/* and the end of the last one */
	if (v->n_vectors + vectors + 1 > t->room_vectors) {
		room = 2 * t->room_vectors + vectors + 256;
		p = realloc(v->first, room * sizeof(*v->first));
		if (!p)
			return -ENOMEM;
		v->first = p;
		t->room_vectors = room;
	}
	/* allocate also for a first vector without members: the array must exist */
	if (!t->room_members || t->n_members + members > t->room_members) {
		room = 2 * t->room_members + members + 256;
		p = realloc(v->members, room * sizeof(*v->members));
		if (!p)
			return -ENOMEM;
		v->members = p;
		t->room_members = room;
	}
	return 0;
}

static int vector_new(struct vector_table *t, const uint32_t *blocks, size_t n)
{
	struct cpm_vectors *v = t->v;
	int ret = vectors_reserve(t, 1, n);

	if (ret)
		return ret;
	if (n)
		memcpy(v->members + t->n_members, blocks, n * sizeof(*blocks));
	v->first[v->n_vectors++] = t->n_members;
	t->n_members += n;
	v->first[v->n_vectors] = t->n_members;
	return 0;
}

/* Members that are not marginal. */
static uint32_t blocks_count_others(const struct cpm_vectors *v, const uint32_t *blocks, size_t n)
{
	uint32_t others = 0;

	for (size_t i = 0; i < n; i++)
		others += v->kinds[blocks[i]] != CPM_MARGINAL;
	return others;
}

/*
 * Bytes of a vector with the base that it needs. CPM_UNSAMPLED and vectors of one block are free:
 * they are few, and what a block draws alone is needed for all its vectors.
 */
static size_t vector_bytes(const struct cpm_vectors *v, const uint32_t *blocks, size_t n)
{
	if (n < 2)
		return 0;
	return (CPM_VECTOR_BYTES + n * CPM_MEMBER_BYTES) *
	       (blocks_count_others(v, blocks, n) < n ? 2 : 1);
}

uint32_t *vector_table_slot(const struct cpm_vectors *v, const uint32_t *blocks, size_t n)
{
	uint64_t at = blocks_hash(blocks, n) & (v->room - 1);

	while (v->slots[at] && !vector_has_blocks(v, v->slots[at] - 1, blocks, n))
		at = (at + 1) & (v->room - 1);
	return &v->slots[at];
}

/* The vector with these members; a new one if there is none and it takes at most @most bytes. */
static int vector_find_or_make(struct vector_table *t, const uint32_t *blocks, size_t n,
			       size_t most, uint32_t *vector)
{
	struct cpm_vectors *v = t->v;
	size_t bytes;
	uint32_t *slot;
	int ret = 2 * (v->n_vectors + 1) > v->room ? vector_slots_grow(v) : 0;

	if (ret)
		return ret;
	slot = vector_table_slot(v, blocks, n);
	if (!*slot) {
		bytes = vector_bytes(v, blocks, n);
		if (v->n_vectors >= VECTORS_MOST || t->n_members + n > MEMBERS_MOST)
			return bytes ? -ENOSPC : -EOVERFLOW;
		if (bytes > most || t->bytes > most - bytes)
			return -ENOSPC;
		ret = vector_new(t, blocks, n);
		if (ret)
			return ret;
		t->bytes += bytes;
		*slot = v->n_vectors;
	}
	*vector = *slot - 1;
	return 0;
}

int vector_table_find(struct vector_table *t, const uint32_t *blocks, size_t n, uint32_t *vector)
{
	return vector_find_or_make(t, blocks, n, t->most, vector);
}

/* Bases, with some spare room. */
static int vector_bases_find(struct vector_table *t, uint32_t *blocks, size_t more)
{
	struct cpm_vectors *v = t->v;
	uint32_t n_vectors = v->n_vectors;
	int ret = 0;

	/* a base is its own base, so there are at most twice as many vectors */
	v->base = calloc(2ul * n_vectors + more, sizeof(*v->base));
	if (!v->base)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_vectors && !ret; i++) {
		size_t n = 0;

		for (uint32_t m = v->first[i]; m < v->first[i + 1]; m++)
			if (v->kinds[v->members[m]] != CPM_MARGINAL)
				blocks[n++] = v->members[m];
		/* its bytes are part of the vector's */
		ret = n == v->first[i + 1] - v->first[i] ?
		      0 : vector_find_or_make(t, blocks, n, SIZE_MAX, &v->base[i]);
		if (n == v->first[i + 1] - v->first[i])
			v->base[i] = i;
	}
	for (uint32_t i = n_vectors; i < v->n_vectors; i++)
		v->base[i] = i;
	return ret == -ENOSPC ? -EOVERFLOW : ret;
}

int vector_table_bases(struct vector_table *t, uint32_t *blocks)
{
	return vector_bases_find(t, blocks, 0);
}

int vector_table_begin(struct vector_table *t)
{
	struct cpm_vectors *v = t->v;

	v->n_vectors = 1;
	v->first[1] = 0;
	t->n_members = 0;
	t->bytes = 0;
	memset(v->slots, 0, v->room * sizeof(*v->slots));
	vector_slots_fill(v);
	t->room_ticks = 256;
	t->ticks = calloc(t->room_ticks, sizeof(*t->ticks));
	return t->ticks ? 0 : -ENOMEM;
}

static int ticks_by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Median ticks of the vectors that take room. Return: 0 or -ENOMEM */
static int vectors_median_ticks(const struct vector_table *t, uint64_t *middle)
{
	const struct cpm_vectors *v = t->v;
	uint64_t *sorted = malloc((v->n_vectors + 1ul) * sizeof(*sorted));
	size_t n = 0;

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->n_vectors; i++)
		if (vector_bytes(v, v->members + v->first[i], v->first[i + 1] - v->first[i]))
			sorted[n++] = t->ticks[i];
	qsort(sorted, n, sizeof(*sorted), ticks_by_size);
	*middle = n ? sorted[n / 2] : 0;
	free(sorted);
	return 0;
}

/* Drop the half with the fewest ticks. Return: 0 or -ENOMEM */
static int vectors_forget_half(struct vector_table *t)
{
	struct cpm_vectors *v = t->v;
	uint32_t kept = 0, members = 0;
	uint64_t middle;
	int ret = vectors_median_ticks(t, &middle);

	if (ret)
		return ret;
	t->bytes = 0;
	for (uint32_t i = 0; i < v->n_vectors; i++) {
		uint32_t first = v->first[i], n = v->first[i + 1] - first;
		size_t bytes = vector_bytes(v, v->members + first, n);

		if (bytes && t->ticks[i] <= middle)
			continue;
		memmove(v->members + members, v->members + first, n * sizeof(*v->members));
		t->ticks[kept] = t->ticks[i] - (bytes ? middle : 0);
		t->bytes += bytes;
		v->first[kept++] = members;
		members += n;
	}
	v->first[kept] = members;
	v->n_vectors = kept;
	t->n_members = members;
	memset(v->slots, 0, v->room * sizeof(*v->slots));
	vector_slots_fill(v);
	return 0;
}

int vector_table_count(struct vector_table *t, const uint32_t *blocks, size_t n, uint64_t ticks)
{
	uint32_t before = t->v->n_vectors, vector;
	int ret = vector_table_find(t, blocks, n, &vector);

	if (ret == -ENOSPC) {
		ret = vectors_forget_half(t);
		before = t->v->n_vectors;
		if (!ret)
			ret = vector_table_find(t, blocks, n, &vector);
		/* the others fill the room: this one is not among the most frequent so far */
		if (ret == -ENOSPC)
			return 0;
	}
	if (ret)
		return ret;
	if (vector >= t->room_ticks) {
		size_t room = 2 * t->room_ticks + vector + 256;
		uint64_t *p = realloc(t->ticks, room * sizeof(*p));

		if (!p)
			return -ENOMEM;
		memset(p + t->room_ticks, 0, (room - t->room_ticks) * sizeof(*p));
		t->ticks = p;
		t->room_ticks = room;
	}
	t->ticks[vector] = (vector < before ? t->ticks[vector] : 0) + ticks;
	return 0;
}

/* One vector for all other sets of each size, without and with marginal members. */
int vector_table_close(struct vector_table *t, uint32_t *blocks)
{
	struct cpm_vectors *v = t->v;
	uint32_t n = 2 * ((uint32_t)v->n_streams + 1);
	int ret = vector_bases_find(t, blocks, n);

	if (!ret)
		ret = vectors_reserve(t, n, 0);
	if (ret)
		return ret;
	v->first_other_set = v->n_vectors;
	for (uint32_t i = 0; i < n; i++) {
		v->base[v->n_vectors] = i == 1 ? CPM_UNSAMPLED : v->first_other_set + i / 2 * 2;
		v->first[++v->n_vectors] = t->n_members;
	}
	return 0;
}

uint32_t vector_table_other_set(const struct cpm_vectors *v, const uint32_t *blocks, size_t n)
{
	uint32_t others = blocks_count_others(v, blocks, n);

	return v->first_other_set + 2 * others + (others < n);
}

void vector_table_exit(struct vector_table *t)
{
	free(t->ticks);
	memset(t, 0, sizeof(*t));
}
