// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of frequency changes: their list and owners, one for each policy. A probe's jobs run in
 * its own FIFO thread, bound to the CPU; the requester waits for them. Called by netlink.c.
 *
 * A probe of the way "limits" has freq QoS requests during a job, so cpufreq's own rules apply to
 * all other requests; one of the way "fast" works only while the policy's governor is ours
 * (governor.c), which its owner has to set.
 */
#include <linux/cpu.h>
#include <linux/cpufreq.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "method/transition/transition.h"

/* nests inside cpufreq's locks: its governor looks up probes */
static DEFINE_MUTEX(probes_lock);
static LIST_HEAD(probes);
static u32 last_id;

static void probe_work(struct kthread_work *work)
{
	struct kjoule_transition *t = container_of(work, struct kjoule_transition, work);

	t->err = kjoule_transition_run(t, t->job);
	complete(&t->done);
}

static void probe_free(struct kref *ref)
{
	struct kjoule_transition *t = container_of(ref, struct kjoule_transition, ref);

	kthread_destroy_worker(t->worker);
	mutex_destroy(&t->lock);
	kvfree(t->loops);
	kfree(t);
}

/*
 * kjoule_transition_put() - drop a reference. Context: process, sleeps; cpufreq's lock of its
 * policy may be held.
 */
void kjoule_transition_put(struct kjoule_transition *t)
{
	kref_put(&t->ref, probe_free);
}

/*
 * kjoule_transition_can_switch() - does the driver support cpufreq_driver_fast_switch()?. Older
 * versions of amd-pstate announce fast switching without a function for it. Return: false if not.
 */
bool kjoule_transition_can_switch(const struct cpufreq_policy *policy)
{
	const char *driver = cpufreq_get_current_driver();

	return policy->fast_switch_possible && driver && strncmp(driver, "amd", 3);
}

static int probe_check_policy(struct cpufreq_policy *policy, u32 way, const char **why)
{
	if (way == KJOULE_TRANSITION_WAY_LIMITS)
		return 0;
	if (!kjoule_transition_can_switch(policy)) {
		*why = "the driver cannot switch with interrupts off; use the way limits";
		return -EOPNOTSUPP;
	}
	return 0;
}

static int probe_check_config(unsigned int cpu, u32 way, const char **why)
{
	struct cpufreq_policy *policy;
	int err;

	if (way > KJOULE_TRANSITION_WAY_LIMITS) {
		*why = "there is no such way to request a frequency";
		return -EINVAL;
	}
	if (cpu >= nr_cpu_ids || !cpu_online(cpu)) {
		*why = "the CPU is not online";
		return -ENODEV;
	}
	policy = cpufreq_cpu_get(cpu);
	if (!policy) {
		*why = "the CPU has no cpufreq policy: no driver for its frequency is loaded";
		return -ENODEV;
	}
	err = probe_check_policy(policy, way, why);
	cpufreq_cpu_put(policy);
	return err;
}

static struct kjoule_transition *probe_alloc(unsigned int cpu)
{
	struct kjoule_transition *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return ERR_PTR(-ENOMEM);
	t->loops = kvcalloc(KJOULE_TRANSITION_LOOPS_MAX, sizeof(*t->loops), GFP_KERNEL_ACCOUNT);
	if (!t->loops)
		goto err_free;
	t->worker = kthread_run_worker_on_cpu(cpu, 0, "kjoule-transit");
	if (IS_ERR(t->worker))
		goto err_loops;
	/* below threaded interrupts, which must not be delayed */
	sched_set_fifo_low(t->worker->task);
	init_completion(&t->done);
	kthread_init_work(&t->work, probe_work);
	kref_init(&t->ref);
	mutex_init(&t->lock);
	t->cpu = cpu;
	return t;

err_loops:
	kvfree(t->loops);
err_free:
	kfree(t);
	return ERR_PTR(-ENOMEM);
}

static bool probe_exists_for(unsigned int cpu)
{
	struct cpufreq_policy *policy = cpufreq_cpu_get(cpu);
	struct kjoule_transition *t;
	bool taken = false;

	lockdep_assert_held(&probes_lock);
	list_for_each_entry(t, &probes, node)
		taken |= t->cpu == cpu ||
			 (policy && cpumask_test_cpu(t->cpu, policy->related_cpus));
	if (policy)
		cpufreq_cpu_put(policy);
	return taken;
}

/*
 * kjoule_transition_new() - create a probe. Return: the probe with a reference, to be ended, or an
 * ERR_PTR: -EINVAL, -ENODEV, -EOPNOTSUPP (a driver that cannot switch fast), -EBUSY (the policy has
 * one), or -ENOMEM. One that switches fast needs kjoule_governor_get() as well.
 */
