/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel differences, from 6.1 on. The driver is written to the newest API; what
 * an older kernel lacks is made up here, and nothing else of the driver knows of
 * it. Each HAVE_ comes from compiling probe/<NAME>.c, as kmod/compat does it.
 */
#ifndef VCHIP_COMPAT_H
#define VCHIP_COMPAT_H

#include <linux/cpufreq.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/thermal.h>

/* cpufreq: until 6.14 a driver has to ask for scaling_available_frequencies. */
#ifdef HAVE_CPUFREQ_GENERIC_ATTR
#define VCHIP_CPUFREQ_ATTR	cpufreq_generic_attr
#else
#define VCHIP_CPUFREQ_ATTR	NULL
#endif

/*
 * thermal: a zone without trip points has a registration of its own from 6.9 on.
 * Before that the core fills in missing operations, so they must be writable.
 */
#ifndef HAVE_THERMAL_TRIPLESS_ZONE
static inline struct thermal_zone_device *
thermal_tripless_zone_device_register(const char *type, void *devdata,
				      struct thermal_zone_device_ops *ops,
				      struct thermal_zone_params *tzp)
{
	return thermal_zone_device_register(type, 0, 0, devdata, ops, tzp, 0, 0);
}
#endif

/* thermal: from 6.4 on a zone's data is reached by a call. */
#ifndef HAVE_THERMAL_ZONE_DEVICE_PRIV
static inline void *thermal_zone_device_priv(struct thermal_zone_device *zone)
{
	return zone->devdata;
}
#endif

/*
 * perf: before 6.2 a task's event context keeps a pointer to the PMU of its first
 * event until the task runs again, even when that event is long closed, and nothing
 * pins the PMU meanwhile. Such a kernel gets a PMU that outlives the module: some
 * hundred bytes are left behind at each unload, instead of a dangling pointer.
 */
#ifdef HAVE_PERF_EVENT_PMU_CONTEXT
#define VCHIP_PMU_OUTLIVES_MODULE	0
#else
#define VCHIP_PMU_OUTLIVES_MODULE	1
#endif

/* x86's user_mode() reads its argument only, but older kernels do not say so. */
static inline bool vchip_user_mode(const struct pt_regs *regs)
{
	return user_mode((struct pt_regs *)regs);
}

#endif /* VCHIP_COMPAT_H */
