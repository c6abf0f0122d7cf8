/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Narrow counters made wide: differences of a raw counter of any width summed
 * up in 64 bits and converted to microjoules. Pure arithmetic, so that unit
 * tests in user space reach it; called by the sampler.
 */
#ifndef KJOULE_COUNTER_H
#define KJOULE_COUNTER_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
#endif

/**
 * struct kjoule_counter - a raw counter widened to 64 bits
 * @last_raw:	the last raw value seen
 * @total:	raw counts since kjoule_counter_start()
 */
struct kjoule_counter {
	u64 last_raw;
	u64 total;
};

void kjoule_counter_start(struct kjoule_counter *c, u64 raw);
u64 kjoule_counter_add(struct kjoule_counter *c, u64 raw, u32 width);
u64 kjoule_counter_scale(u64 counts, u64 mult, u32 shift);

#endif /* KJOULE_COUNTER_H */