struct kjoule_transition *kjoule_transition_new(u64 owner, unsigned int cpu, u32 way,
						const char **why)
{
	struct kjoule_transition *t;
	int err = probe_check_config(cpu, way, why);

	if (err)
		return ERR_PTR(err);
	t = probe_alloc(cpu);
	if (IS_ERR(t))
		return t;
	t->owner = owner;
	t->way = way;
	mutex_lock(&probes_lock);
	if (probe_exists_for(cpu)) {
		mutex_unlock(&probes_lock);
		kjoule_transition_put(t);
		*why = "another probe measures frequency changes of this policy";
		return ERR_PTR(-EBUSY);
	}
	t->id = ++last_id ?: ++last_id;
	kref_get(&t->ref);
	list_add_tail(&t->node, &probes);
	mutex_unlock(&probes_lock);
	/* lets a kjoule governor without a probe adopt this one */
	cpufreq_update_policy(cpu);
	return t;
}

/** kjoule_transition_get() - find a probe. Return: it with a reference, or NULL */
struct kjoule_transition *kjoule_transition_get(u32 id)
{
	struct kjoule_transition *t, *found = NULL;

	mutex_lock(&probes_lock);
	list_for_each_entry(t, &probes, node) {
		if (t->id == id) {
			found = t;
			kref_get(&t->ref);
			break;
		}
	}
	mutex_unlock(&probes_lock);
	return found;
}

/*
 * kjoule_transition_of() - find the fast probe of a policy. Context: process; the policy's lock is
 * held. Return: the probe with a reference, or NULL.
 */
struct kjoule_transition *kjoule_transition_of(const struct cpufreq_policy *policy)
{
	struct kjoule_transition *t, *found = NULL;

	mutex_lock(&probes_lock);
	list_for_each_entry(t, &probes, node) {
		if (t->way == KJOULE_TRANSITION_WAY_FAST &&
		    cpumask_test_cpu(t->cpu, policy->related_cpus)) {
			found = t;
			kref_get(&t->ref);
			break;
		}
	}
	mutex_unlock(&probes_lock);
	return found;
}

static bool probe_unlink(struct kjoule_transition *t)
{
	bool listed;

	mutex_lock(&probes_lock);
	listed = !list_empty(&t->node);
	list_del_init(&t->node);
	mutex_unlock(&probes_lock);
	return listed;
}

/** kjoule_transition_end() - end a probe; the caller keeps its reference */
void kjoule_transition_end(struct kjoule_transition *t)
{
	WRITE_ONCE(t->ending, true);
	if (probe_unlink(t))
		kjoule_transition_put(t);
}

static struct kjoule_transition *probe_get_owned(u64 owner, bool any)
{
	struct kjoule_transition *t, *found = NULL;

	mutex_lock(&probes_lock);
	list_for_each_entry(t, &probes, node) {
		if (any || t->owner == owner) {
			found = t;
			kref_get(&t->ref);
			break;
		}
	}
	mutex_unlock(&probes_lock);
	return found;
}

static void probe_end_owned(u64 owner, bool any)
{
	struct kjoule_transition *t;

	while ((t = probe_get_owned(owner, any))) {
		kjoule_transition_end(t);
		kjoule_transition_put(t);
	}
}

/** kjoule_transition_end_owned() - end all probes of an owner */
void kjoule_transition_end_owned(u64 owner)
{
	probe_end_owned(owner, false);
}

/*
 * kjoule_transition_exit() - end all probes, at module exit, when no policy has our governor.
 * Context: process, module exit; no governor is ours any more.
 */
void kjoule_transition_exit(void)
{
	probe_end_owned(0, true);
}

static int job_check_khz(const struct cpufreq_policy *policy, u32 khz, const char **why)
{
	if (khz >= policy->min && khz <= policy->max)
		return 0;
	*why = "the frequency is outside of the policy's limits, or another user limits it";
	return -ERANGE;
}

static int job_check(const struct kjoule_transition_job *job, const char **why)
{
	if (job->adds < KJOULE_TRANSITION_ADDS_MIN || job->adds > KJOULE_TRANSITION_ADDS_MAX) {
		*why = "a loop has 64 to 1000000 adds";
		return -EINVAL;
	}
	if (!job->loops || job->loops > KJOULE_TRANSITION_LOOPS_MAX ||
	    job->lead > KJOULE_TRANSITION_LOOPS_MAX / 4 ||
	    (job->measure && job->loops > KJOULE_TRANSITION_LOOPS_MAX / 2)) {
		*why = "1 to 65536 loops may be timed, half of them after a request";
		return -EINVAL;
	}
	if (job->measure && !job->lead) {
		*why = "there is to be a loop before the request at least";
		return -EINVAL;
	}
	if (!job->slice_ns || job->slice_ns > KJOULE_TRANSITION_SLICE_NS) {
		*why = "interrupts are off for 1 ns to 1 ms at a time";
		return -EINVAL;
	}
	if (!job->timeout_ns || job->timeout_ns > KJOULE_TRANSITION_TIMEOUT_NS) {
		*why = "the time-out is 1 ns to 10 s";
		return -EINVAL;
	}
	if (job->from.lo_ns > job->from.hi_ns || job->to.lo_ns > job->to.hi_ns) {
		*why = "a lower limit of loop times is above the upper one";
		return -EINVAL;
	}
	return 0;
}

