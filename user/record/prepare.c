// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a recording needs before its first tick: the calibration, the command that
 * waits, the side band, the session; see loop.h. Called by loop.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include "cli/cmd.h"
#include "lib/base/now.h"
#include "record/loop.h"
#include "record/ring.h"

void record_keep_away(const struct record_loop *l, const struct kjoule_cpus *busy)
{
	cpu_set_t away;

	CPU_ZERO(&away);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &l->allowed) && !kjoule_cpus_has(busy, cpu))
			CPU_SET(cpu, &away);
	sched_setaffinity(0, sizeof(away), CPU_COUNT(&away) ? &away : &l->allowed);
}

/* The process of a thread; the thread itself if it is gone, which shows soon. */
static uint32_t record_thread_process(uint32_t tid)
{
	char path[64], line[128];
	uint32_t pid = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %" SCNu32, &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

/* With smaller rings than are wanted where the user may not have as much memory for them. */
static int record_new_session(struct record_loop *l, struct kjoule_session_params *params)
{
	const struct kjoule_info *info = kjoule_device_info(l->dev);
	uint32_t wanted = params->ring_bytes ? params->ring_bytes : info->default_ring_bytes, less;
	struct kjoule_error first;
	bool smaller = false;
	int ret = kjoule_session_new(l->ctl, params, &l->session, &l->err);

	first = l->err;
	while (ret == -EDQUOT && (less = record_ring_smaller(l->opt, info, params->ring_bytes))) {
		params->ring_bytes = less;
		smaller = true;
		ret = kjoule_session_new(l->ctl, params, &l->session, &l->err);
	}
	/* a ring that is too small for what belongs to a sample is no way out */
	if (ret == -EDQUOT || (ret == -EINVAL && smaller))
		return kjoule_fail(&l->err, EDQUOT, "%.350s; name fewer CPUs (-C) or smaller rings (--ring-bytes), or run it with sudo",
				   first.text);
	if (!ret && params->ring_bytes && params->ring_bytes < wanted)
		cmd_warn("a ring has %u KiB instead of %u KiB (%s); where records are lost, record fewer CPUs (-C) or run it with sudo",
			 params->ring_bytes >> 10, wanted >> 10, first.text);
	return ret;
}

int record_prepare(struct record_loop *l, const sigset_t *signals, const sigset_t *ends,
		   const sigset_t *old)
{
	const struct record_options *opt = l->opt;
	struct kjoule_session_params params = {
		.interval_ns = opt->interval_ns,
		.jitter_ns = opt->jitter_ns,
		.target = opt->system ? KJOULE_TARGET_SYSTEM : opt->cgroup ? KJOULE_TARGET_CGROUP :
			  opt->thread ? KJOULE_TARGET_THREAD : KJOULE_TARGET_PROCESS,
		.cgroup_fd = opt->cgroup_fd,
		.flags = opt->flags,
		.cpus = opt->cpus_given ? &opt->cpus : NULL,
		.ring_bytes = opt->ring_bytes,
		.energy_source = opt->sources->energy_source,
		.frequency_source = opt->sources->frequency_source,
		.specs = opt->sources->spec,
		.n_specs = opt->sources->n,
		.stack_bytes = opt->stack_bytes,
		.edge_duty = opt->edge_duty,
		.vpm = opt->blocks.n,
		.vpm_source = opt->vpm_source,
		.vpm_interval_ns = opt->vpm_interval_ns,
		.chain_depth = opt->chain_depth,
	};
	bool everybody = opt->system || opt->cgroup;
	uint32_t process;
	int ret;

	if (opt->cal) {
		l->cal = *opt->cal;
	} else if (opt->calibrate) {
		int cpu = opt->cpus_given ? kjoule_cpus_next(&opt->cpus, 0) : sched_getcpu();

		ret = kjoule_calibrate(&params, cpu < 0 ? 0 : cpu, ends, &l->cal, &l->err);
		if (ret == -EINTR)
			return ret;
		if (ret) {
			cmd_warn("%s; the report will not know what a tick costs", l->err.text);
			memset(&l->cal, 0, sizeof(l->cal));
		}
	}
	if (opt->overhead > 0) {
		ret = record_bounded_interval(opt, &l->cal, kjoule_device_info(l->dev),
					      &params.interval_ns, &l->err);
		if (ret)
			return ret;
		if (!opt->quiet)
			fprintf(stderr, "kjoule: --overhead %.6g %%: a tick takes %.2f us here; one each %.6g us (%.6g Hz)\n",
				100 * opt->overhead, overhead_tick_ns(&l->cal) / 1e3,
				params.interval_ns / 1e3, 1e9 / params.interval_ns);
	}
	if (opt->command) {
		ret = kjoule_region_area_new(&l->regions);
		if (ret)
			cmd_warn("no memory to mark regions in (%s): the report will have none",
				 strerror(-ret));
		ret = child_start(&l->child, opt->command, old, l->regions, opt->user);
		if (ret)
			return kjoule_fail(&l->err, -ret, "starting the command: %s",
					   strerror(-ret));
	}
	params.pid = opt->pid ? opt->pid : (uint32_t)l->child.pid;
	process = opt->thread ? record_thread_process(params.pid) : params.pid;
	/* children are followed wherever they are */
	l->process = everybody || (opt->flags & KJOULE_FLAG_INHERIT) ? 0 : process;
	l->looked_ns = kjoule_now_ns();
	ret = kjoule_sideband_open(everybody || opt->pid ? 0 : params.pid, &l->sb, &l->err);
	if (ret)
		return ret;
	ret = record_new_session(l, &params);
	if (ret)
		return ret;
	l->made = true;
	session_sources_describe(opt->sources, &l->session);
	ret = kjoule_device_attach(l->dev, l->session.id, &l->err);
	if (ret)
		return ret;

	l->buf = malloc(DRAIN_BYTES);
	if (!l->buf)
		return kjoule_fail(&l->err, ENOMEM, "no memory");
	ret = record_watch_side_band(l);
	if (ret)
		return ret;
	/* without them the CPUs are looked at all the same */
	if (kjoule_events_open(&l->notices, NULL))
		l->notices = NULL;
	l->fds[FD_DEVICE] = (struct pollfd){ kjoule_device_fd(l->dev), POLLIN, 0 };
	l->fds[FD_SIGNAL] = (struct pollfd){ signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK),
					     POLLIN, 0 };
	l->fds[FD_PROCESS] = (struct pollfd){ opt->pidfd, POLLIN, 0 };
	l->fds[FD_NOTICES] =
		(struct pollfd){ l->notices ? kjoule_events_fd(l->notices) : -1, POLLIN, 0 };
	if (l->fds[FD_SIGNAL].fd < 0)
		return kjoule_fail(&l->err, errno, "signalfd: %s", strerror(errno));

	/* Also for a command: until it execs it is a copy of us. */
	ret = kjoule_sideband_proc(everybody ? 0 : process, kjoule_now_ns(), UINT64_MAX,
				   record_writer_side_band, l->w);
	if (ret == -ESRCH)
		return kjoule_fail(&l->err, ESRCH, "process %u is gone", process);
	if (ret)
		return kjoule_fail(&l->err, -ret, "reading what processes have mapped: %s",
				   strerror(-ret));
	if (opt->cpus_given)
		record_keep_away(l, &opt->cpus);
	return 0;
}
