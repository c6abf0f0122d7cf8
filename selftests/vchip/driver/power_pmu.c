// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's energy counters as the perf PMU "power", with the event codes, the unit
 * (2^-32 J) and the cpumask that the kernel's RAPL PMU has: system-wide, counting
 * only, read on one CPU of the package. The counts come from energy.c.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#include "vchip.h"

#define EVENT_ENERGY_CORES	1
#define EVENT_ENERGY_PKG	2
#define JOULE_SHIFT		32

static const struct vchip *power_chip;
static enum cpuhp_state power_hotplug;
static unsigned int power_cpu;		/* changed under the CPU hotplug lock */

static enum vchip_domain event_domain(const struct perf_event *event)
{
	return event->attr.config == EVENT_ENERGY_PKG ? VCHIP_DOMAIN_PACKAGE :
							VCHIP_DOMAIN_CORE;
}

/* As in pmu.c: whoever moves prev_count counts, and nobody moves it back. */
static void power_event_read(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now;

	do {
		prev = local64_read(&hwc->prev_count);
		now = vchip_energy_count(event_domain(event));
	} while (local64_cmpxchg(&hwc->prev_count, prev, now) != prev);
	local64_add((now - prev) << (JOULE_SHIFT - power_chip->head->esu),
		    &event->count);
}

static void power_event_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, vchip_energy_count(event_domain(event)));
	event->hw.state = 0;
}

static int power_event_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attr.config != EVENT_ENERGY_CORES &&
	    event->attr.config != EVENT_ENERGY_PKG)
		return -EINVAL;
	if (event->attr.sample_period)
		return -EINVAL;
	if (event->cpu < 0)
		return -EINVAL;
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	event->cpu = READ_ONCE(power_cpu);
	return 0;
}

PMU_FORMAT_ATTR(event, "config:0-7");

static struct attribute *power_format_attrs[] = {
	&format_attr_event.attr,
	NULL
};

static const struct attribute_group power_format_group = {
	.name	= "format",
	.attrs	= power_format_attrs,
};

PMU_EVENT_ATTR_STRING(energy-cores, power_cores, "event=0x01");
PMU_EVENT_ATTR_STRING(energy-cores.unit, power_cores_unit, "Joules");
PMU_EVENT_ATTR_STRING(energy-cores.scale, power_cores_scale, "2.3283064365386962890625e-10");
PMU_EVENT_ATTR_STRING(energy-pkg, power_pkg, "event=0x02");
PMU_EVENT_ATTR_STRING(energy-pkg.unit, power_pkg_unit, "Joules");
PMU_EVENT_ATTR_STRING(energy-pkg.scale, power_pkg_scale, "2.3283064365386962890625e-10");

static struct attribute *power_event_attrs[] = {
	&power_cores.attr.attr,
	&power_cores_unit.attr.attr,
	&power_cores_scale.attr.attr,
	&power_pkg.attr.attr,
	&power_pkg_unit.attr.attr,
	&power_pkg_scale.attr.attr,
	NULL
};

static const struct attribute_group power_events_group = {
	.name	= "events",
	.attrs	= power_event_attrs,
};

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(cpumask_of(READ_ONCE(power_cpu))));
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *power_pmu_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL
};

static const struct attribute_group power_pmu_group = {
	.attrs = power_pmu_attrs,
};

static const struct attribute_group *power_pmu_groups[] = {
	&power_pmu_group,
	&power_format_group,
	&power_events_group,
	NULL
};

static struct pmu power_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_invalid_context,
	.capabilities	= PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.attr_groups	= power_pmu_groups,
	.event_init	= power_event_init,
	.add		= vchip_counting_add,
	.del		= vchip_counting_del,
	.start		= power_event_start,
	.stop		= vchip_counting_stop,
	.read		= power_event_read,
};

/* The CPU that reads goes away: another one takes over, events and all. */
static int power_cpu_offline(unsigned int cpu)
{
	unsigned int target;

	if (cpu != power_cpu)
		return 0;
	target = cpumask_any_but(cpu_online_mask, cpu);
	if (target >= nr_cpu_ids)
		return 0;
	WRITE_ONCE(power_cpu, target);
	perf_pmu_migrate_context(&power_pmu, cpu, target);
	return 0;
}

/**
 * vchip_power_pmu_init() - register the PMU "power"
 * @chip:	the chip
 *
 * Return: 0, or -errno; -EEXIST where the kernel's own RAPL PMU is loaded.
 */
int vchip_power_pmu_init(struct vchip *chip)
{
	int ret;

	power_chip = chip;
	cpus_read_lock();
	power_cpu = cpumask_first(cpu_online_mask);
	ret = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN, "vchip/power:online",
						   NULL, power_cpu_offline);
	cpus_read_unlock();
	if (ret < 0)
		return ret;
	power_hotplug = ret;
	ret = perf_pmu_register(&power_pmu, "power", -1);
	if (ret)
		cpuhp_remove_state_nocalls(power_hotplug);
	return ret;
}

/**
 * vchip_power_pmu_exit() - unregister
 * @chip:	the chip
 */
void vchip_power_pmu_exit(struct vchip *chip)
{
	cpuhp_remove_state_nocalls(power_hotplug);
	perf_pmu_unregister(&power_pmu);
}
