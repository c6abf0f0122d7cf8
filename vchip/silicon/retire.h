/* SPDX-License-Identifier: GPL-2.0-only */
/* What did not retire after all: faults in mid-block, and the passes of a rep. */
#ifndef VCHIP_RETIRE_H
#define VCHIP_RETIRE_H

#include "core.h"

/**
 * retire_settle() - judge the block before, now that it is known which one follows
 * @c: the CPU; its counts of the block before are corrected
 * @b: the block that it enters
 * Return: 1 when @b's first instruction is a further pass of a rep that was
 * counted before, else 0.
 */
unsigned int retire_settle(struct core *c, const struct block *b);

/**
 * retire_is_restart() - is the block that is entered an instruction of the one before, done again?
 * @c: the CPU
 * @b: the block
 * Return: QEMU came back to execute the instruction at the position alone.
 */
bool retire_is_restart(const struct core *c, const struct block *b);

#endif /* VCHIP_RETIRE_H */
