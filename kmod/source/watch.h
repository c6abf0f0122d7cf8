/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who wants to know what becomes of sessions and sources. Front ends add a watch when they
 * come up; the core tells all of them and knows none by name. Messages and files
 * are the front ends' business.
 */
#ifndef KJOULE_WATCH_H
#define KJOULE_WATCH_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <linux/kjoule_netlink.h>

struct kjoule_session;
struct kjoule_source;

/**
 * struct kjoule_notice - something worth telling
 * @event:	enum kjoule_notice_event
 * @time_ns:	CLOCK_MONOTONIC
 * @session:	of which session
 * @cpu:	on which CPU, or -1 where that means nothing
 * @source:	of which source, or NULL
 * @count:	what the event counts, see KJOULE_A_NOTICE_COUNT; 0 where it counts nothing
 * @user:	who has ended the session, if not its owner, else not valid
 */
struct kjoule_notice {
	u32 event;
	u64 time_ns;
	u32 session;
	int cpu;
	const char *source;
	u64 count;
	kuid_t user;
};

/**
 * struct kjoule_watch - what a front end wants to be told; all called in process context
 * @node:	watch.c's
 * @made:	there is a new session, not running yet and not found by its id yet; an error
 *		refuses it. Nobody is told of that session before, and of its end only after a
 *		success. No lock of the core is held
 * @gone:	a session has ended; no lock of the core is held
 * @notice:	something has happened; locks of the core may be held
 * @source_comes: a source was registered; no lock is held
 * @source_goes: a source is about to go: not to be used after the return; no lock is held
 */
struct kjoule_watch {
	struct list_head node;
	int (*made)(struct kjoule_session *s);
	void (*gone)(struct kjoule_session *s);
	void (*notice)(const struct kjoule_notice *n);
	void (*source_comes)(struct kjoule_source *src);
	void (*source_goes)(struct kjoule_source *src);
};

void kjoule_watch_add(struct kjoule_watch *w);
void kjoule_watch_remove(struct kjoule_watch *w);
int kjoule_watch_made(struct kjoule_session *s);
void kjoule_watch_gone(struct kjoule_session *s);
void kjoule_watch_notice(const struct kjoule_notice *n);
void kjoule_watch_source_comes(struct kjoule_source *src);
void kjoule_watch_source_goes(struct kjoule_source *src);

#endif /* KJOULE_WATCH_H */
