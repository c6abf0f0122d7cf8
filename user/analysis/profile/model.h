/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which model of power fits a recording: how long its blocks run at a time, against how often the counter moves and how
 * often there is a tick. Pure.
 *
 * Two models are for recordings of other kinds and are chosen by those, not here: the variation-aware one (a meter that
 * starts on command) and the edge-synchronised one (a program that was held at the counter's moves). model_choose() is
 * where they come in once a recording says that it is one.
 */
#ifndef KJOULE_MODEL_H
#define KJOULE_MODEL_H

#include "analysis/profile/profile.h"

/* The constant power model is for blocks that run for so many update periods at a time. */
#define MODEL_COARSE	8
/* The mixture model wants so many ticks to an update period. */
#define MODEL_TICKS	5
/* What blocks of less than this part of the busy time would need is not asked. */
#define MODEL_PART	0.05

enum model_reason {
	MODEL_ALL_COARSE,	/* cpm: every block runs for long enough */
	MODEL_FINE,		/* mixture: some block does not */
	MODEL_NO_ENERGY,	/* cpm: there is none to model */
	MODEL_PACKAGES,		/* cpm: several counters, which mixture does not know */
	MODEL_SLOW_TICKS,	/* cpm: too few ticks to an update period for mixture */
	MODEL_FEW_WINDOWS,	/* cpm: too few moves of the counter for mixture */
	MODEL_NOTHING_RAN,	/* cpm: no block has MODEL_PART */
};

/**
 * struct model_choice - what was chosen, and by what
 * @period_ticks: ticks between two moves of the counter, the median; NAN: not known
 * @run_ticks:	the shortest mean length of the runs of a block of MODEL_PART or more, in ticks
 * @block:	whose that is
 * @windows:	of which the energy is known
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
