// SPDX-License-Identifier: GPL-2.0-only
/*
 * The methods that there are, and those of a session; see method.h. Registered in the order of
 * main.c's init, before there is any session.
 */
#include <linux/bug.h>

#include "session/method.h"
#include "session/session.h"

static const struct kjoule_method_ops *methods[KJOULE_METHODS_MAX];
static unsigned int n_methods;

/**
 * kjoule_method_register() - sessions may have it from now on
 * @ops:	stays
 *
 * Context: process, module init.
 */
void kjoule_method_register(const struct kjoule_method_ops *ops)
{
	if (!WARN_ON(n_methods == KJOULE_METHODS_MAX))
		methods[n_methods++] = ops;
}

/**
 * kjoule_method_of() - what a method has made for a session
 * @s:		the session
 * @ops:	the method
 *
 * Context: any.
 * Return: as set by its @make, or NULL: the session does not have it.
 */
void *kjoule_method_of(const struct kjoule_session *s, const struct kjoule_method_ops *ops)
{
	unsigned int i;

	for (i = 0; i < n_methods; i++) {
		if (methods[i] == ops)
			return s->method[i];
	}
	return NULL;
}

/**
 * kjoule_methods_make() - make what a request asks for
 * @s:		the session
 * @c:		the request
 * @why:	set to the reason of a refusal
 *
 * Context: process, sleeps.
 * Return: 0, or what a method says; kjoule_methods_free() is called in either case.
 */
int kjoule_methods_make(struct kjoule_session *s, const struct kjoule_session_config *c,
			const char **why)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n_methods && !err; i++)
		err = methods[i]->make(s, c, &s->method[i], why);
	return err;
}

/**
 * kjoule_methods_start() - begin
 * @s:		the session, locked; its samplers run
 * @why:	set to the reason of a refusal
 *
 * Context: process, sleeps.
 * Return: 0, or what a method says; the caller halts the session then.
 */
int kjoule_methods_start(struct kjoule_session *s, const char **why)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n_methods && !err; i++) {
		if (s->method[i] && methods[i]->start)
			err = methods[i]->start(s->method[i], why);
	}
	return err;
}

/**
 * kjoule_methods_halt() - end
 * @s:	the session, locked
 *
 * Context: process, sleeps.
 */
void kjoule_methods_halt(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < n_methods; i++) {
		if (s->method[i])
			methods[i]->halt(s->method[i]);
	}
}

/**
 * kjoule_methods_suspend() - the session's CPUs or what they read is about to change
 * @s:	the session, locked
 *
 * Context: process, sleeps.
 */
void kjoule_methods_suspend(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < n_methods; i++) {
		if (s->method[i] && methods[i]->suspend)
			methods[i]->suspend(s->method[i]);
	}
}

/**
 * kjoule_methods_resume() - that is over
 * @s:	the session, locked
 *
 * Context: process, sleeps.
 */
void kjoule_methods_resume(struct kjoule_session *s)
{
	unsigned int i;

	if (s->state != KJOULE_SESSION_RUNNING)
		return;
	for (i = 0; i < n_methods; i++) {
		if (s->method[i] && methods[i]->resume)
			methods[i]->resume(s->method[i]);
	}
}

/**
 * kjoule_methods_put_attrs() - their attributes of the session's message
 * @s:		the session
 * @skb:	the message
 *
 * Context: process.
 * Return: 0, or not if there is no room.
 */
int kjoule_methods_put_attrs(const struct kjoule_session *s, struct sk_buff *skb)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n_methods && !err; i++) {
		if (s->method[i])
			err = methods[i]->put_attrs(s->method[i], skb);
	}
	return err;
}

/**
 * kjoule_methods_free() - undo kjoule_methods_make()
 * @s:	the session, halted
 *
 * Context: process, sleeps.
 */
void kjoule_methods_free(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < n_methods; i++) {
		if (s->method[i])
			methods[i]->free(s->method[i]);
	}
}
