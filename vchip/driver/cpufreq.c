// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's clocks as a cpufreq driver: one policy a CPU, the chip's frequency
 * table, fast switching. A request is only written; the chip grants it after its
 * own latency, and "get" returns the real frequency, not the requested one. cpufreq's
 * "boost" file is the switch of the chip's turbo, where it has one.
 */

#include <linux/cpufreq.h>
#include <linux/module.h>

#include "compat/compat.h"
#include "vchip.h"

static const struct vchip *cpufreq_chip;
static struct cpufreq_frequency_table cpufreq_table[VCHIP_MAX_PSTATES + 1];

static void freq_request(unsigned int cpu, unsigned int freq_khz)
{
	WRITE_ONCE(vchip_cpu(cpufreq_chip, cpu)->req_khz, freq_khz);
}

static unsigned int vchip_freq_get(unsigned int cpu)
{
	const struct vchip_cpu *regs;
	unsigned int freq_khz;

	if (cpu >= cpufreq_chip->cpus)
		return 0;
	regs = vchip_cpu(cpufreq_chip, cpu);
	freq_khz = READ_ONCE(regs->cur_khz);

	/* Nothing is granted before the chip saw us; cpufreq does not take 0 for an answer. */
	return freq_khz ? freq_khz : READ_ONCE(regs->req_khz);
}

static int vchip_freq_target_index(struct cpufreq_policy *policy, unsigned int index)
{
	freq_request(policy->cpu, policy->freq_table[index].frequency);
	return 0;
}

/*
 * The lowest frequency that is not below the target and within the limits. Runs with
 * interrupts off from the scheduler; the table is ascending and short.
 */
static unsigned int vchip_freq_fast_switch(struct cpufreq_policy *policy,
					   unsigned int target_khz)
{
	const struct cpufreq_frequency_table *entry = cpufreq_table;

	target_khz = clamp(target_khz, policy->min, policy->max);
	while (entry->frequency < target_khz &&
	       entry[1].frequency != CPUFREQ_TABLE_END &&
	       entry[1].frequency <= policy->max)
		entry++;
	freq_request(policy->cpu, entry->frequency);
	return entry->frequency;
}

static int vchip_freq_policy_init(struct cpufreq_policy *policy)
{
	const struct vchip_head *head = cpufreq_chip->head;

	if (policy->cpu >= cpufreq_chip->cpus)
		return -ENODEV;
	policy->freq_table = cpufreq_table;
	policy->cpuinfo.transition_latency = head->transition_ns;
	policy->fast_switch_possible = true;
	policy->dvfs_possible_from_any_cpu = true;
	freq_request(policy->cpu, head->freq_khz[head->pstates - 1]);
	return 0;
}

/*
 * For all CPUs at once, whichever is named. Limits stay: the chip does not grant what is above its
 * base frequency.
 */
static int vchip_freq_set_boost(struct cpufreq_policy *policy, int state)
{
	unsigned int i;

	for (i = 0; i < cpufreq_chip->packages; i++)
		WRITE_ONCE(vchip_pkg(cpufreq_chip, i)->turbo_off, !state);
	return 0;
}

static struct cpufreq_driver vchip_cpufreq_driver = {
	.name		= "vchip",
	.flags		= CPUFREQ_CONST_LOOPS,
	.init		= vchip_freq_policy_init,
	.verify		= cpufreq_generic_frequency_table_verify,
	.target_index	= vchip_freq_target_index,
	.fast_switch	= vchip_freq_fast_switch,
	.get		= vchip_freq_get,
	.attr		= VCHIP_CPUFREQ_ATTR,
};

/**
 * vchip_cpufreq_init() - register the driver; every CPU then asks for its highest frequency
 * @chip:	the chip
 *
 * Return: 0, -EEXIST if another cpufreq driver is registered, or -errno.
 */
int vchip_cpufreq_init(struct vchip *chip)
{
	unsigned int i;

	for (i = 0; i < chip->head->pstates; i++) {
		if (i && chip->head->freq_khz[i] <= chip->head->freq_khz[i - 1])
			return -EINVAL;
		cpufreq_table[i].flags = 0;
		cpufreq_table[i].driver_data = i;
		cpufreq_table[i].frequency = chip->head->freq_khz[i];
	}
	cpufreq_table[i].frequency = CPUFREQ_TABLE_END;
	cpufreq_chip = chip;
	vchip_cpufreq_driver.set_boost = chip->head->base_khz ? vchip_freq_set_boost : NULL;
	vchip_cpufreq_driver.boost_enabled = chip->head->base_khz &&
					     !READ_ONCE(vchip_pkg(chip, 0)->turbo_off);
	return cpufreq_register_driver(&vchip_cpufreq_driver);
}

/**
 * vchip_cpufreq_exit() - unregister
 * @chip:	the chip
 */
void vchip_cpufreq_exit(struct vchip *chip)
{
	cpufreq_unregister_driver(&vchip_cpufreq_driver);
}
