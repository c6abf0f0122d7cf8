// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Co-running sets (vectors of code blocks, ALEA equation 7): the blocks on all CPUs of a package at
 * the same tick. The first half of the constant power model, see cpm.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/cpm/cpm_windows_build.h"
#include "analysis/cpm/vector_table.h"
#include "lib/base/array.h"

static int block_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The tick after a stream's entry. */
static uint64_t entry_end_tick(const struct cpm_tick *t)
{
	return t->tick + t->more + 1;
}

/* So many streams are scanned one by one, more of them by a heap. */
#define FEW_STREAMS	8

#define NOTHING	UINT32_MAX	/* runs on a stream */

static void walk_stream_enter(struct cpm_walk *w, size_t stream, uint32_t block)
{
	if (w->n_streams <= FEW_STREAMS) {
		w->running[stream] = block;
		return;
	}
	w->active[w->n_active++] = stream;
	w->place[stream] = w->n_active;
}

static void walk_stream_leave(struct cpm_walk *w, size_t stream)
{
	size_t last;

	w->inside[stream] = false;
	w->running[stream] = NOTHING;
	if (!w->place[stream])
		return;
	last = w->active[--w->n_active];
	w->active[w->place[stream] - 1] = last;
	w->place[last] = w->place[stream];
	w->place[stream] = 0;
}

static void walk_set_edge(struct cpm_walk *w, size_t stream, uint64_t when)
{
	if (w->n_streams <= FEW_STREAMS)
		w->edges[stream] = when;
	else
		kjoule_min_heap_push(&w->turns, when, stream);
}

/*
 * Advance to the stream's next edge after @now. A tick that is there twice is damage and skipped.
 */
static void walk_stream_advance(struct cpm_walk *w, size_t stream, uint64_t now)
{
	const struct cpm_tick *e = &w->at[stream].t;

	if (w->inside[stream]) {
		w->ended[stream] = !tick_stream_next(&w->at[stream]);
		walk_stream_leave(w, stream);
	}
	while (!w->ended[stream] && entry_end_tick(e) <= now)
		w->ended[stream] = !tick_stream_next(&w->at[stream]);
	if (w->ended[stream])
		return;
	if (e->tick > now) {
		walk_set_edge(w, stream, e->tick);
		return;
	}
	w->inside[stream] = true;
	if (w->kinds[e->block] != CPM_IDLE)
		walk_stream_enter(w, stream, e->block);
	walk_set_edge(w, stream, entry_end_tick(e));
}

/* One of few streams: mostly another entry follows at once, and counts as well. */
static inline void walk_stream_advance_few(struct cpm_walk *w, size_t stream, uint64_t now)
{
	struct tick_stream_cursor *c = &w->at[stream];

	w->edges[stream] = UINT64_MAX;
	if (w->running[stream] != NOTHING) {
		w->ended[stream] = !tick_stream_next(c);
		if (!w->ended[stream] && c->t.tick == now && w->kinds[c->t.block] != CPM_IDLE) {
			w->running[stream] = c->t.block;
			w->edges[stream] = entry_end_tick(&c->t);
			return;
		}
		walk_stream_leave(w, stream);
	}
	walk_stream_advance(w, stream, now);
}

/* Advance all of few streams whose edge has come. Return: how many @blocks run then */
static size_t walk_blocks_few(struct cpm_walk *w, uint64_t now)
{
	uint64_t next = UINT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < w->n_streams; i++) {
		if (w->edges[i] <= now)
			walk_stream_advance_few(w, i, now);
		next = w->edges[i] < next ? w->edges[i] : next;
		w->blocks[n] = w->running[i];
		n += w->running[i] != NOTHING;
	}
	w->now = next;
	return n;
}

/* The same for many. */
static size_t walk_blocks_many(struct cpm_walk *w, uint64_t now)
{
	const struct kjoule_min_heap_entry *first;

	while ((first = kjoule_min_heap_first(&w->turns)) && first->when <= now)
		walk_stream_advance(w, kjoule_min_heap_pop(&w->turns), now);
	w->now = first ? first->when : UINT64_MAX;
	for (size_t i = 0; i < w->n_active; i++)
		w->blocks[i] = w->at[w->active[i]].t.block;
	return w->n_active;
}

