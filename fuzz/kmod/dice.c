// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random numbers that a seed repeats; see dice.h. The generator is SplitMix64: a counter
 * and a mixing function, which is enough for choosing.
 */
#include "dice.h"

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

void dice_begin(struct dice *d, uint64_t seed, unsigned int thread, uint64_t move)
{
	d->state = mix(mix(mix(seed + 1) ^ thread) + move);
}

uint64_t dice_bits(struct dice *d)
{
	d->state += 0x9e3779b97f4a7c15ULL;
	return mix(d->state);
}

unsigned int dice_below(struct dice *d, unsigned int n)
{
	return (dice_bits(d) >> 32) * n >> 32;
}

bool dice_one_in(struct dice *d, unsigned int n)
{
	return !dice_below(d, n);
}

uint64_t dice_number(struct dice *d)
{
	uint64_t bits = dice_bits(d), power = 1ULL << (bits & 63);

	switch (dice_below(d, 6)) {
	case 0:
		return bits >> 8 & 7;
	case 1:
		return power;
	case 2:
		return power - 1;
	case 3:
		return power + 1;
	case 4:
		return -power;
	default:
		return bits;
	}
}

void dice_fill(struct dice *d, void *at, size_t bytes)
{
	uint8_t *to = at;
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < bytes; i++) {
		if (!(i % 8))
			bits = dice_bits(d);
		to[i] = bits >> i % 8 * 8;
	}
}
