/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One CPU's ticks in order, packed: a recording has up to a hundred million. Written once and read
 * from the beginning as often as needed. Pure.
 *
 * An entry is a byte of flags and what they announce, in this order:
 *
 *	bits 0-1	bytes of the block; 0: that of the entry before
 *	bit 2		the value differs: exclusive or with the one before, 3 bytes
 *	bits 3-6	so many ticks more, up to 15
 *	bit 7		rare things follow: a byte of flags (STREAM_*), and their numbers
 */
#ifndef KJOULE_TICK_STREAM_H
#define KJOULE_TICK_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CPM_MORE_MOST	((1u << 30) - 1)

/* The block of a CPU at a tick, and at @more ticks after it. */
struct cpm_tick {
	uint64_t tick;
	uint32_t block;
	uint32_t interpolated : 1;	/* missed ticks, with a neighbour's block */
	uint32_t skipped : 1;	/* skipped while idle: known, and free of cost */
	uint32_t more : 30;
};

/* At most so many equal samples in a row are one entry. */
#define TICK_STREAM_ALIKE_MOST	256

/* Of each block: its ticks, and how many of these have a value. */
struct tick_stream_counts {
	size_t n;
	struct stream_count {
		uint64_t ticks, values;
	} *of;
};

/* A stream to which entries are added. */
struct tick_stream {
	uint8_t *bytes;
	size_t len, room;
	uint32_t *to;		/* blocks' new numbers, see tick_stream_rename(); NULL: unchanged */
	size_t n_to;
	/* of blocks by their numbers before tick_stream_rename(); NULL: not counted */
	struct tick_stream_counts *counts;
	/* of the last entry that was written */
	uint64_t next;
	uint32_t block, value;
	/* the pending entry */
	struct cpm_tick last;
	uint32_t last_value;
	bool waits;
	bool unseen;		/* it has interpolated or skipped entries */
};

/*
 * One CPU, its ticks in order: in an array, or packed. Absent ticks are unsampled.
 * @end: ticks from this one on are left out; 0: none
 */
struct cpm_stream {
	const struct cpm_tick *ticks;
	size_t n;
	const struct tick_stream *packed;
	uint64_t end;
};

/**
 * tick_stream_put() - add an entry
 * @value: goes with it: its frequency
 *
 * Equal successive samples become one entry.
 * Return: 0 or -ENOMEM
 */
int tick_stream_put(struct tick_stream *l, const struct cpm_tick *tick, uint32_t value);
/**
 * tick_stream_more() - tick_stream_put() of a sample equal to the one before, at the next tick
 * Return: false if it is not: nothing was done
 */
static inline bool tick_stream_more(struct tick_stream *l, uint64_t tick, uint32_t block,
				    uint32_t value)
{
	struct cpm_tick *last = &l->last;

	if (!l->waits || block != last->block || value != l->last_value || last->interpolated ||
	    last->skipped || tick != last->tick + last->more + 1 ||
	    last->more + 1 >= TICK_STREAM_ALIKE_MOST)
		return false;
	last->more++;
	return true;
}
/** tick_stream_seal() - after the last one. Return: 0 or -ENOMEM */
int tick_stream_seal(struct tick_stream *l);
/** tick_stream_rename() - block b becomes to[b], of @n. Return: 0 or -ENOMEM */
int tick_stream_rename(struct tick_stream *l, const uint32_t *to, size_t n);
void tick_stream_free(struct tick_stream *l);

/** tick_stream_unseen() - may it have interpolated or skipped entries? */
static inline bool tick_stream_unseen(const struct cpm_stream *l)
{
	return !l->packed || l->packed->unseen;
}

/* Position of a reader: @t is the entry, @value what goes with it. */
struct tick_stream_cursor {
	struct cpm_tick t;
	uint32_t value;
	/* inside */
	const struct cpm_tick *ticks;
	const uint32_t *values;
	const uint8_t *at, *last;
	const uint32_t *to;
	uint32_t block;
	uint64_t next, end;
};

/* Bits of the byte of rare flags. */
#define TICK_STREAM_INTERPOLATED	0x01
#define TICK_STREAM_SKIPPED	0x02
#define TICK_STREAM_GAP	0x04	/* ticks that are left out before it */
#define TICK_STREAM_MORE	0x08	/* instead of bits 3-6 */
#define TICK_STREAM_BLOCK	0x10	/* instead of bits 0-1 */
#define TICK_STREAM_VALUE	0x20	/* instead of bit 2: as it is */

/* Entries are read a little beyond their end. */
#define TICK_STREAM_SLACK	8

/** tick_stream_begin() - before the first entry. @values: of an array, NULL: none */
static inline void tick_stream_begin(struct tick_stream_cursor *c, const struct cpm_stream *l,
				     const uint32_t *values)
{
	memset(c, 0, sizeof(*c));
	c->end = l->end ? l->end : UINT64_MAX;
	if (l->packed) {
		c->at = l->packed->bytes;
		c->last = l->packed->bytes ? l->packed->bytes + l->packed->len : NULL;
		c->to = l->packed->to;
	} else if (l->n) {
		c->ticks = l->ticks;
		c->values = values;
		c->last = (const uint8_t *)(l->ticks + l->n);
	}
}

static inline uint64_t tick_stream_number(const uint8_t **at)
{
	uint64_t v = 0;
	unsigned int shift = 0;

	do {
		v |= (uint64_t)(**at & 0x7f) << shift;
		shift += 7;
	} while (*(*at)++ & 0x80);
	return v;
}

static inline uint32_t tick_stream_u32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/** tick_stream_rare() - slow path of stream_take(). @more: out, if present */
void tick_stream_rare(struct tick_stream_cursor *c, struct cpm_tick *t, uint32_t *more);

/* The cut is inside of the entry, or before it. Return: false: before it */
static inline bool tick_stream_cut(const struct tick_stream_cursor *c, struct cpm_tick *t)
{
	if (t->tick >= c->end)
		return false;
	t->more = c->end - t->tick - 1;
	return true;
}

/** stream_take() - next entry into @t; its value is in the cursor. Return: false at the end */
static inline __attribute__((always_inline)) bool stream_take(struct tick_stream_cursor *c,
							      struct cpm_tick *t)
{
	static const uint32_t masks[] = { 0, 0xff, 0xffff, 0xffffff };
	uint32_t more, mask;
	uint8_t head;

	if (c->ticks) {
		if ((const uint8_t *)c->ticks == c->last)
			return false;
		*t = *c->ticks++;
		c->value = c->values ? *c->values++ : 0;
		return t->tick + t->more < c->end || tick_stream_cut(c, t);
	}
	if (c->at == c->last)
		return false;
	head = *c->at++;
	mask = masks[head & 3];
	c->block = (c->block & (mask ? 0 : UINT32_MAX)) | (tick_stream_u32(c->at) & mask);
	c->at += head & 3;
	mask = head & 4 ? 0xffffff : 0;
	c->value ^= tick_stream_u32(c->at) & mask;
	c->at += mask & 3;
	more = head >> 3 & 15;
	*t = (struct cpm_tick){ 0 };
	if (head & 0x80)
		tick_stream_rare(c, t, &more);
	t->tick = c->next;
	t->block = c->to ? c->to[c->block] : c->block;
	t->more = more;
	c->next += more + 1ull;
	return t->tick + more < c->end || tick_stream_cut(c, t);
}

/** tick_stream_next() - Return: false at the end */
static inline bool tick_stream_next(struct tick_stream_cursor *c)
{
	return stream_take(c, &c->t);
}

#endif /* KJOULE_TICK_STREAM_H */
