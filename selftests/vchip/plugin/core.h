/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU of the chip: its books and the charging of a block. All fields belong
 * to the vCPU's own thread while the CPU runs; while it is halted they belong to
 * whoever holds the package lock.
 */
#ifndef VCHIP_CORE_H
#define VCHIP_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "page.h"

/* Times in 2^-16 ns, counted from the chip's start: good for 78 hours. */
typedef uint64_t fixns_t;
#define FIXNS_SHIFT	16

struct oracle_core;
struct count;

struct core {
	struct vchip_cpu *regs;
	struct oracle_core *oracle;
	unsigned int index;
	uint32_t bit;

	/* Charging. */
	bool greeted;		/* its thread has been here */
	bool charging;		/* the guest's driver is loaded */
	uint8_t after;		/* BLOCK_* of the block before that need attention now */
	uint32_t seen_mark;
	uint32_t seen_req;
	uint32_t pstate;
	uint64_t cycle_fixns;	/* a cycle's length at the present frequency */
	uint64_t static_fj;	/* static package energy of one cycle's time, in femtojoule */
	int64_t quantum_left;	/* cycles until the quantum's end; may lag behind by a block */
	uint64_t cycles[2];	/* user, kernel */
	uint64_t instr[2];		/* retired */
	uint64_t energy_pj;
	fixns_t ref;		/* unhalted time at the nominal pace */
	fixns_t alone;		/* of it, and of what it stood still, while no other CPU ran */
	uint64_t alone_static_fj;	/* static package energy of that time */

	/* The block before: the only one that can turn out not to have completed. */
	struct block *prev;
	struct count *prev_count;
	uint64_t prev_task;
	uint64_t prev_cycle_fixns;
	uint64_t prev_static_fj;
	uint32_t prev_pstate;
	uint32_t pos;		/* the instruction that is, or was last, about to fault; its insns: none */
	uint8_t prev_alone;
	uint8_t prev_continues;	/* it was a further pass of a rep */

	/* Clock (clock.c). */
	int64_t offset;		/* wall time of @ref, less @ref, in 2^-16 ns */
	uint64_t rng;
	uint32_t streak;	/* quanta in a row that had no time left to wait */
	uint64_t streak_debt_ns;	/* what was dropped in them */
	bool translated;	/* in this quantum */

	/* Frequency (grants.c); times are CLOCK_MONOTONIC. */
	bool pending;
	uint32_t asked;		/* the P-state that was requested last */
	uint32_t target;	/* the one that is granted for it in the end */
	uint32_t ceiling;	/* the turbo's, when that was decided */
	uint64_t requested_ns;
	uint64_t due_ns;

	/* What the chip does at random by its profile, apart from @rng so that it changes no quanta. */
	uint64_t whims;
	fixns_t smi_ref;	/* the core stands still when @ref gets there (smi.c) */

	/* Power, under the package lock. */
	bool running;
	uint32_t idle_state;

	/* Where the last quantum ended (irq.c). */
	uint64_t spin_ip;
	uint64_t spin_task;
	uint8_t spin_kernel;
	bool spin_valid;
} __attribute__((aligned(128)));

/* core.after only: the CPU was halted. */
#define AFTER_HALT	(1u << 7)
#define AFTER_MASK	(BLOCK_ENDS_REP | BLOCK_ENDS_IRET | AFTER_HALT)

extern struct core cores[VCHIP_MAX_CPUS];
extern unsigned int core_count;
extern const struct profile *chip;

void core_init(const struct profile *profile, unsigned int cpus);

/**
 * core_enter_block() - a CPU enters a block: charge it, keep the clock
 * Context: the vCPU's thread, from the block's execution callback.
 */
void core_enter_block(struct core *c, struct block *b);

/* The CPU was halted without a HLT instruction that we saw. Context: the vCPU's thread. */
void core_idle(struct core *c);

/* Show the counters of one privilege, and what both share, in the page. */
static inline void core_publish(struct core *c, unsigned int kernel)
{
	struct vchip_cpu *regs = c->regs;

	if (kernel) {
		page_write(regs->cycles_kernel, c->cycles[1]);
		page_write(regs->instr_kernel, c->instr[1]);
	} else {
		page_write(regs->cycles_user, c->cycles[0]);
		page_write(regs->instr_user, c->instr[0]);
	}
	page_write(regs->ref_ns, c->ref >> FIXNS_SHIFT);
	page_write(regs->energy_pj, c->energy_pj);
}

/* Take over a P-state: clock and energy of what is charged from now on. */
void core_set_pstate(struct core *c, unsigned int pstate);

#endif /* VCHIP_CORE_H */