/*
 * Drop bystanders from @n running blocks while a busy one runs, else count them once. Return: how
 * many are left
 */
static size_t walk_drop_bystanders(const struct cpm_walk *w, size_t n)
{
	bool busy = false, is_there = false;
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		busy |= w->kinds[w->blocks[i]] == CPM_BUSY;
		is_there |= w->kinds[w->blocks[i]] == CPM_BYSTANDER;
	}
	if (!is_there || n == 1)
		return n;
	is_there = busy;
	for (size_t i = 0; i < n; i++) {
		if (w->kinds[w->blocks[i]] == CPM_BYSTANDER) {
			if (is_there)
				continue;
			is_there = true;
		}
		w->blocks[left++] = w->blocks[i];
	}
	return left;
}

/*
 * The next ticks without a change on any stream and with some block: from @from to the next edge.
 * Return: the number of blocks, 0 at the end
 */
static size_t walk_next_range(struct cpm_walk *w, uint64_t *from, uint64_t *to)
{
	size_t n = 0;

	while (!n && (*from = w->now) != UINT64_MAX)
		n = w->n_streams <= FEW_STREAMS ? walk_blocks_few(w, *from) :
					      walk_blocks_many(w, *from);
	*to = w->now;
	n = walk_drop_bystanders(w, n);
	if (n == 2) {
		uint32_t a = w->blocks[0], b = w->blocks[1];

		w->blocks[0] = a < b ? a : b;
		w->blocks[1] = a < b ? b : a;
	} else if (n > 2) {
		qsort(w->blocks, n, sizeof(*w->blocks), block_by_number);
	}
	return n;
}

static bool walk_is_interpolated(const struct cpm_walk *w)
{
	bool interpolated = false;

	for (size_t i = 0; w->n_streams <= FEW_STREAMS && i < w->n_streams; i++)
		interpolated |= w->running[i] != NOTHING && w->at[i].t.interpolated;
	for (size_t i = 0; i < w->n_active; i++)
		interpolated |= w->at[w->active[i]].t.interpolated;
	return interpolated;
}

/* The slot of a recently seen vector of these blocks; NULL: of more than two. */
static struct cpm_recent *recent_slot(const struct cpm_walk *w, size_t n)
{
	uint32_t key = w->blocks[0] * 0x9e3779b9u;

	if (n > 2)
		return NULL;
	if (n == 2)
		key = (key ^ w->blocks[1]) * 0x85ebca6bu;
	return &w->recent[key >> (32 - CPM_RECENT_BITS)];
}

static bool recent_is_same(const struct cpm_recent *r, const struct cpm_walk *w, size_t n)
{
	return r && r->used && r->blocks[0] == w->blocks[0] &&
	       r->blocks[1] == (n == 2 ? w->blocks[1] : UINT32_MAX);
}

static void recent_store(struct cpm_recent *r, const struct cpm_walk *w, size_t n, uint32_t vector)
{
	if (r)
		*r = (struct cpm_recent){ { w->blocks[0], n == 2 ? w->blocks[1] : UINT32_MAX },
					  vector, true };
}

/*
 * The vector of the running blocks: a new one, or that for all other sets if none is made any more.
 */
static int walk_find_vector(struct vector_table *t, const struct cpm_walk *w, size_t n,
			    uint32_t *vector)
{
	uint32_t slot;

	if (t->v->first_other_set == CPM_NO_OTHER_SETS)
		return vector_table_find(t, w->blocks, n, vector);
	slot = *vector_table_slot(t->v, w->blocks, n);
	*vector = slot ? slot - 1 : vector_table_other_set(t->v, w->blocks, n);
	return 0;
}

/* Walk the ticks of all streams at once. */
static int vectors_from_streams(struct vector_table *t, struct cpm_walk *w,
			 struct cpm_making *const *making, size_t n_making)
{
	struct cpm_recent *recent;
	uint64_t from, to;
	uint32_t vector;
	size_t n;
	int ret = 0;

