/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does a block of code run other code as well? Pure functions. */
#ifndef KJOULE_CALLS_OUT_H
#define KJOULE_CALLS_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/disassembler.h"

enum calls_out_kind {
	CALLS_OUT_NOT,		/* runs only its own code */
	CALLS_OUT_CALL,		/* calls, directly or not */
	CALLS_OUT_SYSTEM,		/* enters the kernel */
	CALLS_OUT_JUMP,		/* jumps or falls out of it, as a tail call does */
	CALLS_OUT_INDIRECT,	/* jumps through a register or memory */
	CALLS_OUT_RETURN,		/* returns before its end */
	CALLS_OUT_UNREADABLE,	/* reaches bytes that are no instruction */
};

/**
 * calls_out_find() - follow all ways from a block's entry
 * @insns: of the block, in order and without holes; entered at the first one
 * @returns: it ends by returning, as a function; else at the address after its last instruction
 * @at: out: address of the first instruction that leaves it, the lowest
 *
 * Unreachable code does not count. A way counts even if the program never takes it.
 *
 * Return: how that instruction leaves it, CALLS_OUT_NOT if none does; -ENOMEM
 */
int calls_out_find(const struct kjoule_insn *insns, size_t n, bool returns, uint64_t *at);

#endif /* KJOULE_CALLS_OUT_H */
