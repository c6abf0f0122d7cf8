// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions; see session.h. A listed session pins the module, so that it can not
 * be unloaded under a recording. Lock order: the CPU hotplug lock, then
 * sessions_lock, then a session's own.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "session.h"

/* From start to the first tick: enough to reach all CPUs. */
#define START_LEAD_NS	(2 * 1000 * 1000ULL)

/* The timers of all of them run one after the other, with interrupts off. */
#define SESSIONS_MAX	64

static DEFINE_MUTEX(sessions_lock);
static DEFINE_XARRAY_ALLOC1(sessions);
static u32 next_id;
static unsigned int n_sessions;
static int hotplug_state;

static void session_free(struct kref *ref)
{
	struct kjoule_session *s = container_of(ref, struct kjoule_session, ref);
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		if (s->sampler[i]) {
			kjoule_sampler_exit(s->sampler[i]);
			kfree(s->sampler[i]);
		}
	}
	kjoule_source_put(s->plan.energy);
	kjoule_source_put(s->plan.frequency);
	put_pid(s->plan.target);
	mutex_destroy(&s->lock);
	kfree(s);
	module_put(THIS_MODULE);
}

/**
 * kjoule_session_put() - drop a reference
 * @s:	the session
 *
 * Context: process, sleeps.
 */
void kjoule_session_put(struct kjoule_session *s)
{
	kref_put(&s->ref, session_free);
}

static int check_config(struct kjoule_session_config *c, const char **why)
{
	if (c->interval_ns < KJOULE_INTERVAL_MIN_NS || c->interval_ns > KJOULE_INTERVAL_MAX_NS) {
		*why = "interval is out of range: 10 us to 4 s";
		return -ERANGE;
	}
	if (c->jitter_ns >= c->interval_ns) {
		*why = "jitter has to be less than the interval";
		return -EINVAL;
	}
	if (c->target == KJOULE_TARGET_PROCESS && !c->pid) {
		*why = "target process needs a pid";
		return -EINVAL;
	}
	if (c->target != KJOULE_TARGET_PROCESS && c->pid) {
		*why = "a pid goes with target process only";
		return -EINVAL;
	}
	if (!c->ring_bytes)
		c->ring_bytes = KJOULE_RING_DEFAULT;
	if (c->ring_bytes < KJOULE_RING_MIN || c->ring_bytes > KJOULE_RING_MAX ||
	    !is_power_of_2(c->ring_bytes)) {
		*why = "ring size has to be a power of two from 4 KiB to 256 MiB";
		return -EINVAL;
	}
	if (!c->wakeup_bytes)
		c->wakeup_bytes = c->ring_bytes / 4;
	if (c->wakeup_bytes > c->ring_bytes) {
		*why = "wake-up mark lies beyond the ring";
		return -EINVAL;
	}
	if (c->cpus && cpumask_empty(c->cpus)) {
		*why = "no CPU is named";
		return -EINVAL;
	}
	if (c->cpus && !cpumask_subset(c->cpus, cpu_online_mask)) {
		*why = "a CPU is named that is not online";
		return -ENXIO;
	}
	return 0;
}

static int choose_source(enum kjoule_source_kind kind, const char *name,
			 struct kjoule_source **src, const char **why)
{
	if (name && !*name)
		return 0;
	*src = kjoule_source_get(kind, name);
	if (!IS_ERR(*src))
		return 0;
	/* who asks for the default takes what there is, none included */
	if (!name) {
		*src = NULL;
		return 0;
	}
	*why = PTR_ERR(*src) == -ENOENT ? "there is no source of that name and kind" :
					  "the source does not work here; source-get says why";
	return PTR_ERR_OR_ZERO(*src);
}

static int choose_target(struct kjoule_session *s, u32 nr, const char **why)
{
	struct task_struct *leader = NULL;
	struct pid *pid = find_get_pid(nr);

	rcu_read_lock();
	if (pid)
		leader = pid_task(pid, PIDTYPE_TGID);
	/* a leader may be gone before its threads; without any it only waits for its parent */
	if (leader && !atomic_read(&leader->signal->live))
		leader = NULL;
	rcu_read_unlock();
	if (!leader) {
		put_pid(pid);
		*why = "no process with that pid";
		return -ESRCH;
	}
	s->plan.target = pid;
	return 0;
}