	while (!ret && (n = walk_next_range(w, &from, &to))) {
		size_t busy = 0;

		for (size_t i = 0; i < n; i++)
			busy += w->kinds[w->blocks[i]] == CPM_BUSY;
		t->v->multi += busy > 1 ? to - from : 0;
		if (n == 1 && w->kinds[w->blocks[0]] == CPM_BYSTANDER)
			t->v->bystanders += to - from;
		else
			t->v->ticks += to - from;
		recent = recent_slot(w, n);
		if (recent_is_same(recent, w, n)) {
			vector = recent->vector;
		} else {
			ret = walk_find_vector(t, w, n, &vector);
			if (!ret)
				recent_store(recent, w, n, vector);
		}
		if (!ret && cpm_is_other_set(t->v, vector))
			t->v->other_set_ticks += to - from;
		for (size_t i = 0; i < n_making && !ret; i++)
			ret = cpm_making_put(making[i], from, to - from, vector);
	}
	return ret;
}

static int stream_walk_init(struct cpm_walk *w, const struct cpm_vectors *v)
{
	size_t n = v->n_streams;

	*w = (struct cpm_walk){ .kinds = v->kinds, .n_streams = n };
	w->at = calloc(n + 1, sizeof(*w->at));
	w->ended = calloc(n + 1, sizeof(*w->ended));
	w->inside = calloc(n + 1, sizeof(*w->inside));
	w->running = calloc(n + 1, sizeof(*w->running));
	w->place = calloc(n + 1, sizeof(*w->place));
	w->active = calloc(n + 1, sizeof(*w->active));
	w->blocks = calloc(n + 1, sizeof(*w->blocks));
	w->edges = calloc(n + 1, sizeof(*w->edges));
	w->recent = calloc(CPM_RECENT, sizeof(*w->recent));
	if (kjoule_min_heap_init(&w->turns, n) || !w->at || !w->ended || !w->inside ||
	    !w->running || !w->place || !w->active || !w->blocks || !w->edges || !w->recent)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		tick_stream_begin(&w->at[i], &v->streams[i], NULL);
		w->ended[i] = !tick_stream_next(&w->at[i]);
		w->edges[i] = UINT64_MAX;
		w->running[i] = NOTHING;
		if (!w->ended[i])
			walk_set_edge(w, i, w->at[i].t.tick);
	}
	w->now = UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		if (!w->ended[i] && w->at[i].t.tick < w->now)
			w->now = w->at[i].t.tick;
	return 0;
}

static void stream_walk_exit(struct cpm_walk *w)
{
	kjoule_min_heap_exit(&w->turns);
	free(w->recent);
	free(w->edges);
	free(w->blocks);
	free(w->active);
	free(w->running);
	free(w->place);
	free(w->inside);
	free(w->ended);
	free(w->at);
	memset(w, 0, sizeof(*w));
}

int cpm_events_begin(const struct cpm_vectors *v, struct cpm_events *e)
{
	*e = (struct cpm_events){ .v = v };
	return stream_walk_init(&e->walk, v);
}

bool cpm_events_next(struct cpm_events *e)
{
	struct cpm_recent *recent;
	uint32_t slot;
	uint64_t to;
	size_t n = walk_next_range(&e->walk, &e->tick, &to);

	if (!n)
		return false;
	e->n = n;
	e->count = to - e->tick;
	e->interpolated = walk_is_interpolated(&e->walk);
	recent = recent_slot(&e->walk, n);
	if (recent_is_same(recent, &e->walk, n)) {
		e->vector = recent->vector;
		return true;
	}
	slot = *vector_table_slot(e->v, e->walk.blocks, n);
	e->vector = slot ? slot - 1 : vector_table_other_set(e->v, e->walk.blocks, n);
	recent_store(recent, &e->walk, n, e->vector);
	return true;
}

void cpm_events_end(struct cpm_events *e)
{
	stream_walk_exit(&e->walk);
}

static int untaken_by_tick(const void *a, const void *b)
{
	const struct cpm_untaken *x = a, *y = b;

	return (x->tick > y->tick) - (x->tick < y->tick);
}

