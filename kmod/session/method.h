/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Methods: measurements beside the ticks of a session, which a request asks for by attributes of
 * its own. Each registers its operations when the module is loaded; sessions know none by name.
 */
#ifndef KJOULE_METHOD_H
#define KJOULE_METHOD_H

#include <linux/types.h>

struct kjoule_session;
struct kjoule_session_config;
struct sk_buff;

#define KJOULE_METHODS_MAX	4

/**
 * struct kjoule_method_ops - a method; all but @make are called for sessions that have it
 * @make:	set @made to the session's own, or leave it alone if the request does not ask for
 *		it; on error set @why to the reason. The session has sources, samplers and meters,
 *		and is not found yet
 * @start:	the samplers run; may fail. NULL: nothing to do
 * @halt:	the samplers are about to stop
 * @suspend:	CPUs are about to come or go, sources to be read elsewhere, the machine to sleep;
 *		may be called twice. NULL: nothing to do
 * @resume:	that is over; also without @suspend before
 * @put_attrs:	its attributes of the session's message; 0, or not if there is no room
 * @free:	undo @make
 *
 * Context: process, sleeps; @start to @resume: the session is locked, and CPUs neither come nor go,
 * but for the one that hotplug calls for.
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

int kjoule_methods_make(struct kjoule_session *s, const struct kjoule_session_config *c,
			const char **why);
int kjoule_methods_start(struct kjoule_session *s, const char **why);
void kjoule_methods_halt(struct kjoule_session *s);
void kjoule_methods_suspend(struct kjoule_session *s);
void kjoule_methods_resume(struct kjoule_session *s);
int kjoule_methods_put_attrs(const struct kjoule_session *s, struct sk_buff *skb);
void kjoule_methods_free(struct kjoule_session *s);

#endif /* KJOULE_METHOD_H */
