// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See overhead.h. Used by record and report.
 */
#include <errno.h>
#include <math.h>
#include "analysis/profile/overhead.h"

/* Standard deviations by which a tick may cost more than calibrated. */
#define SURE	2

/* Ticks of programs were seen to cost this much more than calibrated ones, and a little more. */
#define DEARER	1.25

/* Below this part of the time a CPU's load is a matter of single ticks. */
#define BUSY_LEAST	0.001

/* Time of a CPU without ticks and the recorder. */
static double cpu_others_s(const struct overhead_cpu *cpu)
{
	return fmax(cpu->time_s - cpu->idle_s - cpu->taken_s - cpu->awake_s, 0);
}

/* Time that the recorder displaced. */
static double cpu_displaced_s(const struct overhead_cpu *cpu)
{
	double left = cpu->time_s - cpu->awake_s - cpu->taken_s;

	return left > 0 ? cpu->awake_s * fmin(cpu_others_s(cpu) / left, 1) : 0;
}

/* Probability that none of the other CPUs was idle. */
static double cpus_none_idle_part(const struct overhead_cpu *cpus, size_t n, size_t cpu)
{
	double p = 1;

	for (size_t i = 0; i < n; i++)
		if (i != cpu && cpus[i].time_s > 0)
			p *= 1 - fmin(cpus[i].idle_s / cpus[i].time_s, 1);
	return p;
}

double overhead_part(const struct overhead_cpu *cpu)
{
	return overhead_ticks(cpu, 1);
}

double overhead_ticks(const struct overhead_cpu *cpus, size_t n)
{
	double taken = 0, others = 0;

	for (size_t i = 0; i < n; i++) {
		taken += cpus[i].taken_s;
		others += cpu_others_s(&cpus[i]);
	}
	return others > 0 ? taken / others : NAN;
}

double overhead_all(const struct overhead_cpu *cpus, size_t n)
{
	double displaced = 0, others = 0;

	for (size_t i = 0; i < n; i++) {
		displaced += cpu_displaced_s(&cpus[i]) * cpus_none_idle_part(cpus, n, i);
		others += cpu_others_s(&cpus[i]);
	}
	return others > 0 ? overhead_ticks(cpus, n) + displaced / others : NAN;
}

const struct overhead_cpu *overhead_most(const struct overhead_cpu *cpus, size_t n)
{
	const struct overhead_cpu *most = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!(cpu_others_s(&cpus[i]) > BUSY_LEAST * cpus[i].time_s) ||
		    isnan(overhead_part(&cpus[i])))
			continue;
		if (!most || overhead_part(&cpus[i]) > overhead_part(most))
			most = &cpus[i];
	}
	return most;
}

double overhead_tick_ns(const struct kjoule_calibration *cal)
{
	double spread = isfinite(cal->handler_spread_ns) ? cal->handler_spread_ns : 0;

	return cal->ticks ? DEARER * (cal->tick_ns + SURE * hypot(cal->tick_error_ns, spread)) :
	       NAN;
}

int overhead_interval(double tick_ns, double bound, uint64_t shortest_ns, uint64_t longest_ns,
		      uint64_t *interval_ns)
{
	double ns = ceil(tick_ns * (1 + bound) / bound);

	if (!(tick_ns > 0) || !isfinite(tick_ns) || !(bound > 0 && bound <= OVERHEAD_MOST))
		return -EINVAL;
	if (ns > longest_ns)
		return -ERANGE;
	*interval_ns = ns < shortest_ns ? shortest_ns : (uint64_t)ns;
	return 0;
}
