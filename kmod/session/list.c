// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of sessions; see list.h. Lock order: the CPU hotplug lock, then sessions_lock, then a
 * session's own.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/suspend.h>
#include <linux/xarray.h>

#include "session/pause.h"
#include "session/list.h"
#include "session/quota.h"
#include "session/session.h"
#include "source/notifier.h"

/* Remembered endings by another user than the creator: as many as there can be sessions. */
#define ENDINGS		KJOULE_SHARE_ALL

static DEFINE_MUTEX(sessions_lock);
static DEFINE_XARRAY_ALLOC1(sessions);
static u32 next_id;
static unsigned int n_sessions;
/*
 * Sessions with timers or threads, also before and after they are listed. Limited, because their
 * timers run one after the other, with interrupts off. A session that has ended is not counted,
 * although its rings stay while a reader is attached.
 */
static LIST_HEAD(counted);

static struct {
	u32 id;
	kuid_t by;
} endings[ENDINGS];

static unsigned int n_endings;
static int prepare_state, hotplug_state;
static bool suspended;

/*
 * Allocate an id that was not used recently, so that a stale one finds nothing; the session is not
 * published yet.
 */
static int session_alloc_id(struct kjoule_session *s, const struct kjoule_session_config *c,
			    const char **why)
{
	struct kjoule_share share = { .n = 0 };
	struct kjoule_session *other;
	int err;

	mutex_lock(&sessions_lock);
	list_for_each_entry(other, &counted, counted)
		share.user[share.n++] = other->creator;
	err = kjoule_share_check(&share, s->creator, c->admin, "sessions", c->words,
				 KJOULE_WORDS_LEN);
	if (err)
		*why = c->words;
	else
		err = xa_alloc_cyclic(&sessions, &s->id, NULL, xa_limit_31b, &next_id, GFP_KERNEL);
	if (err >= 0) {
		WRITE_ONCE(n_sessions, n_sessions + 1);
		list_add_tail(&s->counted, &counted);
	}
	mutex_unlock(&sessions_lock);
	return min(err, 0);
}

/**
 * kjoule_session_list() - allocate an id and publish the session
 * @s:		the session; the list takes its own reference
 * @c:		its parameters
 * @why:	set to the reason of an error
 * Context: process, sleeps, without locks: a notifier may refuse, and then waits for readers of its
 * files.
 * Return: 0, -EUSERS or -ENOMEM
 */
int kjoule_session_list(struct kjoule_session *s, const struct kjoule_session_config *c,
			const char **why)
{
	int err = session_alloc_id(s, c, why);

	if (err)
		return err;
	/* before it is published: it cannot end before its creation is notified */
	err = kjoule_notify_session_created(s);
	mutex_lock(&sessions_lock);
	if (err) {
		xa_erase(&sessions, s->id);
		list_del(&s->counted);
		WRITE_ONCE(n_sessions, n_sessions - 1);
	} else {
		/* no allocation: the slot is reserved */
		kref_get(&s->ref);
		xa_store(&sessions, s->id, s, GFP_KERNEL);
	}
	mutex_unlock(&sessions_lock);
	return err;
}

/*
 * kjoule_session_unlist() - unpublish a session. @by: see kjoule_session_end_by(). It still gets
 * hotplug callbacks: its timers may run. Return: true if it was listed: the caller gets the list's
 * reference, and calls kjoule_session_ended().
 */
bool kjoule_session_unlist(struct kjoule_session *s, kuid_t by)
{
	bool listed;

	mutex_lock(&sessions_lock);
	listed = !s->unlisted;
	s->unlisted = true;
	WRITE_ONCE(n_sessions, n_sessions - listed);
	if (listed && uid_valid(by)) {
		s->ended_by = by;
		endings[n_endings % ENDINGS].id = s->id;
		endings[n_endings++ % ENDINGS].by = by;
	}
	mutex_unlock(&sessions_lock);
	return listed;
}

/*
 * kjoule_session_ended_by() - find out who ended a session. Return: the user, if not its owner; not
 * valid: its owner, the kernel, or long ago
 */
kuid_t kjoule_session_ended_by(u32 id)
{
	kuid_t by = INVALID_UID;
	unsigned int i;

	mutex_lock(&sessions_lock);
	for (i = 0; i < ENDINGS && i < n_endings; i++) {
		if (endings[i].id == id)
			by = endings[i].by;
	}
	mutex_unlock(&sessions_lock);
	return by;
}

