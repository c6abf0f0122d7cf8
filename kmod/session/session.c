// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions from creation to stop; see session.h. Every session pins the module, so that it cannot
 * be unloaded during a recording. The end is in end.c, the list of sessions with its hotplug and
 * suspend callbacks in list.c.
 */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "sampler/callchain.h"
#include "sampler/switch.h"
#include "session/list.h"
#include "session/quota.h"
#include "session/session.h"

/*
 * Time from start to the first tick, to reach all CPUs: one by one, some tens of microseconds for
 * each. Ticks of a CPU that is reached later are counted as missed. Measured on two CPUs only.
 */
#define START_LEAD_NS	(2 * 1000 * 1000ULL)

#define KNOWN_FLAGS	(KJOULE_FLAG_INHERIT | KJOULE_FLAG_WAKE_IDLE | KJOULE_CALLCHAIN_FLAGS)

static void session_free(struct kref *ref)
{
	struct kjoule_session *s = container_of(ref, struct kjoule_session, ref);
	unsigned int i;

	cancel_delayed_work_sync(&s->sweep);
	kjoule_events_cancel(s);
	kjoule_session_methods_free(s);
	for (i = 0; i < s->n; i++) {
		kjoule_sampler_exit(s->sampler[i]);
		kfree(s->sampler[i]);
	}
	if (s->plan.skips_idle)
		kjoule_switch_put();
	kjoule_session_drop_sources(s);
	kjoule_stack_access_exit(&s->plan.stacks);
	kjoule_target_exit(&s->plan.target);
	kjoule_quota_uncharge(s->creator, s->quota);
	mutex_destroy(&s->lock);
	kfree(s);
	module_put(THIS_MODULE);
}

/** kjoule_session_put() - drop a reference */
void kjoule_session_put(struct kjoule_session *s)
{
	kref_put(&s->ref, session_free);
}

static int config_check_times(const struct kjoule_session_config *c, const char **why)
{
	if (c->interval_ns < KJOULE_INTERVAL_MIN_NS || c->interval_ns > KJOULE_INTERVAL_MAX_NS) {
		*why = "interval is out of range: 10 us to 4 s";
		return -ERANGE;
	}
	if (c->jitter_ns >= c->interval_ns) {
		*why = "jitter has to be less than the interval";
		return -EINVAL;
	}
	return 0;
}

static int config_check_target(const struct kjoule_session_config *c, const char **why)
{
	bool task = c->target == KJOULE_TARGET_PROCESS || c->target == KJOULE_TARGET_THREAD;

	if (c->flags & ~KNOWN_FLAGS)
		*why = "unknown flag";
	else if (task && !c->pid)
		*why = "target process or thread needs a pid";
	else if (!task && c->pid)
		*why = "a pid goes with target process or thread only";
	else if ((c->target == KJOULE_TARGET_CGROUP) != c->has_cgroup)
		*why = "target cgroup and a cgroup's descriptor go together";
	else if ((c->flags & KJOULE_FLAG_INHERIT) && c->target != KJOULE_TARGET_PROCESS)
		*why = "inherit goes with target process only";
	else
		return 0;
	return -EINVAL;
}

static int config_check_rings(struct kjoule_session_config *c, const char **why)
{
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
	return kjoule_callchain_check(c->flags, &c->chain_depth, &c->stack_bytes, c->ring_bytes,
				      why);
}

static int config_check_cpus(const struct kjoule_session_config *c, const char **why)
{
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

/* Before allocating the rings: do not allocate more than the quota. */
static int session_charge_quota(struct kjoule_session *s, const struct kjoule_session_config *c,
				unsigned int n, const char **why)
{
	u64 bytes = (u64)n * (c->ring_bytes + 2 * PAGE_SIZE);
	int err;

	if (c->any_memory)
		return 0;
	err = kjoule_quota_charge(s->creator, bytes, c->words, KJOULE_WORDS_LEN);
	if (!err)
		s->quota = bytes;
	else if (err == -EDQUOT)
		*why = c->words;
	return err;
}

static int session_make_samplers(struct kjoule_session *s, const struct cpumask *cpus,
				 unsigned int n)
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
		err = kjoule_sampler_init(sampler, &s->plan, cpu, s->config.ring_bytes);
		if (err) {
			kfree(sampler);
			return err;
		}
		s->sampler[s->n++] = sampler;
	}
	return 0;
}

