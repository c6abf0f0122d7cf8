/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks the mixture model can tell apart in a recording: the others are made one. Pure.
 */
#ifndef KJOULE_SEPARABILITY_H
#define KJOULE_SEPARABILITY_H

#include "analysis/profile/profile.h"

/* Half of the 95 % interval of a power may be this part of the mean power of all, or nothing is told by it. */
#define SEPARABILITY_SURE	0.2
/* Of what differs between windows, this part at least must not be sampling error. */
#define SEPARABILITY_RELIABLE	0.2

/* What became of a block. */
enum separability_fate {
	SEPARABILITY_ALONE,		/* has a power of its own */
	SEPARABILITY_LITTLE,	/* ran for too little time: one of others */
	SEPARABILITY_BRIEF,		/* its runs are too short for the rate: one with what runs beside it */
	SEPARABILITY_ALIKE,		/* windows do not differ enough in how much of it they hold: one with another */
};

enum separability_why {
	SEPARABILITY_DONE,
	SEPARABILITY_NO_ENERGY,	/* the counter was not seen to move twice */
	SEPARABILITY_PACKAGES,	/* several counters: not supported */
	SEPARABILITY_FEW,		/* windows */
	SEPARABILITY_COARSE,	/* ticks */
	SEPARABILITY_NOTHING,	/* what ran cannot be told from the times in which it did not */
};

/**
 * struct separation - the blocks put together
 * @why:	not SEPARABILITY_DONE: the model cannot be used, and nothing below @window_ticks counts
 * @windows,@left_out,@window_ticks: see struct mixture; of the first domain
 * @reliability: the least of all domains
 * @unit_of:	of each block, the number of one of those that it is one with, perhaps itself
 * @fate:	of each block
 * @loose:	of each unit, by that number: what is pooled, and need not be sure
 * @pool:	of each unit: whose blocks they are, UINT32_MAX: of several pools
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
 * separability_new() - find out
 * @p:		of @in, by whatever model
 * @pool_of:	of each block: those of little time are put together by these; not below the number of blocks:
 *		it is left alone
 * Return: 0 or -ENOMEM
 */
int separability_new(const struct profile *p, const struct profile_input *in, const uint32_t *pool_of,
		 struct separation *s);
void separability_free(struct separation *s);

#endif /* KJOULE_SEPARABILITY_H */
