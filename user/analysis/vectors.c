// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Vectors of code blocks: what ran on all CPUs of a package at the same tick
 * (ALEA, equation 7). The first half of the constant power model, see cpm.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cpm.h"
#include "earliest.h"
#include "grow.h"

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
	       (!n || !memcmp(v->members + v->first[vector], blocks, n * sizeof(*blocks)));
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
	/* the first one too makes room when it has no members: there is an array to point into */
	while (!t->room_members || t->n_members + n > t->room_members) {
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

static int add_event(struct cpm_vectors *v, uint64_t tick, uint64_t count, uint32_t vector)
{
	v->ticks += count;
	while (count) {
		uint64_t n = count < UINT32_MAX ? count : UINT32_MAX;
		struct cpm_event *e = kjoule_grow(&v->events, &v->n_events, sizeof(*e));

		if (!e)
			return -ENOMEM;
		*e = (struct cpm_event){ tick, vector, n - 1 };
		tick += n;
		count -= n;
	}
	return 0;
}

/* The tick after a lane's entry. */
static uint64_t end_of(const struct cpm_tick *t)
{
	return t->tick + t->more + 1;
}

/* Where the walk is in each lane, and which lanes are at a block that counts. */
struct walk {
	const struct cpm_lane *lanes;
	const uint8_t *kinds;
	size_t *at;			/* the lane's entry */
	bool *inside;			/* the walk is inside that entry, not before it */
	size_t *place;			/* in @active, + 1; 0: not there */
	size_t *active, n_active;
	struct kjoule_earliest turns;	/* the next edge of each lane's entry */
};

static void leave_entry(struct walk *w, size_t lane)
{
	if (w->place[lane]) {
		size_t last = w->active[--w->n_active];

		w->active[w->place[lane] - 1] = last;
		w->place[last] = w->place[lane];
		w->place[lane] = 0;
	}
	w->inside[lane] = false;
	w->at[lane]++;
}

/* On to the lane's next edge after @now. A tick that is there twice is damage and passed over. */
static void advance(struct walk *w, size_t lane, uint64_t now)
{
	const struct cpm_lane *l = &w->lanes[lane];
	const struct cpm_tick *e;

	if (w->inside[lane])
		leave_entry(w, lane);
	while (w->at[lane] < l->n && end_of(&l->ticks[w->at[lane]]) <= now)
		w->at[lane]++;
	if (w->at[lane] == l->n)
		return;
	e = &l->ticks[w->at[lane]];
	if (e->tick > now) {
		kjoule_earliest_push(&w->turns, e->tick, lane);
		return;
	}
	w->inside[lane] = true;
	if (w->kinds[e->block] != CPM_IDLE) {
		w->active[w->n_active++] = lane;
		w->place[lane] = w->n_active;
	}
	kjoule_earliest_push(&w->turns, end_of(e), lane);
}

/* Go through the ticks of all lanes at once, in stretches in which nothing changes on any. */
static int merge(struct table *t, struct walk *w, size_t n_lanes, uint32_t *blocks)
{
	const struct kjoule_turn *first;

	for (size_t i = 0; i < n_lanes; i++)
		if (w->lanes[i].n)
			kjoule_earliest_push(&w->turns, w->lanes[i].ticks[0].tick, i);
	while ((first = kjoule_earliest_first(&w->turns))) {
		uint64_t now = first->when, to;
		uint32_t vector;
		size_t busy = 0;
		int ret;

		while ((first = kjoule_earliest_first(&w->turns)) && first->when <= now)
			advance(w, kjoule_earliest_pop(&w->turns), now);
		if (!w->n_active)
			continue;
		to = first->when;
		for (size_t i = 0; i < w->n_active; i++) {
			size_t lane = w->active[i];

			blocks[i] = w->lanes[lane].ticks[w->at[lane]].block;
			busy += w->kinds[blocks[i]] == CPM_BUSY;
		}
		if (w->n_active > 1)
			qsort(blocks, w->n_active, sizeof(*blocks), by_number);
		t->v->multi += busy > 1 ? to - now : 0;
		ret = find_vector(t, blocks, w->n_active, &vector);
		if (!ret)
			ret = add_event(t->v, now, to - now, vector);
		if (ret)
			return ret;
	}
	return 0;
}

static int walk_init(struct walk *w, const struct cpm_lane *lanes, size_t n_lanes, const uint8_t *kinds)
{
	*w = (struct walk){ .lanes = lanes, .kinds = kinds };
	w->at = calloc(n_lanes + 1, sizeof(*w->at));
	w->inside = calloc(n_lanes + 1, sizeof(*w->inside));
	w->place = calloc(n_lanes + 1, sizeof(*w->place));
	w->active = calloc(n_lanes + 1, sizeof(*w->active));
	if (!w->at || !w->inside || !w->place || !w->active)
		return -ENOMEM;
	return kjoule_earliest_init(&w->turns, n_lanes);
}

static void walk_exit(struct walk *w)
{
	kjoule_earliest_exit(&w->turns);
	free(w->active);
	free(w->place);
	free(w->inside);
	free(w->at);
}

static int by_tick(const void *a, const void *b)
{
	const struct cpm_untaken *x = a, *y = b;

	return (x->tick > y->tick) - (x->tick < y->tick);
}

/* Where idle CPUs took no tick: first the edges, +1 and -1, then their sums. */
static int find_untaken(struct cpm_vectors *v, const struct cpm_lane *lanes, size_t n_lanes)
{
	struct cpm_untaken *u;
	uint32_t cpus = 0;
	size_t n = 0;

	for (size_t l = 0; l < n_lanes; l++) {
		for (size_t i = 0; i < lanes[l].n; i++) {
			const struct cpm_tick *t = &lanes[l].ticks[i];

			if (v->kinds[t->block] != CPM_IDLE || !(t->parked || t->made_up))
				continue;
			for (int edge = 0; edge < 2; edge++) {
				u = kjoule_grow(&v->untaken, &v->n_untaken, sizeof(*u));
				if (!u)
					return -ENOMEM;
				*u = (struct cpm_untaken){ edge ? end_of(t) : t->tick,
							   edge ? UINT32_MAX : 1 };
			}
		}
	}
	if (!v->n_untaken)
		return 0;
	qsort(v->untaken, v->n_untaken, sizeof(*v->untaken), by_tick);
	for (size_t i = 0; i < v->n_untaken; i++) {
		cpus += v->untaken[i].cpus;
		if (i + 1 < v->n_untaken && v->untaken[i + 1].tick == v->untaken[i].tick)
			continue;
		v->untaken[n++] = (struct cpm_untaken){ v->untaken[i].tick, cpus };
	}
	v->n_untaken = n;
	return 0;
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
	uint32_t *blocks = calloc(n_lanes + 1, sizeof(*blocks)), silent;
	struct walk w;
	int ret = walk_init(&w, lanes, n_lanes, kinds);

	memset(v, 0, sizeof(*v));
	v->kinds = kinds;
	if (!blocks)
		ret = -ENOMEM;
	if (!ret)
		ret = find_vector(&t, blocks, 0, &silent);	/* CPM_SILENT: the first */
	if (!ret)
		ret = merge(&t, &w, n_lanes, blocks);
	if (!ret)
		ret = find_bases(&t, blocks);
	if (!ret)
		ret = find_untaken(v, lanes, n_lanes);
	free(t.slots);
	free(blocks);
	walk_exit(&w);
	if (ret)
		cpm_vectors_free(v);
	return ret;
}

void cpm_vectors_free(struct cpm_vectors *v)
{
	free(v->events);
	free(v->untaken);
	free(v->first);
	free(v->members);
	free(v->base);
	memset(v, 0, sizeof(*v));
}
