// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of notifiers; see notifier.h. It changes only at module init and exit, without sessions.
 * SRCU, because callers may hold the CPU hotplug lock and a session's, and callbacks may take them.
 */
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/srcu.h>

#include "source/notifier.h"

static DEFINE_MUTEX(notifiers_lock);
static LIST_HEAD(notifiers);
DEFINE_STATIC_SRCU(notifiers_srcu);

#define each_notifier(nb) \
	list_for_each_entry_srcu(nb, &notifiers, node, srcu_read_lock_held(&notifiers_srcu))

/**
 * kjoule_notifier_add() - add a notifier, at module init
 * @nb:	filled in; stays until kjoule_notifier_remove()
 */
void kjoule_notifier_add(struct kjoule_notifier *nb)
{
	mutex_lock(&notifiers_lock);
	list_add_tail_rcu(&nb->node, &notifiers);
	mutex_unlock(&notifiers_lock);
}

/** kjoule_notifier_remove() - undo kjoule_notifier_add(); no callback runs any more */
void kjoule_notifier_remove(struct kjoule_notifier *nb)
{
	mutex_lock(&notifiers_lock);
	list_del_rcu(&nb->node);
	mutex_unlock(&notifiers_lock);
	synchronize_srcu(&notifiers_srcu);
}

/*
 * kjoule_notify_session_created() - a session was created. Return: 0 or the -errno of the notifier
 * that refuses it; then the others get session_ended
 */
int kjoule_notify_session_created(struct kjoule_session *s)
{
	int idx = srcu_read_lock(&notifiers_srcu), err = 0;
	struct kjoule_notifier *nb, *failed;

	each_notifier(nb) {
		err = nb->session_created ? nb->session_created(s) : 0;
		if (err)
			break;
	}
	failed = nb;
	if (err) {
		each_notifier(nb) {
			if (nb == failed)
				break;
			if (nb->session_ended)
				nb->session_ended(s);
		}
	}
	srcu_read_unlock(&notifiers_srcu, idx);
	return err;
}

/** kjoule_notify_session_ended() - a session has ended; called without locks */
void kjoule_notify_session_ended(struct kjoule_session *s)
{
	int idx = srcu_read_lock(&notifiers_srcu);
	struct kjoule_notifier *nb;

	each_notifier(nb) {
		if (nb->session_ended)
			nb->session_ended(s);
	}
	srcu_read_unlock(&notifiers_srcu, idx);
}

/** kjoule_notify_event() - an event of a session */
void kjoule_notify_event(const struct kjoule_event *n)
{
	int idx = srcu_read_lock(&notifiers_srcu);
	struct kjoule_notifier *nb;

	each_notifier(nb) {
		if (nb->event)
			nb->event(n);
	}
	srcu_read_unlock(&notifiers_srcu, idx);
}

/** kjoule_notify_source_added() - a source was registered; called without locks */
void kjoule_notify_source_added(struct kjoule_source *src)
{
	int idx = srcu_read_lock(&notifiers_srcu);
	struct kjoule_notifier *nb;

	each_notifier(nb) {
		if (nb->source_added)
			nb->source_added(src);
	}
	srcu_read_unlock(&notifiers_srcu, idx);
}

/** kjoule_notify_source_removed() - a source is being unregistered; called without locks */
void kjoule_notify_source_removed(struct kjoule_source *src)
{
	int idx = srcu_read_lock(&notifiers_srcu);
	struct kjoule_notifier *nb;

	each_notifier(nb) {
		if (nb->source_removed)
			nb->source_removed(src);
	}
	srcu_read_unlock(&notifiers_srcu, idx);
}
