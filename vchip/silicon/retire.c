// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block is charged when it is entered. This file takes back what did not
 * happen. Owns the knowledge of how QEMU leaves a block early:
 *
 * - A fault: the next block is the handler of a fault vector. The instruction at
 *   the stored position and those after it did not retire. When the position says
 *   that nothing was left that can fault, it was the fetch of the next block that
 *   did, and this one is complete.
 * - A restart: QEMU leaves a block in front of an instruction and executes that one
 *   alone (self-modifying code, watchpoints, atomics that the build machine lacks).
 *
 * And of how it executes a rep: one pass per block execution, the block that starts
 * at the rep following itself; a last pass finds the count at zero (movs, stos,
 * lods) and does nothing. Passes are charged, the instruction retires once, at its
 * first pass. An interrupt between two passes comes back to the rep with an iret;
 * reps that wait for that are kept in a small table by task.
 */
#include "retire.h"

#include "oracle.h"

#define WAITING	256

struct waiting {
	uint64_t task;
	uint64_t rep;	/* its address */
	uint64_t next;	/* of the instruction after it */
	unsigned int cpu;
	uint64_t age;	/* 0: free */
};

static struct waiting waiting[WAITING];
static unsigned int waiting_count;
static uint64_t age;

/* The idle tasks all have task 0: there the CPU tells them apart. */
static bool same_task(const struct waiting *w, const struct core *c, uint64_t task)
{
	return w->task == task && (task || w->cpu == c->index);
}

static void wait_for_iret(const struct core *c, uint64_t rep, uint64_t next)
{
	struct waiting *slot = &waiting[0];

	for (unsigned int i = 0; i < WAITING; i++)
		if (waiting[i].age < slot->age)
			slot = &waiting[i];
	if (!slot->age)
		waiting_count++;
	*slot = (struct waiting){ c->prev_task, rep, next, c->index, ++age };
}

/* An iret has landed at an address: 1 when a rep of this task waits for it there. */
static unsigned int landed(const struct core *c, uint64_t vaddr)
{
	uint64_t task = page_read(c->regs->task);
	unsigned int found = 0;

	if (!waiting_count)
		return 0;
	for (unsigned int i = 0; i < WAITING; i++) {
		struct waiting *w = &waiting[i];

		if (!w->age || !same_task(w, c, task) || (w->rep != vaddr && w->next != vaddr))
			continue;
		found |= w->rep == vaddr;
		w->age = 0;
		waiting_count--;
	}
	return found;
}

/* Take back the instructions of the block before from @pos on. */
static void take_back(struct core *c, unsigned int pos)
{
	struct block *p = c->prev;
	uint64_t cycles = 0, energy = 0, dram = 0, static_fj;

	for (unsigned int i = pos; i < p->insns; i++) {
		cycles += p->insn[i].cycles;
		energy += profile_energy_pj(chip, p->insn[i].class, c->prev_pstate);
		dram += chip->dram_pj[p->insn[i].class];
	}
	c->cycles[p->kernel] -= cycles;
	c->instr[p->kernel] -= p->insns - pos - (pos ? 0 : c->prev_continues);
	c->energy_pj -= energy;
	c->dram_pj -= dram;
	c->ref -= c->prev_cycle_fixns * cycles;
	c->time -= c->prev_cycle_fixns * cycles;
	c->prev_end -= c->prev_cycle_fixns * cycles;
	core_publish(c, p->kernel);
	static_fj = c->prev_alone ? c->prev_static_fj * cycles : 0;
	oracle_take_back(c, pos, static_fj);
	if (!c->prev_alone && c->recent_count)
		c->recent_count--;
}

static bool faulted(const struct core *c, const struct block *b)
{
	return c->pos < c->prev->insns &&
	       (c->prev->insn[c->pos].raise & raise_of_vector(b->vector));
}

bool retire_is_restart(const struct core *c, const struct block *b)
{
	const struct block *p = c->prev;

	if (!(b->flags & BLOCK_SINGLE) || !p || c->pos >= p->insns ||
	    block_insn_vaddr(p, c->pos) != b->vaddr)
		return false;
	/* A block of its own that simply repeats is not a restart. */
	return p != b;
}

unsigned int retire_settle(struct core *c, const struct block *b)
{
	const struct block *p = c->prev;
	unsigned int ended_in_rep, was_continuing;
	bool fault = false;

	if (!p)
		return 0;
	was_continuing = c->prev_continues;
	ended_in_rep = p->flags & BLOCK_ENDS_REP;
	if (b->flags & BLOCK_VECTOR)
		fault = faulted(c, b);
	if (fault) {
		/* The rep was not reached when an instruction before it faulted. */
		if (c->pos != p->insns - 1u)
			ended_in_rep = 0;
		take_back(c, c->pos);
	} else if (retire_is_restart(c, b)) {
		take_back(c, c->pos);
		ended_in_rep = 0;
	}
	if (ended_in_rep) {
		uint64_t rep = block_insn_vaddr(p, p->insns - 1);

		if (b->vaddr == rep)
			return 1;
		/* A first pass that faulted is no pass: the rep begins anew after the handler. */
		if ((b->flags & BLOCK_VECTOR) && (!fault || was_continuing))
			wait_for_iret(c, rep, p->vaddr + p->size);
	}
	if (p->flags & BLOCK_ENDS_IRET)
		return landed(c, b->vaddr);
	return 0;
}
