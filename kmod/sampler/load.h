/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much of a CPU's time the ticks of all sessions may take together. The tick adds
 * up what it took, and asks when to come back once that is much.
 */
#ifndef KJOULE_LOAD_H
#define KJOULE_LOAD_H

#include <linux/cache.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Nothing of ours takes so long: the host has stood still meanwhile, and the CPU was nobody's. */
#define KJOULE_LOAD_STALL_NS	(10 * NSEC_PER_MSEC)

/**
 * struct kjoule_load - what ticks have taken of one CPU
 * @begin_ns:	CLOCK_MONOTONIC from which on is counted
 * @limit_ns:	ticks may take so much before anybody asks how long that took
 * @left_ns:	of that; changed by ticks on that CPU only
 */
struct kjoule_load {
	u64 begin_ns;
	s64 limit_ns;
	s64 left_ns;
} ____cacheline_aligned_in_smp;

extern u64 kjoule_load_bare_ns;	/* what an interrupt of a timer takes besides the tick */

void kjoule_load_init(void);
struct kjoule_load *kjoule_load_of(unsigned int cpu);
u64 kjoule_load_until(struct kjoule_load *load, u64 now, u64 took_ns);

/**
 * kjoule_load_add() - a tick has been taken
 * @load:	of this CPU
 * @took_ns:	what it took, entry and exit of the interrupt left out
 *
 * Context: hard interrupt.
 * Return: true if kjoule_load_until() has to be asked.
 */
static __always_inline bool kjoule_load_add(struct kjoule_load *load, u64 took_ns)
{
	load->left_ns -= took_ns + kjoule_load_bare_ns;
	return load->left_ns < 0;
}

/**
 * kjoule_load_charge() - something has been done for sessions, a tick at a switch of tasks for one
 * @load:	of this CPU
 * @took_ns:	what it took; the next tick waits for it if that was much
 *
 * Context: interrupts off, on that CPU.
 */
static inline void kjoule_load_charge(struct kjoule_load *load, u64 took_ns)
{
	if (took_ns <= KJOULE_LOAD_STALL_NS)
		load->left_ns -= took_ns;
}

#endif /* KJOULE_LOAD_H */
