/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw counters of any width summed up in 64 bits and converted to microjoules. Pure arithmetic,
 * shared with unit tests in user space; called by the sampler.
 */
#ifndef KJOULE_COUNTER_H
#define KJOULE_COUNTER_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
#endif

/**
 * struct kjoule_counter - a raw counter widened to 64 bits
 * @last_raw:	the last raw value
 * @total:	raw counts since it was zeroed
 */
struct kjoule_counter {
	u64 last_raw;
	u64 total;
};

void kjoule_counter_start(struct kjoule_counter *c, u64 raw);
u64 kjoule_counter_max_counts(u64 mult, u32 shift, u64 power_uw, u64 time_ns);
bool kjoule_counter_add_range(struct kjoule_counter *c, u64 raw, u64 range, u64 most);
u64 kjoule_counter_scale(u64 counts, u64 mult, u32 shift);
u64 kjoule_counter_mul_div(u64 a, u64 b, u64 divisor);
u64 kjoule_counter_range_ns(u64 counts, u64 mult, u32 shift, u64 power_uw);
u64 kjoule_counter_wrap_ns(u32 width, u64 mult, u32 shift, u64 power_uw);
s64 kjoule_gauge_scale(s64 raw, u64 mult, u32 shift);

/** kjoule_counter_since() - raw counts since the last value; bits above @width are ignored */
static inline u64 kjoule_counter_since(const struct kjoule_counter *c, u64 raw, u32 width)
{
	u64 mask = width >= 64 ? ~0ULL : (1ULL << width) - 1;

	return (raw - c->last_raw) & mask;
}

/* kjoule_counter_add() - add a raw value. @counts: kjoule_counter_since(). */
static inline void kjoule_counter_add(struct kjoule_counter *c, u64 raw, u64 counts)
{
	c->last_raw = raw;
	c->total += counts;
}

/*
 * kjoule_counter_mean_khz() - mean frequency between two readings, rounded down. @reference: counts
 * in between, not 0. A CPU that never halts may not be read for hours while its ticks are skipped.
 */
static inline u64 kjoule_counter_mean_khz(u64 cycles, u64 reference, u64 reference_khz)
{
	u64 product;

	if (__builtin_expect(__builtin_mul_overflow(cycles, reference_khz, &product), 0))
		return kjoule_counter_mul_div(cycles, reference_khz, reference);
	return product / reference;
}

#endif
