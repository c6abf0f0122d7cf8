/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notifiers of sessions and sources. Front ends add theirs at init; the core calls all of them and
 * knows none by name. Messages and files are left to the front ends.
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
 * struct kjoule_event - an event of a session
 * @event:	enum kjoule_notice_event
 * @time_ns:	CLOCK_MONOTONIC
 * @session:	its id
 * @cpu:	the CPU, or -1 if it does not apply
 * @source:	the source, or NULL
 * @count:	see KJOULE_A_NOTICE_COUNT; 0 if it does not apply
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
 * struct kjoule_notifier - callbacks of a front end, in process context
 * @node:	private to notifier.c
 * @session_created:	a session was created, not running yet and not found by its id yet; an error
 *			refuses it. The first call for the session. No lock of the core is held
 * @session_ended:	a session that was not refused has ended; no lock of the core is held
 * @event:	an event of a session; locks of the core may be held
 * @source_added: a source was registered; no lock is held
 * @source_removed: a source must not be used after the return; no lock is held
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

#endif
