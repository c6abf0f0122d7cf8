/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks the mixture model can tell apart in a recording: the others are made one. Pure.
 */
#ifndef KJOULE_SEPARATE_H
#define KJOULE_SEPARATE_H

#include "analysis/profile/profile.h"

/* Half of the 95 % interval of a power may be this part of the mean power of all, or nothing is told by it. */
#define SEPARATE_SURE	0.2
/* Of what differs between windows, this part at least must not be sampling error. */
#define SEPARATE_RELIABLE	0.2

/* What became of a block. */
enum separate_fate {
	SEPARATE_ALONE,		/* has a power of its own */
	SEPARATE_LITTLE,	/* ran for too little time: one of others */
	SEPARATE_BRIEF,		/* its runs are too short for the rate: one with what runs beside it */
	SEPARATE_ALIKE,		/* windows do not differ enough in how much of it they hold: one with another */
};

enum separate_why {
	SEPARATE_DONE,
	SEPARATE_NO_ENERGY,	/* the counter was not seen to move twice */
	SEPARATE_PACKAGES,	/* several counters: not supported */
	SEPARATE_FEW,		/* windows */
	SEPARATE_COARSE,	/* ticks */
	SEPARATE_NOTHING,	/* what ran can not be told from the times in which it did not */
};

/**
 * struct separation - the blocks put together
 * @why:	not SEPARATE_DONE: the model can not be used, and nothing below @window_ticks counts
 * @windows,@left_out,@window_ticks: see struct mixture; of the first domain
 * @reliability: the least of all domains
 * @unit_of:	of each block, the number of one of those that it is one with, perhaps itself
 * @fate:	of each block
 * @loose:	of each unit, by that number: what is pooled, and need not be sure
 * @pool:	of each unit: whose blocks they are, UINT32_MAX: of several pools
 */
struct separation {
	enum separate_why why;
	uint64_t windows, left_out;
	double window_ticks, reliability;
	uint32_t n_blocks;
	uint32_t *unit_of;
	uint8_t *fate;
	bool *loose;
	uint32_t *pool;
};

/**
 * separate_new() - find out
 * @p:		of @in, by whatever model
 * @pool_of:	of each block: those of little time are put together by these; not below the number of blocks:
 *		it is left alone
 * Return: 0 or -ENOMEM
 */
int separate_new(const struct profile *p, const struct profile_input *in, const uint32_t *pool_of,
		 struct separation *s);
void separate_free(struct separation *s);

#endif /* KJOULE_SEPARATE_H */
