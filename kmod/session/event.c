// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posts events of a session, see event.h: at once if it may sleep, in a work item if a tick has
 * marked it.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "compat/compat.h"
#include "session/event.h"
#include "session/session.h"
#include "source/notifier.h"

/* Part of the ABI (Documentation/abi/netlink.rst): a listener is not to lose other events. */
#define LOST_NOTICE_NS	NSEC_PER_SEC

static void events_post(struct kjoule_session *s, u32 event, int cpu, const char *source,
			u64 count)
{
	struct kjoule_event n = {
		.event = event,
		.time_ns = ktime_get_ns(),
		.session = s->id,
		.cpu = cpu,
		.source = source,
		.count = count,
		.user = event == KJOULE_EVENT_SESSION_ENDED ? s->ended_by : INVALID_UID,
	};

	kjoule_notify_event(&n);
}

/** kjoule_event_post() - post an event of a session; @cpu: -1 for none */
void kjoule_event_post(struct kjoule_session *s, u32 event, int cpu)
{
	events_post(s, event, cpu, NULL, 0);
}

static void events_post_rings(struct kjoule_session *s)
{
	unsigned int i;
	u64 bytes;

	for (i = 0; i < s->n; i++) {
		bytes = xchg(&s->sampler[i]->full_bytes, 0);
		if (bytes)
			events_post(s, KJOULE_EVENT_RING_NEAR_FULL, s->sampler[i]->cpu, NULL,
				    bytes);
	}
}

static void events_post_sources(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (xchg(&s->meter[i]->lost_pending, false))
			events_post(s, KJOULE_EVENT_SOURCE_LOST, s->meter[i]->scope,
				    s->meter[i]->src->name, 0);
	}
	for (i = 0; i < s->n_sources; i++) {
		if (s->poller[i] && xchg(&s->poller[i]->lost_pending, false))
			events_post(s, KJOULE_EVENT_SOURCE_LOST, -1, s->source[i]->name, 0);
	}
	for (i = 0; i < s->n; i++) {
		if (xchg(&s->sampler[i]->lost_pending, false))
			events_post(s, KJOULE_EVENT_SOURCE_LOST, s->sampler[i]->cpu,
				    s->plan.frequency->name, 0);
	}
}

static void events_call_failing(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (xchg(&s->meter[i]->failing_pending, false))
			s->meter[i]->src->ops->read_failing(s->meter[i]->src);
	}
}

static void events_post_lost(struct kjoule_session *s)
{
	u64 lost = 0;
	unsigned int i;

	for (i = 0; i < s->n; i++)
		lost += READ_ONCE(s->sampler[i]->ring.page->lost);
	if (lost == s->lost_posted)
		return;
	s->lost_posted = lost;
	s->lost_posted_ns = ktime_get_ns();
	events_post(s, KJOULE_EVENT_RECORDS_LOST, -1, NULL, lost);
}

static void events_work(struct work_struct *work)
{
	struct kjoule_session *s = container_of(work, struct kjoule_session, event_work.work);
	struct kjoule_pending *n = &s->pending;
	u64 next_ns, now = ktime_get_ns();

	if (test_and_clear_bit(KJOULE_PENDING_RING, &n->bits))
		events_post_rings(s);
	if (test_and_clear_bit(KJOULE_PENDING_SOURCE, &n->bits))
		events_post_sources(s);
	if (test_and_clear_bit(KJOULE_PENDING_FAILING, &n->bits))
		events_call_failing(s);
	if (!test_bit(KJOULE_PENDING_LOST, &n->bits))
		return;
	next_ns = s->lost_posted_ns ? s->lost_posted_ns + LOST_NOTICE_NS : 0;
	if (now < next_ns) {
		/* keep the bit: ticks need not set it again */
		queue_delayed_work(system_percpu_wq, &s->event_work,
				   nsecs_to_jiffies(next_ns - now) + 1);
		return;
	}
	clear_bit(KJOULE_PENDING_LOST, &n->bits);
	events_post_lost(s);
}

/* Runs now even if a loss event is delayed. */
static void events_queue_work(struct kjoule_pending *n)
{
	struct kjoule_session *s = container_of(n, struct kjoule_session, pending);

	mod_delayed_work(system_percpu_wq, &s->event_work, 0);
}

/** kjoule_events_init() - initialise the events of a new session */
void kjoule_events_init(struct kjoule_session *s)
{
	s->pending.post = events_queue_work;
	INIT_DELAYED_WORK(&s->event_work, events_work);
}

/** kjoule_events_cancel() - cancel pending events, after the last tick */
void kjoule_events_cancel(struct kjoule_session *s)
{
	cancel_delayed_work_sync(&s->event_work);
}

/*
 * kjoule_events_report_unreachable() - only a CPU outside the session can read a meter now. The
 * source is lost to the session, and each of its counters is one error: no tick tries to read it,
 * so that the statistics of CPUs do not have them. Context: process; the session is locked.
 */
void kjoule_events_report_unreachable(struct kjoule_session *s, struct kjoule_meter *m)
{
	if (s->state == KJOULE_SESSION_STOPPED)
		return;
	kjoule_pending_count_errors(&s->pending, m->index, m->src, hweight32(m->all & ~m->stuck));
	WRITE_ONCE(m->lost_pending, true);
	set_bit(KJOULE_PENDING_SOURCE, &s->pending.bits);
	kjoule_pending_post(&s->pending);
}

/*
 * kjoule_events_report_no_meter() - no memory for a meter of a CPU that has come online. @index:
 * the source's number in the session. The source is lost to the session there, and each of its
 * counters is one error each time. Context: process, sleeps; the session is locked.
 */
void kjoule_events_report_no_meter(struct kjoule_session *s, u32 index, unsigned int cpu)
{
	struct kjoule_source *src = s->source[index];

	if (s->state == KJOULE_SESSION_STOPPED)
		return;
	kjoule_pending_count_errors(&s->pending, index, src,
				    src->n_domains - hweight32(s->stuck[index]));
	events_post(s, KJOULE_EVENT_SOURCE_LOST, cpu, src->name, 0);
}

/** kjoule_events_finish() - post what is pending, because the session stops */
void kjoule_events_finish(struct kjoule_session *s)
{
	kjoule_events_cancel(s);
	s->pending.bits = 0;
	events_post_rings(s);
	events_post_sources(s);
	events_post_lost(s);
}
