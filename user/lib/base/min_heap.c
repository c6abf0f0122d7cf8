// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A binary heap of streams; see min_heap.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/min_heap.h"

static bool entry_is_before(const struct kjoule_min_heap_entry *a,
			    const struct kjoule_min_heap_entry *b)
{
	return a->when != b->when ? a->when < b->when : a->who < b->who;
}

int kjoule_min_heap_init(struct kjoule_min_heap *e, size_t n)
{
	e->n = 0;
	e->turns = calloc(n + 1, sizeof(*e->turns));
	return e->turns ? 0 : -ENOMEM;
}

void kjoule_min_heap_push(struct kjoule_min_heap *e, uint64_t when, size_t who)
{
	struct kjoule_min_heap_entry turn = { when, who };
	size_t at = e->n++;

	while (at && entry_is_before(&turn, &e->turns[(at - 1) / 2])) {
		e->turns[at] = e->turns[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	e->turns[at] = turn;
}

const struct kjoule_min_heap_entry *kjoule_min_heap_first(const struct kjoule_min_heap *e)
{
	return e->n ? e->turns : NULL;
}

size_t kjoule_min_heap_pop(struct kjoule_min_heap *e)
{
	size_t who = e->turns[0].who, at = 0;
	struct kjoule_min_heap_entry last = e->turns[--e->n];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < e->n && entry_is_before(&e->turns[child + 1], &e->turns[child]))
			child++;
		if (child >= e->n || !entry_is_before(&e->turns[child], &last))
			break;
		e->turns[at] = e->turns[child];
		at = child;
	}
	e->turns[at] = last;
	return who;
}

void kjoule_min_heap_exit(struct kjoule_min_heap *e)
{
	free(e->turns);
	memset(e, 0, sizeof(*e));
}
