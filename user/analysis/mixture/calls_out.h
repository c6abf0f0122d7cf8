/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a block of code run other code, too? Pure functions.
 */
#ifndef KJOULE_CALLS_OUT_H
#define KJOULE_CALLS_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/disassembler.h"

enum calls_out_kind {
	CALLS_OUT_NOT,		/* all that runs from its entry to its end is its own code */
	CALLS_OUT_CALL,		/* calls, through a PLT or a pointer or not */
	CALLS_OUT_SYSTEM,		/* enters the kernel */
	CALLS_OUT_JUMP,		/* jumps or falls out of it, as a tail call does */
	CALLS_OUT_INDIRECT,	/* jumps to where a register or memory tells */
	CALLS_OUT_RETURN,		/* returns, though its end is another */
	CALLS_OUT_UNREADABLE,	/* what is come to is no instruction */
};

/**
 * calls_out_find() - follow all ways from a block's entry
 * @insns:	of the block, in order and without holes; it is entered at the first one
 * @returns:	it is over where it returns, as a function is; else where the address behind its last instruction is
 *		come to
 * @at:		out: address of the first instruction that leaves it, the lowest
 *
 * Code that no way leads to, such as what is behind a return, does not count. A way counts even if the program never
 * takes it.
 *
 * Return: how that instruction leaves it, CALLS_OUT_NOT without any, also where there is no instruction; -ENOMEM
 */
int calls_out_find(const struct kjoule_insn *insns, size_t n, bool returns, uint64_t *at);

#endif /* KJOULE_CALLS_OUT_H */
