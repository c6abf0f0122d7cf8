// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading energy counters and writing updates; see meter.h. The reader holds the meter, so there is
 * no lock here.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "counter/meter.h"

/*
 * For sources without a maximum: 1 kW is above the power of any package, and lets a 32-bit counter
 * with 2^-16 J wrap in 65 s.
 */
#define POWER_MAX_UW		(1000ULL * 1000 * 1000)

/*
 * While its CPUs are idle a counter is read four times in a wrap, so that a late sweep does no harm
 * (kmod/sweep tests it), and at least once in the maximum. The minimum keeps sweeps from being a
 * load; a counter that wraps within 20 ms loses energy there.
 */
#define SWEEP_MAX_NS		(60 * NSEC_PER_SEC)
#define SWEEP_MIN_NS		(20 * NSEC_PER_MSEC)

/*
 * Upper limit of a domain's power and time since its last update, if it was not reset, with a
 * margin for power above the source's maximum, and for a late update. Documentation/sources.rst has
 * them. Not tuned: a reset is taken for a wrap only if the counter was as close to one as these
 * allow, for RAPL (2^18 J at 2^-14 J) 64 J if it was updated 2 ms before.
 */
#define RESET_POWER		4
#define RESET_POWER_UW		(16 * POWER_MAX_UW)
#define RESET_PERIODS		2
#define RESET_PERIOD_NS		NSEC_PER_SEC

/*
 * kjoule_meter_wrap_ns() - time in which a counter of energy can wrap. Return: nanoseconds; U64_MAX
 * if never
 */
u64 kjoule_meter_wrap_ns(const struct kjoule_domain *d)
{
	u64 power_uw = d->max_power_uw ?: POWER_MAX_UW;

	if (d->range)
		return kjoule_counter_range_ns(d->range, d->unit_mult, d->unit_shift, power_uw);
	return d->width >= 64 ? U64_MAX :
	       kjoule_counter_wrap_ns(d->width, d->unit_mult, d->unit_shift, power_uw);
}

static u64 meter_domain_sweep_ns(const struct kjoule_domain *d)
{
	u64 ns = kjoule_meter_wrap_ns(d);

	return ns == U64_MAX ? ns : clamp_t(u64, ns / 4, SWEEP_MIN_NS, SWEEP_MAX_NS);
}

/*
 * kjoule_meter_max_counts() - upper limit of a counter's counts if it was not reset. @time_ns:
 * since its last update. Return: raw counts.
 */
u64 kjoule_meter_max_counts(const struct kjoule_domain *d, u64 time_ns)
{
	u64 power = RESET_POWER_UW, delay_ns = RESET_PERIOD_NS;

	if (d->quantity != KJOULE_QUANTITY_ENERGY)
		return U64_MAX;
	if (d->max_power_uw)
		power = min(d->max_power_uw, U64_MAX / RESET_POWER) * RESET_POWER;
	if (d->update_period_ns)
		delay_ns = min(d->update_period_ns, RESET_PERIOD_NS) * RESET_PERIODS;
	return kjoule_counter_max_counts(d->unit_mult, d->unit_shift, power, time_ns + delay_ns);
}

/* A 64-bit counter never counts half its range: that is a step back. */
static u64 meter_usual_counts(const struct kjoule_domain *d)
{
	return d->width < 64 ? kjoule_meter_max_counts(d, 0) : S64_MAX;
}

/**
 * kjoule_meter_new() - create a meter with counters at zero, without a reader
 * @src:	an energy source that ticks can read; kept by the caller
 * @index:	its number in the session
 * @stuck:	its domains that are not updating
 * @scope:	the lowest CPU of the session that shares the counters
 * Return: the meter or NULL
 */
struct kjoule_meter *kjoule_meter_new(struct kjoule_source *src, u32 index, u32 stuck,
				      unsigned int scope)
{
	struct kjoule_meter *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!m)
		return NULL;
	m->reader = KJOULE_METER_FREE;
	m->src = src;
	m->index = index;
	m->scope = scope;
	m->has_owner = src->ops->owner;
	m->package = kjoule_source_package(src, scope);
	kjoule_meter_update_owner(m);
	m->sweep_ns = U64_MAX;
	m->wrap_ns = U64_MAX;
	for (i = 0; i < src->n_domains; i++) {
		if (stuck & BIT(i))
			continue;
		m->sweep_ns = min(m->sweep_ns, meter_domain_sweep_ns(&src->domains[i]));
		if (src->domains[i].quantity == KJOULE_QUANTITY_ENERGY)
			m->wrap_ns = min(m->wrap_ns,
					 kjoule_meter_wrap_ns(&src->domains[i]));
		m->usual[i] = meter_usual_counts(&src->domains[i]);
	}
	/* the first record has all domains */
	m->all = (1U << src->n_domains) - 1;
	m->stuck = stuck;
	m->updated = m->all & ~stuck;
	return m;
}

/** kjoule_meter_free() - undo kjoule_meter_new() */
void kjoule_meter_free(struct kjoule_meter *m)
{
	kfree(m);
}

/**
 * kjoule_meter_claim() - claim a meter without a reader
 * @m:		the meter
 * @cpu:	the claiming CPU
 * @now:	CLOCK_MONOTONIC of the next reading
 *
 * Fails if the reader before has read it later than @now, so that sums in order of their times
 * never decrease.
 * Context: interrupts off, on @cpu.
 * Return: true if @cpu has it now
 */
