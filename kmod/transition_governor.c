// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cpufreq governor "kjoule". Only a governor may switch fast, so there has to be one of our
 * own; it does nothing by itself. It can be chosen only while there is a probe of the policy
 * (transition.c) that asked for it, and whoever chooses another one takes the policy away from it.
 */
#include <linux/cpufreq.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "transition.h"

static int governor_init(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = kjoule_transition_of(policy);

	if (!t)
		return -EPERM;
	policy->governor_data = t;
	cpufreq_enable_fast_switch(policy);
	return 0;
}

static void governor_exit(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	cpufreq_disable_fast_switch(policy);
	policy->governor_data = NULL;
	kjoule_transition_put(t);
}

static int governor_start(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	/* a transition notifier forbids it, silently */
	WRITE_ONCE(t->governed, policy->fast_switch_enabled);
	return policy->fast_switch_enabled ? 0 : -EOPNOTSUPP;
}

static void governor_stop(struct cpufreq_policy *policy)
{
	struct kjoule_transition *t = policy->governor_data;

	WRITE_ONCE(t->governed, false);
	/* it is asked for and used with interrupts off */
	synchronize_rcu();
}

static struct cpufreq_governor governor = {
	.name = "kjoule",
	.owner = THIS_MODULE,
	.init = governor_init,
	.exit = governor_exit,
	.start = governor_start,
	.stop = governor_stop,
};

/**
 * kjoule_governor_init() - register the governor
 *
 * Context: process, module init.
 * Return: 0 or -errno; a kernel without cpufreq needs none.
 */
int kjoule_governor_init(void)
{
	int err = cpufreq_register_governor(&governor);

	return err == -ENODEV ? 0 : err;
}

/**
 * kjoule_governor_exit() - undo kjoule_governor_init()
 *
 * Context: process, module exit, which is not while a policy has it.
 */
void kjoule_governor_exit(void)
{
	cpufreq_unregister_governor(&governor);
}
