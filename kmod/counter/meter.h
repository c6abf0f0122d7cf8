/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Meters: the energy counters that some CPUs share (a package, a die), widened and summed up, and
 * the CPU that reads them. Any CPU of the scope may: the first to tick claims a free meter, and
 * releases it when it goes idle or offline. The sampler reads and writes meters; a session creates
 * them.
 */
#ifndef KJOULE_METER_H
#define KJOULE_METER_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/types.h>

#include "counter/counter.h"
#include "ring/ring.h"
#include "source/source.h"

/* Maximum of a session's sources, without the frequency source. Bounds what a tick reads. */
#define KJOULE_METERS_MAX	8

#define KJOULE_METER_FREE	(-1)

struct kjoule_sampler;

/**
 * struct kjoule_meter - counters of one scope of one source
 * @reader:	CPU whose tick reads it, or KJOULE_METER_FREE. The CPU that claims it owns the
 *		fields below
 * @src:	where the values come from
 * @index:	the source's number in the session's records
 * @scope:	the lowest CPU of the session that shares the counters
 * @package:	the source's package of that CPU when the meter was created
 * @cpus:	number of CPUs of the session that share them
 * @has_owner:	only one CPU can read it: @busy_cpus and @owner_sampler are used
 * @owner:	the only CPU that can read them, or -1 for any of the scope
 * @owner_sampler:	its sampler, NULL if it is not in the session
 * @sweep_ns:	maximum time between readings that detects all wraps; U64_MAX: unlimited
 * @wrap_ns:	time in which a counter of energy can wrap; U64_MAX: never
 * @read_ns:	CLOCK_MONOTONIC of the last reading
 * @all:	all domains
 * @stuck:	domains that are not updating
 * @started:	domains with a first raw value
 * @updated:	domains with an update that was not written yet
 * @raw:	the last raw value read
 * @updated_ns:	CLOCK_MONOTONIC of the last update of each
 * @usual:	counts of an update that need no check for a reset
 * @resets:	resets to be counted as errors of the next reading
 * @failures:	failed readings in a row
 * @failed_ns:	CLOCK_MONOTONIC of the last of these
 * @lost_pending: a source-lost event is pending
 * @failing_pending: the source's read_failing is pending
 * @failing_ns:	CLOCK_MONOTONIC when that was last pending
 * @counter:	since the session's start
 * @busy_cpus:	CPUs that share it and are not idle, if ticks are skipped while idle; written by all
 */
struct kjoule_meter {
	int reader;
	struct kjoule_source *src ____cacheline_aligned_in_smp;
	u32 index;
	u32 scope;
	int package;
	u32 cpus;
	bool has_owner;
	int owner;
	struct kjoule_sampler *owner_sampler;
	u64 sweep_ns;
	u64 wrap_ns;
	u64 read_ns;
	u32 all;
	u32 stuck;
	u32 started;
	u32 updated;
	u64 raw;
	u64 updated_ns[KJOULE_MAX_DOMAINS];
	u64 usual[KJOULE_MAX_DOMAINS];
	u32 resets;
	u32 failures;
	u64 failed_ns;
	bool lost_pending;
	bool failing_pending;
	u64 failing_ns;
	struct kjoule_counter counter[KJOULE_MAX_DOMAINS];
	atomic_t busy_cpus ____cacheline_aligned_in_smp;
};

struct kjoule_meter *kjoule_meter_new(struct kjoule_source *src, u32 index, u32 stuck,
				      unsigned int scope);
void kjoule_meter_free(struct kjoule_meter *m);
bool kjoule_meter_claim(struct kjoule_meter *m, unsigned int cpu, u64 now);
u32 kjoule_meter_read_rest(struct kjoule_meter *m, unsigned int first, u32 errors, u64 now);
void kjoule_meter_add_reading(struct kjoule_meter *m, unsigned int domain, u64 raw, u64 now);
u64 kjoule_meter_wrap_ns(const struct kjoule_domain *d);
u64 kjoule_meter_max_counts(const struct kjoule_domain *d, u64 time_ns);
void kjoule_meter_write(struct kjoule_meter *m, struct kjoule_ring_buffer *ring, u32 tick,
			u32 delay_ns);
void kjoule_meter_restart(struct kjoule_meter *m);
bool kjoule_meter_update_owner(struct kjoule_meter *m);

/*
 * kjoule_meter_is_mine() - does this CPU read it? Claims a free one. @now: CLOCK_MONOTONIC of the
 * next reading. Context: interrupts off, on @cpu.
 */
static __always_inline bool kjoule_meter_is_mine(struct kjoule_meter *m, unsigned int cpu, u64 now)
{
	int reader = READ_ONCE(m->reader), owner = READ_ONCE(m->owner);

	if (unlikely(owner >= 0 && owner != cpu)) {
		if (reader == cpu)
			/* K, pairs with L in kjoule_meter_claim() */
			smp_store_release(&m->reader, KJOULE_METER_FREE);
		return false;
	}
	if (likely(reader == cpu))
		return true;
	return unlikely(reader == KJOULE_METER_FREE) && kjoule_meter_claim(m, cpu, now);
}

/*
 * kjoule_meter_read() - read all counters. Inline: it is a large part of a tick, and most counters
 * are updated once in many ticks. Context: interrupts off, on the CPU that has claimed the meter.
 * Return: the number of counters that could not be read, or were reset at the reading before.
 */
static __always_inline u32 kjoule_meter_read(struct kjoule_meter *m, u64 now)
{
	struct kjoule_source *src = m->src;
	typeof(src->ops->read_energy) read = src->ops->read_energy;
	unsigned int i;

	/* always the case if a domain is stuck */
	if (unlikely(m->started != m->all))
		return kjoule_meter_read_rest(m, 0, 0, now);
	for (i = 0; i < src->n_domains; i++) {
		if (unlikely(read(src, i, &m->raw)))
			return kjoule_meter_read_rest(m, i + 1, 1, now);
		if (unlikely(m->raw != m->counter[i].last_raw))
			kjoule_meter_add_reading(m, i, m->raw, now);
	}
	m->read_ns = now;
	return 0;
}

/*
 * kjoule_meter_release() - let another CPU claim it. @cpu: the CPU that may have claimed it.
 * Context: interrupts off on @cpu, or @cpu's sampler has no timer.
 */
static inline void kjoule_meter_release(struct kjoule_meter *m, unsigned int cpu)
{
	if (READ_ONCE(m->reader) == cpu)
		/* K, pairs with L in kjoule_meter_claim() */
		smp_store_release(&m->reader, KJOULE_METER_FREE);
}

#endif
