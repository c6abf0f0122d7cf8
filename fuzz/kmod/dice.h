/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers that a seed repeats. Each move draws from numbers of its own, so that
 * what one move met does not change what the next one tries. Used by all of this folder.
 */
#ifndef KJOULE_FUZZ_DICE_H
#define KJOULE_FUZZ_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

/* The numbers of move @move of thread @thread in a run with @seed. */
void dice_begin(struct dice *d, uint64_t seed, unsigned int thread, uint64_t move);

uint64_t dice_bits(struct dice *d);
unsigned int dice_below(struct dice *d, unsigned int n);	/* 0 to n - 1; n > 0 */
bool dice_one_in(struct dice *d, unsigned int n);
uint64_t dice_number(struct dice *d);		/* small, near a power of two, negative, anything */
void dice_fill(struct dice *d, void *at, size_t bytes);

#endif
