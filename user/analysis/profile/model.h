/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which model of power fits a recording: length of its blocks' runs against the update period of
 * the counter and the tick. Pure. Two models are for recordings of other kinds and chosen by these:
 * the variation-aware one (a meter that starts on command) and the edge-synchronised one (a program
 * paused at the counter's updates). model_choose() is the place for them once a recording names its
 * kind.
 */
#ifndef KJOULE_MODEL_H
#define KJOULE_MODEL_H

#include "analysis/profile/profile.h"

/* The constant power model needs runs of so many update periods. */
#define MODEL_COARSE	8
/* The mixture model needs so many ticks to an update period. */
#define MODEL_TICKS	5
/* Blocks with a smaller part of the busy time do not matter. */
#define MODEL_PART	0.05

enum model_reason {
	MODEL_ALL_COARSE,	/* cpm: every block's runs are long enough */
	MODEL_FINE,		/* mixture: some block's are not */
	MODEL_NO_ENERGY,	/* cpm: there is no energy */
	MODEL_PACKAGES,		/* cpm: several counters, which mixture cannot do */
	MODEL_SLOW_TICKS,	/* cpm: too few ticks to an update period for mixture */
	MODEL_FEW_WINDOWS,	/* cpm: too few updates of the counter for mixture */
	MODEL_NOTHING_RAN,	/* cpm: no block has MODEL_PART */
};

/**
 * struct model_choice - the choice, and its reasons
 * @period_ticks: ticks between two updates of the counter, median; NAN: unknown
 * @run_ticks: the shortest mean length of the runs of a block of MODEL_PART or more, in ticks
 * @block: whose that is
 * @windows: of known energy
 */
struct model_choice {
	enum profile_model model;
	enum model_reason reason;
	double period_ticks, run_ticks;
	uint32_t block;
	uint64_t windows;
};

/** model_choose() - @p of @in, by the constant power model. Return: 0 or -ENOMEM */
int model_choose(const struct profile *p, const struct profile_input *in, struct model_choice *c);

#endif /* KJOULE_MODEL_H */
