// SPDX-License-Identifier: GPL-2.0-only
/*
 * Noticing, in ticks, and telling, in a work item; see notice.h. A tick may also run inside
 * the scheduler (park.c), so it only sets bits and queues an irq_work, the one
 * that wakes the reader; that one queues the work.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "compat/compat.h"
#include "session/notice.h"
#include "session/session.h"
#include "source/watch.h"

#define LOST_NOTICE_NS	NSEC_PER_SEC	/* between two notices of loss */
#define FAILS_EVERY_NS	NSEC_PER_SEC	/* between two calls of a source that fails */

static void mark(struct kjoule_sampler *s, unsigned int bit)
{
	set_bit(bit, &s->plan->notices->pending);
	irq_work_queue(&s->wake);
}

/**
 * kjoule_sampler_look() - has the reader to be woken, is there something to tell?
 * @s:	the sampler; its ring has grown by some part of the mark, or has lost records
 *
 * A reader that took only some of the records may be asleep again just below the mark, so
 * this is looked at a few times for each mark's worth of records.
 *
 * Context: see grid.h.
 */
void kjoule_sampler_look(struct kjoule_sampler *s)
{
	const struct kjoule_ring_buffer *ring = &s->ring;
	bool wake = false;
	u64 unread;

	if (ring->head >= s->look_at) {
		s->look_at = ring->head + s->plan->wakeup_bytes / 8;
		unread = kjoule_ring_unread(&s->ring);
		wake = unread >= s->plan->wakeup_bytes;
		if (unread < ring->size / 2) {
			s->near_full = false;
		} else if (unread >= ring->size - ring->size / 4 && !s->near_full) {
			s->near_full = true;
			WRITE_ONCE(s->full_bytes, unread);
			mark(s, KJOULE_NOTICE_RING);
		}
	}
	if (ring->lost) {
		wake |= s->woken_at != ring->head;
		if (!test_bit(KJOULE_NOTICE_LOST, &s->plan->notices->pending))
			mark(s, KJOULE_NOTICE_LOST);
	}
	if (wake) {
		s->woken_at = ring->head;
		irq_work_queue(&s->wake);
	}
}

static void count_errors(struct kjoule_notices *n, u32 index, struct kjoule_source *src, u32 errors)
{
	atomic64_add(errors, &n->errors[index]);
	atomic64_add(errors, &src->errors);
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
	count_errors(s->plan->notices, m->index, m->src, errors);
	if (m->failures < KJOULE_SOURCE_LOST_READS)
		return;
	if (m->src->ops->fails && m->failed_ns - m->fails_ns >= FAILS_EVERY_NS) {
		m->fails_ns = m->failed_ns;
		WRITE_ONCE(m->fails_untold, true);
		mark(s, KJOULE_NOTICE_FAILS);
	}
	if (m->failures != KJOULE_SOURCE_LOST_READS)
		return;
	WRITE_ONCE(m->lost_untold, true);
	mark(s, KJOULE_NOTICE_SOURCE);
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
	count_errors(s->plan->notices, KJOULE_METERS_MAX, s->plan->frequency, 1);
	s->freq_failures = s->cycles_known ? 1 : s->freq_failures + 1;
	s->cycles_known = false;
	s->freq_khz = 0;
	if (s->freq_failures != KJOULE_SOURCE_LOST_READS)
		return;
	WRITE_ONCE(s->lost_untold, true);
	mark(s, KJOULE_NOTICE_SOURCE);
}

/**
 * kjoule_poller_lost() - a slow source could not be read for long enough to be told
 * @p:	its poller
 *
 * Context: process, the poller's thread.
 */
void kjoule_poller_lost(struct kjoule_poller *p)
{
	struct kjoule_notices *n = p->sampler[0]->plan->notices;

	WRITE_ONCE(p->lost_untold, true);
	set_bit(KJOULE_NOTICE_SOURCE, &n->pending);
	kjoule_notices_kick(n);
}

static void post(struct kjoule_session *s, u32 event, int cpu, const char *source, u64 count)
{
	struct kjoule_notice n = {
		.event = event,
		.time_ns = ktime_get_ns(),
		.session = s->id,
		.cpu = cpu,
		.source = source,
		.count = count,
		.user = event == KJOULE_EVENT_SESSION_ENDED ? s->ended_by : INVALID_UID,
	};

	kjoule_watch_notice(&n);
}

/**
 * kjoule_notice_post() - tell that something has become of a session
 * @s:		the session
 * @event:	enum kjoule_notice_event
 * @cpu:	on which CPU, -1 for none
 *
 * Context: process, sleeps.
 */
void kjoule_notice_post(struct kjoule_session *s, u32 event, int cpu)
{
	post(s, event, cpu, NULL, 0);
}

static void tell_rings(struct kjoule_session *s)
{
	unsigned int i;
	u64 bytes;

	for (i = 0; i < s->n; i++) {
		bytes = xchg(&s->sampler[i]->full_bytes, 0);
		if (bytes)
			post(s, KJOULE_EVENT_RING_NEAR_FULL, s->sampler[i]->cpu, NULL, bytes);
	}
}

