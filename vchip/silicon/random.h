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

/* A state for one of the users of a run's seed. */
static inline uint64_t random_seed(uint64_t seed, uint64_t user)
{
	uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15ULL ^ user * 0xbf58476d1ce4e5b9ULL;

	state = state ? state : 1;
	for (int i = 0; i < 8; i++)
		random_next(&state);
	return state;
}

/* Uniform from 0 to @bound - 1. */
static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
	return (random_next(state) >> 16) % bound;
}

#endif /* VCHIP_RANDOM_H */
