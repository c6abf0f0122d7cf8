// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charging: what happens when a CPU enters a block. Owns the order in which the
 * other parts look at that moment; each of them owns its own subject. This is the
 * hot path: a block without anything special costs one comparison per subject.
 */
#include "core.h"

#include <stdlib.h>

#include "grants.h"
#include "irq.h"
#include "meter.h"
#include "oracle.h"
#include "package.h"
#include "random.h"
#include "retire.h"
#include "smi.h"
#include "time.h"
#include "turbo.h"

#define unlikely(x)	__builtin_expect(!!(x), 0)

/*
 * Without a driver there is no chip to speak of: all instructions take a cycle. A CPU that waits
 * for another one need not do so instruction by instruction.
 */
#define PLAIN_PAUSE	((fixns_t)1000 << FIXNS_SHIFT)

static fixns_t plain_cycle;

struct core cores[VCHIP_MAX_CPUS];
unsigned int core_count;
const struct profile *chip;

static uint64_t cycle_of(uint32_t khz)
{
	return ((1000000ULL << FIXNS_SHIFT) + khz / 2) / khz;
}

void core_set_pstate(struct core *c, unsigned int pstate, uint64_t at_ns)
{
	uint32_t khz = chip->freq_khz[pstate];
	uint64_t cycle = cycle_of(khz);
	fixns_t at = at_ns << FIXNS_SHIFT;

	if (c->running && c->time > at) {
		uint64_t cycles = (c->time - at) / c->cycle_fixns;
		int64_t longer = (int64_t)(cycles * cycle) - (int64_t)(cycles * c->cycle_fixns);

		if (c->prev_end == c->time)
			c->prev_end += (uint64_t)longer;
		c->time += (uint64_t)longer;
		c->ref += (uint64_t)longer;
	}
	c->pstate = pstate;
	c->cycle_fixns = cycle;
	page_write(c->regs->cur_khz, khz);
}

void core_init(const struct profile *profile, unsigned int cpus, uint64_t seed)
{
	chip = profile;
	core_count = cpus;
	plain_cycle = cycle_of(profile->reset_khz);
	package_init(seed);
	for (unsigned int i = 0; i < cpus; i++) {
		struct core *c = &cores[i];

		c->index = i;
		c->bit = 1u << i;
		c->regs = page.cpu[i];
		c->oracle = oracle_core_new();
		c->recent = calloc(RECENT_MAX, sizeof(*c->recent));
		if (!c->recent)
			abort();
		c->wake_ns = NEVER;
		c->whims = random_seed(seed, 1 + i);
		core_set_pstate(c, profile->boot_pstate, 0);
		c->asked = profile->boot_pstate;
		c->ceiling = turbo_ceiling(&c->package->turbo);
		smi_init(c);
	}
}

void core_start(struct core *c)
{
	c->seen_mark = page_read(page.head->mark_ack);
	c->prev = NULL;
	c->after = 0;
	c->charging = true;
	page_write(c->regs->idle, !c->running);
}

void core_stop(struct core *c)
{
	c->charging = false;
	page_write(c->regs->idle, 1);
}

void core_end_turn(struct core *c)
{
	c->recent_count = 0;
}

/*
 * Of what it has executed already, it was alone on its package since that time: another CPU there,
 * which came later, has halted then.
 */
static void settle_alone(struct core *c, fixns_t since)
{
	for (unsigned int i = c->recent_count; i--;) {
		const struct recent *r = &c->recent[i];
		uint64_t cycles = r->count->block->cycles;

		if (r->end < since + cycles * c->cycle_fixns / 2)
			break;
		oracle_settle_alone(r->count, r->continues, c->static_fj * cycles);
		c->prev_alone = 1;
		c->prev_static_fj = c->static_fj;
	}
	c->recent_count = 0;
}

void core_halt(struct core *c)
{
	uint32_t state = page_read(c->regs->idle_req);
	struct package *p = c->package;

	if (!c->charging)
		return;
	package_advance(p, time_of(c));
	c->idle_state = state < chip->idle_states ? state : chip->idle_states - 1;
	page_write(c->regs->idle, 1);
	package_power_changed(p);
	if (c->time > p->last_halt)
		p->last_halt = c->time;
	if (__builtin_popcount(p->running) == 1)
		settle_alone(&cores[__builtin_ctz(p->running)], c->time);
}

