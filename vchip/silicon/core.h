/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU of the chip: its accounts and the charging of a block. One thread executes all
 * CPUs; while they are all halted, QEMU's main loop does what is due.
 */
#ifndef VCHIP_CORE_H
#define VCHIP_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "page.h"

/*
 * Times in 2^-18 ns, counted from the chip's start: good for 19 hours, and a cycle of 2 GHz is
 * right to 0.0004 %.
 */
typedef uint64_t fixns_t;
#define FIXNS_SHIFT	18

struct oracle_core;
struct package;
struct count;

/* A block that was executed in this turn while another CPU ran, too, as far as was known. */
struct recent {
	struct count *count;
	fixns_t end;
	unsigned int continues;
};

#define RECENT_MAX	16384

struct core {
	struct vchip_cpu *regs;
	struct oracle_core *oracle;
	struct package *package;
	unsigned int index;
	uint32_t bit;

	struct CPUState *qemu;

	/* Time (time.c). */
	fixns_t time;		/* what it has executed up to, halts and pauses included */
	bool running;		/* it is not halted */
	bool ready;		/* it was, and has something to execute again */
	uint64_t wake_ns;	/* of the interrupt that ends the halt; NEVER: none has come */
	uint64_t interrupt_ns;	/* when the last one was raised */
	fixns_t pause;		/* for so long it does not execute yet */

	/* Charging. */
	bool charging;		/* the guest's driver is loaded */
	uint8_t after;		/* BLOCK_* of the block before that need attention now */
	uint32_t seen_mark;
	uint32_t seen_req;
	uint32_t pstate;
	uint32_t idle_state;
	uint64_t cycle_fixns;	/* a cycle's length at the present frequency */
	uint64_t static_fj;	/* static package energy of one cycle's time, in femtojoule */
	uint64_t cycles[2];	/* user, kernel */
	uint64_t instr[2];		/* retired */
	uint64_t energy_pj;
	uint64_t dram_pj;
	fixns_t ref;		/* unhalted time, pauses left out */
	fixns_t paused_rest;	/* less than 1 ns of pauses that the oracle does not have yet */

	/* The block before: the only one that can turn out not to have completed. */
	struct block *prev;
	struct count *prev_count;
	uint64_t prev_task;
	uint64_t prev_cycle_fixns;
	uint64_t prev_static_fj;
	uint32_t prev_pstate;
	/* the instruction that is, or was last, about to fault; its insns: none */
	uint32_t pos;
	uint8_t prev_alone;
	uint8_t prev_continues;	/* it was a further pass of a rep */

	fixns_t prev_end;	/* when it has been executed */
	struct recent *recent;	/* RECENT_MAX; later ones of a turn are not kept */
	unsigned int recent_count;

	/* Frequency (grants.c). */
	bool pending;
	uint32_t asked;		/* the P-state that was requested last */
	uint32_t target;	/* the one that is granted for it in the end */
	uint32_t ceiling;	/* the turbo's, when that was decided */
	uint64_t requested_ns;
	uint64_t due_ns;

	/* What the chip does at random by its profile. */
	uint64_t whims;
	/* a system management interrupt comes when @ref gets there (smi.c) */
	fixns_t smi_ref;
} __attribute__((aligned(128)));

#define NEVER		UINT64_MAX
#define AFTER_MASK	(BLOCK_ENDS_REP | BLOCK_ENDS_IRET)

extern struct core cores[VCHIP_MAX_CPUS];
extern unsigned int core_count;
extern const struct profile *chip;

void core_init(const struct profile *profile, unsigned int cpus, uint64_t seed);

/**
 * core_enter_block() - a CPU enters a block: what is due comes first, then it is charged
 * @ra: the return address of the block's callback: does not return there when the block has to wait
 * Context: the vCPU thread, from the block's execution callback.
 */
void core_enter_block(struct core *c, struct block *b, uintptr_t ra);

/* The guest's driver has come, or gone. */
void core_start(struct core *c);
void core_stop(struct core *c);

/* All CPUs have come to the end of a turn. */
void core_end_turn(struct core *c);

/* It has halted, or executes again, at its present time. */
void core_halt(struct core *c);
void core_wake(struct core *c);

/* It has not executed for so long: goes on in time, and the oracle knows. */
void core_pass_pause(struct core *c, fixns_t time);

/* Does it take power as a CPU that runs? */
static inline bool core_is_running(const struct core *c)
{
	return c->running && c->charging;
}

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

/*
 * Take over a P-state, at that time: what it has executed since then it has executed at the new
 * pace.
 */
void core_set_pstate(struct core *c, unsigned int pstate, uint64_t at_ns);

#endif /* VCHIP_CORE_H */
