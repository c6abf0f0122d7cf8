// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's energy counters as the perf PMU "power", with the event codes, the unit
 * (2^-32 J) and the cpumask that the kernel's RAPL PMU has: system-wide, counting
 * only, read on one CPU of each package. The counts come from energy.c.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#include "vchip.h"

#define EVENT_ENERGY_CORES	1
#define EVENT_ENERGY_PKG	2
#define EVENT_ENERGY_RAM	3	/* where the chip counts the memory's energy */
#define JOULE_SHIFT		32

static const struct vchip *power_chip;
static enum cpuhp_state power_hotplug;
static struct cpumask power_cpus;	/* changed under the CPU hotplug lock */

static u64 event_count(const struct perf_event *event)
{
	static const enum vchip_domain domains[] = {
		[EVENT_ENERGY_CORES]	= VCHIP_DOMAIN_CORE,
		[EVENT_ENERGY_PKG]	= VCHIP_DOMAIN_PACKAGE,
		[EVENT_ENERGY_RAM]	= VCHIP_DOMAIN_DRAM,
	};

	return vchip_energy_count(vchip_package(power_chip, event->cpu),
				  domains[event->attr.config]);
}

/* A CPU of @mask that is of the same package as @cpu, but not @but; nr_cpu_ids: there is none. */
static unsigned int power_find(const struct cpumask *mask, unsigned int cpu, unsigned int but)
{
	unsigned int other;

	for_each_cpu(other, mask)
		if (other != but &&
		    vchip_package(power_chip, other) == vchip_package(power_chip, cpu))
			break;
	return min(other, nr_cpu_ids);
}

/* As in pmu.c: the reader that advances prev_count counts, and it never decreases. */
static void power_event_read(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now;

	do {
		prev = local64_read(&hwc->prev_count);
		now = event_count(event);
	} while (local64_cmpxchg(&hwc->prev_count, prev, now) != prev);
	local64_add((now - prev) << (JOULE_SHIFT - power_chip->head->esu),
		    &event->count);
}

static void power_event_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, event_count(event));
	event->hw.state = 0;
}

static int power_event_init(struct perf_event *event)
{
	unsigned int cpu;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attr.config < EVENT_ENERGY_CORES ||
	    event->attr.config > (power_chip->head->has_dram ? EVENT_ENERGY_RAM : EVENT_ENERGY_PKG))
		return -EINVAL;
	if (event->attr.sample_period)
		return -EINVAL;
	if (event->cpu < 0)
		return -EINVAL;
	cpu = power_find(&power_cpus, event->cpu, nr_cpu_ids);
	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	event->cpu = cpu;
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

PMU_EVENT_ATTR_STRING(energy-ram, power_ram, "event=0x03");
PMU_EVENT_ATTR_STRING(energy-ram.unit, power_ram_unit, "Joules");
PMU_EVENT_ATTR_STRING(energy-ram.scale, power_ram_scale, "2.3283064365386962890625e-10");

static struct attribute *power_event_attrs[] = {
	&power_cores.attr.attr,
	&power_cores_unit.attr.attr,
	&power_cores_scale.attr.attr,
	&power_pkg.attr.attr,
	&power_pkg_unit.attr.attr,
	&power_pkg_scale.attr.attr,
	&power_ram.attr.attr,
	&power_ram_unit.attr.attr,
	&power_ram_scale.attr.attr,
	NULL
};

static umode_t power_event_is_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	if (attr == &power_ram.attr.attr || attr == &power_ram_unit.attr.attr ||
	    attr == &power_ram_scale.attr.attr)
		return power_chip->head->has_dram ? attr->mode : 0;
	return attr->mode;
}

static const struct attribute_group power_events_group = {
	.name		= "events",
	.attrs		= power_event_attrs,
	.is_visible	= power_event_is_visible,
};

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(&power_cpus));
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

/* The first of its package to be there reads. */
static int power_cpu_online(unsigned int cpu)
{
	if (power_find(&power_cpus, cpu, nr_cpu_ids) >= nr_cpu_ids)
		cpumask_set_cpu(cpu, &power_cpus);
	return 0;
}

/* The CPU that reads goes away: another one of its package takes over, events and all. */
static int power_cpu_offline(unsigned int cpu)
{
	unsigned int target;

	if (!cpumask_test_and_clear_cpu(cpu, &power_cpus))
		return 0;
	target = power_find(cpu_online_mask, cpu, cpu);
	if (target >= nr_cpu_ids)
		return 0;
	cpumask_set_cpu(target, &power_cpus);
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
	cpumask_clear(&power_cpus);
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "vchip/power:online", power_cpu_online,
				power_cpu_offline);
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
