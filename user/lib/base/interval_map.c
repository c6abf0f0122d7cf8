// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A segment tree over the ranges' borders; see interval_map.h. Each range is noted in the few nodes
 * that make it up, and a point is looked up in the nodes above it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/interval_map.h"
#include "lib/base/search.h"

struct kjoule_interval_map {
	size_t n_borders;
	uint64_t *borders;	/* sorted; leaf i is [borders[i], borders[i + 1]) */
	size_t *first;		/* node i has entries[first[i]] to entries[first[i + 1]] */
	uint32_t *entries;	/* ranges, in their order */
};

static int border_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The leaf that has @point; n_borders if it is before all. */
static size_t border_find(const struct kjoule_interval_map *r, uint64_t point)
{
	size_t n = kjoule_count_values(r->borders, r->n_borders, point);

	return n ? n - 1 : r->n_borders;
}

/* Count (@entries NULL) or note range @range in the nodes that cover [from, to). */
static void node_note_range(struct kjoule_interval_map *r, size_t *counts, size_t from, size_t to,
			    uint32_t range, uint32_t *entries)
{
	for (from += r->n_borders, to += r->n_borders; from < to; from /= 2, to /= 2) {
		if (from & 1) {
			if (entries)
				entries[counts[from]] = range;
			counts[from++]++;
		}
		if (to & 1) {
			--to;
			if (entries)
				entries[counts[to]] = range;
			counts[to]++;
		}
	}
}

static void nodes_note_ranges(struct kjoule_interval_map *r, const struct kjoule_interval *list,
			      size_t n, size_t *counts, uint32_t *entries)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t end = list[i].start + list[i].len;
		size_t from = border_find(r, list[i].start);
		size_t to = end ? border_find(r, end) : r->n_borders;

		if (!list[i].len)
			continue;
		if (end && end <= list[i].start) {
			node_note_range(r, counts, from, r->n_borders, i, entries);
			node_note_range(r, counts, 0, to, i, entries);
		} else {
			node_note_range(r, counts, from, to, i, entries);
		}
	}
}

int kjoule_interval_map_new(const struct kjoule_interval *list, size_t n,
			    struct kjoule_interval_map **out)
{
	struct kjoule_interval_map *r = calloc(1, sizeof(*r));
	size_t *at = NULL, nodes, unique = 0;

	*out = NULL;
	if (!r || n >= UINT32_MAX)
		goto err_free;
	r->borders = calloc(2 * n + 1, sizeof(*r->borders));
	if (!r->borders)
		goto err_free;
	/* the lowest address is one, for ranges that wrap */
	r->n_borders = 1;
	for (size_t i = 0; i < n; i++) {
		r->borders[r->n_borders++] = list[i].start;
		r->borders[r->n_borders++] = list[i].start + list[i].len;
	}
	qsort(r->borders, r->n_borders, sizeof(*r->borders), border_by_value);
	for (size_t i = 0; i < r->n_borders; i++)
		if (!i || r->borders[i] != r->borders[unique - 1])
			r->borders[unique++] = r->borders[i];
	r->n_borders = unique;
	nodes = 2 * r->n_borders;
	r->first = calloc(nodes + 1, sizeof(*r->first));
	at = calloc(nodes + 1, sizeof(*at));
	if (!r->first || !at)
		goto err_free;
	nodes_note_ranges(r, list, n, at, NULL);
	for (size_t i = 0; i < nodes; i++)
		r->first[i + 1] = r->first[i] + at[i];
	r->entries = calloc(r->first[nodes] + 1, sizeof(*r->entries));
	if (!r->entries)
		goto err_free;
	memcpy(at, r->first, nodes * sizeof(*at));
	nodes_note_ranges(r, list, n, at, r->entries);
	free(at);
	*out = r;
	return 0;

err_free:
	free(at);
	kjoule_interval_map_free(r);
	return -ENOMEM;
}

size_t kjoule_interval_map_last(const struct kjoule_interval_map *r, uint64_t point, size_t n)
{
	size_t node = border_find(r, point) + r->n_borders, found = KJOULE_INTERVAL_MAP_NONE;

	for (; node; node /= 2) {
		size_t lo = r->first[node], hi = r->first[node + 1], begin = lo;

		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (r->entries[mid] < n)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo > begin && (found == KJOULE_INTERVAL_MAP_NONE || r->entries[lo - 1] > found))
			found = r->entries[lo - 1];
	}
	return found;
}

void kjoule_interval_map_free(struct kjoule_interval_map *r)
{
	if (!r)
		return;
	free(r->borders);
	free(r->first);
	free(r->entries);
	free(r);
}
