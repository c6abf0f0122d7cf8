// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See overhead.h. Used by record and report.
 */
#include <errno.h>
#include <math.h>
#include "overhead.h"

/* Standard deviations by which a tick may be dearer than was calibrated. */
#define SURE	2

/* Below this part of the time what a CPU did is a matter of single ticks. */
#define BUSY_LEAST	0.001

static double part(double taken_s, double busy_s)
{
	return busy_s > taken_s ? taken_s / (busy_s - taken_s) : NAN;
}

double overhead_part(const struct overhead_cpu *cpu)
{
	return part(cpu->taken_s, cpu->time_s - cpu->idle_s);
}

double overhead_all(const struct overhead_cpu *cpus, size_t n)
{
	double taken_s = 0, busy_s = 0;

	for (size_t i = 0; i < n; i++) {
		taken_s += cpus[i].taken_s;
		busy_s += cpus[i].time_s - cpus[i].idle_s;
	}
	return part(taken_s, busy_s);
}

const struct overhead_cpu *overhead_most(const struct overhead_cpu *cpus, size_t n)
{
	const struct overhead_cpu *most = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!(cpus[i].time_s - cpus[i].idle_s > BUSY_LEAST * cpus[i].time_s) || isnan(overhead_part(&cpus[i])))
			continue;
		if (!most || overhead_part(&cpus[i]) > overhead_part(most))
			most = &cpus[i];
	}
	return most;
}

double overhead_tick_ns(const struct kjoule_calibration *cal)
{
	double spread = isfinite(cal->handler_spread_ns) ? cal->handler_spread_ns : 0;

	return cal->ticks ? cal->tick_ns + SURE * hypot(cal->tick_error_ns, spread) : NAN;
}

int overhead_interval(double tick_ns, double bound, uint64_t shortest_ns, uint64_t longest_ns, uint64_t *interval_ns)
{
	double ns = ceil(tick_ns * (1 + bound) / bound);

	if (!(tick_ns > 0) || !isfinite(tick_ns) || !(bound > 0 && bound <= OVERHEAD_MOST))
		return -EINVAL;
	if (ns > longest_ns)
		return -ERANGE;
	*interval_ns = ns < shortest_ns ? shortest_ns : (uint64_t)ns;
	return 0;
}
