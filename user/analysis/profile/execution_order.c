// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See execution_order.h. Used by attribute/merge.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/profile/execution_order.h"
#include "analysis/ticks/tick_stream.h"

/* A stream, and whether it has an unused entry. */
struct head {
	struct tick_stream_cursor c;
	bool waits;
};

/* The stream whose next entry comes first; NULL: all are at their end. */
static struct head *heads_find_first(struct head *heads, size_t n)
{
	struct head *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (heads[i].waits && (!first || heads[i].c.t.tick < first->c.t.tick))
			first = &heads[i];
	return first;
}

int execution_order_elapsed(const struct cpm_stream *streams, size_t n_streams,
			    const uint32_t *group_of, uint32_t n_groups, double *ticks)
{
	uint64_t *until = calloc(n_groups + 1, sizeof(*until));
	struct head *heads = calloc(n_streams + 1, sizeof(*heads)), *h;
	int ret = until && heads ? 0 : -ENOMEM;

	for (uint32_t g = 0; g < n_groups; g++)
		ticks[g] = 0;
	for (size_t i = 0; i < n_streams && !ret; i++) {
		tick_stream_begin(&heads[i].c, &streams[i], NULL);
		heads[i].waits = tick_stream_next(&heads[i].c);
	}
	for (; !ret && (h = heads_find_first(heads, n_streams));
	     h->waits = tick_stream_next(&h->c)) {
		const struct cpm_tick *t = &h->c.t;
		uint32_t g = group_of[t->block];
		uint64_t from = t->tick, to = t->tick + 1 + t->more;

		if (g == COURSE_NONE)
			continue;
		/* entries come in order of their begin: all before @until is counted */
		if (from < until[g])
			from = until[g];
		if (to <= from)
			continue;
		ticks[g] += to - from;
		until[g] = to;
	}
	free(heads);
	free(until);
	return ret;
}

static int step_by_groups(const void *a, const void *b)
{
	const struct execution_step *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Steps by hash: @slots of them, a power of two, at most half of them taken; n 0: free. */
struct counted {
	struct execution_step *list;
	size_t slots, n;
};

static struct execution_step *step_slot(const struct counted *c, uint32_t from, uint32_t to)
{
	uint64_t hash = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15ull;
	size_t i = hash >> 32 & (c->slots - 1);

	while (c->list[i].n && (c->list[i].from != from || c->list[i].to != to))
		i = (i + 1) & (c->slots - 1);
	return &c->list[i];
}

static int step_slots_double(struct counted *c)
{
	struct counted more = { .slots = 2 * c->slots, .n = c->n };

	more.list = calloc(more.slots, sizeof(*more.list));
	if (!more.list)
		return -ENOMEM;
	for (size_t i = 0; i < c->slots; i++)
		if (c->list[i].n)
			*step_slot(&more, c->list[i].from, c->list[i].to) = c->list[i];
	free(c->list);
	*c = more;
	return 0;
}

static int step_count(struct counted *c, uint32_t from, uint32_t to)
{
	struct execution_step *s = step_slot(c, from, to);

	if (!s->n) {
		*s = (struct execution_step){ from, to, 0 };
		c->n++;
	}
	s->n++;
	return 2 * c->n > c->slots ? step_slots_double(c) : 0;
}

int execution_order_steps(const struct cpm_stream *streams, size_t n_streams,
			  const uint32_t *group_of, struct execution_step **steps, size_t *n)
{
	struct counted c = { .slots = 64 };
	int ret = 0;

	*steps = NULL;
	*n = 0;
	c.list = calloc(c.slots, sizeof(*c.list));
	if (!c.list)
		return -ENOMEM;
	for (size_t i = 0; i < n_streams && !ret; i++) {
		uint32_t last = COURSE_NONE;
		struct tick_stream_cursor at;

		tick_stream_begin(&at, &streams[i], NULL);
		while (!ret && tick_stream_next(&at)) {
			uint32_t g = group_of[at.t.block];

			if (g == COURSE_NONE)
				continue;
			if (last != COURSE_NONE && last != g)
				ret = step_count(&c, last, g);
			last = g;
		}
	}
	if (ret) {
		free(c.list);
		return ret;
	}
	for (size_t i = 0; i < c.slots; i++)
		if (c.list[i].n)
			c.list[(*n)++] = c.list[i];
	qsort(c.list, *n, sizeof(*c.list), step_by_groups);
	*steps = c.list;
	return 0;
}
