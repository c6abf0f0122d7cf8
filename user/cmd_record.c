// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule record: what was asked, checked before anything is started. The
 * recording itself is record_loop.c.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "args.h"
#include "cmd.h"
#include "record.h"

/* One in so many parts: a prime, so that few periods are a multiple of the ticks'. */
#define OUT_OF_STEP	127

static const char help[] =
"Usage: kjoule record [OPTION]... (-a | -p PID | -- COMMAND [ARGUMENT]...)\n"
"\n"
"Records what runs, what it costs and how fast it is clocked, and writes it to a file.\n"
"\n"
"  -F, --rate HZ         about so many ticks a second, e.g. 1000 or 4kHz (default 1000)\n"
"  -i, --interval TIME   time between ticks instead, e.g. 500us\n"
"  -C, --cpus LIST       only these CPUs, e.g. 0-3,8\n"
"  -a, --all             whatever runs; with a COMMAND for as long as that takes\n"
"  -p, --pid PID         one running process with its threads\n"
"      --delay TIME      wait so long before the first tick\n"
"      --duration TIME   stop after so long; a COMMAND goes on unrecorded\n"
"      --jitter TIME     delay ticks by a random time below this, against aliasing\n"
"      --ring-bytes N    size of each CPU's ring, a power of two, e.g. 1M\n"
"      --source NAME     energy source, see `kjoule list`\n"
"      --no-calibrate    do not measure what a tick costs\n"
"  -o, --output FILE     where to (default kjoule.data)\n"
"  -q, --quiet           no progress, no summary\n"
"  -h, --help\n"
"\n"
"TIME is a number with ns, us, ms, s, m or h; without one it counts seconds (not for -i).\n"
"The exit code is the COMMAND's: 128 + N if signal N killed it, 126 if it can not be\n"
"executed, 127 if there is no such command; 1 if the recording failed, 2 for a wrong\n"
"command line.\n";

enum { OPT_DELAY = 256, OPT_DURATION, OPT_JITTER, OPT_RING, OPT_SOURCE, OPT_NO_CALIBRATE };

static const struct option options[] = {
	{ "rate", required_argument, NULL, 'F' },
	{ "interval", required_argument, NULL, 'i' },
	{ "cpus", required_argument, NULL, 'C' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "all", no_argument, NULL, 'a' },
	{ "pid", required_argument, NULL, 'p' },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "jitter", required_argument, NULL, OPT_JITTER },
	{ "ring-bytes", required_argument, NULL, OPT_RING },
	{ "source", required_argument, NULL, OPT_SOURCE },
	{ "no-calibrate", no_argument, NULL, OPT_NO_CALIBRATE },
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

/* A value that did not parse: 0 if it did, else the exit code. */
static int bad_value(int ret, const char *option, const char *text, const char *wanted)
{
	if (!ret)
		return 0;
	return cmd_usage("record", "%s %s: %s; expected %s", option, text,
			 ret == -ERANGE ? "out of range" : "not understood", wanted);
}

static int parse_one(struct record_options *opt, int c, const char *arg)
{
	static const char time_like[] = "a time like 500us, 20ms or 3s";
	int ret;

	switch (c) {
	case 'F':
	case 'i':
		if (opt->interval_given)
			return cmd_usage("record", "-F and -i say the same thing: give one, once");
		opt->interval_given = true;
		opt->interval_exact = c == 'i';
		if (c == 'F')
			return bad_value(args_rate(arg, &opt->interval_ns), "-F", arg,
					 "a rate like 1000 or 4kHz");
		ret = args_duration(arg, 0, &opt->interval_ns);
		if (!ret && !opt->interval_ns)
			ret = -ERANGE;
		return bad_value(ret, "-i", arg, time_like);
	case 'C':
		opt->cpus_given = true;
		return bad_value(kjoule_cpus_parse(arg, &opt->cpus), "-C", arg,
				 "CPUs like 0-3,8");
	case 'a':
		opt->system = true;
		return 0;
	case 'p':
		return bad_value(args_pid(arg, &opt->pid), "-p", arg, "a process id");
	case OPT_DELAY:
		return bad_value(args_duration(arg, 1000000000, &opt->delay_ns), "--delay", arg,
				 time_like);
	case OPT_DURATION:
		ret = args_duration(arg, 1000000000, &opt->duration_ns);
		if (!ret && !opt->duration_ns)
			ret = -ERANGE;
		return bad_value(ret, "--duration", arg, time_like);
	case OPT_JITTER:
		return bad_value(args_duration(arg, 1000000000, &opt->jitter_ns), "--jitter", arg,
				 time_like);
	case OPT_RING:
		ret = args_bytes(arg, &opt->ring_bytes);
		if (!ret && (!opt->ring_bytes || (opt->ring_bytes & (opt->ring_bytes - 1))))
			ret = -EINVAL;
		return bad_value(ret, "--ring-bytes", arg, "a power of two like 65536 or 1M");
	case OPT_SOURCE:
		opt->source = arg;
		return 0;
	case OPT_NO_CALIBRATE:
		opt->calibrate = false;
		return 0;
	case 'o':
		opt->output = arg;
		return 0;
	case 'q':
		opt->quiet = true;
		return 0;
	}
	return EXIT_USAGE;
}

