/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ticks that keep step with other interrupts, the kernel's own above all: with an interval of a millisecond they come
 * at the same few moments of the kernel's period again and again, and meet its interrupt always, never, or more often
 * than the part of the time that it takes. Used by blocks_interrupts.c.
 */
#ifndef KJOULE_BLOCKS_PHASES_H
#define KJOULE_BLOCKS_PHASES_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/control/control.h"

#define BLOCKS_PERIODS	5	/* that the kernel's tick may have */
#define BLOCKS_PHASES	256	/* parts of each */

/* When ticks were due that met an interrupt: how many in which part of each period. */
struct blocks_phases {
	uint32_t late[BLOCKS_PERIODS][BLOCKS_PHASES];
	double over_ns;			/* by how much they were late, all together, */
	uint64_t over;			/* and how many these are */
};

/**
 * struct blocks_step - how ticks and interrupts keep step
 * @uneven:	ticks do not come at all phases of some period alike
 * @met:	and a part of the late ones is all at one phase
 * @seen:	where ticks come at all moments of the interrupt: @level is known
 * @level:	the part of the time that interrupts take, out of how often ticks came at each phase
 * @others:	the part of it that those take that are of no phase
 */
struct blocks_step {
	bool uneven, met, seen;
	double level, others;
};

/** blocks_phases_add() - a late tick, that counts for @n, due at @due_ns */
void blocks_phases_add(struct blocks_phases *p, uint64_t due_ns, unsigned int n);
/**
 * blocks_phases_step() - do ticks keep step with interrupts?
 * @late,@all:	samples that were late, as counted, and all of them
 */
struct blocks_step blocks_phases_step(const struct blocks_phases *p, const struct kjoule_session_info *session,
				      uint64_t end_tick, double late, double all);

#endif /* KJOULE_BLOCKS_PHASES_H */
