/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of a running session is worth a notice, seen on the slow paths of the ticks:
 * a ring that is nearly full, records that are lost, a source that can not be
 * read any more. The tick only marks it; a work item tells the watches (watch.h).
 */
#ifndef KJOULE_NOTICE_H
#define KJOULE_NOTICE_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "counter/meter.h"

struct kjoule_poller;
struct kjoule_sampler;
struct kjoule_session;

/* After so many failed reads in a row a source is told to be lost. */
#define KJOULE_SOURCE_LOST_READS	16

/* Bits of struct kjoule_notices.pending */
#define KJOULE_NOTICE_RING	0	/* some sampler's full_bytes is set */
#define KJOULE_NOTICE_LOST	1	/* records were lost since the last notice of that */
#define KJOULE_NOTICE_SOURCE	2	/* some meter's, sampler's or poller's lost_untold */
#define KJOULE_NOTICE_FAILS	3	/* some meter's fails_untold */

/**
 * struct kjoule_notices - what is to be told of a session
 * @work:	tells it
 * @pending:	what
 * @errors:	values that ticks did not get, of each source; the frequency source's at the end
 * @lost:	records lost, as told last
 * @lost_ns:	CLOCK_MONOTONIC when that was
 */
struct kjoule_notices {
	struct delayed_work work;
	unsigned long pending;
	atomic64_t errors[KJOULE_METERS_MAX + 1];
	u64 lost;
	u64 lost_ns;
};

void kjoule_notices_init(struct kjoule_session *s);
void kjoule_notices_kick(struct kjoule_notices *n);
void kjoule_notices_finish(struct kjoule_session *s);
void kjoule_notices_out_of_reach(struct kjoule_session *s, struct kjoule_meter *m);
void kjoule_notices_no_meter(struct kjoule_session *s, u32 index, unsigned int cpu);
void kjoule_notice_post(struct kjoule_session *s, u32 event, int cpu);

void kjoule_sampler_look(struct kjoule_sampler *s);
void kjoule_sampler_meter_failed(struct kjoule_sampler *s, struct kjoule_meter *m, u32 errors);
void kjoule_sampler_cycles_failed(struct kjoule_sampler *s);
void kjoule_poller_lost(struct kjoule_poller *p);

#endif /* KJOULE_NOTICE_H */
