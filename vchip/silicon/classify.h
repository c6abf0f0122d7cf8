/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kind of instruction is it? Decides, at translation time, the class that
 * is charged, whether and how it can fault, and how it ends a block.
 */
#ifndef VCHIP_CLASSIFY_H
#define VCHIP_CLASSIFY_H

#include <stddef.h>
#include <stdint.h>

enum insn_class {
	CLASS_INT,	/* integer, logic, moves between registers, lea */
	CLASS_MUL,	/* integer multiply */
	CLASS_DIV,	/* integer divide */
	CLASS_LOAD,	/* reads memory and is not named elsewhere */
	CLASS_STORE,	/* writes memory, read-modify-write included */
	CLASS_BRANCH,	/* jumps, calls, returns */
	CLASS_FP,	/* scalar floating point, vector integer, moves between vector registers */
	CLASS_VECTOR,	/* packed floating point */
	CLASS_FPDIV,	/* floating point divide, square root, all of x87 */
	CLASS_ATOMIC,	/* locked read-modify-write */
	CLASS_STRING,	/* one pass of a string instruction, with or without rep */
	CLASS_NOP,
	CLASS_OTHER,	/* small system instructions, pause, what the decoder does not know */
	CLASS_SLOW,	/* time stamps, syscall and its return, iret, state saving */
	CLASS_IO,	/* model specific and control registers, ports, flushes */
	CLASS_ENTRY,	/* the first instruction of a handler: entering it is part of the cost */
	CLASSES,
};

/* How an instruction can raise an exception before it has retired. */
#define RAISE_MEM	(1u << 0)	/* 14, 13, 12, 17: it touches memory */
#define RAISE_DIV	(1u << 1)	/* 0 */
#define RAISE_SYS	(1u << 2)	/* 13, 6, 7, 10, 11, 20, 21: privileged, #UD, segments */
#define RAISE_FP	(1u << 3)	/* 7, 16, 19 */

/* Traits. */
#define INSN_REP	(1u << 0)	/* one pass per block execution, retired once */
#define INSN_IRET	(1u << 1)	/* goes back to where an interrupt or exception came from */
#define INSN_HLT	(1u << 2)
#define INSN_READS	(1u << 3)	/* its last memory access is a read */
#define INSN_WRITES	(1u << 4)	/* its last memory access is a write */
#define INSN_PAUSE	(1u << 5)
#define INSN_CLOCK	(1u << 6)	/* it reads the time stamp counter */

struct insn_kind {
	uint8_t class;
	uint8_t raise;
	uint8_t traits;
};

/**
 * classify() - decode one instruction of 64-bit code
 * Context: any thread; one decoder per thread.
 */
struct insn_kind classify(const uint8_t *bytes, size_t size, uint64_t vaddr);

/**
 * raise_of_vector() - the RAISE_* bits that can lead to a vector
 * Return: 0 when the vector is not a fault (trap, abort, interrupt).
 */
unsigned int raise_of_vector(unsigned int vector);

/* The class's name in profiles and reports. */
const char *class_name(enum insn_class class);

#endif /* VCHIP_CLASSIFY_H */