/* The first CPU of each package reads its energy. */
static bool is_leader(struct kjoule_session *s, unsigned int upto, unsigned int cpu)
{
	unsigned int i;

	if (!s->plan.energy)
		return false;
	for (i = 0; i < upto; i++) {
		if (kjoule_source_package(s->plan.energy, s->sampler[i]->cpu) ==
		    kjoule_source_package(s->plan.energy, cpu))
			return false;
	}
	return true;
}

static int make_samplers(struct kjoule_session *s, const struct cpumask *cpus, unsigned int n)
{
	unsigned int cpu;
	int err;

	for_each_cpu(cpu, cpus) {
		struct kjoule_sampler *sampler;

		if (s->n == n)
			break;
		sampler = kzalloc_node(sizeof(*sampler), GFP_KERNEL_ACCOUNT, cpu_to_node(cpu));
		if (!sampler)
			return -ENOMEM;
		err = kjoule_sampler_init(sampler, &s->plan, cpu, is_leader(s, s->n, cpu),
					  s->config.ring_bytes);
		if (err) {
			kfree(sampler);
			return err;
		}
		s->sampler[s->n++] = sampler;
	}
	return 0;
}

/* A number that was not used lately, so that a stale one finds nothing. */
static int list_session(struct kjoule_session *s, const char **why)
{
	int err;

	mutex_lock(&sessions_lock);
	if (n_sessions < SESSIONS_MAX) {
		err = xa_alloc_cyclic(&sessions, &s->id, s, xa_limit_31b, &next_id, GFP_KERNEL);
		n_sessions += err >= 0;
	} else {
		*why = "there are 64 sessions already";
		err = -EUSERS;
	}
	mutex_unlock(&sessions_lock);
	return err < 0 ? err : 0;
}

/**
 * kjoule_session_create() - make a session that does not run yet
 * @config:	what is wanted
 * @owner:	a number for kjoule_session_end_owned()
 * @why:	set to the reason of a refusal, or left alone
 *
 * Context: process, sleeps; the caller is whose pid namespace counts.
 * Return: the session with a reference for the caller, or an ERR_PTR: -EINVAL, -ERANGE, -ENXIO (CPU
 * not online), -ESRCH (no such process), -ENOENT or -ENODEV (source, or module going), -EUSERS (too
 * many sessions), -ENOMEM.
 */
struct kjoule_session *kjoule_session_create(const struct kjoule_session_config *config, u32 owner,
					     const char **why)
{
	struct kjoule_session_config c = *config;
	struct kjoule_session *s;
	cpumask_var_t cpus;
	unsigned int n;
	int err;

	if (!alloc_cpumask_var(&cpus, GFP_KERNEL))
		return ERR_PTR(-ENOMEM);
	/* not for longer: what follows takes its time. The start asks again who is online. */
	cpus_read_lock();
	err = check_config(&c, why);
	cpumask_copy(cpus, c.cpus ?: cpu_online_mask);
	cpus_read_unlock();
	if (err)
		goto err_free;
	n = cpumask_weight(cpus);
	/* no new session once the module is going, though the family is still there */
	err = -ENODEV;
	if (!try_module_get(THIS_MODULE))
		goto err_free;
	err = -ENOMEM;
	s = kzalloc(struct_size(s, sampler, n), GFP_KERNEL_ACCOUNT);
	if (!s) {
		module_put(THIS_MODULE);
		goto err_free;
	}
	kref_init(&s->ref);
	mutex_init(&s->lock);
	init_waitqueue_head(&s->reader);
	s->owner = owner;
	s->state = KJOULE_SESSION_NEW;
	s->config = c;
	s->config.cpus = NULL;
	s->config.energy = NULL;
	s->config.frequency = NULL;
	s->plan.interval_ns = c.interval_ns;
	s->plan.jitter_ns = c.jitter_ns;
	s->plan.kernel_ip = c.kernel_ip;
	/* a record that does not fit leaves room: a mark at the very end would never be reached */
	s->plan.wakeup_bytes = min(c.wakeup_bytes, c.ring_bytes - c.ring_bytes / 4);
	s->plan.reader = &s->reader;
	s->plan.seed = get_random_u64();

	err = choose_source(KJOULE_KIND_ENERGY, c.energy, &s->plan.energy, why);
	if (err) {
		s->plan.energy = NULL;
		goto err_put;
	}
	err = choose_source(KJOULE_KIND_FREQUENCY, c.frequency, &s->plan.frequency, why);
	if (err) {
		s->plan.frequency = NULL;
		goto err_put;
	}
	if (c.target == KJOULE_TARGET_PROCESS) {
		err = choose_target(s, c.pid, why);
		if (err)
			goto err_put;
	}
	err = make_samplers(s, cpus, n);
	if (err)
		goto err_put;
	free_cpumask_var(cpus);

	kref_get(&s->ref);
	err = list_session(s, why);
	if (err) {
		kjoule_session_put(s);
		kjoule_session_put(s);
		return ERR_PTR(err);
	}
	return s;

err_put:
	kjoule_session_put(s);
err_free:
	free_cpumask_var(cpus);
	return ERR_PTR(err);
}

