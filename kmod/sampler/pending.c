// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ticks and pollers notice; see notice.h. A tick may also run inside the scheduler (park.c),
 * so it only sets bits and queues an irq_work, the one that wakes the reader.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>

#include "sampler/pending.h"
#include "sampler/poller.h"
#include "sampler/sampler.h"

#define FAILS_EVERY_NS	NSEC_PER_SEC	/* between two calls of a failing source */

static void pending_mark(struct kjoule_sampler *s, unsigned int bit)
{
	set_bit(bit, &s->plan->pending->bits);
	irq_work_queue(&s->wake);
}

/**
 * kjoule_sampler_check_ring() - has the reader to be woken, is there something to tell?
 * @s:	the sampler; its ring has grown by some part of the mark, or has lost records
 *
 * A reader that took only some of the records may be asleep again just below the mark, so
 * this is looked at a few times for each mark's worth of records.
 *
 * Context: see grid.h.
 */
void kjoule_sampler_check_ring(struct kjoule_sampler *s)
{
	const struct kjoule_ring_buffer *ring = &s->ring;
	bool wake = false;
	u64 unread;

	if (ring->head >= s->check_at) {
		s->check_at = ring->head + s->plan->wakeup_bytes / 8;
		unread = kjoule_ring_unread(&s->ring);
		wake = unread >= s->plan->wakeup_bytes;
		if (unread < ring->size / 2) {
			s->near_full = false;
		} else if (unread >= ring->size - ring->size / 4 && !s->near_full) {
			s->near_full = true;
			WRITE_ONCE(s->full_bytes, unread);
			pending_mark(s, KJOULE_PENDING_RING);
		}
	}
	if (ring->lost) {
		wake |= s->woken_at != ring->head;
		if (!test_bit(KJOULE_PENDING_LOST, &s->plan->pending->bits))
			pending_mark(s, KJOULE_PENDING_LOST);
	}
	if (wake) {
		s->woken_at = ring->head;
		irq_work_queue(&s->wake);
	}
}

/**
 * kjoule_sampler_meter_failed() - counters could not be read
 * @s:		the sampler that tried
 * @m:		whose counters
 * @errors:	how many of them
 *
 * Context: see grid.h; the books are open.
 */
void kjoule_sampler_meter_failed(struct kjoule_sampler *s, struct kjoule_meter *m, u32 errors)
{
	s->ring.page->source_errors += errors;
	kjoule_pending_count_errors(s->plan->pending, m->index, m->src, errors);
	if (m->failures < KJOULE_SOURCE_LOST_READS)
		return;
	if (m->src->ops->read_failing && m->failed_ns - m->failing_ns >= FAILS_EVERY_NS) {
		m->failing_ns = m->failed_ns;
		WRITE_ONCE(m->failing_pending, true);
		pending_mark(s, KJOULE_PENDING_FAILING);
	}
	if (m->failures != KJOULE_SOURCE_LOST_READS)
		return;
	WRITE_ONCE(m->lost_pending, true);
	pending_mark(s, KJOULE_PENDING_SOURCE);
}

/**
 * kjoule_sampler_cycles_failed() - the frequency source could not be read
 * @s:	the sampler that tried
 *
 * Context: see grid.h; the books are open.
 */
void kjoule_sampler_cycles_failed(struct kjoule_sampler *s)
{
	s->ring.page->source_errors++;
	kjoule_pending_count_errors(s->plan->pending, KJOULE_METERS_MAX, s->plan->frequency, 1);
	s->freq_failures = s->cycles_known ? 1 : s->freq_failures + 1;
	s->cycles_known = false;
	s->freq_khz = 0;
	if (s->freq_failures != KJOULE_SOURCE_LOST_READS)
		return;
	WRITE_ONCE(s->lost_pending, true);
	pending_mark(s, KJOULE_PENDING_SOURCE);
}

/**
 * kjoule_poller_lost() - a slow source failed for long enough for a notice
 * @p:	its poller
 *
 * Context: process, the poller's thread.
 */
void kjoule_poller_lost(struct kjoule_poller *p)
{
	struct kjoule_pending *n = p->sampler[0]->plan->pending;

	WRITE_ONCE(p->lost_pending, true);
	set_bit(KJOULE_PENDING_SOURCE, &n->bits);
	kjoule_pending_post(n);
}
