/* SPDX-License-Identifier: GPL-2.0-only */
/* Translation blocks: what one costs, how it can fail and how it ends. */
#ifndef VCHIP_BLOCK_H
#define VCHIP_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "../vchip_page.h"
#include "classify.h"
#include "profile.h"

/* block.flags: a block with one of these, or after one of these, takes the slow path. */
#define BLOCK_VECTOR	(1u << 0)	/* begins at an entry of the guest's IDT */
#define BLOCK_ENDS_REP	(1u << 1)
#define BLOCK_ENDS_IRET	(1u << 2)
#define BLOCK_ENDS_HLT	(1u << 3)
#define BLOCK_SINGLE	(1u << 4)	/* one that can fault: QEMU restarts it alone */
#define BLOCK_ENDS_PAUSE	(1u << 5)
#define BLOCK_CLOCK	(1u << 6)	/* it reads the time stamp counter */

#define BLOCK_VECTOR_NMI	2
#define BLOCK_VECTOR_IRQ	32	/* and all from there */

struct insn {
	uint16_t offset;	/* from the block's address */
	uint8_t class;
	uint8_t raise;
	uint32_t cycles;
};

struct count;

/*
 * One record for each distinct (address, bytes), made at the first translation
 * and kept for good: translating again finds it again.
 */
struct block {
	uint64_t vaddr;
	uint32_t size;		/* bytes */
	uint32_t cycles;
	uint16_t insns;
	uint16_t first_raise;	/* first instruction that can fault; insns if none can */
	uint8_t flags;
	uint8_t kernel;		/* 1 for the upper half of the address space */
	int16_t vector;		/* with BLOCK_VECTOR */
	struct insn *insn;
	struct block *next;	/* hash chain */
	uint64_t hash;
	uint8_t first_class;	/* of the first instruction where no handler begins */
	uint32_t id;		/* from 0, in the order of their making */
	/* Close together, for two CPUs and few P-states in one cache line: see the accessors. */
	union {
		struct count *slot;
		uint64_t energy_pj;
	} tail[];
} __attribute__((aligned(64)));

/* A handler of an interrupt, not of a fault. */
static inline bool block_is_interrupt(const struct block *b)
{
	return b->vector >= BLOCK_VECTOR_IRQ || b->vector == BLOCK_VECTOR_NMI;
}

extern unsigned int block_cpus, block_pstates;

/* The counter that a CPU used last for this block. */
static inline struct count **block_slot(struct block *b, unsigned int cpu)
{
	return &b->tail[cpu].slot;
}

static inline uint64_t block_energy_pj(const struct block *b, unsigned int pstate)
{
	return b->tail[block_cpus + pstate].energy_pj;
}

/* Of the memory, in any P-state. */
static inline uint64_t block_dram_pj(const struct block *b)
{
	return b->tail[block_cpus + block_pstates].energy_pj;
}

static inline uint64_t block_insn_vaddr(const struct block *b, unsigned int i)
{
	return b->vaddr + b->insn[i].offset;
}

/* Where a block needs callbacks, so that it is known how far it came when it faults. */
#define BLOCK_HOOK_BEFORE	(1u << 0)	/* before it: execution has come to it */
#define BLOCK_HOOK_DONE		(1u << 1)	/* before it: none that can fault is left */
#define BLOCK_HOOK_READ		(1u << 2)	/* after its read: as DONE */
#define BLOCK_HOOK_WRITE	(1u << 3)	/* after its write: as DONE */

struct block_source {
	const uint8_t *bytes;
	uint64_t vaddr;
	uint32_t size;
};

#define BLOCK_MAX_INSNS	1024

/**
 * block_init() - remember what instructions cost
 */
void block_init(const struct profile *profile, unsigned int cpus);

/**
 * block_get() - the record of a block, made if it is new
 * @source: its instructions
 * @insns: their number, at most BLOCK_MAX_INSNS
 * @hooks: filled with BLOCK_HOOK_* for each instruction
 * Context: a vCPU thread that translates.
 * Return: the record, or NULL without memory.
 */
struct block *block_get(const struct block_source *source, unsigned int insns, uint8_t *hooks);

/**
 * block_set_vectors() - mark the blocks at which the guest's handlers begin, now and later
 * @idt: the guest's table
 */
void block_set_vectors(const struct vchip_idt *idt);

#endif /* VCHIP_BLOCK_H */