/** kjoule_session_ended() - remove an unlisted session without timers and threads */
void kjoule_session_ended(struct kjoule_session *s)
{
	mutex_lock(&sessions_lock);
	xa_erase(&sessions, s->id);
	list_del(&s->counted);
	mutex_unlock(&sessions_lock);
}

/** kjoule_session_get() - find a session. Return: it with a reference, or NULL */
struct kjoule_session *kjoule_session_get(u32 id)
{
	struct kjoule_session *s;

	mutex_lock(&sessions_lock);
	s = xa_load(&sessions, id);
	if (s && s->unlisted)
		s = NULL;
	if (s)
		kref_get(&s->ref);
	mutex_unlock(&sessions_lock);
	return s;
}

/*
 * kjoule_session_get_next() - walk the sessions. @id: find the first with at least this id. Return:
 * the session with a reference, or NULL if there are no more.
 */
struct kjoule_session *kjoule_session_get_next(u32 id)
{
	struct kjoule_session *s;
	unsigned long index;

	mutex_lock(&sessions_lock);
	xa_for_each_start(&sessions, index, s, id) {
		if (!s->unlisted)
			break;
	}
	if (s)
		kref_get(&s->ref);
	mutex_unlock(&sessions_lock);
	return s;
}

/** kjoule_session_count() - number of sessions */
unsigned int kjoule_session_count(void)
{
	return READ_ONCE(n_sessions);
}

#define ALL_CPUS	(-1)

static void sessions_for_each(void (*call)(struct kjoule_session *s, int cpu), int cpu)
{
	struct kjoule_session *s;
	unsigned long index;

	mutex_lock(&sessions_lock);
	xa_for_each(&sessions, index, s) {
		mutex_lock(&s->lock);
		call(s, cpu);
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&sessions_lock);
}

static void session_call_samplers(struct kjoule_session *s, int cpu,
				  void (*call)(struct kjoule_sampler *sampler, u8 reason),
				  u8 reason)
{
	unsigned int i;

	for (i = 0; i < s->n && s->state == KJOULE_SESSION_RUNNING; i++) {
		if (cpu == ALL_CPUS || s->sampler[i]->cpu == cpu)
			call(s->sampler[i], reason);
	}
}

static void session_post_cpu(struct kjoule_session *s, unsigned int cpu, u32 event)
{
	unsigned int i;

	for (i = 0; i < s->n && s->state == KJOULE_SESSION_RUNNING; i++) {
		if (s->sampler[i]->cpu == cpu)
			kjoule_event_post(s, event, cpu);
	}
}

static void session_update_owners(struct kjoule_session *s, int cpu)
{
	kjoule_session_update_owners(s);
}

static void session_change_owners(struct kjoule_session *s, int cpu)
{
	kjoule_session_methods_suspend(s);
	session_update_owners(s, cpu);
	kjoule_session_methods_resume(s);
}

static void session_suspend_methods(struct kjoule_session *s, int cpu)
{
	kjoule_session_methods_suspend(s);
}

static void session_resume_methods(struct kjoule_session *s, int cpu)
{
	kjoule_session_methods_resume(s);
}

static void session_cpu_came(struct kjoule_session *s, int cpu)
{
	unsigned int i;

	kjoule_session_methods_suspend(s);
	for (i = 0; i < s->n_sources; i++) {
		if (s->source[i]->ops->online)
			s->source[i]->ops->online(s->source[i], cpu);
	}
	for (i = 0; i < s->n && s->state == KJOULE_SESSION_RUNNING; i++) {
		if (s->sampler[i]->cpu == cpu)
			kjoule_session_assign_meters(s, s->sampler[i]);
	}
	session_update_owners(s, cpu);
	session_call_samplers(s, cpu, kjoule_sampler_resume, KJOULE_GAP_OFFLINE);
	kjoule_session_methods_resume(s);
	session_post_cpu(s, cpu, KJOULE_EVENT_CPU_ONLINE);
}

static void session_cpu_leaves(struct kjoule_session *s, int cpu)
{
	unsigned int i;

	kjoule_session_methods_suspend(s);
	session_call_samplers(s, cpu, kjoule_sampler_suspend, KJOULE_GAP_OFFLINE);
	for (i = 0; i < s->n_sources; i++) {
		if (s->source[i]->ops->offline)
			s->source[i]->ops->offline(s->source[i], cpu);
	}
	session_update_owners(s, cpu);
	session_post_cpu(s, cpu, KJOULE_EVENT_CPU_OFFLINE);
}

