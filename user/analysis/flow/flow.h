/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control flow of a function: its basic blocks and its loops. Pure functions.
 */
#ifndef KJOULE_FLOW_H
#define KJOULE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/disassembler.h"

#define FLOW_NONE	UINT32_MAX

/* Instructions that run one after the other, addresses [start, end). */
struct flow_block {
	uint64_t start, end;
	uint32_t loop;		/* innermost, FLOW_NONE: in none */
};

/**
 * struct flow_loop - a natural loop
 * @header: block by which it is entered; the block of lowest address if that is a jump by table
 * @start,@end: addresses from its first block to its last; others may lie between
 * @parent: the enclosing loop, FLOW_NONE: none
 * @depth: 1: outermost
 * @blocks: how many, inner loops included
 */
struct flow_loop {
	uint32_t header, parent, depth, blocks;
	uint64_t start, end;
};

struct flow {
	size_t n_blocks, n_loops;
	struct flow_block *blocks;	/* in order of address */
	struct flow_loop *loops;	/* an inner loop comes after the outer one */
};

/**
 * flow_new() - the blocks and loops of a function
 * @insns: of the function, in order and without holes; the first one is its entry
 *
 * A loop is what can get back to a block that dominates it. The targets of a jump by table are
 * unknown: it is taken to lead to every block without predecessors. Code with two entries is no
 * loop.
 *
 * Return: 0 or -ENOMEM
 */
int flow_new(const struct kjoule_insn *insns, size_t n, struct flow *f);
/** flow_block_at() - the block at an address, FLOW_NONE if there is none */
uint32_t flow_block_at(const struct flow *f, uint64_t address);
void flow_free(struct flow *f);

#endif /* KJOULE_FLOW_H */
