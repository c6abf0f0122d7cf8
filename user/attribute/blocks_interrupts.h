/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording's own measure of the time in interrupts other than ours: internal to blocks.h.
 *
 * A tick that is due while another interrupt runs waits for its end, and hits the code interrupted
 * by it with a delay. Samples with more than the usual delay count for interrupts as others count
 * for their code.
 */
#ifndef KJOULE_BLOCKS_INTERRUPTS_H
#define KJOULE_BLOCKS_INTERRUPTS_H

#include "attribute/blocks.h"

#define BLOCKS_DELAYS	128

/* The delay of a sample. */
struct blocks_late {
	uint64_t tick;
	uint32_t block;
	float late;		/* thousandths of a cycle, or nanoseconds without a frequency */
	float slowness;		/* one by the frequency in MHz, 1 without it */
};

/*
 * Delays of a block's latest samples of user mode, until there are enough for its usual delay:
 * where instructions take long, so does being interrupted.
 */
struct blocks_delay {
	size_t n, room;
	struct blocks_late *of;
};

/** blocks_delay_add() - a sample of a block, of a tick without a pause. Return: 0 or -ENOMEM */
int blocks_delay_add(struct blocks *b, uint32_t block, const struct timeline_sample *s);
/** blocks_delay_end() - after the last: count those that are left. Return: 0 or -ENOMEM */
int blocks_delay_end(struct blocks *b);
/**
 * blocks_interrupts_find() - the part of the time of all blocks in other interrupts: input.other
 *
 * The calibration counts as much as a number of delayed samples of equal accuracy.
 */
void blocks_interrupts_find(struct blocks *b, const struct view *v);
/** blocks_interrupts_compare() - by the mean of all. Return: do they differ by more than chance? */
bool blocks_interrupts_compare(const struct blocks *b, struct profile_cost *costs);

#endif /* KJOULE_BLOCKS_INTERRUPTS_H */
