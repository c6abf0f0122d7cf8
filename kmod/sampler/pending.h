/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of a running session is worth a notice, seen on the slow paths of the ticks: a ring that is
 * nearly full, records that are lost, a source that cannot be read any more. Here it is marked
 * only; who has made the plan tells it.
 */
#ifndef KJOULE_PENDING_H
#define KJOULE_PENDING_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "counter/meter.h"

struct kjoule_poller;
struct kjoule_sampler;

/* After so many failed reads in a row a source is told to be lost. */
#define KJOULE_SOURCE_LOST_READS	16

/* Bits of struct kjoule_pending.pending */
#define KJOULE_PENDING_RING	0	/* some sampler's full_bytes is set */
#define KJOULE_PENDING_LOST	1	/* records were lost since the last notice of that */
#define KJOULE_PENDING_SOURCE	2	/* some meter's, sampler's or poller's lost_pending */
#define KJOULE_PENDING_FAILING	3	/* some meter's failing_pending */

/**
 * struct kjoule_pending - what is to be told of a session
 * @bits:	what
 * @errors:	values that ticks did not get, of each source; the frequency source's at the end
 * @post:	called in any context when something is pending; has it told later
 */
struct kjoule_pending {
	unsigned long bits;
	atomic64_t errors[KJOULE_METERS_MAX + 1];
	void (*post)(struct kjoule_pending *n);
};

/**
 * kjoule_pending_post() - have it told, if there is something
 * @n:	of the session
 *
 * Context: any.
 */
static inline void kjoule_pending_post(struct kjoule_pending *n)
{
	if (READ_ONCE(n->bits))
		n->post(n);
}

/**
 * kjoule_pending_count_errors() - values were not got
 * @n:		of the session
 * @index:	number of the source in it
 * @src:	the source
 * @errors:	how many
 *
 * Context: any.
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

#endif /* KJOULE_PENDING_H */
