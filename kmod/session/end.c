// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a session: unlisted, stopped, notified, its threads waited for. Waits for slow devices
 * are left to a work item, because the caller may hold locks that others need. Called by front
 * ends.
 */
#include <linux/workqueue.h>

#include "session/list.h"
#include "session/session.h"
#include "source/notifier.h"

static struct workqueue_struct *end_queue;

/* Stop timers and threads. Return: true if the threads can be waited for. */
static bool session_stop_all(struct kjoule_session *s)
{
	bool all = kjoule_session_stop_pollers(s);

	mutex_lock(&s->lock);
	kjoule_session_halt(s);
	WRITE_ONCE(s->over, true);
	mutex_unlock(&s->lock);
	wake_up_interruptible(&s->reader);
	kjoule_event_post(s, KJOULE_EVENT_SESSION_ENDED, -1);
	kjoule_notify_session_ended(s);
	return all;
}

static void session_put_ended(struct kjoule_session *s)
{
	kjoule_session_join_pollers(s);
	kjoule_session_ended(s);
	kjoule_session_put(s);
}

static void session_end_work(struct work_struct *work)
{
	struct kjoule_session *s = container_of(work, struct kjoule_session, ending);

	if (!s->over)
		session_stop_all(s);
	session_put_ended(s);
}

/*
 * Unlist the session. Return: true for the caller that did, which gets the list's reference and may
 * queue @s->ending.
 */
static bool session_claim_end(struct kjoule_session *s, kuid_t by)
{
	if (!kjoule_session_unlist(s, by))
		return false;
	mutex_lock(&s->lock);
	s->ended = true;
	mutex_unlock(&s->lock);
	INIT_WORK(&s->ending, session_end_work);
	return true;
}

/**
 * kjoule_session_end_by() - unlist and stop a session on behalf of a user
 * @s:		the session; the caller keeps its own reference
 * @user:	the user that ends another user's session; not valid: its owner, or the kernel
 *
 * The first of several callers counts. The owner may use the session meanwhile, with its reference.
 * Only the threads of hung devices are left to a work item.
 */
void kjoule_session_end_by(struct kjoule_session *s, kuid_t user)
{
	if (!session_claim_end(s, user))
		return;
	if (session_stop_all(s))
		session_put_ended(s);
	else
		queue_work(end_queue, &s->ending);
}

/**
 * kjoule_session_end() - end a session on behalf of its owner; the caller keeps its reference
 * @s:	the session; the caller's own reference stays
 */
void kjoule_session_end(struct kjoule_session *s)
{
	kjoule_session_end_by(s, INVALID_UID);
}

/*
 * kjoule_session_end() without a wait for devices. At the return it is unlisted, and has ended
 * unless it has slow sources. The caller keeps its own reference.
 */
static void session_end_soon(struct kjoule_session *s)
{
	if (!kjoule_session_is_slow(s))
		kjoule_session_end(s);
	else if (session_claim_end(s, INVALID_UID))
		queue_work(end_queue, &s->ending);
}

/*
 * kjoule_session_end_owned() - end the sessions of an owner; those with slow sources end a little
 * later. @owner: as for kjoule_session_create().
 */
void kjoule_session_end_owned(u64 owner)
{
	struct kjoule_session *s;
	u32 id = 0;

	while ((s = kjoule_session_get_next(id))) {
		id = s->id + 1;
		if (s->owner == owner)
			session_end_soon(s);
		kjoule_session_put(s);
	}
}

/** kjoule_session_end_init() - allocate the workqueue */
int kjoule_session_end_init(void)
{
	end_queue = alloc_workqueue("kjoule", WQ_UNBOUND, 0);
	return end_queue ? 0 : -ENOMEM;
}

/*
 * kjoule_session_end_exit() - undo kjoule_session_end_init(). There is no session, but the work
 * item of the last one may still be in its last steps.
 */
void kjoule_session_end_exit(void)
{
	destroy_workqueue(end_queue);
}