/**
 * kjoule_session_get() - find a session
 * @id:	its id
 *
 * Context: process, sleeps.
 * Return: the session with a reference, or NULL.
 */
struct kjoule_session *kjoule_session_get(u32 id)
{
	struct kjoule_session *s;

	mutex_lock(&sessions_lock);
	s = xa_load(&sessions, id);
	if (s)
		kref_get(&s->ref);
	mutex_unlock(&sessions_lock);
	return s;
}

/**
 * kjoule_session_get_next() - walk the sessions
 * @id:	look for the first with at least this id
 *
 * Context: process, sleeps.
 * Return: the session with a reference, or NULL when there are no more.
 */
struct kjoule_session *kjoule_session_get_next(u32 id)
{
	struct kjoule_session *s;
	unsigned long index = id;

	mutex_lock(&sessions_lock);
	s = xa_find(&sessions, &index, ULONG_MAX, XA_PRESENT);
	if (s)
		kref_get(&s->ref);
	mutex_unlock(&sessions_lock);
	return s;
}

static void set_state(struct kjoule_session *s, u32 state)
{
	unsigned int i;

	lockdep_assert_held(&s->lock);
	s->state = state;
	for (i = 0; i < s->n; i++)
		kjoule_sampler_set_state(s->sampler[i], state);
}

static void stop_locked(struct kjoule_session *s)
{
	unsigned int i;

	lockdep_assert_held(&s->lock);
	if (s->state != KJOULE_SESSION_RUNNING)
		return;
	/* all timers first: no tick is due after the stop, and all CPUs end with the same one */
	for (i = 0; i < s->n; i++)
		kjoule_sampler_pause(s->sampler[i]);
	s->stop_ns = ktime_get_ns();
	for (i = 0; i < s->n; i++)
		kjoule_sampler_stop(s->sampler[i], s->stop_ns);
	set_state(s, KJOULE_SESSION_STOPPED);
	wake_up_interruptible(&s->reader);
}

/**
 * kjoule_session_start() - let it tick
 * @s:		the session
 * @why:	set to the reason of a refusal, or left alone
 *
 * The first tick is due a short while later at a random phase of the interval (systematic
 * sampling with a random start, section 3.2 of the ALEA paper).
 *
 * Context: process, sleeps.
 * Return: 0, -EBUSY if it was started before, -ENXIO if a CPU has gone offline.
 */
int kjoule_session_start(struct kjoule_session *s, const char **why)
{
	unsigned int i;
	int err = 0;

	cpus_read_lock();
	mutex_lock(&s->lock);
	if (s->state != KJOULE_SESSION_NEW || s->ended) {
		*why = "the session has been started before";
		err = -EBUSY;
		goto out;
	}
	s->plan.t0_ns = ktime_get_ns() + START_LEAD_NS +
			mul_u64_u64_shr(get_random_u64(), s->plan.interval_ns, 64);
	set_state(s, KJOULE_SESSION_RUNNING);
	for (i = 0; i < s->n && !err; i++)
		err = kjoule_sampler_start(s->sampler[i]);
	if (err) {
		*why = "a CPU of the session has gone offline";
		stop_locked(s);
	}
out:
	mutex_unlock(&s->lock);
	cpus_read_unlock();
	return err;
}

