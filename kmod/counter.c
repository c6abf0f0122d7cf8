// SPDX-License-Identifier: GPL-2.0-only
/*
 * Narrow counters made wide; see counter.h. A wrap is seen as long as the
 * counter is read at least once in the time that it takes to go round.
 */
#include "counter.h"

/**
 * kjoule_counter_start() - begin at a raw value
 * @c:		the counter
 * @raw:	the raw value that counts as zero
 *
 * Context: any.
 */
void kjoule_counter_start(struct kjoule_counter *c, u64 raw)
{
	c->last_raw = raw;
	c->total = 0;
}

/**
 * kjoule_counter_add() - take in a new raw value
 * @c:		the counter
 * @raw:	what the hardware shows now
 * @width:	valid bits of @raw, 1 to 64; bits above are ignored
 *
 * Context: any; the caller serialises.
 * Return: raw counts since the value before, 0 if it has not moved.
 */
u64 kjoule_counter_add(struct kjoule_counter *c, u64 raw, u32 width)
{
	u64 mask = width >= 64 ? ~0ULL : (1ULL << width) - 1;
	u64 delta = (raw - c->last_raw) & mask;

	c->last_raw = raw;
	c->total += delta;
	return delta;
}

/**
 * kjoule_counter_scale() - raw counts in microjoule
 * @counts:	raw counts
 * @mult:	numerator of the unit
 * @shift:	the unit is @mult / 2^@shift microjoule, at most 64
 *
 * Context: any.
 * Return: microjoule, rounded down; correct as long as the result fits 64 bits.
 */
u64 kjoule_counter_scale(u64 counts, u64 mult, u32 shift)
{
	return (u64)(((unsigned __int128)counts * mult) >> shift);
}
