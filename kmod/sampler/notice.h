/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of a running session is worth a notice, seen on the slow paths of the ticks: a ring that is
 * nearly full, records that are lost, a source that cannot be read any more. Here it is marked
 * only; who has made the plan tells it.
 */
#ifndef KJOULE_SAMPLER_NOTICE_H
#define KJOULE_SAMPLER_NOTICE_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "counter/meter.h"

struct kjoule_poller;
struct kjoule_sampler;

/* After so many failed reads in a row a source is told to be lost. */
#define KJOULE_SOURCE_LOST_READS	16

/* Bits of struct kjoule_notices.pending */
#define KJOULE_NOTICE_RING	0	/* some sampler's full_bytes is set */
#define KJOULE_NOTICE_LOST	1	/* records were lost since the last notice of that */
#define KJOULE_NOTICE_SOURCE	2	/* some meter's, sampler's or poller's lost_untold */
#define KJOULE_NOTICE_FAILS	3	/* some meter's fails_untold */

/**
 * struct kjoule_notices - what is to be told of a session
 * @pending:	what
 * @errors:	values that ticks did not get, of each source; the frequency source's at the end
 * @post:	called in any context when something is pending; has it told later
 */
struct kjoule_notices {
	unsigned long pending;
	atomic64_t errors[KJOULE_METERS_MAX + 1];
	void (*post)(struct kjoule_notices *n);
};

/**
 * kjoule_notices_kick() - have it told, if there is something
 * @n:	of the session
 *
 * Context: any.
 */
static inline void kjoule_notices_kick(struct kjoule_notices *n)
{
	if (READ_ONCE(n->pending))
		n->post(n);
}

/**
 * kjoule_notices_count() - values were not got
 * @n:		of the session
 * @index:	number of the source in it
 * @src:	the source
 * @errors:	how many
 *
 * Context: any.
 */
static inline void kjoule_notices_count(struct kjoule_notices *n, u32 index,
					struct kjoule_source *src, u32 errors)
{
	atomic64_add(errors, &n->errors[index]);
	atomic64_add(errors, &src->errors);
}

void kjoule_sampler_look(struct kjoule_sampler *s);
void kjoule_sampler_meter_failed(struct kjoule_sampler *s, struct kjoule_meter *m, u32 errors);
void kjoule_sampler_cycles_failed(struct kjoule_sampler *s);
void kjoule_poller_lost(struct kjoule_poller *p);

#endif /* KJOULE_SAMPLER_NOTICE_H */