/* Where idle CPUs took no tick: first the edges, +1 and -1, then their sums. */
static int vectors_find_untaken(struct cpm_vectors *v)
{
	struct cpm_untaken *u;
	struct tick_stream_cursor c;
	uint32_t cpus = 0;
	size_t n = 0;

	for (size_t l = 0; l < v->n_streams; l++) {
		if (!tick_stream_unseen(&v->streams[l]))
			continue;
		tick_stream_begin(&c, &v->streams[l], NULL);
		while (tick_stream_next(&c)) {
			const struct cpm_tick *t = &c.t;

			if (v->kinds[t->block] != CPM_IDLE || !(t->skipped || t->interpolated))
				continue;
			for (int edge = 0; edge < 2; edge++) {
				u = kjoule_array_grow(&v->untaken, &v->n_untaken, sizeof(*u));
				if (!u)
					return -ENOMEM;
				*u = (struct cpm_untaken){ edge ? entry_end_tick(t) : t->tick,
							   edge ? UINT32_MAX : 1 };
			}
		}
	}
	if (!v->n_untaken)
		return 0;
	qsort(v->untaken, v->n_untaken, sizeof(*v->untaken), untaken_by_tick);
	for (size_t i = 0; i < v->n_untaken; i++) {
		cpus += v->untaken[i].cpus;
		if (i + 1 < v->n_untaken && v->untaken[i + 1].tick == v->untaken[i].tick)
			continue;
		v->untaken[n++] = (struct cpm_untaken){ v->untaken[i].tick, cpus };
	}
	v->n_untaken = n;
	return 0;
}

/* More vectors than there is room for: find the most frequent, then walk once more. */
static int streams_merge_most(struct vector_table *t, struct cpm_walk *w,
			      struct cpm_making *const *making, size_t n_making)
{
	uint64_t from, to;
	size_t n;
	int ret;

	stream_walk_exit(w);
	ret = stream_walk_init(w, t->v);
	if (!ret)
		ret = vector_table_begin(t);
	while (!ret && (n = walk_next_range(w, &from, &to)))
		ret = vector_table_count(t, w->blocks, n, to - from);
	if (!ret)
		ret = vector_table_close(t, w->blocks);
	if (ret)
		return ret;
	stream_walk_exit(w);
	ret = stream_walk_init(w, t->v);
	for (size_t i = 0; i < n_making; i++)
		cpm_making_restart(making[i]);
	t->v->ticks = 0;
	t->v->multi = 0;
	t->v->bystanders = 0;
	return ret ? ret : vectors_from_streams(t, w, making, n_making);
}

int cpm_vectors_collect(const struct cpm_stream *streams, size_t n_streams, const uint8_t *kinds,
			size_t room, struct cpm_vectors *v, struct cpm_making *const *making,
			size_t n)
{
	struct vector_table t = { .v = v, .most = room ? room : CPM_VECTORS_ROOM };
	struct cpm_walk w = { 0 };
	uint32_t unsampled;
	int ret = -ENOMEM;

	memset(v, 0, sizeof(*v));
	v->kinds = kinds;
	v->n_streams = n_streams;
	v->first_other_set = CPM_NO_OTHER_SETS;
	v->streams = calloc(n_streams + 1, sizeof(*v->streams));
	if (v->streams) {
		memcpy(v->streams, streams, n_streams * sizeof(*streams));
		ret = stream_walk_init(&w, v);
	}
	if (!ret)
		ret = vector_table_find(&t, w.blocks, 0, &unsampled);	/* CPM_UNSAMPLED */
	if (!ret)
		ret = vectors_find_untaken(v);
	if (!ret)
		ret = vectors_from_streams(&t, &w, making, n);
	if (ret == -ENOSPC)
		ret = streams_merge_most(&t, &w, making, n);
	else if (!ret)
		ret = vector_table_bases(&t, w.blocks);
	stream_walk_exit(&w);
	vector_table_exit(&t);
	if (ret)
		cpm_vectors_free(v);
	return ret;
}

int cpm_vectors_new(const struct cpm_stream *streams, size_t n_streams, const uint8_t *kinds,
		    struct cpm_vectors *v)
{
	return cpm_vectors_collect(streams, n_streams, kinds, 0, v, NULL, 0);
}

void cpm_vectors_free(struct cpm_vectors *v)
{
	free(v->streams);
	free(v->slots);
	free(v->untaken);
	free(v->first);
	free(v->members);
	free(v->base);
	memset(v, 0, sizeof(*v));
}
