// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency source "cpufreq": the policy's current frequency, which is requested, not measured;
 * samples have a flag for that. The last resort.
 *
 * cpufreq's own readers take its lock, which a tick must not wait for. So cpufreq's notifier stores
 * the policy of each CPU here, and ticks read it under RCU.
 */
#include <linux/cpufreq.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>

#include "source/source.h"

static DEFINE_MUTEX(policies_lock);
static DEFINE_PER_CPU(struct cpufreq_policy __rcu *, policies);

static void cpufreq_keep_policy(const struct cpumask *cpus, struct cpufreq_policy *policy)
{
	unsigned int cpu;

	lockdep_assert_held(&policies_lock);
	for_each_cpu(cpu, cpus)
		rcu_assign_pointer(per_cpu(policies, cpu), policy);
}

static int cpufreq_policy_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	struct cpufreq_policy *policy = data;

	mutex_lock(&policies_lock);
	cpufreq_keep_policy(policy->related_cpus, event == CPUFREQ_CREATE_POLICY ? policy : NULL);
	mutex_unlock(&policies_lock);
	/* freed after this returns: wait for ticks that use it */
	if (event == CPUFREQ_REMOVE_POLICY)
		synchronize_rcu();
	return NOTIFY_DONE;
}

static struct notifier_block policy_notifier = { .notifier_call = cpufreq_policy_notify };

/* Store the existing policies. A policy removed meanwhile is notified later. */
static void cpufreq_keep_policies(void)
{
	struct cpufreq_policy *policy;
	unsigned int cpu;

	mutex_lock(&policies_lock);
	for_each_possible_cpu(cpu) {
		policy = cpufreq_cpu_get(cpu);
		if (!policy)
			continue;
		cpufreq_keep_policy(cpumask_of(cpu), policy);
		cpufreq_cpu_put(policy);
	}
	mutex_unlock(&policies_lock);
}

/* 0 also for drivers that do not report their own choice. */
static u32 cpufreq_policy_khz(struct cpufreq_policy __rcu **p)
{
	struct cpufreq_policy *policy;
	u32 khz;

	rcu_read_lock();
	policy = rcu_dereference(*p);
	khz = policy && policy->policy == CPUFREQ_POLICY_UNKNOWN ? READ_ONCE(policy->cur) : 0;
	rcu_read_unlock();
	return khz;
}

static u32 cpufreq_read_khz(struct kjoule_source *src)
{
	return cpufreq_policy_khz(this_cpu_ptr(&policies));
}

static int cpufreq_probe(struct kjoule_source *src, char *why, size_t len)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (cpufreq_policy_khz(per_cpu_ptr(&policies, cpu)))
			return 0;
	}
	strscpy(why, "no cpufreq driver, or one that does not report frequencies", len);
	return -ENODEV;
}

static const struct kjoule_source_ops cpufreq_ops = {
	.read_khz = cpufreq_read_khz,
	.probe = cpufreq_probe,
};

static struct kjoule_source cpufreq_source = {
	.name = "cpufreq",
	.kind = KJOULE_KIND_FREQUENCY,
	.owner = THIS_MODULE,
	.ops = &cpufreq_ops,
	.rating = 50,
	.requested_only = true,
};

/** kjoule_cpufreq_init() - register the source */
int kjoule_cpufreq_init(void)
{
	int err = cpufreq_register_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);

	/* without cpufreq the source is not available */
	if (err && err != -EINVAL)
		return err;
	cpufreq_keep_policies();
	err = kjoule_source_register(&cpufreq_source);
	if (err)
		cpufreq_unregister_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);
	return err;
}

/** kjoule_cpufreq_exit() - undo kjoule_cpufreq_init() */
void kjoule_cpufreq_exit(void)
{
	kjoule_source_unregister(&cpufreq_source);
	cpufreq_unregister_notifier(&policy_notifier, CPUFREQ_POLICY_NOTIFIER);
}
