// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cpufreq governor "kjoule": only a governor may switch fast, so the module has its own. It
 * does nothing by itself while the policy has a probe (transition.c). Choosing another governor
 * ends that.
 */
#include <linux/cpufreq.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "method/transition/transition.h"

/*
 * Without a probe it does what "performance" does: cpufreq restores a governor by its name when a
 * CPU comes back, with or without a probe, and if that fails the CPU has no governor.
 */
static void governor_run_at_max(struct cpufreq_policy *policy)
{
	__cpufreq_driver_target(policy, policy->max, CPUFREQ_RELATION_H);
}

static struct kjoule_transition *governor_adopt_probe(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	if (t && !READ_ONCE(t->ending))
		return t;
	if (t)
		kjoule_transition_put(t);
	t = kjoule_transition_of(policy);
	policy->governor_data = t;
	return t;
}

static int governor_init(struct cpufreq_policy *policy)
{
	policy->governor_data = kjoule_transition_of(policy);
	if (policy->governor_data)
		cpufreq_enable_fast_switch(policy);
	return 0;
}

static void governor_exit(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	cpufreq_disable_fast_switch(policy);
	policy->governor_data = NULL;
	if (t)
		kjoule_transition_put(t);
}

static int governor_start(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	if (!t)
		return 0;
	/* transition notifiers disable fast switching silently; the driver may have changed */
	if (!policy->fast_switch_enabled || !kjoule_transition_can_switch(policy))
		return -EOPNOTSUPP;
	WRITE_ONCE(t->governed, true);
	return 0;
}

static void governor_release_probe(struct kjoule_transition *t)
{
	WRITE_ONCE(t->governed, false);
	/* @governed is read and used with interrupts off */
	synchronize_rcu();
}

static void governor_stop(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	if (t)
		governor_release_probe(t);
}

/* Limits take effect even while a job runs: the job ends. */
static void governor_limits(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	if (t)
		governor_release_probe(t);
	t = governor_adopt_probe(policy);
	if (!t) {
		governor_run_at_max(policy);
		return;
	}
	if (!policy->fast_switch_enabled)
		cpufreq_enable_fast_switch(policy);
	cpufreq_policy_apply_limits(policy);
	WRITE_ONCE(t->governed,
		   policy->fast_switch_enabled && kjoule_transition_can_switch(policy));
}

static struct cpufreq_governor governor = {
	.name = "kjoule",
	.owner = THIS_MODULE,
	/* request the target exactly, not a minimum */
	.flags = CPUFREQ_GOV_STRICT_TARGET,
	.init = governor_init,
	.exit = governor_exit,
	.start = governor_start,
	.stop = governor_stop,
	.limits = governor_limits,
};

static DEFINE_MUTEX(register_lock);	/* cpufreq's own are taken under it */
static bool registered;

/*
 * kjoule_governor_get() - register the governor, for a probe that switches fast. A write to
 * scaling_governor may then take it and pin the module. A reference does not keep a module whose
 * init fails from being freed, so it is not registered at init; and it stays until exit, because
 * unregistering leaves it with policies that have it. Return: 0, or cpufreq's error.
 */
int kjoule_governor_get(const char **why)
{
	int err = 0;

	mutex_lock(&register_lock);
	if (!registered)
		err = cpufreq_register_governor(&governor);
	registered |= !err;
	mutex_unlock(&register_lock);
	if (err)
		*why = "the governor kjoule cannot be registered; use the way limits";
	return err;
}

/*
 * kjoule_governor_exit() - unregister the governor; at module exit no policy has it. Context:
 * process, module exit, which is not while a policy has it; no requests come any more.
 */
void kjoule_governor_exit(void)
{
	if (registered)
		cpufreq_unregister_governor(&governor);
}
