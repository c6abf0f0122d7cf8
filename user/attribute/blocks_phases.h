/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ticks in step with other interrupts, above all the kernel's: with an interval of a millisecond
 * they come at the same few phases of the kernel's period repeatedly, and meet its interrupt
 * always, never, or more often than by its part of the time. Used by blocks_interrupts.c.
 */
#ifndef KJOULE_BLOCKS_PHASES_H
#define KJOULE_BLOCKS_PHASES_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/control/control.h"

#define BLOCKS_PERIODS	5	/* that the kernel's tick may have */
#define BLOCKS_PHASES	256	/* parts of each */

/* When ticks that met an interrupt were due: how many in which part of each period. */
struct blocks_phases {
	uint32_t late[BLOCKS_PERIODS][BLOCKS_PHASES];
	double over_ns;			/* sum of their delays, */
	uint64_t over;			/* and their number */
};

/**
 * struct blocks_step - how ticks and interrupts are in step
 * @uneven: ticks do not come at all phases of some period alike
 * @met: and a part of the delayed ones is at one phase
 * @seen: ticks come at all phases of the interrupt: @level is known
 * @level: the part of the time in interrupts, by the ticks at each phase
 * @others: the part of it of interrupts of no phase
 */
struct blocks_step {
	bool uneven, met, seen;
	double level, others;
};

/** blocks_phases_add() - a delayed tick, that counts for @n, due at @due_ns */
void blocks_phases_add(struct blocks_phases *p, uint64_t due_ns, unsigned int n);
/**
 * blocks_phases_step() - are ticks in step with interrupts?
 * @late,@all: delayed samples, as counted, and all
 */
struct blocks_step blocks_phases_step(const struct blocks_phases *p,
				      const struct kjoule_session_info *session, uint64_t end_tick,
				      double late, double all);

#endif /* KJOULE_BLOCKS_PHASES_H */
