// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine of several packages, as perf shows it: the PMU "vchip_pairs" has one counter
 * for each two CPUs, read on the lower one that is online, and counts nanoseconds while one of
 * them is. What the kernel itself says of packages is left alone.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/timekeeping.h>

#include "vchip.h"

#define PAIRS	DIV_ROUND_UP(VCHIP_MAX_CPUS, 2)

static enum cpuhp_state pair_hotplug;
static int pair_reader[PAIRS];		/* -1: none is online; changed under the CPU hotplug lock */

static bool apart;
module_param(apart, bool, 0600);
MODULE_PARM_DESC(apart, "for tests: vchip_pairs reads each CPU's counter on that CPU, until it is moved");

static uint init_ms;
module_param(init_ms, uint, 0600);
MODULE_PARM_DESC(init_ms, "for tests: vchip_pairs takes so long to make a counter");

static bool no_pair;
module_param(no_pair, bool, 0600);
MODULE_PARM_DESC(no_pair, "for tests: vchip_pairs has no counter left");

static int in_vain;
module_param(in_vain, int, 0400);
MODULE_PARM_DESC(in_vain, "how often vchip_pairs was asked while it had no CPU to read on, where RAPL's PMU fails badly");

/* As in pmu.c: the reader that advances prev_count counts, and it never decreases. */
static void pair_event_read(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now;

	do {
		prev = local64_read(&hwc->prev_count);
		now = ktime_get_ns();
	} while (local64_cmpxchg(&hwc->prev_count, prev, now) != prev);
	local64_add(now - prev, &event->count);
}

static void pair_event_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, ktime_get_ns());
	event->hw.state = 0;
}

static int pair_event_init(struct perf_event *event)
{
	int reader;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attr.config || event->attr.sample_period || event->cpu < 0)
		return -EINVAL;
	msleep(READ_ONCE(init_ms));
	reader = READ_ONCE(pair_reader[event->cpu / 2]);
	if (reader < 0) {
		in_vain++;
		return -ENODEV;
	}
	if (READ_ONCE(no_pair))
		return -EBUSY;
	if (!READ_ONCE(apart))
		event->cpu = reader;
	return 0;
}

static struct pmu pair_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_invalid_context,
	.capabilities	= PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.event_init	= pair_event_init,
	.add		= vchip_counting_add,
	.del		= vchip_counting_del,
	.start		= pair_event_start,
	.stop		= vchip_counting_stop,
	.read		= pair_event_read,
};

static int pair_cpu_online(unsigned int cpu)
{
	if (pair_reader[cpu / 2] < 0)
		WRITE_ONCE(pair_reader[cpu / 2], cpu);
	return 0;
}

/* The other one takes over, events and all; if it is not there they end with this one. */
static int pair_cpu_offline(unsigned int cpu)
{
	unsigned int other = cpu ^ 1;

	if (cpu != pair_reader[cpu / 2])
		return 0;
	if (other >= nr_cpu_ids || !cpu_online(other)) {
		WRITE_ONCE(pair_reader[cpu / 2], -1);
		return 0;
	}
	WRITE_ONCE(pair_reader[cpu / 2], other);
	perf_pmu_migrate_context(&pair_pmu, cpu, other);
	return 0;
}

/**
 * vchip_pair_pmu_init() - register the PMU "vchip_pairs"
 * @chip:	the chip
 *
 * Return: 0 or -errno.
 */
int vchip_pair_pmu_init(struct vchip *chip)
{
	unsigned int i;
	int ret;

	for (i = 0; i < PAIRS; i++)
		pair_reader[i] = -1;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "vchip/pairs:online", pair_cpu_online,
				pair_cpu_offline);
	if (ret < 0)
		return ret;
	pair_hotplug = ret;
	ret = perf_pmu_register(&pair_pmu, "vchip_pairs", -1);
	if (ret)
		cpuhp_remove_state_nocalls(pair_hotplug);
	return ret;
}

/**
 * vchip_pair_pmu_exit() - unregister
 * @chip:	the chip
 */
void vchip_pair_pmu_exit(struct vchip *chip)
{
	cpuhp_remove_state_nocalls(pair_hotplug);
	perf_pmu_unregister(&pair_pmu);
}