static void tell_sources(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (xchg(&s->meter[i]->lost_untold, false))
			post(s, KJOULE_EVENT_SOURCE_LOST, s->meter[i]->scope,
			     s->meter[i]->src->name, 0);
	}
	for (i = 0; i < s->n_sources; i++) {
		if (s->poller[i] && xchg(&s->poller[i]->lost_untold, false))
			post(s, KJOULE_EVENT_SOURCE_LOST, -1, s->source[i]->name, 0);
	}
	for (i = 0; i < s->n; i++) {
		if (xchg(&s->sampler[i]->lost_untold, false))
			post(s, KJOULE_EVENT_SOURCE_LOST, s->sampler[i]->cpu,
			     s->plan.frequency->name, 0);
	}
}

static void tell_failing(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (xchg(&s->meter[i]->fails_untold, false))
			s->meter[i]->src->ops->fails(s->meter[i]->src);
	}
}

static void tell_lost(struct kjoule_session *s)
{
	u64 lost = 0;
	unsigned int i;

	for (i = 0; i < s->n; i++)
		lost += READ_ONCE(s->sampler[i]->ring.page->lost);
	if (lost == s->notices.lost)
		return;
	s->notices.lost = lost;
	s->notices.lost_ns = ktime_get_ns();
	post(s, KJOULE_EVENT_RECORDS_LOST, -1, NULL, lost);
}

static void tell(struct work_struct *work)
{
	struct kjoule_session *s = container_of(work, struct kjoule_session, notices.work.work);
	struct kjoule_notices *n = &s->notices;
	u64 next_ns, now = ktime_get_ns();

	if (test_and_clear_bit(KJOULE_NOTICE_RING, &n->pending))
		tell_rings(s);
	if (test_and_clear_bit(KJOULE_NOTICE_SOURCE, &n->pending))
		tell_sources(s);
	if (test_and_clear_bit(KJOULE_NOTICE_FAILS, &n->pending))
		tell_failing(s);
	if (!test_bit(KJOULE_NOTICE_LOST, &n->pending))
		return;
	next_ns = n->lost_ns ? n->lost_ns + LOST_NOTICE_NS : 0;
	if (now < next_ns) {
		/* the bit stays set: until then the ticks have nothing to mark */
		queue_delayed_work(system_percpu_wq, &n->work, nsecs_to_jiffies(next_ns - now) + 1);
		return;
	}
	clear_bit(KJOULE_NOTICE_LOST, &n->pending);
	tell_lost(s);
}

/**
 * kjoule_notices_init() - nothing to tell yet
 * @s:	the session that is being made
 *
 * Context: process.
 */
void kjoule_notices_init(struct kjoule_session *s)
{
	INIT_DELAYED_WORK(&s->notices.work, tell);
}

/**
 * kjoule_notices_kick() - have it told, if there is something
 * @n:	of the session
 *
 * Context: any.
 */
void kjoule_notices_kick(struct kjoule_notices *n)
{
	/* what waits for its second to pass does not keep the rest waiting */
	if (READ_ONCE(n->pending))
		mod_delayed_work(system_percpu_wq, &n->work, 0);
}

/**
 * kjoule_notices_out_of_reach() - only a CPU that is not of the session can read a meter now
 * @s:	the session
 * @m:	the meter
 *
 * The source is lost to the session, and each of its counters is an error, once: no tick tries to
 * read it, so that the CPUs' own books have nothing of it.
 *
 * Context: process; the session is locked.
 */
void kjoule_notices_out_of_reach(struct kjoule_session *s, struct kjoule_meter *m)
{
	if (s->state == KJOULE_SESSION_STOPPED)
		return;
	count_errors(&s->notices, m->index, m->src, hweight32(m->all & ~m->still));
	WRITE_ONCE(m->lost_untold, true);
	set_bit(KJOULE_NOTICE_SOURCE, &s->notices.pending);
	kjoule_notices_kick(&s->notices);
}

/**
 * kjoule_notices_no_meter() - there is no memory for a counter of a CPU that has come
 * @s:		the session
 * @index:	the source's number in it
 * @cpu:	the CPU
 *
 * The source is lost to the session there, and each of its counters is an error, each time that it
 * was tried in vain.
 *
 * Context: process, sleeps; the session is locked.
 */
void kjoule_notices_no_meter(struct kjoule_session *s, u32 index, unsigned int cpu)
{
	struct kjoule_source *src = s->source[index];

	if (s->state == KJOULE_SESSION_STOPPED)
		return;
	count_errors(&s->notices, index, src, src->n_domains - hweight32(s->still[index]));
	post(s, KJOULE_EVENT_SOURCE_LOST, cpu, src->name, 0);
}

/**
 * kjoule_notices_finish() - tell what is left, because the session stops
 * @s:	nothing ticks any more and nothing wakes
 *
 * Context: process, sleeps.
 */
void kjoule_notices_finish(struct kjoule_session *s)
{
	cancel_delayed_work_sync(&s->notices.work);
	s->notices.pending = 0;
	tell_rings(s);
	tell_sources(s);
	tell_lost(s);
}
