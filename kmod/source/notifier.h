/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who wants to know what becomes of sessions and sources. Front ends add a watch when they
 * come up; the core tells all of them and knows none by name. Messages and files
 * are the front ends' business.
 */
#ifndef KJOULE_NOTIFIER_H
#define KJOULE_NOTIFIER_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <linux/kjoule_netlink.h>

struct kjoule_session;
struct kjoule_source;

/**
 * struct kjoule_event - something worth telling
 * @event:	enum kjoule_notice_event
 * @time_ns:	CLOCK_MONOTONIC
 * @session:	of which session
 * @cpu:	on which CPU, or -1 where that means nothing
 * @source:	of which source, or NULL
 * @count:	what the event counts, see KJOULE_A_NOTICE_COUNT; 0 where it counts nothing
 * @user:	who has ended the session, if not its owner, else not valid
 */
struct kjoule_event {
	u32 event;
	u64 time_ns;
	u32 session;
	int cpu;
	const char *source;
	u64 count;
	kuid_t user;
};

/**
 * struct kjoule_notifier - what a front end wants to be told; all called in process context
 * @node:	watch.c's
 * @session_created:	there is a new session, not running yet and not found by its id yet; an
 *			error refuses it. Nobody is told of that session before, and of its end only
 *			after a success. No lock of the core is held
 * @session_ended:	a session has ended; no lock of the core is held
 * @event:	something has happened; locks of the core may be held
 * @source_added: a source was registered; no lock is held
 * @source_removed: a source is about to go: not to be used after the return; no lock is held
 */
struct kjoule_notifier {
	struct list_head node;
	int (*session_created)(struct kjoule_session *s);
	void (*session_ended)(struct kjoule_session *s);
	void (*event)(const struct kjoule_event *n);
	void (*source_added)(struct kjoule_source *src);
	void (*source_removed)(struct kjoule_source *src);
};

void kjoule_notifier_add(struct kjoule_notifier *nb);
void kjoule_notifier_remove(struct kjoule_notifier *nb);
int kjoule_notify_session_created(struct kjoule_session *s);
void kjoule_notify_session_ended(struct kjoule_session *s);
void kjoule_notify_event(const struct kjoule_event *n);
void kjoule_notify_source_added(struct kjoule_source *src);
void kjoule_notify_source_removed(struct kjoule_source *src);

#endif /* KJOULE_NOTIFIER_H */
