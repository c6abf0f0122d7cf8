// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Vectors of code blocks: what ran on all CPUs of a package at the same tick
 * (ALEA, equation 7). The first half of the constant power model, see cpm.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cpm.h"

/* Vectors by their sorted members. */
struct table {
	struct cpm_vectors *v;
	uint32_t *slots;	/* vector + 1, 0: free */
	uint32_t room;
	uint32_t room_vectors, room_members, n_members;
};

static uint64_t hash(const uint32_t *blocks, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = (h ^ blocks[i]) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static bool same(const struct cpm_vectors *v, uint32_t vector, const uint32_t *blocks, size_t n)
{
	return v->first[vector + 1] - v->first[vector] == n &&
	       !memcmp(v->members + v->first[vector], blocks, n * sizeof(*blocks));
}

static int rehash(struct table *t)
{
	uint32_t room = t->room ? 2 * t->room : 1024;
	uint32_t *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->v->n_vectors; i++) {
		uint32_t n = t->v->first[i + 1] - t->v->first[i];
		uint64_t at = hash(t->v->members + t->v->first[i], n) & (room - 1);

		while (slots[at])
			at = (at + 1) & (room - 1);
		slots[at] = i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->room = room;
	return 0;
}

static int new_vector(struct table *t, const uint32_t *blocks, size_t n)
{
	struct cpm_vectors *v = t->v;
	void *p;

	if (v->n_vectors + 2 > t->room_vectors) {
		t->room_vectors = t->room_vectors ? 2 * t->room_vectors : 256;
		p = realloc(v->first, t->room_vectors * sizeof(*v->first));
		if (!p)
			return -ENOMEM;
		v->first = p;
	}
	while (t->n_members + n > t->room_members) {
		t->room_members = t->room_members ? 2 * t->room_members : 256;
		p = realloc(v->members, t->room_members * sizeof(*v->members));
		if (!p)
			return -ENOMEM;
		v->members = p;
	}
	if (n)
		memcpy(v->members + t->n_members, blocks, n * sizeof(*blocks));
	v->first[v->n_vectors++] = t->n_members;
	t->n_members += n;
	v->first[v->n_vectors] = t->n_members;
	return 0;
}

/* The number of the vector with these members, which are sorted. */
static int find_vector(struct table *t, const uint32_t *blocks, size_t n, uint32_t *vector)
{
	uint64_t at;
	int ret;

	if (2 * (t->v->n_vectors + 1) > t->room) {
		ret = rehash(t);
		if (ret)
			return ret;
	}
	at = hash(blocks, n) & (t->room - 1);
	while (t->slots[at]) {
		if (same(t->v, t->slots[at] - 1, blocks, n)) {
			*vector = t->slots[at] - 1;
			return 0;
		}
		at = (at + 1) & (t->room - 1);
	}
	ret = new_vector(t, blocks, n);
	if (ret)
		return ret;
	*vector = t->v->n_vectors - 1;
	t->slots[at] = *vector + 1;
	return 0;
}

static int add_event(struct cpm_vectors *v, uint64_t tick, uint32_t vector)
{
	/* rooms are powers of two */
	if (!(v->n_events & (v->n_events - 1))) {
		void *p = realloc(v->events, (v->n_events ? 2 * v->n_events : 1) *
				  sizeof(*v->events));

		if (!p)
			return -ENOMEM;
		v->events = p;
	}
	v->events[v->n_events++] = (struct cpm_event){ tick, vector };
	return 0;
}

static int merge(struct table *t, const struct cpm_lane *lanes, size_t n_lanes,
		 const uint8_t *kinds, size_t *at, uint32_t *blocks)
{
	for (;;) {
		uint64_t tick = UINT64_MAX;
		uint32_t vector;
		size_t n = 0, busy = 0;
		int ret;

		for (size_t i = 0; i < n_lanes; i++)
			if (at[i] < lanes[i].n && lanes[i].ticks[at[i]].tick < tick)
				tick = lanes[i].ticks[at[i]].tick;
		if (tick == UINT64_MAX)
			return 0;
		for (size_t i = 0; i < n_lanes; i++) {
			/* A tick can be there once only; more would be damage. */
			bool taken = false;

			for (; at[i] < lanes[i].n && lanes[i].ticks[at[i]].tick <= tick; at[i]++) {
				uint32_t block = lanes[i].ticks[at[i]].block;

				if (!taken && kinds[block] != CPM_IDLE) {
					blocks[n++] = block;
					busy += kinds[block] == CPM_BUSY;
				}
				taken = true;
			}
		}
		if (!n)
			continue;
		if (n > 1)
			qsort(blocks, n, sizeof(*blocks), by_number);
		t->v->multi += busy > 1;
		ret = find_vector(t, blocks, n, &vector);
		if (!ret)
			ret = add_event(t->v, tick, vector);
		if (ret)
			return ret;
	}
}

/* For each vector the one without its marginal members; makes those that are missing. */
static int find_bases(struct table *t, uint32_t *blocks)
{
	struct cpm_vectors *v = t->v;
	uint32_t n_vectors = v->n_vectors;
	int ret = 0;

	/* a base has no marginal members, so it is its own base: at most twice as many */
	v->base = calloc(2ul * n_vectors, sizeof(*v->base));
	if (!v->base)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_vectors && !ret; i++) {
		size_t n = 0;

		for (uint32_t m = v->first[i]; m < v->first[i + 1]; m++)
			if (v->kinds[v->members[m]] != CPM_MARGINAL)
				blocks[n++] = v->members[m];
		ret = find_vector(t, blocks, n, &v->base[i]);
	}
	for (uint32_t i = n_vectors; i < v->n_vectors; i++)
		v->base[i] = i;
	return ret;
}

int cpm_vectors_new(const struct cpm_lane *lanes, size_t n_lanes, const uint8_t *kinds,
		    struct cpm_vectors *v)
{
	struct table t = { .v = v };
	size_t *at = calloc(n_lanes + 1, sizeof(*at));
	uint32_t *blocks = calloc(n_lanes + 1, sizeof(*blocks)), silent;
	int ret = -ENOMEM;

	memset(v, 0, sizeof(*v));
	v->kinds = kinds;
	if (at && blocks)
		ret = find_vector(&t, blocks, 0, &silent);	/* CPM_SILENT: the first */
	if (!ret)
		ret = merge(&t, lanes, n_lanes, kinds, at, blocks);
	if (!ret)
		ret = find_bases(&t, blocks);
	free(t.slots);
	free(blocks);
	free(at);
	if (ret)
		cpm_vectors_free(v);
	return ret;
}

void cpm_vectors_free(struct cpm_vectors *v)
{
	free(v->events);
	free(v->first);
	free(v->members);
	free(v->base);
	memset(v, 0, sizeof(*v));
}