/* A killed requester cancels the job, which ends within a slice. */
static void job_queue_and_wait(struct kjoule_transition *t)
{
	reinit_completion(&t->done);
	WRITE_ONCE(t->cancel, false);
	kthread_queue_work(t->worker, &t->work);
	if (wait_for_completion_killable(&t->done)) {
		WRITE_ONCE(t->cancel, true);
		wait_for_completion(&t->done);
	}
}

/*
 * Pin the source for a job only, so that its module can be unloaded between jobs. NULL: no counter
 * of cycles.
 */
static struct kjoule_source *job_get_counter(void)
{
	struct kjoule_source *src;
	u32 stuck;

	src = kjoule_source_get(KJOULE_KIND_FREQUENCY, NULL, &stuck);
	if (IS_ERR(src) || src->ops->read_cycles)
		return IS_ERR(src) ? NULL : src;
	kjoule_source_put(src);
	return NULL;
}

static int job_do(struct kjoule_transition *t, struct kjoule_transition_job *job, const char **why)
{
	int err = job_check_khz(t->policy, job->to_khz, why);

	if (!err && job->measure)
		err = job_check_khz(t->policy, job->from_khz, why);
	if (err)
		return err;
	if (READ_ONCE(t->ending)) {
		*why = "the probe was ended";
		return -ECANCELED;
	}
	t->job = job;
	t->n = 0;
	t->counter = job_get_counter();
	job_queue_and_wait(t);
	kjoule_source_put(t->counter);
	t->counter = NULL;
	t->job = NULL;
	job->count = t->n;
	switch (t->err) {
	case -EPERM:
		*why = "the policy's governor is not \"kjoule\", or was changed meanwhile";
		break;
	case -ENODEV:
		*why = "the CPU is not online, or was away meanwhile: make another probe";
		break;
	case -EDOM:
		*why = "a loop takes longer than 0.5 ms: ask for fewer adds";
		break;
	}
	return t->err;
}

static int probe_add_limits(struct kjoule_transition *t)
{
	int err;

	err = freq_qos_add_request(&t->policy->constraints, &t->min, FREQ_QOS_MIN,
				   FREQ_QOS_MIN_DEFAULT_VALUE);
	if (err < 0)
		return err;
	err = freq_qos_add_request(&t->policy->constraints, &t->max, FREQ_QOS_MAX,
				   FREQ_QOS_MAX_DEFAULT_VALUE);
	if (err < 0) {
		freq_qos_remove_request(&t->min);
		return err;
	}
	t->limited = true;
	return 0;
}

static void probe_remove_limits(struct kjoule_transition *t)
{
	if (!t->limited)
		return;
	t->limited = false;
	freq_qos_remove_request(&t->max);
	freq_qos_remove_request(&t->min);
	/* now: cpufreq's own work may run much later */
	cpufreq_update_policy(t->cpu);
}

/*
 * kjoule_transition_do() - do a job and wait for it. Afterwards @t->loops has the loops, under
 * @t->lock. Context: process, sleeps for as long as it takes. Return: 0 (see @job->outcome),
 * -EINVAL, -ERANGE (outside of the policy's limits), -EPERM (another governor), -ENODEV (the CPU is
 * offline), -EDOM (a loop takes too long), -ECANCELED (the probe was ended), or an error of freq
 * QoS.
 */
int kjoule_transition_do(struct kjoule_transition *t, struct kjoule_transition_job *job,
			 const char **why)
{
	int err = job_check(job, why);

	if (err)
		return err;
	mutex_lock(&t->lock);
	t->policy = cpufreq_cpu_get(t->cpu);
	if (!t->policy) {
		*why = "the CPU has no cpufreq policy any more";
		err = -ENODEV;
		goto out;
	}
	if (t->way == KJOULE_TRANSITION_WAY_LIMITS)
		err = probe_add_limits(t);
	if (!err)
		err = job_do(t, job, why);
	probe_remove_limits(t);
	cpufreq_cpu_put(t->policy);
	t->policy = NULL;
out:
	mutex_unlock(&t->lock);
	return err;
}