void core_wake(struct core *c)
{
	if (!c->charging)
		return;
	package_advance(c->package, time_of(c));
	page_write(c->regs->idle, 0);
	package_power_changed(c->package);
}

/* On its package: what others do elsewhere is not in the package's energy. */
static inline bool is_alone(const struct core *c)
{
	return c->package->running == c->bit && c->time >= c->package->last_halt;
}

void core_pass_pause(struct core *c, fixns_t time)
{
	bool alone = is_alone(c);
	uint64_t ns;

	c->time += time;
	c->paused_rest += time;
	ns = c->paused_rest >> FIXNS_SHIFT;
	c->paused_rest -= ns << FIXNS_SHIFT;
	oracle_pause(c, ns, alone, alone ? package_static_fj(c->package, ns) : 0);
}

static inline void charge(struct core *c, struct block *b, unsigned int continues)
{
	uint64_t task = page_read(c->regs->task);
	unsigned int alone = is_alone(c);
	uint64_t static_fj = alone ? c->static_fj * b->cycles : 0;
	struct count *count = *block_slot(b, c->index);

	if (unlikely(!count || count->task != task || count->pstate != c->pstate))
		count = oracle_count(c, b, task);
	oracle_charge(count, alone, continues, static_fj);

	c->cycles[b->kernel] += b->cycles;
	c->instr[b->kernel] += b->insns - continues;
	c->energy_pj += block_energy_pj(b, c->pstate);
	if (chip->has_dram)
		c->dram_pj += block_dram_pj(b);
	c->ref += c->cycle_fixns * b->cycles;
	c->time += c->cycle_fixns * b->cycles;
	core_publish(c, b->kernel);

	if (!alone && c->recent_count < RECENT_MAX)
		c->recent[c->recent_count++] = (struct recent){ count, c->time, continues };
	c->prev = b;
	c->prev_count = count;
	c->prev_task = task;
	c->prev_cycle_fixns = c->cycle_fixns;
	c->prev_static_fj = c->static_fj;
	c->prev_end = c->time;
	c->prev_pstate = c->pstate;
	c->prev_alone = alone;
	c->prev_continues = continues;
	c->pos = b->first_raise;
	c->after = b->flags & AFTER_MASK;
}

/*
 * What the guest has written to a register, or the block that it entered, wants more than to be
 * charged.
 */
static inline bool wants_attention(const struct core *c, const struct block *b)
{
	return ((b->flags & (BLOCK_VECTOR | BLOCK_SINGLE)) | c->after) ||
	       page_read(c->regs->req_khz) != c->seen_req ||
	       page_read(page.head->mark_seq) != c->seen_mark || meter_is_asked();
}

/* Return: the block goes on with a rep. */
static unsigned int attend(struct core *c, struct block *b)
{
	unsigned int continues = retire_settle(c, b);

	if (b->flags & BLOCK_VECTOR)
		irq_entry(c, b);
	if (page_read(page.head->mark_seq) != c->seen_mark)
		oracle_mark(c);
	if (page_read(c->regs->req_khz) != c->seen_req)
		grants_request(c, time_of(c));
	if (meter_is_asked())
		package_meter_start(time_of(c));
	return continues;
}

/*
 * The handler of a fault, or an instruction done again: first what was charged too much is taken
 * back.
 */
static inline bool is_sequel(const struct core *c, const struct block *b)
{
	return retire_is_restart(c, b) || ((b->flags & BLOCK_VECTOR) && !block_is_interrupt(b));
}

void core_enter_block(struct core *c, struct block *b, uintptr_t ra)
{
	unsigned int continues = 0;

	if (unlikely(b->flags & BLOCK_CLOCK) && time_running > 1 && c->charging)
		time_agree(c);
	if (unlikely(time_is_up(c)) && (!is_sequel(c, b) || !c->running))
		time_look_up(c, ra);
	if (unlikely(!c->charging)) {
		c->time += plain_cycle * b->insns + (b->flags & BLOCK_ENDS_PAUSE ? PLAIN_PAUSE : 0);
	} else {
		if (unlikely(wants_attention(c, b))) {
			/* The next pass of a rep is no news, and there are thousands of them. */
			if (c->after == BLOCK_ENDS_REP && b == c->prev)
				continues = 1;
			else
				continues = attend(c, b);
		}
		charge(c, b, continues);
	}
	if (unlikely(b->flags & BLOCK_ENDS_HLT))
		time_halt(c);
}