static unsigned long session_sweep_jiffies(const struct kjoule_session *s)
{
	u64 ns = U64_MAX;
	unsigned int i;

	for (i = 0; i < s->n_meters; i++)
		ns = min(ns, s->meter[i]->sweep_ns);
	return ns == U64_MAX ? 0 : nsecs_to_jiffies(ns) + 1;
}

/*
 * Have a CPU that shares the meter and can read it do so; none is woken if another reads it
 * already.
 */
static void session_sweep_meter(struct kjoule_session *s, struct kjoule_meter *m)
{
	unsigned int i;

	if (m->sweep_ns == U64_MAX || READ_ONCE(m->reader) != KJOULE_METER_FREE ||
	    ktime_get_ns() - READ_ONCE(m->read_ns) < m->sweep_ns / 2)
		return;
	for (i = 0; i < s->n; i++) {
		if (m->owner >= 0 && s->sampler[i] != m->owner_sampler)
			continue;
		if (kjoule_sampler_shares(s->sampler[i], m) &&
		    kjoule_sampler_sweep(s->sampler[i], m))
			return;
	}
}

static void session_sweep_work(struct work_struct *work)
{
	struct kjoule_session *s = container_of(work, struct kjoule_session, sweep.work);
	bool running;
	unsigned int i;

	mutex_lock(&s->lock);
	running = s->state == KJOULE_SESSION_RUNNING;
	for (i = 0; i < s->n_meters && running; i++)
		session_sweep_meter(s, s->meter[i]);
	mutex_unlock(&s->lock);
	if (running)
		schedule_delayed_work(&s->sweep, session_sweep_jiffies(s));
}

