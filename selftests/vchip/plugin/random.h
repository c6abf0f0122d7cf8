/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers, each user with a state of its own: xorshift64*. A state is never zero. */
#ifndef VCHIP_RANDOM_H
#define VCHIP_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* Uniform from 0 to @bound - 1. */
static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
	return (random_next(state) >> 16) % bound;
}

#endif /* VCHIP_RANDOM_H */
