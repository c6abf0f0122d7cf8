/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Meters: the energy counters that some CPUs share (a package, a die), widened and
 * summed up, and which of these CPUs reads them at present. Any CPU of the scope
 * may: whoever ticks first takes the meter when nobody has it, and lets it go when it
 * falls idle or goes offline. The sampler reads and writes meters; a session makes them.
 */
#ifndef KJOULE_METER_H
#define KJOULE_METER_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/types.h>

#include "counter/counter.h"
#include "ring/ring.h"
#include "source/source.h"

/* As many sources as one session may use, the frequency source not counted. */
#define KJOULE_METERS_MAX	8

#define KJOULE_METER_FREE	(-1)	/* nobody reads it */

struct kjoule_sampler;

/**
 * struct kjoule_meter - counters of one scope of one source
 * @reader:	CPU whose tick reads it, KJOULE_METER_FREE: none. The CPU that changes it from FREE
 *		has it alone; the fields below are its
 * @src:	where the values come from
 * @index:	the source's number in the session, for the records
 * @scope:	the lowest CPU of the session that shares the counters
 * @package:	what the source said of that CPU when the meter was made
 * @cpus:	how many CPUs of the session share them
 * @has_owner:	its source knows of CPUs that alone can read it: @busy_cpus and @owner_sampler are
 *		of use
 * @owner:	the only CPU that can read them, or -1 for any of the scope
 * @owner_sampler:	its sampler, NULL if there is none in the session
 * @sweep_ns:	they have to be read once in so long, or a wrap is lost; U64_MAX: never
 * @wrap_ns:	a counter of energy can go round in so long; U64_MAX: never
 * @read_ns:	CLOCK_MONOTONIC of the last reading
 * @all:	all domains
 * @stuck:	domains that are not there
 * @started:	domains whose raw value has been taken as a beginning
 * @updated:	domains whose move has not been written yet
 * @raw:	what a counter showed just now
 * @updated_ns:	CLOCK_MONOTONIC at which each was last seen to move
 * @usual:	by so many counts each may move at any time; by more, it may have been reset
 * @resets:	counters that were found to be reset, to be told as errors of the next reading
 * @failures:	readings in a row in which a counter could not be read
 * @failed_ns:	CLOCK_MONOTONIC of the last of these
 * @lost_pending: they are enough to be told
 * @failing_pending: the source is to be told of them
 * @failing_ns:	CLOCK_MONOTONIC when it was to be told last
 * @counter:	since the session's start
 * @busy_cpus:	how many CPUs that share it are not idle, where such are parked; anybody's
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

/**
 * kjoule_meter_is_mine() - is it this CPU's to read? Claims a free one
 * @m:		the meter
 * @cpu:	the CPU, whose sampler ticks
 * @now:	CLOCK_MONOTONIC that a reading would bear
 *
 * Context: hard interrupt or interrupts off, on @cpu.
 * Return: true if so.
 */
static __always_inline bool kjoule_meter_is_mine(struct kjoule_meter *m, unsigned int cpu, u64 now)
{
	int reader = READ_ONCE(m->reader), owner = READ_ONCE(m->owner);

	/* its source may have moved to another CPU */
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

/**
 * kjoule_meter_read() - read all counters
 * @m:		held
 * @now:	CLOCK_MONOTONIC
 *
 * Inline: it is a good part of a tick, and most counters move once in many ticks.
 *
 * Context: hard interrupt or interrupts off, on the CPU that holds the meter.
 * Return: how many of them could not be read, or were found reset by the reading before.
 */
static __always_inline u32 kjoule_meter_read(struct kjoule_meter *m, u64 now)
{
	struct kjoule_source *src = m->src;
	typeof(src->ops->read_energy) read = src->ops->read_energy;
	unsigned int i;

	/* always so where a domain is not there */
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

/**
 * kjoule_meter_release() - let another CPU read it
 * @m:		the meter
 * @cpu:	the CPU that may have claimed it
 *
 * Context: interrupts off on @cpu, or @cpu's sampler has no timer.
 */
static inline void kjoule_meter_release(struct kjoule_meter *m, unsigned int cpu)
{
	if (READ_ONCE(m->reader) == cpu)
		/* K, pairs with L in kjoule_meter_claim() */
		smp_store_release(&m->reader, KJOULE_METER_FREE);
}

#endif /* KJOULE_METER_H */