static struct kjoule_session *session_alloc(const struct kjoule_session_config *c, u64 owner,
					    unsigned int n)
{
	struct kjoule_session *s = kzalloc(struct_size(s, sampler, n), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	kref_init(&s->ref);
	mutex_init(&s->lock);
	init_waitqueue_head(&s->reader);
	s->owner = owner;
	s->creator = current_euid();
	s->ended_by = INVALID_UID;
	s->all_cpus = !c->cpus;
	s->state = KJOULE_SESSION_NEW;
	s->config = *c;
	s->config.cpus = NULL;
	s->config.energy = NULL;
	s->config.frequency = NULL;
	s->config.specs = NULL;
	s->config.words = NULL;
	s->config.attrs = NULL;
	s->plan.interval_ns = c->interval_ns;
	s->plan.jitter_ns = c->jitter_ns;
	s->plan.kernel_ip = c->kernel_ip;
	s->plan.chain = c->flags & KJOULE_CALLCHAIN_FLAGS;
	s->plan.chain_depth = c->chain_depth;
	s->plan.stack_bytes = c->stack_bytes;
	/* records that do not fit leave a gap: a mark at the very end may never be reached */
	s->plan.wakeup_bytes = min(c->wakeup_bytes, c->ring_bytes - c->ring_bytes / 4);
	s->plan.reader = &s->reader;
	s->plan.pending = &s->pending;
	s->plan.seed = get_random_u64();
	INIT_DELAYED_WORK(&s->sweep, session_sweep_work);
	kjoule_events_init(s);
	return s;
}

static int session_check_stacks(struct kjoule_session *s, const struct kjoule_session_config *c,
				const char **why)
{
	if (!(c->flags & KJOULE_FLAG_USER_STACK))
		return 0;
	return kjoule_stack_access_init(&s->plan.stacks, &s->plan.target, c->any_stack, why);
}

static int session_get_switch(struct kjoule_session *s, const struct kjoule_session_config *c,
			      const char **why)
{
	int err;

	if (c->flags & KJOULE_FLAG_WAKE_IDLE)
		return 0;
	err = kjoule_switch_get();
	if (err)
		*why = "this kernel cannot report idle CPUs: flag wake-idle is needed";
	s->plan.skips_idle = !err;
	return err;
}

/* Allocate all parts; on failure kjoule_session_put() releases them. */
static int session_init(struct kjoule_session *s, const struct kjoule_session_config *c,
			const struct cpumask *cpus, const char **why)
{
	unsigned int n = cpumask_weight(cpus);

	return session_charge_quota(s, c, n, why) ?:
	       kjoule_session_choose_sources(s, c, cpus, why) ?:
	       kjoule_target_init(&s->plan.target, c->target, c->pid,
				  c->flags & KJOULE_FLAG_INHERIT, c->cgroup_fd, why) ?:
	       session_check_stacks(s, c, why) ?:
	       session_get_switch(s, c, why) ?:
	       session_make_samplers(s, cpus, n) ?:
	       kjoule_session_make_meters(s, c, why) ?:
	       kjoule_session_methods_make(s, c, why) ?:
	       kjoule_session_make_pollers(s, c, why) ?:
	       kjoule_session_list(s, c, why);
}

/**
 * kjoule_session_create() - create a session that does not run yet
 * @config:	its parameters
 * @owner:	a number for kjoule_session_end_owned()
 * @why:	set to the reason of an error, or left alone
 * Context: process, sleeps; in the caller's pid namespace.
 * Return: the session with a reference for the caller, or an ERR_PTR: -EINVAL, -ERANGE, -ENXIO (a
 * CPU is not online, or a source is read on one outside the session), -ESRCH (no such process),
 * -ENOENT or -ENODEV (source, or module being unloaded), -EINTR (killed), -EUSERS (too many
 * sessions), -EDQUOT (memory limit of the user), -EPERM (a method that pauses CPUs, without
 * may_pause; stacks that the caller may not see), -ENOMEM, or errors of sources and methods.
 */
struct kjoule_session *kjoule_session_create(const struct kjoule_session_config *config, u64 owner,
					     const char **why)
{
	struct kjoule_session_config c = *config;
	struct kjoule_session *s;
	cpumask_var_t cpus;
	int err;

	err = config_check_times(&c, why) ?:
	      config_check_target(&c, why) ?:
	      config_check_rings(&c, why);
	if (err)
		return ERR_PTR(err);
	if (!alloc_cpumask_var(&cpus, GFP_KERNEL))
		return ERR_PTR(-ENOMEM);
	/* not longer: the rest may take long. The start checks online CPUs again. */
	cpus_read_lock();
	err = config_check_cpus(&c, why);
	/* all present ones: CPUs may come online later */
	cpumask_copy(cpus, c.cpus ?: cpu_present_mask);
	cpus_read_unlock();
	if (err)
		goto out;
	/* no new session during module unload, although the family is still registered */
	err = -ENODEV;
	if (!try_module_get(THIS_MODULE))
		goto out;
	err = -ENOMEM;
	s = session_alloc(&c, owner, cpumask_weight(cpus));
	if (!s) {
		module_put(THIS_MODULE);
		goto out;
	}
	err = session_init(s, &c, cpus, why);
	if (err)
		kjoule_session_put(s);
	else
		kjoule_session_recheck_sources(s);
out:
	free_cpumask_var(cpus);
	return err ? ERR_PTR(err) : s;
}

static void session_set_state(struct kjoule_session *s, u32 state)
{
	unsigned int i;

	lockdep_assert_held(&s->lock);
	s->state = state;
	for (i = 0; i < s->n; i++)
		kjoule_sampler_set_state(s->sampler[i], state);
}

/**
 * kjoule_session_halt() - stop the ticks
 * @s:	locked; its slow sources have been stopped
 */
void kjoule_session_halt(struct kjoule_session *s)
{
	unsigned int i;

	lockdep_assert_held(&s->lock);
	if (s->state != KJOULE_SESSION_RUNNING)
		return;
	kjoule_session_methods_halt(s);
	/* halt all CPUs first, so that they end with the same tick */
	for (i = 0; i < s->n; i++)
		kjoule_sampler_halt(s->sampler[i]);
	s->stop_ns = ktime_get_ns();
	for (i = 0; i < s->n; i++)
		kjoule_sampler_stop(s->sampler[i], s->stop_ns);
	session_set_state(s, KJOULE_SESSION_STOPPED);
	kjoule_events_finish(s);
	kjoule_event_post(s, KJOULE_EVENT_SESSION_STOPPED, -1);
	wake_up_interruptible(&s->reader);
}

/*
 * kjoule_session_start() - start the ticks. The first tick is due a short while later at a random
 * phase of the interval (systematic sampling with a random start, section 3.2 of the ALEA paper).
 * Return: 0, -EBUSY if it was started before or the machine is about to be suspended, -ENXIO if a
 * CPU is offline, -ENOENT without a reason if it has ended.
 */
int kjoule_session_start(struct kjoule_session *s, const char **why)
{
	unsigned int i;
	int err = 0;

	cpus_read_lock();
	mutex_lock(&s->lock);
	/* ended by another request; the caller has the error text */
	if (s->ended) {
		err = -ENOENT;
		goto out;
	}
	if (s->state != KJOULE_SESSION_NEW) {
		*why = "the session has been started before";
		err = -EBUSY;
		goto out;
	}
	if (kjoule_sessions_suspended()) {
		*why = "the machine is about to sleep";
		err = -EBUSY;
		goto out;
	}
	s->plan.t0_ns = ktime_get_ns() + START_LEAD_NS +
			mul_u64_u64_shr(get_random_u64(), s->plan.interval_ns, 64);
	session_set_state(s, KJOULE_SESSION_RUNNING);
	kjoule_event_post(s, KJOULE_EVENT_SESSION_STARTED, -1);
	for (i = 0; i < s->n && !err; i++) {
		struct kjoule_sampler *sampler = s->sampler[i];

		if (cpu_online(sampler->cpu)) {
			kjoule_session_assign_meters(s, sampler);
			err = kjoule_sampler_start(sampler);
		} else if (s->all_cpus) {
			kjoule_sampler_start_suspended(sampler);
		} else {
			err = -ENXIO;
		}
	}
	if (err) {
		*why = "a CPU of the session has gone offline";
		kjoule_session_halt(s);
		goto out;
	}
	/* before the parts that a halt does not stop */
	err = kjoule_session_methods_start(s, why);
	if (err) {
		kjoule_session_halt(s);
		goto out;
	}
	if (session_sweep_jiffies(s))
		schedule_delayed_work(&s->sweep, session_sweep_jiffies(s));
	kjoule_session_start_pollers(s);
out:
	mutex_unlock(&s->lock);
	cpus_read_unlock();
	return err;
}

/*
 * kjoule_session_stop() - stop the ticks; the rings stay readable. The statistics are final at the
 * return. Slow sources have KJOULE_STOP_TIMEOUT_MS for their last reading. Return: 0, -EINVAL if it
 * is not running, or -ENOENT without a reason if it has ended.
 */
int kjoule_session_stop(struct kjoule_session *s, const char **why)
{
	bool running, ended;

	mutex_lock(&s->lock);
	ended = s->ended;
	running = s->state == KJOULE_SESSION_RUNNING && !s->stopping;
	s->stopping |= running && !ended;
	mutex_unlock(&s->lock);
	if (ended)
		return -ENOENT;
	if (!running) {
		*why = "the session is not running";
		return -EINVAL;
	}
	kjoule_session_stop_pollers(s);
	mutex_lock(&s->lock);
	kjoule_session_halt(s);
	mutex_unlock(&s->lock);
	return 0;
}

/** kjoule_session_has_ended() - has the session ended, or is it about to? */
bool kjoule_session_has_ended(struct kjoule_session *s)
{
	bool ended;

	mutex_lock(&s->lock);
	ended = s->ended;
	mutex_unlock(&s->lock);
	return ended;
}

/*
 * kjoule_session_get_stats() - sum of the statistics of all CPUs, with the longest sampling delay.
 * Those of each CPU are consistent; they are read one CPU after another.
 */
void kjoule_session_get_stats(struct kjoule_session *s, struct kjoule_stats *sum)
{
	struct kjoule_stats b;
	unsigned int i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < s->n; i++) {
		kjoule_sampler_get_stats(s->sampler[i], &b);
		sum->due += b.due;
		sum->taken += b.taken;
		sum->missed += b.missed;
		sum->skipped += b.skipped;
		sum->filtered += b.filtered;
		sum->records += b.records;
		sum->lost += b.lost;
		sum->waiting += b.waiting;
		sum->samples += b.samples;
		sum->tick_ns += b.tick_ns;
		sum->source_errors += b.source_errors;
		sum->idle_ns += b.idle_ns;
		sum->stacks_withheld += b.stacks_withheld;
		sum->delay_max_ns = max(sum->delay_max_ns, b.delay_max_ns);
	}
}

/** kjoule_session_attach() - become the session's reader. Return: 0, or -EBUSY if it has one */
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

/** kjoule_session_detach() - stop being the session's reader */
void kjoule_session_detach(struct kjoule_session *s)
{
	mutex_lock(&s->lock);
	s->attached = false;
	mutex_unlock(&s->lock);
}
