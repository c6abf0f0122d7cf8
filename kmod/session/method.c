// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registered methods, and those of a session; see method.h. Registered in the order of main.c's
 * init, before there is any session.
 */
#include <linux/bug.h>

#include "session/method.h"
#include "session/session.h"

static const struct kjoule_method_ops *methods[KJOULE_METHODS_MAX];
static unsigned int n_methods;

/** kjoule_method_register() - register a method */
void kjoule_method_register(const struct kjoule_method_ops *ops)
{
	if (!WARN_ON(n_methods == KJOULE_METHODS_MAX))
		methods[n_methods++] = ops;
}

/*
 * kjoule_method_of() - the data of a session's method. Return: set by its @make, or NULL: the
 * session does not have it
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

/*
 * kjoule_session_methods_make() - create the methods that a session requests
 *
 * Return: 0, or a method's error; kjoule_session_methods_free() is called in either case
 */
int kjoule_session_methods_make(struct kjoule_session *s, const struct kjoule_session_config *c,
				const char **why)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n_methods && !err; i++)
		err = methods[i]->make(s, c, &s->method[i], why);
	return err;
}

/*
 * kjoule_session_methods_start() - start the methods. @s: locked; its samplers run. Return: 0, or a
 * method's error; the caller halts the session then.
 */
int kjoule_session_methods_start(struct kjoule_session *s, const char **why)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n_methods && !err; i++) {
		if (s->method[i] && methods[i]->start)
			err = methods[i]->start(s->method[i], why);
	}
	return err;
}

/** kjoule_session_methods_halt() - stop the methods */
void kjoule_session_methods_halt(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < n_methods; i++) {
		if (s->method[i])
			methods[i]->halt(s->method[i]);
	}
}

/** kjoule_session_methods_suspend() - suspend the methods before a change of CPUs or sources */
void kjoule_session_methods_suspend(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < n_methods; i++) {
		if (s->method[i] && methods[i]->suspend)
			methods[i]->suspend(s->method[i]);
	}
}

/** kjoule_session_methods_resume() - resume the methods */
void kjoule_session_methods_resume(struct kjoule_session *s)
{
	unsigned int i;

	if (s->state != KJOULE_SESSION_RUNNING)
		return;
	for (i = 0; i < n_methods; i++) {
		if (s->method[i] && methods[i]->resume)
			methods[i]->resume(s->method[i]);
	}
}

/*
 * kjoule_session_methods_put_attrs() - put the methods' attributes of a session
 *
 * Return: 0, or not if there is no room
 */
int kjoule_session_methods_put_attrs(const struct kjoule_session *s, struct sk_buff *skb)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n_methods && !err; i++) {
		if (s->method[i])
			err = methods[i]->put_attrs(s->method[i], skb);
	}
	return err;
}

/** kjoule_session_methods_free() - undo kjoule_session_methods_make() */
void kjoule_session_methods_free(struct kjoule_session *s)
{
	unsigned int i;

	for (i = 0; i < n_methods; i++) {
		if (s->method[i])
			methods[i]->free(s->method[i]);
	}
}
