// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs the ticks of a CPU; see tick_stream.h.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/ticks/tick_stream.h"

/* An entry has two bytes of flags and at most four numbers. */
#define ENTRY_MOST	64

static uint8_t *stream_put_varint(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = v | 0x80;
	*at++ = v;
	return at;
}

static uint8_t *stream_put_bytes(uint8_t *at, uint32_t v, unsigned int bytes)
{
	memcpy(at, &v, sizeof(v));	/* there is room for all of it */
	return at + bytes;
}

static int stream_reserve(struct tick_stream *l)
{
	size_t room = l->room + l->room / 2 + 4096;
	uint8_t *p;

	if (l->room - l->len >= ENTRY_MOST + TICK_STREAM_SLACK)
		return 0;
	p = realloc(l->bytes, room);
	if (!p)
		return -ENOMEM;
	l->bytes = p;
	l->room = room;
	return 0;
}

static int counts_reserve(struct tick_stream_counts *c, uint32_t block)
{
	size_t n = 2 * (block + 1ul) + 256;
	struct stream_count *of = realloc(c->of, n * sizeof(*of));

	if (!of)
		return -ENOMEM;
	memset(of + c->n, 0, (n - c->n) * sizeof(*of));
	c->of = of;
	c->n = n;
	return 0;
}

static int counts_add_entry(struct tick_stream_counts *c, const struct cpm_tick *t, uint32_t value)
{
	if (t->block >= c->n && counts_reserve(c, t->block))
		return -ENOMEM;
	c->of[t->block].ticks += t->more + 1ul;
	c->of[t->block].values += value ? t->more + 1ul : 0;
	return 0;
}

/* Write the pending entry. */
static int stream_write_last(struct tick_stream *l)
{
	const struct cpm_tick *t = &l->last;
	uint32_t differs = l->value ^ l->last_value;
	uint8_t head = 0, rare = 0, *at;

	if (stream_reserve(l) || (l->counts && counts_add_entry(l->counts, t, l->last_value)))
		return -ENOMEM;
	if (t->block >= 1u << 24)
		rare |= TICK_STREAM_BLOCK;
	else if (t->block != l->block || !l->len)
		head |= t->block < 1u << 8 ? 1 : t->block < 1u << 16 ? 2 : 3;
	if (differs >= 1u << 24)
		rare |= TICK_STREAM_VALUE;
	else if (differs)
		head |= 4;
	if (t->more > 15)
		rare |= TICK_STREAM_MORE;
	else
		head |= t->more << 3;
	rare |= (t->interpolated ? TICK_STREAM_INTERPOLATED : 0) |
		(t->skipped ? TICK_STREAM_SKIPPED : 0) | (t->tick != l->next ? TICK_STREAM_GAP : 0);
	at = l->bytes + l->len;
	*at++ = head | (rare ? 0x80 : 0);
	at = stream_put_bytes(at, t->block, head & 3);
	at = stream_put_bytes(at, differs, head & 4 ? 3 : 0);
	if (rare)
		*at++ = rare;
	if (rare & TICK_STREAM_GAP)
		at = stream_put_varint(at, t->tick - l->next);
	if (rare & TICK_STREAM_MORE)
		at = stream_put_varint(at, t->more);
	if (rare & TICK_STREAM_BLOCK)
		at = stream_put_varint(at, t->block);
	if (rare & TICK_STREAM_VALUE)
		at = stream_put_varint(at, l->last_value);
	l->len = at - l->bytes;
	l->next = t->tick + t->more + 1;
	l->block = t->block;
	l->value = l->last_value;
	return 0;
}

int tick_stream_put(struct tick_stream *l, const struct cpm_tick *tick, uint32_t value)
{
	int ret = 0;

	if (!tick->more && !tick->interpolated && !tick->skipped &&
	    tick_stream_more(l, tick->tick, tick->block, value))
		return 0;
	if (l->waits)
		ret = stream_write_last(l);
	l->last = *tick;
	l->last_value = value;
	l->waits = true;
	l->unseen |= tick->interpolated || tick->skipped;
	return ret;
}

int tick_stream_seal(struct tick_stream *l)
{
	int ret = l->waits ? stream_write_last(l) : 0;
	uint8_t *p;

	l->waits = false;
	if (ret || !l->len)
		return ret;
	memset(l->bytes + l->len, 0, TICK_STREAM_SLACK);
	p = realloc(l->bytes, l->len + TICK_STREAM_SLACK);
	if (p) {
		l->bytes = p;
		l->room = l->len + TICK_STREAM_SLACK;
	}
	return 0;
}

void tick_stream_rare(struct tick_stream_cursor *c, struct cpm_tick *t, uint32_t *more)
{
	uint8_t rare = *c->at++;

	t->interpolated = rare & TICK_STREAM_INTERPOLATED;
	t->skipped = !!(rare & TICK_STREAM_SKIPPED);
	if (rare & TICK_STREAM_GAP)
		c->next += tick_stream_number(&c->at);
	if (rare & TICK_STREAM_MORE)
		*more = tick_stream_number(&c->at);
	if (rare & TICK_STREAM_BLOCK)
		c->block = tick_stream_number(&c->at);
	if (rare & TICK_STREAM_VALUE)
		c->value = tick_stream_number(&c->at);
}

int tick_stream_rename(struct tick_stream *l, const uint32_t *to, size_t n)
{
	uint32_t *all;

	if (l->to) {
		/* again: renames chain */
		for (size_t i = 0; i < n && i < l->n_to; i++)
			l->to[i] = to[l->to[i]];
		return 0;
	}
	all = malloc((n + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all, to, n * sizeof(*all));
	l->to = all;
	l->n_to = n;
	return 0;
}

void tick_stream_free(struct tick_stream *l)
{
	free(l->bytes);
	free(l->to);
	memset(l, 0, sizeof(*l));
}
