/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Methods: measurements in addition to the ticks of a session, requested by attributes of their
 * own. Each registers its operations at module init; sessions know none by name.
 */
#ifndef KJOULE_METHOD_H
#define KJOULE_METHOD_H

#include <linux/types.h>

struct kjoule_session;
struct kjoule_session_config;
struct sk_buff;

/* More than there are (edge and vpm); kjoule_method_register() warns of others. */
#define KJOULE_METHODS_MAX	4

/**
 * struct kjoule_method_ops - operations of a method; all but @make are called for sessions that
 *		have it
 * @make:	set @made to the session's data, or leave it alone if the method is not requested;
 *		on error set @why. The session has sources, samplers and meters, and is not
 *		published yet
 * @start:	the samplers run; may fail. NULL: nothing to do
 * @halt:	the samplers are about to stop
 * @suspend:	before CPU hotplug, a change of a source's reader, or a suspend of the machine; may
 *		be called twice. NULL: nothing to do
 * @resume:	after that; also without @suspend before
 * @put_attrs:	put attributes of the session; 0, or not if there is no room
 * @free:	undo @make
 * Context: process, sleeps; @start to @resume: the session is locked, and there is no CPU hotplug
 * but the one that is notified.
 */
struct kjoule_method_ops {
	int (*make)(struct kjoule_session *s, const struct kjoule_session_config *c, void **made,
		    const char **why);
	int (*start)(void *made, const char **why);
	void (*halt)(void *made);
	void (*suspend)(void *made);
	void (*resume)(void *made);
	int (*put_attrs)(void *made, struct sk_buff *skb);
	void (*free)(void *made);
};

void kjoule_method_register(const struct kjoule_method_ops *ops);
void *kjoule_method_of(const struct kjoule_session *s, const struct kjoule_method_ops *ops);

int kjoule_session_methods_make(struct kjoule_session *s, const struct kjoule_session_config *c,
				const char **why);
int kjoule_session_methods_start(struct kjoule_session *s, const char **why);
void kjoule_session_methods_halt(struct kjoule_session *s);
void kjoule_session_methods_suspend(struct kjoule_session *s);
void kjoule_session_methods_resume(struct kjoule_session *s);
int kjoule_session_methods_put_attrs(const struct kjoule_session *s, struct sk_buff *skb);
void kjoule_session_methods_free(struct kjoule_session *s);

#endif
