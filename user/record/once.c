// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One recording, from opening the device to closing the file: what a session needs is opened for
 * each, and what was asked for is compared with what the module and the machine have. Called by
 * cmd_record.c, runs.c and sweep/cmd_sweep.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/cmd.h"
#include "record/record.h"
#include "record/ring.h"

static int record_check_limits(const struct record_options *opt, const struct kjoule_info *info)
{
	if (opt->interval_ns < info->min_interval_ns || opt->interval_ns > info->max_interval_ns)
		return cmd_usage(opt->verb,
				 "a tick every %.3f us (%.6g Hz) is out of range; the module takes %.6g Hz to %.6g Hz",
				 opt->interval_ns / 1e3, 1e9 / opt->interval_ns,
				 1e9 / info->max_interval_ns, 1e9 / info->min_interval_ns);
	if (opt->ring_bytes && (opt->ring_bytes < info->min_ring_bytes ||
				opt->ring_bytes > info->max_ring_bytes))
		return cmd_usage(opt->verb,
				 "--ring-bytes %u is out of range; the module takes %llu to %llu",
				 opt->ring_bytes, (unsigned long long)info->min_ring_bytes,
				 (unsigned long long)info->max_ring_bytes);
	return 0;
}

/* Stacks fill a ring soon: unless a size was asked for, it is larger for them. */
static void record_size_stack_rings(struct record_options *opt, const struct kjoule_info *info)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	struct kjoule_cpus online;
	uint32_t wanted;
	unsigned int n;

	if (!(opt->flags & KJOULE_FLAG_USER_STACK) || opt->ring_given)
		return;
	n = kjoule_cpus_count(opt->cpus_given || kjoule_cpus_online(&online) ? &opt->cpus :
			      &online);
	opt->ring_bytes = record_ring_for_stacks(opt, info, n ? n : 1, memory, &wanted);
	if (opt->ring_bytes < wanted)
		cmd_warn("a ring for stacks has %u KiB instead of %u KiB: there are %u CPUs, and all rings together take a part of the memory only; where records are lost, record fewer CPUs (-C) or give --ring-bytes",
			 opt->ring_bytes >> 10, wanted >> 10, n);
}

static int record_check_cpus(const struct record_options *opt)
{
	struct kjoule_cpus online;
	char list[256];
	int cpu = -1;

	if (!opt->cpus_given || kjoule_cpus_online(&online))
		return 0;
	while ((cpu = kjoule_cpus_next(&opt->cpus, cpu + 1)) >= 0)
		if (!kjoule_cpus_has(&online, cpu))
			return cmd_failed("CPU %d is not online; online are %s", cpu,
					  kjoule_cpus_format(&online, list, sizeof(list)));
	return 0;
}

int record_once(const struct record_options *asked, struct record_result *result)
{
	struct record_options opt = *asked;
	struct kjoule_session_params like = { .cpus = asked->cpus_given ? &asked->cpus : NULL };
	struct session_sources *sources = NULL;
	struct record_writer *w = NULL;
	struct kjoule_device *dev = NULL;
	struct kjoule_ctl *ctl = NULL;
	struct kjoule_error err;
	int code = EXIT_FAILED;

	if (kjoule_device_open(&dev, &err) || kjoule_ctl_open(&ctl, &err)) {
		cmd_warn("%s", err.text);
		goto out;
	}
	code = record_check_limits(&opt, kjoule_device_info(dev));
	if (!opt.interval_exact)
		opt.interval_ns =
			kjoule_interval_out_of_step(opt.interval_ns, kjoule_device_info(dev));
	record_size_stack_rings(&opt, kjoule_device_info(dev));
	if (!code)
		code = record_check_cpus(&opt);
	like.interval_ns = opt.interval_ns;
	like.ring_bytes = kjoule_device_info(dev)->min_ring_bytes;
	if (!code)
		code = session_sources_open(opt.source, ctl, &like, &sources);
	if (code)
		goto out;
	opt.sources = sources;
	if (record_writer_open(opt.output_folder, opt.output, &w, &err)) {
		code = cmd_failed("%s", err.text);
		goto out;
	}
	code = record_run(&opt, ctl, dev, w, result);
	if (record_writer_close(w, &err)) {
		/* how the command ended is no answer then */
		if (!code || code == result->exit_code)
			code = cmd_failed("%s", err.text);
		result->exit_code = -1;
	}
out:
	session_sources_free(sources);
	kjoule_device_close(dev);
	kjoule_ctl_close(ctl);
	return code;
}