static void session_suspend(struct kjoule_session *s, int cpu)
{
	kjoule_session_methods_suspend(s);
	session_call_samplers(s, cpu, kjoule_sampler_suspend, KJOULE_GAP_SUSPENDED);
}

static void session_resume(struct kjoule_session *s, int cpu)
{
	unsigned int i;

	kjoule_session_methods_suspend(s);
	for (i = 0; i < s->n_meters; i++)
		kjoule_meter_restart(s->meter[i]);
	session_call_samplers(s, cpu, kjoule_sampler_resume, KJOULE_GAP_SUSPENDED);
	kjoule_session_methods_resume(s);
}

static void sessions_owner_changed(void)
{
	cpus_read_lock();
	sessions_for_each(session_change_owners, ALL_CPUS);
	cpus_read_unlock();
}

/*
 * CPU hotplug, online to the right and offline to the left, and its callbacks:
 *
 *	offline  |  starts to run the kernel, or ends  |  online
 *	     prepare, dead				   online, offline
 *
 * Between the two the CPU draws power and cannot be paused. No task runs on it there: the
 * scheduler activates it after the online callback, and deactivates it before the offline one.
 */
static int sessions_cpu_prepare(unsigned int cpu)
{
	kjoule_pause_hotplug(cpu, true);
	sessions_for_each(session_suspend_methods, cpu);
	return 0;
}

static int sessions_cpu_online(unsigned int cpu)
{
	kjoule_pause_hotplug(cpu, false);
	sessions_for_each(session_cpu_came, cpu);
	return 0;
}

static int sessions_cpu_offline(unsigned int cpu)
{
	kjoule_pause_hotplug(cpu, true);
	sessions_for_each(session_cpu_leaves, cpu);
	return 0;
}

static int sessions_cpu_dead(unsigned int cpu)
{
	kjoule_pause_hotplug(cpu, false);
	sessions_for_each(session_resume_methods, cpu);
	return 0;
}

/*
 * During suspend the clock stops, and energy counters may go on, stop or restart. So sampling stops
 * before tasks are frozen and continues after they are thawed: the ticks between are missed, and
 * the counters restart from their current values.
 */
static int sessions_pm_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		cpus_read_lock();
		WRITE_ONCE(suspended, true);
		sessions_for_each(session_suspend, ALL_CPUS);
		cpus_read_unlock();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		cpus_read_lock();
		sessions_for_each(session_resume, ALL_CPUS);
		WRITE_ONCE(suspended, false);
		cpus_read_unlock();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block sleep_notifier = { .notifier_call = sessions_pm_notify };

/*
 * kjoule_sessions_suspended() - is the machine about to be suspended, so that no session can
 * start?.
 */
bool kjoule_sessions_suspended(void)
{
	return READ_ONCE(suspended);
}

/*
 * Register both states under one lock: a CPU that begins hotplug between two registrations would
 * reach only one callback, and count as in hotplug for ever.
 */
static int sessions_setup_hotplug(void)
{
	int err = 0;

	cpus_read_lock();
	prepare_state = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_BP_PREPARE_DYN, "kjoule:prepare",
							     sessions_cpu_prepare,
							     sessions_cpu_dead);
	if (prepare_state < 0) {
		err = prepare_state;
		goto out;
	}
	hotplug_state = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN, "kjoule:online",
							     sessions_cpu_online,
							     sessions_cpu_offline);
	if (hotplug_state < 0) {
		err = hotplug_state;
		cpuhp_remove_state_nocalls_cpuslocked(prepare_state);
	}
out:
	cpus_read_unlock();
	return err;
}

/** kjoule_sessions_init() - register for CPU hotplug and suspend */
int kjoule_sessions_init(void)
{
	int err = register_pm_notifier(&sleep_notifier);

	if (err)
		return err;
	err = sessions_setup_hotplug();
	if (err) {
		unregister_pm_notifier(&sleep_notifier);
		return err;
	}
	kjoule_source_on_owner_change(sessions_owner_changed);
	return 0;
}

/*
 * kjoule_sessions_exit() - undo kjoule_sessions_init(). No session is left: each pins the module.
 */
void kjoule_sessions_exit(void)
{
	kjoule_source_on_owner_change(NULL);
	cpuhp_remove_state_nocalls(hotplug_state);
	cpuhp_remove_state_nocalls(prepare_state);
	unregister_pm_notifier(&sleep_notifier);
	WARN_ON(!xa_empty(&sessions));
	xa_destroy(&sessions);
}
