// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charging: what happens when a CPU enters a block. Owns the order in which the
 * other parts look at that moment; each of them owns its own subject. This is the
 * hot path: a block without anything special costs one comparison per subject.
 */
#include "core.h"

#include "clock.h"
#include "grants.h"
#include "irq.h"
#include "oracle.h"
#include "package.h"
#include "retire.h"
#include "smi.h"
#include "turbo.h"

#define unlikely(x)	__builtin_expect(!!(x), 0)

struct core cores[VCHIP_MAX_CPUS];
unsigned int core_count;
const struct profile *chip;

void core_set_pstate(struct core *c, unsigned int pstate)
{
	uint32_t khz = chip->freq_khz[pstate];

	c->pstate = pstate;
	c->cycle_fixns = ((1000000ULL << FIXNS_SHIFT) + khz / 2) / khz;
	page_write(c->regs->cur_khz, khz);
}

void core_init(const struct profile *profile, unsigned int cpus)
{
	chip = profile;
	core_count = cpus;
	turbo_init();
	for (unsigned int i = 0; i < cpus; i++) {
		struct core *c = &cores[i];

		c->index = i;
		c->bit = 1u << i;
		c->regs = page.cpu[i];
		c->oracle = oracle_core_new();
		c->after = AFTER_HALT;
		c->rng = 0x9e3779b97f4a7c15ULL * (i + 1);
		core_set_pstate(c, profile->boot_pstate);
		c->asked = profile->boot_pstate;
		c->ceiling = turbo_ceiling();
		c->quantum_left = clock_draw_quantum(c);
		c->whims = 0xbf58476d1ce4e5b9ULL * (i + 1);
		smi_init(c);
	}
}

/* Is there a driver, and a test that has a use for the chip? */
static inline bool is_wanted(void)
{
	return __atomic_load_n(&page.head->guest_ready, __ATOMIC_ACQUIRE) == 1 && !page_read(page.head->hurry);
}

/* The driver came: from now on everything counts. */
static bool start(struct core *c)
{
	if (!is_wanted())
		return false;
	package_start();
	c->seen_mark = page_read(page.head->mark_ack);
	c->prev = NULL;
	c->after = AFTER_HALT;
	c->charging = true;
	return true;
}

/* The driver went. */
static void stop(struct core *c)
{
	clock_halt(c);
	c->charging = false;
}

static inline void charge(struct core *c, struct block *b, unsigned int continues)
{
	uint64_t task = page_read(c->regs->task);
	unsigned int alone = package_running() == c->bit;
	uint64_t static_fj = alone ? c->static_fj * b->cycles : 0;
	struct count *count = *block_slot(b, c->index);

	if (unlikely(!count || count->task != task || count->pstate != c->pstate))
		count = oracle_count(c, b, task);
	oracle_charge(count, alone, continues, static_fj);
	c->alone += alone ? c->cycle_fixns * b->cycles : 0;
	c->alone_static_fj += static_fj;

	c->cycles[b->kernel] += b->cycles;
	c->instr[b->kernel] += b->insns - continues;
	c->energy_pj += block_energy_pj(b, c->pstate);
	c->ref += c->cycle_fixns * b->cycles;
	c->quantum_left -= b->cycles;
	core_publish(c, b->kernel);

	c->prev = b;
	c->prev_count = count;
	c->prev_task = task;
	c->prev_cycle_fixns = c->cycle_fixns;
	c->prev_static_fj = c->static_fj;
	c->prev_pstate = c->pstate;
	c->prev_alone = alone;
	c->prev_continues = continues;
	c->pos = b->first_raise;
	c->after = b->flags & AFTER_MASK;
}

/* Anything out of the ordinary at this boundary? Return: the block goes on with a rep. */
static unsigned int attend(struct core *c, struct block *b)
{
	unsigned int continues = retire_settle(c, b);

	if (b->flags & BLOCK_VECTOR)
		irq_entry(c, b);
	if (c->after & AFTER_HALT)
		clock_wake(c);
	if (page_read(page.head->mark_seq) != c->seen_mark)
		oracle_mark(c);
	if (page_read(c->regs->req_khz) != c->seen_req)
		grants_request(c);
	return continues;
}

void core_enter_block(struct core *c, struct block *b)
{
	unsigned int continues = 0;

	if (unlikely(!c->charging) && !start(c))
		return;
	if (unlikely(((b->flags & (BLOCK_VECTOR | BLOCK_SINGLE)) | c->after) ||
		     page_read(c->regs->req_khz) != c->seen_req ||
		     page_read(page.head->mark_seq) != c->seen_mark)) {
		/* The next pass of a rep is no news, and there are thousands of them. */
		if (c->after == BLOCK_ENDS_REP && b == c->prev && page_read(c->regs->req_khz) == c->seen_req &&
		    page_read(page.head->mark_seq) == c->seen_mark)
			continues = 1;
		else
			continues = attend(c, b);
	}

	charge(c, b, continues);

	if (unlikely(c->quantum_left <= 0)) {
		clock_quantum_end(c);
		if (!is_wanted())
			stop(c);
	}
	if (unlikely(b->flags & BLOCK_ENDS_HLT) && c->charging) {
		clock_sync(c);
		clock_halt(c);
	}
}

void core_idle(struct core *c)
{
	if (c->charging && !(c->after & AFTER_HALT))
		clock_halt(c);
}
