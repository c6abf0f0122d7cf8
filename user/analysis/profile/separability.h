/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which blocks the mixture model can separate in a recording: the others are merged. Pure. */
#ifndef KJOULE_SEPARABILITY_H
#define KJOULE_SEPARABILITY_H

#include "analysis/profile/profile.h"

/* Largest half of a power's 95 % interval, as a part of the mean power of all. */
#define SEPARABILITY_SURE	0.2
/* At least this part of the windows' differences must not be sampling error. */
#define SEPARABILITY_RELIABLE	0.2

/* What became of a block. */
enum separability_fate {
	SEPARABILITY_ALONE,		/* has a power of its own */
	SEPARABILITY_LITTLE,	/* ran for too little time: merged with others */
	SEPARABILITY_BRIEF,	/* its runs are too short for the rate: merged with a neighbour */
	/* windows do not differ enough in how much of it they have: merged with another */
	SEPARABILITY_ALIKE,
};

enum separability_why {
	SEPARABILITY_DONE,
	SEPARABILITY_NO_ENERGY,	/* the counter was not seen to update twice */
	SEPARABILITY_PACKAGES,	/* several counters: not supported */
	SEPARABILITY_FEW,		/* windows */
	SEPARABILITY_COARSE,	/* ticks */
	SEPARABILITY_NOTHING,	/* target and other times are inseparable */
};

/**
 * struct separation - the merged blocks
 * @why: not SEPARABILITY_DONE: the model cannot be used, and only @window_ticks and above are valid
 * @windows,@left_out,@window_ticks: see struct mixture; of the first domain
 * @reliability: the least of all domains
 * @unit_of: of each block, the number of one of the blocks that it is merged with, or itself
 * @fate: of each block
 * @loose: of each unit, by that number: pooled, and need not be certain
 * @pool: of each unit: its pool, UINT32_MAX: of several
 */
struct separation {
	enum separability_why why;
	uint64_t windows, left_out;
	double window_ticks, reliability;
	uint32_t n_blocks;
	uint32_t *unit_of;
	uint8_t *fate;
	bool *loose;
	uint32_t *pool;
};

/**
 * separability_new() - merge inseparable blocks
 * @p: of @in, by whatever model
 * @pool_of: of each block: those of little time are merged by these; not below the number of
 *   blocks: never merged
 * Return: 0 or -ENOMEM
 */
int separability_new(const struct profile *p, const struct profile_input *in,
		     const uint32_t *pool_of, struct separation *s);
void separability_free(struct separation *s);

#endif /* KJOULE_SEPARABILITY_H */