/**
 * kjoule_session_stop() - no more ticks; the rings stay readable
 * @s:		the session
 * @why:	set to the reason of a refusal, or left alone
 *
 * Context: process, sleeps.
 * Return: 0, or -EINVAL if it is not running.
 */
int kjoule_session_stop(struct kjoule_session *s, const char **why)
{
	int err = 0;

	mutex_lock(&s->lock);
	if (s->state != KJOULE_SESSION_RUNNING) {
		*why = "the session is not running";
		err = -EINVAL;
	}
	stop_locked(s);
	mutex_unlock(&s->lock);
	return err;
}

/**
 * kjoule_session_end() - stop it and take it off the list
 * @s:	the session; the caller's own reference stays
 *
 * Context: process, sleeps.
 */
void kjoule_session_end(struct kjoule_session *s)
{
	bool listed;

	mutex_lock(&sessions_lock);
	listed = xa_erase(&sessions, s->id) == s;
	n_sessions -= listed;
	mutex_unlock(&sessions_lock);
	mutex_lock(&s->lock);
	s->ended = true;
	stop_locked(s);
	mutex_unlock(&s->lock);
	wake_up_interruptible(&s->reader);
	if (listed)
		kjoule_session_put(s);
}

/**
 * kjoule_session_end_owned() - end what somebody has made
 * @owner:	as given to kjoule_session_create()
 *
 * Context: process, sleeps.
 */
void kjoule_session_end_owned(u32 owner)
{
	struct kjoule_session *s;
	u32 id = 0;

	while ((s = kjoule_session_get_next(id))) {
		id = s->id + 1;
		if (s->owner == owner)
			kjoule_session_end(s);
		kjoule_session_put(s);
	}
}

/**
 * kjoule_session_count() - how many sessions there are
 *
 * Context: process, sleeps.
 * Return: their number.
 */
unsigned int kjoule_session_count(void)
{
	struct kjoule_session *s;
	unsigned long index;
	unsigned int n = 0;

	mutex_lock(&sessions_lock);
	xa_for_each(&sessions, index, s)
		n++;
	mutex_unlock(&sessions_lock);
	return n;
}

/**
 * kjoule_session_attach() - become the session's reader
 * @s:	the session
 *
 * Context: process, sleeps.
 * Return: 0, or -EBUSY if it has a reader.
 */
int kjoule_session_attach(struct kjoule_session *s)
{
	int err = 0;

	mutex_lock(&s->lock);
	if (s->attached)
		err = -EBUSY;
	s->attached = true;
	mutex_unlock(&s->lock);
	return err;
}

/**
 * kjoule_session_detach() - stop being the session's reader
 * @s:	attached before
 *
 * Context: process, sleeps.
 */
void kjoule_session_detach(struct kjoule_session *s)
{
	mutex_lock(&s->lock);
	s->attached = false;
	mutex_unlock(&s->lock);
}

/* A running session's timer on @cpu goes away with the CPU and comes back with it. */
static void hotplug_sessions(unsigned int cpu, void (*change)(struct kjoule_sampler *))
{
	struct kjoule_session *s;
	unsigned long index;
	unsigned int i;

	mutex_lock(&sessions_lock);
	xa_for_each(&sessions, index, s) {
		mutex_lock(&s->lock);
		for (i = 0; i < s->n && s->state == KJOULE_SESSION_RUNNING; i++) {
			if (s->sampler[i]->cpu == cpu)
				change(s->sampler[i]);
		}
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&sessions_lock);
}

static int cpu_comes(unsigned int cpu)
{
	hotplug_sessions(cpu, kjoule_sampler_resume);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	hotplug_sessions(cpu, kjoule_sampler_pause);
	return 0;
}

/**
 * kjoule_session_init() - be told of CPUs that come and go
 *
 * Context: process, module init.
 * Return: 0 or -errno.
 */
int kjoule_session_init(void)
{
	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "kjoule:online", cpu_comes,
						  cpu_goes);
	return hotplug_state < 0 ? hotplug_state : 0;
}

/**
 * kjoule_session_exit() - undo kjoule_session_init()
 *
 * No session is left: each pins the module.
 *
 * Context: process, module exit.
 */
void kjoule_session_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	WARN_ON(!xa_empty(&sessions));
	xa_destroy(&sessions);
}
