// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cpufreq governor "kjoule". Only a governor may switch fast, so there has to be one of our
 * own; it does nothing by itself while there is a probe of the policy (transition.c). Whoever
 * chooses another one takes the policy away from it.
 */
#include <linux/cpufreq.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "method/transition/transition.h"

/*
 * Nobody's, it does what "performance" does: cpufreq goes back to a governor by its name when a CPU
 * comes back, whether or not there is a probe still, and a CPU has none at all if that fails.
 */
static void run_at_most(struct cpufreq_policy *policy)
{
	__cpufreq_driver_target(policy, policy->max, CPUFREQ_RELATION_H);
}

/* The probe that there is now, with a reference. */
static struct kjoule_transition *adopt(struct cpufreq_policy *policy)
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
	/* a transition notifier forbids it, silently; and the driver may be another one by now */
	if (!policy->fast_switch_enabled || !kjoule_transition_can_switch(policy))
		return -EOPNOTSUPP;
	WRITE_ONCE(t->governed, true);
	return 0;
}

static void release(struct kjoule_transition *t)
{
	WRITE_ONCE(t->governed, false);
	/* it is asked for and used with interrupts off */
	synchronize_rcu();
}

static void governor_stop(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	if (t)
		release(t);
}

/* Limits hold, whatever is measured: a job that is under way ends. */
static void governor_limits(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	if (t)
		release(t);
	t = adopt(policy);
	if (!t) {
		run_at_most(policy);
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
	/* a target is meant, not a least that hardware may go above */
	.flags = CPUFREQ_GOV_STRICT_TARGET,
	.init = governor_init,
	.exit = governor_exit,
	.start = governor_start,
	.stop = governor_stop,
	.limits = governor_limits,
};

static bool governor_registered;

/**
 * kjoule_governor_init() - register the governor
 *
 * From here on a write to scaling_governor, or a policy that is made, may take it and hold the
 * module. A reference does not keep a module whose init fails from being freed, and unregistering
 * leaves active policies with it: so this comes when nothing can fail any more, and is no reason
 * to fail itself. Without it the way "fast" is not to be had.
 *
 * Context: process, module init, last.
 */
void kjoule_governor_init(void)
{
	int err = cpufreq_register_governor(&governor);

	governor_registered = !err;
	/* a kernel without cpufreq needs none */
	if (err && err != -ENODEV)
		pr_warn("kjoule: cannot register governor 'kjoule' (%d); use transition way 'limits'\n",
			err);
}

/**
 * kjoule_governor_exit() - undo kjoule_governor_init()
 *
 * Context: process, module exit, which is not while a policy has it.
 */
void kjoule_governor_exit(void)
{
	if (governor_registered)
		cpufreq_unregister_governor(&governor);
}
