// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the counters of a fast source updated? A successful read proves nothing: absent counters
 * return a constant. Called by the registry for energy sources without a probe.
 */
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include "source/update.h"
#include "source/source.h"

/*
 * Wait for this many update periods, and for one count at 1 W. Not tuned: RAPL is updated each
 * millisecond, and a counter of 1 J within the maximum from 3.3 W on. A stuck counter keeps
 * source-get waiting for this long (Documentation/design.rst, Sources).
 */
#define UPDATE_PERIODS	20
#define TIMEOUT_MIN_NS	(40 * NSEC_PER_MSEC)
#define TIMEOUT_MAX_NS	(300 * NSEC_PER_MSEC)

struct reading {
	struct kjoule_source *src;
	u64 raw[KJOULE_MAX_DOMAINS];
	int err[KJOULE_MAX_DOMAINS];
};

static void update_read_on_cpu(void *data)
{
	struct reading *reading = data;
	unsigned int i;

	for (i = 0; i < reading->src->n_domains; i++)
		reading->err[i] = reading->src->ops->read_energy(reading->src, i, &reading->raw[i]);
}

/* Read on a CPU that can. Hotplug is not locked: a CPU that goes offline is one read less. */
static void update_read(struct reading *reading)
{
	unsigned int cpu = cpumask_any(cpu_online_mask), i;
	struct kjoule_source *src = reading->src;
	int owner = src->ops->owner ? src->ops->owner(src, cpu) : -1;
	int err = smp_call_function_single(owner < 0 ? cpu : owner, update_read_on_cpu, reading, 1);

	for (i = 0; i < src->n_domains && err; i++)
		reading->err[i] = err;
}

static u64 update_timeout_ns(const struct kjoule_domain *d)
{
	u64 count_ns = mul_u64_u64_shr(d->unit_mult, NSEC_PER_USEC, d->unit_shift);
	u64 ns = TIMEOUT_MAX_NS;

	if (d->update_period_ns)
		ns = min(d->update_period_ns, TIMEOUT_MAX_NS) * UPDATE_PERIODS;
	return clamp_t(u64, max(ns, count_ns), TIMEOUT_MIN_NS, TIMEOUT_MAX_NS);
}

/**
 * kjoule_source_check_updates() - find the counters of a fast source that are updated
 * @src:	a source that ticks read
 * @why:	of KJOULE_WHY_LEN: set to the stuck counter
 *
 * The others are set in @src->stuck. Events may be rare: their counters count as updated.
 * Context: process, sleeps, serialised by the caller.
 * Return: 0, -ENODEV if none is updated, or -EINTR: the caller is being killed and the result is
 * unknown
 */
int kjoule_source_check_updates(struct kjoule_source *src, char *why)
{
	u32 stuck = 0, known = 0, all = BIT(src->n_domains) - 1;
	struct reading first = { .src = src }, now = { .src = src };
	u64 begin = ktime_get_ns(), passed = 0, longest = 0;
	unsigned int i;

	for (i = 0; i < src->n_domains; i++) {
		if (src->domains[i].quantity != KJOULE_QUANTITY_ENERGY)
			continue;
		stuck |= BIT(i);
		longest = max(longest, update_timeout_ns(&src->domains[i]));
	}
	while (stuck && passed < longest) {
		/* later updates may follow; others use @src->stuck */
		if (fatal_signal_pending(current)) {
			snprintf(why, KJOULE_WHY_LEN, "the caller was killed");
			return -EINTR;
		}
		update_read(&now);
		passed = ktime_get_ns() - begin;
		for (i = 0; i < src->n_domains; i++) {
			if (now.err[i])
				continue;
			if (known & BIT(i) && now.raw[i] != first.raw[i])
				stuck &= ~BIT(i);
			first.raw[i] = now.raw[i];
			known |= BIT(i);
		}
		if (stuck)
			usleep_range(2000, 2500);
	}
	WRITE_ONCE(src->stuck, stuck);
	if (stuck != all)
		return 0;
	if (known & BIT(0))
		snprintf(why, KJOULE_WHY_LEN, "the counter \"%s\" is stuck at 0x%llx",
			 src->domains[0].name, first.raw[0]);
	else
		snprintf(why, KJOULE_WHY_LEN, "the counter \"%s\" cannot be read (error %d)",
			 src->domains[0].name, -now.err[0]);
	return -ENODEV;
}
