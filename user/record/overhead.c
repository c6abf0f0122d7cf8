// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record --overhead: the interval and the recorder's sleep that keep what both take below a
 * bound, and whether they did. See record.h; called by prepare.c and loop.c.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "record/options.h"

/*
 * The recorder's own part of the bound, where it has to share the CPUs of what it records; ticks
 * have the rest. Of `scripts/bench overhead`: on that chip a pass over the rings takes as long as
 * 50 ticks, or 350 if it writes to the file.
 */
#define RECORDER_PART	0.25

int record_parse_overhead(void *part, const char *arg, const char **why)
{
	double percent;

	(void)why;
	if (args_percent(arg, &percent))
		return -EINVAL;
	*(double *)part = percent / 100;
	return percent > 0 && percent <= 100 * OVERHEAD_MOST ? 0 : -ERANGE;
}

int record_check_jitter(const struct record_options *opt)
{
	if (opt->overhead > 0 || !opt->jitter_ns || opt->jitter_ns < opt->interval_ns)
		return 0;
	return cmd_usage(opt->verb, "--jitter must be less than the interval of %.3f us",
			 opt->interval_ns / 1e3);
}

int record_bounded_interval(const struct record_options *opt, const struct kjoule_calibration *cal,
			    const struct kjoule_info *info, uint64_t *interval_ns,
			    struct kjoule_error *err)
{
	double tick_ns = overhead_tick_ns(cal), part = (1 - RECORDER_PART) * opt->overhead;
	int ret;

	if (!cal->ticks)
		return kjoule_fail(err, ERANGE, "--overhead %.6g %%: what a tick takes is not known, so no interval can be chosen; try again on a quieter machine, or give -F",
				   100 * opt->overhead);
	ret = overhead_interval(tick_ns, part, info->min_interval_ns, info->max_interval_ns,
				interval_ns);
	if (ret)
		return kjoule_fail(err, ERANGE, "--overhead %.6g %%: a tick takes %.2f us here, so there could be one each %.6g s; the module takes an interval of %.6g s at most: allow %.3g %% or more",
				   100 * opt->overhead, tick_ns / 1e3,
				   tick_ns * (1 + part) / part / 1e9,
				   info->max_interval_ns / 1e9,
				   100 * tick_ns / ((double)info->max_interval_ns - tick_ns) /
				   (1 - RECORDER_PART) * 1.01);
	*interval_ns = kjoule_interval_out_of_step(*interval_ns, info);
	if (opt->jitter_ns && opt->jitter_ns >= *interval_ns)
		return kjoule_fail(err, ERANGE, "--jitter of %.3f us must be less than the interval, which --overhead %.6g %% makes %.3f us here",
				   opt->jitter_ns / 1e3, 100 * opt->overhead, *interval_ns / 1e3);
	return 0;
}

unsigned int record_bounded_sleep(const struct record_options *opt, unsigned int cpus,
				  double awake_s, double time_s, unsigned int least_ms,
				  unsigned int most_ms)
{
	double part = RECORDER_PART * opt->overhead * cpus;
	double ms = part > 0 ? 1e3 * (awake_s / part - time_s) : 0;

	return ms < least_ms ? least_ms : ms > most_ms ? most_ms : (unsigned int)ms;
}

double record_overhead(const struct kjoule_cpu_stats *stats, size_t n,
		       const struct kjoule_calibration *cal, double time_s, const double *awake_s,
		       struct overhead_cpu *most, double *ticks)
{
	struct overhead_cpu *cpus = calloc(n + 1, sizeof(*cpus));
	const struct overhead_cpu *worst;
	double all = NAN;

	*most = (struct overhead_cpu){ .cpu = UINT32_MAX };
	*ticks = NAN;
	if (!cpus || !cal->ticks) {
		free(cpus);
		return all;
	}
	for (size_t i = 0; i < n; i++)
		cpus[i] = (struct overhead_cpu){
			.cpu = stats[i].cpu, .ticks = stats[i].produced, .time_s = time_s,
			.idle_s = stats[i].idle_ns * 1e-9,
			.taken_s = (stats[i].tick_ns + stats[i].produced * cal->entry_ns) * 1e-9,
			.awake_s = stats[i].cpu < CPU_SETSIZE ? awake_s[stats[i].cpu] : 0,
		};
	*ticks = overhead_ticks(cpus, n);
	all = overhead_all(cpus, n);
	worst = overhead_most(cpus, n);
	if (worst)
		*most = *worst;
	free(cpus);
	return all;
}
