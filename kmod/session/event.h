/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a session: a work item passes those that its ticks have marked (sampler/pending.h) to
 * the notifiers (source/notifier.h); those of the session itself are posted at once.
 */
#ifndef KJOULE_EVENT_H
#define KJOULE_EVENT_H

#include <linux/types.h>

struct kjoule_meter;
struct kjoule_session;

void kjoule_events_init(struct kjoule_session *s);
void kjoule_events_cancel(struct kjoule_session *s);
void kjoule_events_finish(struct kjoule_session *s);
void kjoule_events_report_unreachable(struct kjoule_session *s, struct kjoule_meter *m);
void kjoule_events_report_no_meter(struct kjoule_session *s, u32 index, unsigned int cpu);
void kjoule_event_post(struct kjoule_session *s, u32 event, int cpu);

#endif
