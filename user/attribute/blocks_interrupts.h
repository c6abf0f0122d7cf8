/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What interrupts other than ours took of the time, as the recording has it: the inside of blocks.h.
 *
 * A tick that is due while another interrupt runs waits for its end, and comes late to the code that this one has
 * interrupted. Samples that are later than they usually are count for interrupts as others count for their code.
 */
#ifndef KJOULE_BLOCKS_INTERRUPTS_H
#define KJOULE_BLOCKS_INTERRUPTS_H

#include "attribute/blocks.h"

#define BLOCKS_DELAYS	128

/* How late a sample was. */
struct blocks_late {
	uint64_t tick;
	uint32_t block;
	float late;		/* thousandths of a cycle, or nanoseconds without a frequency */
	float slowness;		/* one by the frequency in MHz, 1 without it */
};

/*
 * How late a block's latest samples of user mode were, until there are enough to say what is usual of it: where instructions
 * take long, so does being interrupted.
 */
struct blocks_delay {
	size_t n, room;
	struct blocks_late *of;
};

/** blocks_delay_add() - a sample of a block, of a tick that was not held. Return: 0 or -ENOMEM */
int blocks_delay_add(struct blocks *b, uint32_t block, const struct timeline_sample *s);
/** blocks_delay_end() - there are no more: count those that are left. Return: 0 or -ENOMEM */
int blocks_delay_end(struct blocks *b);
/**
 * blocks_interrupts_find() - the part of the time that other interrupts took of all blocks: input.other
 *
 * What the calibration says of it counts as much as so many late samples as are known as well.
 */
void blocks_interrupts_find(struct blocks *b, const struct view *v);
/** blocks_interrupts_compare() - of each block by the mean of all. Return: whether they differ by more than chance */
bool blocks_interrupts_compare(const struct blocks *b, struct profile_cost *costs);

#endif /* KJOULE_BLOCKS_INTERRUPTS_H */
