/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs share a counter of a perf PMU. Until 6.11 a PMU with a wider scope than a CPU moved
 * the counter to the one CPU that reads it; since 6.12 the counter stays, and the PMU has a scope.
 * Included once, by source/perf_pmu.c.
 */
#ifndef KJOULE_COMPAT_PERF_H
#define KJOULE_COMPAT_PERF_H

#include <linux/cpumask.h>
#include <linux/perf_event.h>
#include <linux/topology.h>

#ifdef HAVE_PERF_PMU_SCOPE
/* Does a counter created for @cpu count the same as one on @other? */
static inline bool kjoule_pmu_shares(const struct perf_event *event, unsigned int cpu,
				     unsigned int other)
{
	switch (event->pmu->scope) {
	case PERF_PMU_SCOPE_CORE:
		return cpumask_test_cpu(other, topology_sibling_cpumask(cpu));
	case PERF_PMU_SCOPE_DIE:
		return cpumask_test_cpu(other, topology_die_cpumask(cpu));
	case PERF_PMU_SCOPE_CLUSTER:
		return cpumask_test_cpu(other, topology_cluster_cpumask(cpu));
	case PERF_PMU_SCOPE_PKG:
		return cpumask_test_cpu(other, topology_core_cpumask(cpu));
	case PERF_PMU_SCOPE_SYS_WIDE:
		return true;
	default:
		return false;
	}
}
#else
static inline bool kjoule_pmu_shares(const struct perf_event *event, unsigned int cpu,
				     unsigned int other)
{
	return false;
}
#endif

#endif
