/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a running session that ticks and pollers mark: a ring that is nearly full, lost
 * records, a source that cannot be read any more. The creator of the plan posts them
 * (session/event.c).
 */
#ifndef KJOULE_PENDING_H
#define KJOULE_PENDING_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "counter/meter.h"

struct kjoule_poller;
struct kjoule_sampler;

/*
 * A source counts as lost after this many failed reads in a row: part of the ABI
 * (Documentation/abi/netlink.rst), not tuned. One failure is counted only.
 */
#define KJOULE_SOURCE_LOST_READS	16

/* Bits of struct kjoule_pending.bits */
#define KJOULE_PENDING_RING	0	/* a sampler's full_bytes is set */
#define KJOULE_PENDING_LOST	1	/* records were lost since the last event */
#define KJOULE_PENDING_SOURCE	2	/* a meter's, sampler's or poller's lost_pending is set */
#define KJOULE_PENDING_FAILING	3	/* a meter's failing_pending is set */

/**
 * struct kjoule_pending - pending events of a session
 * @bits:	KJOULE_PENDING_*
 * @errors:	values that ticks could not read, of each source; the frequency source's last
 * @post:	called in any context if something is pending; posts it later
 */
struct kjoule_pending {
	unsigned long bits;
	atomic64_t errors[KJOULE_METERS_MAX + 1];
	void (*post)(struct kjoule_pending *n);
};

/** kjoule_pending_post() - post pending events */
static inline void kjoule_pending_post(struct kjoule_pending *n)
{
	if (READ_ONCE(n->bits))
		n->post(n);
}

/*
 * kjoule_pending_count_errors() - count values that could not be read. @index: the source's number
 * in it.
 */
static inline void kjoule_pending_count_errors(struct kjoule_pending *n, u32 index,
					       struct kjoule_source *src, u32 errors)
{
	atomic64_add(errors, &n->errors[index]);
	atomic64_add(errors, &src->errors);
}

void kjoule_sampler_check_ring(struct kjoule_sampler *s);
void kjoule_sampler_meter_failed(struct kjoule_sampler *s, struct kjoule_meter *m, u32 errors);
void kjoule_sampler_cycles_failed(struct kjoule_sampler *s);
void kjoule_poller_lost(struct kjoule_poller *p);

#endif
