/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limit of a CPU's time for the ticks of all sessions. The tick adds its duration, and asks when to
 * continue once the limit is reached.
 */
#ifndef KJOULE_LOAD_H
#define KJOULE_LOAD_H

#include <linux/cache.h>
#include <linux/time64.h>
#include <linux/types.h>

/*
 * No tick takes this long: a hypervisor has stopped the CPU meanwhile. A hundred times what a tick
 * of the slowest chip takes (33.5 us, Documentation/accuracy.rst), and more.
 */
#define KJOULE_LOAD_STALL_NS	(10 * NSEC_PER_MSEC)

/**
 * struct kjoule_load - time of ticks on one CPU
 * @begin_ns:	CLOCK_MONOTONIC of the start of the sum
 * @limit_ns:	time of ticks after which the share is checked
 * @left_ns:	rest of that; changed by ticks on that CPU only
 */
struct kjoule_load {
	u64 begin_ns;
	s64 limit_ns;
	s64 left_ns;
} ____cacheline_aligned_in_smp;

extern u64 kjoule_load_bare_ns;	/* duration of a timer interrupt without the tick */

void kjoule_load_init(void);
struct kjoule_load *kjoule_load_of(unsigned int cpu);
u64 kjoule_load_until(struct kjoule_load *load, u64 now, u64 took_ns);

/*
 * kjoule_load_add() - add the duration of a tick. @took_ns: without entry and exit of the
 * interrupt. Return: true if kjoule_load_until() has to be called.
 */
static __always_inline bool kjoule_load_add(struct kjoule_load *load, u64 took_ns)
{
	load->left_ns -= took_ns + kjoule_load_bare_ns;
	return load->left_ns < 0;
}

/*
 * kjoule_load_charge() - add time used for sessions outside ticks, such as at a task switch; the
 * next tick is delayed if it is long. Context: interrupts off, on that CPU.
 */
static inline void kjoule_load_charge(struct kjoule_load *load, u64 took_ns)
{
	if (took_ns <= KJOULE_LOAD_STALL_NS)
		load->left_ns -= took_ns;
}

#endif
