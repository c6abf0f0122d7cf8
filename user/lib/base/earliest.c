// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A binary heap of streams; see earliest.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/earliest.h"

static bool before(const struct kjoule_turn *a, const struct kjoule_turn *b)
{
	return a->when != b->when ? a->when < b->when : a->who < b->who;
}

int kjoule_earliest_init(struct kjoule_earliest *e, size_t n)
{
	e->n = 0;
	e->turns = calloc(n + 1, sizeof(*e->turns));
	return e->turns ? 0 : -ENOMEM;
}

void kjoule_earliest_push(struct kjoule_earliest *e, uint64_t when, size_t who)
{
	struct kjoule_turn turn = { when, who };
	size_t at = e->n++;

	while (at && before(&turn, &e->turns[(at - 1) / 2])) {
		e->turns[at] = e->turns[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	e->turns[at] = turn;
}

const struct kjoule_turn *kjoule_earliest_first(const struct kjoule_earliest *e)
{
	return e->n ? e->turns : NULL;
}

size_t kjoule_earliest_pop(struct kjoule_earliest *e)
{
	size_t who = e->turns[0].who, at = 0;
	struct kjoule_turn last = e->turns[--e->n];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < e->n && before(&e->turns[child + 1], &e->turns[child]))
			child++;
		if (child >= e->n || !before(&e->turns[child], &last))
			break;
		e->turns[at] = e->turns[child];
		at = child;
	}
	e->turns[at] = last;
	return who;
}

void kjoule_earliest_exit(struct kjoule_earliest *e)
{
	free(e->turns);
	memset(e, 0, sizeof(*e));
}