bool kjoule_meter_claim(struct kjoule_meter *m, unsigned int cpu, u64 now)
{
	int owner = READ_ONCE(m->owner);

	if (owner >= 0 && owner != cpu)
		return false;
	/* L, pairs with K in kjoule_meter_release(): see its readings */
	if (cmpxchg_acquire(&m->reader, KJOULE_METER_FREE, cpu) != KJOULE_METER_FREE)
		return false;
	if (likely(now >= m->read_ns))
		return true;
	/* K, pairs with L in kjoule_meter_claim() */
	smp_store_release(&m->reader, KJOULE_METER_FREE);
	return false;
}

static void meter_add_counts(struct kjoule_meter *m, unsigned int domain, u64 raw, u64 now,
			     u64 counts)
{
	kjoule_counter_add(&m->counter[domain], raw, counts);
	m->updated_ns[domain] = now;
	if (counts)
		m->updated |= 1U << domain;
}

static noinline void meter_add_unusual(struct kjoule_meter *m, unsigned int domain, u64 raw,
				       u64 now, u64 counts)
{
	const struct kjoule_domain *d = &m->src->domains[domain];

	if (!(m->started & (1U << domain))) {
		kjoule_counter_start(&m->counter[domain], raw);
		m->started |= 1U << domain;
		m->updated_ns[domain] = now;
	} else if (d->width >= 64 ||
		   counts > kjoule_meter_max_counts(d, now - m->updated_ns[domain])) {
		m->started &= ~(1U << domain);
		m->resets++;
	} else {
		meter_add_counts(m, domain, raw, now, counts);
	}
}

/*
 * kjoule_meter_add_reading() - add a reading that is new or the first one. @raw: the current value.
 * A counter that was reset loses what it had counted; it continues with the next reading. Context:
 * interrupts off, on the CPU that has claimed the meter.
 */
void kjoule_meter_add_reading(struct kjoule_meter *m, unsigned int domain, u64 raw, u64 now)
{
	u64 counts = kjoule_counter_since(&m->counter[domain], raw, m->src->domains[domain].width);

	if (unlikely(counts > m->usual[domain] || !(m->started & (1U << domain))))
		meter_add_unusual(m, domain, raw, now, counts);
	else
		meter_add_counts(m, domain, raw, now, counts);
}

/**
 * kjoule_meter_read_rest() - slow path of kjoule_meter_read()
 * @m:		claimed by this CPU
 * @first:	domain to begin with
 * @errors:	domains before it that could not be read
 * @now:	CLOCK_MONOTONIC
 *
 * For domains that have not started or are stuck, and after a failed read or a reset.
 * Context: interrupts off, on the CPU that has claimed the meter.
 * Return: the number of counters that could not be read or were reset
 */
u32 kjoule_meter_read_rest(struct kjoule_meter *m, unsigned int first, u32 errors, u64 now)
{
	const struct kjoule_source_ops *ops = m->src->ops;
	unsigned int i;

	for (i = first; i < m->src->n_domains; i++) {
		if (m->stuck & BIT(i))
			continue;
		if (ops->read_energy(m->src, i, &m->raw))
			errors++;
		else if (m->raw != m->counter[i].last_raw || !(m->started & (1U << i)))
			kjoule_meter_add_reading(m, i, m->raw, now);
	}
	errors += m->resets;
	m->resets = 0;
	if (errors) {
		m->failures = m->failed_ns == m->read_ns ? m->failures + 1 : 1;
		m->failed_ns = now;
	}
	m->read_ns = now;
	return errors;
}

/**
 * kjoule_meter_write() - write a record of the updated counters
 * @m:		claimed by this CPU
 * @ring:	of this CPU
 * @tick:	low 32 bits of the last tick that was due
 * @delay_ns:	from then to the reading
 */
void kjoule_meter_write(struct kjoule_meter *m, struct kjoule_ring_buffer *ring, u32 tick,
			u32 delay_ns)
{
	const struct kjoule_domain *domains = m->src->domains;
	u16 size = sizeof(struct kjoule_energy) + hweight32(m->updated) * sizeof(u64);
	struct kjoule_energy *rec;
	u32 updated = m->updated;
	u64 *uj;

	rec = kjoule_ring_reserve(ring, KJOULE_RECORD_ENERGY, m->index, size, tick);
	if (!rec)
		return;		/* counters are kept: the next record has the sum */
	rec->tick = tick;
	rec->delay_ns = delay_ns;
	rec->domains = updated;
	rec->scope = m->scope;
	for (uj = rec->energy_uj; updated; updated &= updated - 1) {
		unsigned int i = __ffs(updated);

		*uj++ = kjoule_counter_scale(m->counter[i].total, domains[i].unit_mult,
					     domains[i].unit_shift);
	}
	m->updated = 0;
}

/*
 * kjoule_meter_restart() - continue from the counters' values at the next reading, which may have
 * been reset.
 */
void kjoule_meter_restart(struct kjoule_meter *m)
{
	m->started = 0;
}

/** kjoule_meter_update_owner() - update the CPU that has to read it. Return: whether it changed */
bool kjoule_meter_update_owner(struct kjoule_meter *m)
{
	int owner = m->src->ops->owner ? m->src->ops->owner(m->src, m->scope) : -1;
	int before = m->owner;

	WRITE_ONCE(m->owner, owner);
	return owner != before;
}
