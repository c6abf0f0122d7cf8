// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps each CPU at its clock. Code is emulated faster than the chip's clock asks,
 * so after each quantum of about a thousand cycles its thread spins until the wall
 * clock has caught up. Owns a CPU's relation of charged time to wall time, and what
 * happens when the build machine takes the thread away: a small debt is carried and
 * worked off, a larger one is dropped (or the CPU would be overclocked for a while)
 * and logged as a stall. Called by core.c on the vCPU's thread.
 */
#include "clock.h"

#include "grants.h"
#include "irq.h"
#include "held.h"
#include "log.h"
#include "oracle.h"
#include "package.h"
#include "random.h"
#include "smi.h"

/*
 * So many quanta in a row without time to wait (1 ms at 100 MHz): not an interruption, the
 * emulation is too slow for the clock. A burst of kernel code that is cold in the build
 * machine's caches lasts less, and is a stall.
 */
#define STREAK_BEHIND	100

static uint64_t start_ns;
static bool never_waits;

void clock_init(bool free_running)
{
	start_ns = clock_now();
	never_waits = free_running;
}

static inline void relax(void)
{
	for (int i = 0; i < 4; i++)
		__builtin_ia32_pause();
}

int64_t clock_draw_quantum(struct core *c)
{
	uint32_t mean = chip->quantum_cycles;

	return mean / 2 + (int64_t)((random_next(&c->rng) >> 33) % (mean + 1));
}

uint64_t clock_nominal(const struct core *c)
{
	return start_ns + ((c->ref + (uint64_t)c->offset) >> FIXNS_SHIFT);
}

static void set_reference(struct core *c, uint64_t now)
{
	c->offset = (int64_t)(((now - start_ns) << FIXNS_SHIFT) - c->ref);
}

/* Until now it stood still, so long. */
static void book_stall(struct core *c, unsigned int insn, uint64_t now, uint64_t ns)
{
	uint64_t static_fj;
	uint64_t alone_ns = package_stalled_alone(c, now, ns, &static_fj);

	c->alone += alone_ns << FIXNS_SHIFT;
	c->alone_static_fj += static_fj;
	oracle_stall(c, insn, ns, alone_ns, static_fj);
}

static void stalled(struct core *c, unsigned int insn, uint64_t now, uint64_t debt)
{
	struct vchip_cpu *regs = c->regs;

	c->offset += (int64_t)(debt << FIXNS_SHIFT);
	book_stall(c, insn, now, debt);
	if (c->streak >= STREAK_BEHIND) {
		page_write(regs->behind_ns, regs->behind_ns + debt);
		log_stall(c, debt, "behind");
		return;
	}
	c->streak_debt_ns += debt;
	page_write(regs->stalls, regs->stalls + 1);
	page_write(regs->stall_ns, regs->stall_ns + debt);
	log_stall(c, debt, c->translated ? "translate" : "late");
	if (!c->translated)
		held_add(debt);
}

static void count_streak(struct core *c, bool waited)
{
	if (waited || c->translated) {
		c->streak = 0;
		c->streak_debt_ns = 0;
	} else if (++c->streak == STREAK_BEHIND && c->streak_debt_ns) {
		/* The stalls that began this streak were none. */
		page_write(c->regs->behind_ns, c->regs->behind_ns + c->streak_debt_ns);
	}
}

/* Return: true when there was time to wait for. */
static bool catch_up(struct core *c, unsigned int insn, uint64_t *now_ns)
{
	uint64_t due = clock_nominal(c);
	uint64_t now = clock_now();
	bool waited = now < due;

	if (never_waits) {
		set_reference(c, now);
		*now_ns = now;
		return true;
	}
	while (now < due) {
		relax();
		now = clock_now();
	}
	if (now - due > chip->debt_ns)
		stalled(c, insn, now, now - due);
	*now_ns = now;
	return waited;
}

void clock_sync(struct core *c)
{
	uint64_t now;

	catch_up(c, c->prev ? c->prev->insns - 1u : 0, &now);
}

void clock_pause(struct core *c, uint64_t ns)
{
	c->offset += (int64_t)(ns << FIXNS_SHIFT);
	clock_sync(c);
	book_stall(c, 0, clock_now(), ns);
}

/* The instruction of the block before in which the quantum's last cycle falls. */
static unsigned int last_of_quantum(const struct core *c)
{
	const struct block *b = c->prev;
	int64_t cycle = (int64_t)b->cycles + c->quantum_left;
	unsigned int i = 0;

	for (i = 0; i < b->insns - 1u; i++) {
		cycle -= b->insn[i].cycles;
		if (cycle <= 0)
			break;
	}
	return i;
}

static void begin_quantum(struct core *c)
{
	while (c->quantum_left <= 0)
		c->quantum_left += clock_draw_quantum(c);
	grants_clip_quantum(c);
}

void clock_quantum_end(struct core *c)
{
	unsigned int insn = last_of_quantum(c);
	uint64_t now;

	irq_note_spin(c, insn);
	count_streak(c, catch_up(c, insn, &now));
	c->translated = false;
	package_poll(now);
	grants_check(c, now);
	smi_check(c);
	begin_quantum(c);
}

/* What it lags behind when it halts is not worked off any more. */
static void drop_debt(struct core *c)
{
	uint64_t due = clock_nominal(c);
	uint64_t now = clock_now();

	if (!never_waits && c->prev && now > due)
		book_stall(c, c->prev->insns - 1u, now, now - due);
}

void clock_halt(struct core *c)
{
	uint32_t state = page_read(c->regs->idle_req);

	drop_debt(c);

	package_lock();
	package_advance(clock_now());
	c->running = false;
	c->idle_state = state < chip->idle_states ? state : chip->idle_states - 1;
	page_write(c->regs->idle, 1);
	package_power_changed();
	oracle_halting(c);
	package_unlock();
	c->after |= AFTER_HALT;
}

void clock_wake(struct core *c)
{
	uint64_t now;

	package_lock();
	now = clock_now();
	package_advance(now);
	c->running = true;
	page_write(c->regs->idle, 0);
	package_power_changed();
	package_unlock();
	set_reference(c, now);
	c->streak = 0;
	c->streak_debt_ns = 0;
	grants_check(c, now);
	begin_quantum(c);
}