static int parse(int argc, char **argv, struct record_options *opt)
{
	int c, ret;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:F:i:C:ap:o:qh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return -1;
		}
		if (c == '?' || c == ':')
			return cmd_getopt_error("record", c, optopt, argv[optind - 1]);
		ret = parse_one(opt, c, optarg);
		if (ret)
			return ret;
	}
	if (optind < argc)
		opt->command = argv + optind;
	if (opt->pid && (opt->system || opt->command))
		return cmd_usage("record", "-p goes with neither -a nor a command");
	if (!opt->pid && !opt->system && !opt->command)
		return cmd_usage("record", "record whom? Give -a, -p PID or -- COMMAND");
	if (opt->jitter_ns && opt->jitter_ns >= opt->interval_ns)
		return cmd_usage("record", "--jitter must be less than the interval of %.3f us",
				 opt->interval_ns / 1e3);
	return 0;
}

static int check_limits(const struct record_options *opt, const struct kjoule_info *info)
{
	if (opt->interval_ns < info->min_interval_ns || opt->interval_ns > info->max_interval_ns)
		return cmd_usage("record",
				 "a tick every %.3f us (%.6g Hz) is out of range; the module takes %.6g Hz to %.6g Hz",
				 opt->interval_ns / 1e3, 1e9 / opt->interval_ns,
				 1e9 / info->max_interval_ns, 1e9 / info->min_interval_ns);
	if (opt->ring_bytes && (opt->ring_bytes < info->min_ring_bytes ||
				opt->ring_bytes > info->max_ring_bytes))
		return cmd_usage("record",
				 "--ring-bytes %u is out of range; the module takes %llu to %llu",
				 opt->ring_bytes, (unsigned long long)info->min_ring_bytes,
				 (unsigned long long)info->max_ring_bytes);
	return 0;
}

/*
 * A round rate keeps step with the kernel's tick and with whatever else goes by round
 * times: what runs right after it is sampled always, or never. A little slower the ticks
 * pass over all of its phases, in turn.
 */
static void get_out_of_step(struct record_options *opt, const struct kjoule_info *info)
{
	uint64_t slower = opt->interval_ns + opt->interval_ns / OUT_OF_STEP;

	if (!opt->interval_exact && slower <= info->max_interval_ns)
		opt->interval_ns = slower;
}

static int check_cpus(const struct record_options *opt)
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

/* An unknown or unusable source, before anything is started. */
static int check_source(const struct record_options *opt, struct kjoule_ctl *ctl)
{
	struct kjoule_source_info *list;
	const struct kjoule_source_info *found = NULL;
	struct kjoule_error err;
	bool usable = false;
	size_t n;
	int ret = 0;

	if (kjoule_sources(ctl, &list, &n, &err))
		return cmd_failed("%s", err.text);
	for (size_t i = 0; i < n; i++) {
		if (list[i].kind != KJOULE_KIND_ENERGY)
			continue;
		usable |= list[i].available && list[i].is_default;
		if (opt->source && !strcmp(list[i].name, opt->source))
			found = &list[i];
	}
	if (opt->source && opt->source[0]) {
		if (!found)
			ret = cmd_failed("%s: no such energy source; see `kjoule list`", opt->source);
		else if (!found->available)
			ret = cmd_failed("%s: this source can not be used: %s; see `kjoule list`",
					 opt->source, found->reason);
	} else if (!opt->source && !usable) {
		cmd_warn("no energy source can be used (see `kjoule list`): recording time and frequency only");
	}
	free(list);
	return ret;
}

static int watch_process(uint32_t pid, int *fd)
{
	*fd = syscall(SYS_pidfd_open, pid, 0);
	if (*fd < 0 && errno == ENOSYS)
		errno = kill(pid, 0) && errno == ESRCH ? ESRCH : 0;
	if (*fd >= 0 || !errno)
		return 0;
	if (errno == ESRCH)
		return cmd_failed("-p %u: there is no such process; see `ps`", pid);
	if (errno == EINVAL)
		return cmd_failed("-p %u: that is a thread; name its process, see `ps -T`", pid);
	return cmd_failed("-p %u: %s", pid, strerror(errno));
}

int cmd_record(int argc, char **argv)
{
	struct record_options opt = {
		.interval_ns = 1000000, .output = "kjoule.data", .calibrate = true };
	struct record_writer *w = NULL;
	struct kjoule_device *dev = NULL;
	struct kjoule_ctl *ctl = NULL;
	struct kjoule_error err;
	int code, pidfd = -1;

	code = parse(argc, argv, &opt);
	if (code)
		return code < 0 ? EXIT_DONE : code;
	if (opt.command) {
		code = record_child_find(opt.command[0], &err);
		if (code) {
			cmd_warn("%s", err.text);
			return code;
		}
	}
	if (opt.pid) {
		code = watch_process(opt.pid, &pidfd);
		if (code)
			return code;
	}
	code = EXIT_FAILED;
	if (kjoule_device_open(&dev, &err) || kjoule_ctl_open(&ctl, &err)) {
		cmd_warn("%s", err.text);
		goto out;
	}
	code = check_limits(&opt, kjoule_device_info(dev));
	get_out_of_step(&opt, kjoule_device_info(dev));
	if (!code)
		code = check_cpus(&opt);
	if (!code)
		code = check_source(&opt, ctl);
	if (code)
		goto out;
	if (record_writer_open(opt.output, &w, &err)) {
		code = cmd_failed("%s", err.text);
		goto out;
	}
	code = record_run(&opt, ctl, dev, w, pidfd);
	if (record_writer_close(w, &err) && !code)
		code = cmd_failed("%s", err.text);
out:
	if (pidfd >= 0)
		close(pidfd);
	kjoule_device_close(dev);
	kjoule_ctl_close(ctl);
	return code;
}
