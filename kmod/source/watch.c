// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of watches; see watch.h. It changes only while the module comes and goes,
 * when there are no sessions. Walking it takes no lock, because who tells may hold the CPU
 * hotplug lock and a session's, and who is told may take them.
 */
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/srcu.h>

#include "source/watch.h"

static DEFINE_MUTEX(watches_lock);
static LIST_HEAD(watches);
DEFINE_STATIC_SRCU(watches_srcu);

#define each_watch(w) \
	list_for_each_entry_srcu(w, &watches, node, srcu_read_lock_held(&watches_srcu))

/**
 * kjoule_watch_add() - be told from now on
 * @w:	filled in; stays until kjoule_watch_remove()
 *
 * Context: process, module init.
 */
void kjoule_watch_add(struct kjoule_watch *w)
{
	mutex_lock(&watches_lock);
	list_add_tail_rcu(&w->node, &watches);
	mutex_unlock(&watches_lock);
}

/**
 * kjoule_watch_remove() - undo kjoule_watch_add(); nothing is being told any more
 * @w:	the watch
 *
 * Context: process, module exit.
 */
void kjoule_watch_remove(struct kjoule_watch *w)
{
	mutex_lock(&watches_lock);
	list_del_rcu(&w->node);
	mutex_unlock(&watches_lock);
	synchronize_srcu(&watches_srcu);
}

/**
 * kjoule_watch_made() - there is a new session
 * @s:	the session
 *
 * Context: process, sleeps.
 * Return: 0 or the -errno of who refuses it; then nobody knows of it.
 */
int kjoule_watch_made(struct kjoule_session *s)
{
	int idx = srcu_read_lock(&watches_srcu), err = 0;
	struct kjoule_watch *w, *failed;

	each_watch(w) {
		err = w->made ? w->made(s) : 0;
		if (err)
			break;
	}
	failed = w;
	if (err) {
		each_watch(w) {
			if (w == failed)
				break;
			if (w->gone)
				w->gone(s);
		}
	}
	srcu_read_unlock(&watches_srcu, idx);
	return err;
}

/**
 * kjoule_watch_gone() - a session has ended
 * @s:	the session
 *
 * Context: process, sleeps, without locks.
 */
void kjoule_watch_gone(struct kjoule_session *s)
{
	int idx = srcu_read_lock(&watches_srcu);
	struct kjoule_watch *w;

	each_watch(w) {
		if (w->gone)
			w->gone(s);
	}
	srcu_read_unlock(&watches_srcu, idx);
}

/**
 * kjoule_watch_notice() - something has happened
 * @n:	what
 *
 * Context: process, sleeps.
 */
void kjoule_watch_notice(const struct kjoule_notice *n)
{
	int idx = srcu_read_lock(&watches_srcu);
	struct kjoule_watch *w;

	each_watch(w) {
		if (w->notice)
			w->notice(n);
	}
	srcu_read_unlock(&watches_srcu, idx);
}

/**
 * kjoule_watch_source_comes() - a source was registered
 * @src:	the source
 *
 * Context: process, sleeps, without locks.
 */
void kjoule_watch_source_comes(struct kjoule_source *src)
{
	int idx = srcu_read_lock(&watches_srcu);
	struct kjoule_watch *w;

	each_watch(w) {
		if (w->source_comes)
			w->source_comes(src);
	}
	srcu_read_unlock(&watches_srcu, idx);
}

/**
 * kjoule_watch_source_goes() - a source is about to go
 * @src:	the source
 *
 * Context: process, sleeps, without locks.
 */
void kjoule_watch_source_goes(struct kjoule_source *src)
{
	int idx = srcu_read_lock(&watches_srcu);
	struct kjoule_watch *w;

	each_watch(w) {
		if (w->source_goes)
			w->source_goes(src);
	}
	srcu_read_unlock(&watches_srcu, idx);
}
