// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of ticks and pollers; see pending.h. A tick may also run inside the scheduler (idle.c), so
 * it only sets bits and queues an irq_work, the one that wakes the reader.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>

#include "sampler/pending.h"
#include "sampler/poller.h"
#include "sampler/sampler.h"

/* Part of what source.h promises of read_failing, which may recreate a counter. */
#define FAILS_EVERY_NS	NSEC_PER_SEC

static void pending_mark(struct kjoule_sampler *s, unsigned int bit)
{
	set_bit(bit, &s->plan->pending->bits);
	irq_work_queue(&s->wake);
}

/*
 * kjoule_sampler_check_ring() - wake the reader and mark events if needed. Checked several times
 * within the wake-up mark: a reader that has taken only some records may sleep just below it.
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

/*
 * kjoule_sampler_meter_failed() - count counters that could not be read. Context: see grid.h;
 * between kjoule_stats_begin_write() and _end_write().
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

/*
 * kjoule_sampler_cycles_failed() - count a failed read of the frequency source. Context: see
 * grid.h; between kjoule_stats_begin_write() and _end_write().
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

/* kjoule_poller_lost() - mark the loss of a slow source. Context: process, the poller's thread. */
void kjoule_poller_lost(struct kjoule_poller *p)
{
	struct kjoule_pending *n = p->sampler[0]->plan->pending;

	WRITE_ONCE(p->lost_pending, true);
	set_bit(KJOULE_PENDING_SOURCE, &n->bits);
	kjoule_pending_post(n);
}
