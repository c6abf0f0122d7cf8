/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notices of a session: a work item tells the watches (watch.h) what its ticks have marked
 * (sampler/notice.h); what the session does itself is told at once.
 */
#ifndef KJOULE_NOTICE_H
#define KJOULE_NOTICE_H

#include <linux/types.h>

struct kjoule_meter;
struct kjoule_session;

void kjoule_notices_init(struct kjoule_session *s);
void kjoule_notices_cancel(struct kjoule_session *s);
void kjoule_notices_finish(struct kjoule_session *s);
void kjoule_notices_out_of_reach(struct kjoule_session *s, struct kjoule_meter *m);
void kjoule_notices_no_meter(struct kjoule_session *s, u32 index, unsigned int cpu);
void kjoule_notice_post(struct kjoule_session *s, u32 event, int cpu);

#endif /* KJOULE_NOTICE_H */
