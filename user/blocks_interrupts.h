/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What interrupts other than ours took of the time, as the recording has it: the inside of blocks.h.
 *
 * A tick that is due while another interrupt runs waits for its end, and comes late to the code that this one has
 * interrupted. Samples that are later than they usually are count for interrupts as others count for their code.
 */
#ifndef KJOULE_BLOCKS_INTERRUPTS_H
#define KJOULE_BLOCKS_INTERRUPTS_H

#include "blocks.h"

#define BLOCKS_LATENESS	1024

/* How late a CPU's latest samples of user mode were, until there are enough to tell what is usual. */
struct blocks_lateness {
	size_t n;
	struct {
		uint32_t block, freq_khz;
		double late;		/* cycles, or nanoseconds without a frequency */
	} of[BLOCKS_LATENESS];
};

/** blocks_lateness_add() - a sample of a block, of a tick that was not held */
void blocks_lateness_add(struct blocks *b, struct blocks_lateness *l, uint32_t block, const struct timeline_sample *s);
/** blocks_lateness_count() - count those of @l for their blocks: the last ones */
void blocks_lateness_count(struct blocks *b, struct blocks_lateness *l);
/**
 * blocks_interrupts_find() - the part of the time that other interrupts took of all blocks: input.other
 *
 * What the calibration says of it counts as much as so many late samples as are known as well.
 */
void blocks_interrupts_find(struct blocks *b, const struct view *v);
/** blocks_interrupts_compare() - of each block by the mean of all. Return: whether they differ by more than chance */
bool blocks_interrupts_compare(const struct blocks *b, struct profile_cost *costs);

#endif /* KJOULE_BLOCKS_INTERRUPTS_H */
