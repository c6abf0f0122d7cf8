// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule record: what was asked, checked before anything is started. The
 * recording itself is loop.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "command/child.h"
#include "lib/file/datafile.h"
#include "record/record.h"
#include "verbs.h"

/* The largest stack that fits into a record. */
#define STACK_MAX	65384
#define FRAMES_MAX	1024

/* Of edge windows, in thousandths of the time: nearly as many as there can be. */
#define EDGE_DUTY	400

/* Part of the interval by which their ticks are jittered. */
#define EDGE_JITTER	0.6

#define CGROUP_ROOT	"/sys/fs/cgroup"

static const char help[] =
"Usage: kjoule record [OPTION]... (-a | -p PID | -t TID | --cgroup PATH | -- COMMAND [ARGUMENT]...)\n"
"\n"
"Records what runs, what it costs and how fast it is clocked, and writes it to a file.\n"
"\n"
"  -F, --rate HZ         about so many ticks a second, e.g. 1000 or 4kHz (default 1000)\n"
"  -i, --interval TIME   time between ticks instead, e.g. 500us\n"
"  -C, --cpus LIST       only these CPUs, e.g. 0-3,8; --cpu is the same\n"
"  -a, --all             whatever runs; with a COMMAND for as long as that takes\n"
"  -p, --pid PID         one running process with its threads\n"
"  -t, --tid TID         one thread\n"
"      --cgroup PATH     the processes of a cgroup; with a COMMAND for as long as that takes\n"
"      --no-inherit      a COMMAND without the children that it forks\n"
"      --inherit         with -p: the children as well that it forks from now on\n"
"      --wake-idle       tick on idle CPUs too, instead of leaving them alone\n"
"      --delay TIME      wait so long before the first tick\n"
"      --duration TIME   stop after so long; a COMMAND goes on unrecorded\n"
"      --jitter TIME     delay ticks by a random time below this, against aliasing\n"
"      --ring-bytes N    size of each CPU's ring, a power of two, e.g. 1M\n"
"  -g                    who called as well: the same as --call-graph fp\n"
"      --call-graph HOW  fp: kernel and user frames, by frame pointers; dwarf[,BYTES]: kernel\n"
"                        frames and BYTES of the user stack (default 8192), unwound later\n"
"      --max-stack N     frames of the kernel and, with fp, of user space (default 127)\n"
"      --source NAME[@PERIOD][,...]  sources, see `kjoule list`; energy is attributed by the first;\n"
"                        a slow one is read each PERIOD\n"
"      --runs N          the COMMAND so many times, each run into a file of its own\n"
"      --exit-code LIST  with --runs: exit codes of the COMMAND that are no failure, e.g. 10,20\n"
"      --user NAME       run the COMMAND as this user, without privileges\n"
"      --edge[=PERCENT]  hold all CPUs from random instants to the energy counter's next move, for so\n"
"                        much of the time (3 to 50, default 40), for the model edge of report\n"
"      --vpm BLOCK       start a meter at random runs of a block, for the model vpm of report; BLOCK is\n"
"                        FUNCTION, FILE:FROM-TO (lines), OBJECT:0xFROM-0xTO, or NAME= and one of\n"
"                        these; again for more\n"
"      --vpm-meter NAME[@TIME]  by this meter, so far apart on the average (default: the first that\n"
"                        starts on command, @TIME five times its sensing interval)\n"
"      --overhead PERCENT  as many ticks as take no more than this of a busy CPU's time, e.g. 1%: what a tick\n"
"                        takes is measured before, and checked afterwards\n"
"      --no-calibrate    do not measure what a tick costs\n"
"  -o, --output FILE     where to (default kjoule.data)\n"
"  -q, --quiet           no progress, no summary\n"
"  -h, --help\n"
"\n"
"TIME is a number with ns, us, ms, s, m or h; without one it counts seconds (not for -i).\n"
"The exit code is the COMMAND's: 128 + N if signal N killed it, 126 if it cannot be\n"
"executed, 127 if there is no such command; 1 if the recording failed, 2 for a wrong\n"
"command line.\n";

enum { OPT_DELAY = 256, OPT_DURATION, OPT_JITTER, OPT_RING, OPT_SOURCE, OPT_NO_CALIBRATE, OPT_CGROUP,
       OPT_INHERIT, OPT_NO_INHERIT, OPT_WAKE_IDLE, OPT_CALL_GRAPH, OPT_MAX_STACK, OPT_RUNS, OPT_EDGE,
       OPT_VPM, OPT_VPM_METER, OPT_OVERHEAD, OPT_EXIT_CODE, OPT_USER };

static const struct option options[] = {
	{ "rate", required_argument, NULL, 'F' },
	{ "interval", required_argument, NULL, 'i' },
	{ "cpus", required_argument, NULL, 'C' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "all", no_argument, NULL, 'a' },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "inherit", no_argument, NULL, OPT_INHERIT },
	{ "no-inherit", no_argument, NULL, OPT_NO_INHERIT },
	{ "wake-idle", no_argument, NULL, OPT_WAKE_IDLE },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "jitter", required_argument, NULL, OPT_JITTER },
	{ "ring-bytes", required_argument, NULL, OPT_RING },
	{ "call-graph", required_argument, NULL, OPT_CALL_GRAPH },
	{ "max-stack", required_argument, NULL, OPT_MAX_STACK },
	{ "source", required_argument, NULL, OPT_SOURCE },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "exit-code", required_argument, NULL, OPT_EXIT_CODE },
	{ "user", required_argument, NULL, OPT_USER },
	{ "edge", optional_argument, NULL, OPT_EDGE },
	{ "vpm", required_argument, NULL, OPT_VPM },
	{ "vpm-meter", required_argument, NULL, OPT_VPM_METER },
	{ "overhead", required_argument, NULL, OPT_OVERHEAD },
	{ "no-calibrate", no_argument, NULL, OPT_NO_CALIBRATE },
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

/* A value that did not parse: 0 if it did, else the exit code. */
/* "fp", "dwarf" or "dwarf,BYTES" */
static int record_parse_call_graph(struct record_options *opt, const char *arg)
{
	int ret = -EINVAL;

	opt->stack_bytes = 0;
	opt->flags &= ~(uint64_t)(KJOULE_FLAG_USER_CHAIN | KJOULE_FLAG_USER_STACK);
	opt->flags |= KJOULE_FLAG_KERNEL_CHAIN;
	if (!strcmp(arg, "fp")) {
		opt->flags |= KJOULE_FLAG_USER_CHAIN;
		return 0;
	}
	if (!strncmp(arg, "dwarf", 5)) {
		opt->flags |= KJOULE_FLAG_USER_STACK;
		ret = 0;
		if (arg[5] == ',')
			ret = args_bytes(arg + 6, &opt->stack_bytes);
		else if (arg[5])
			ret = -EINVAL;
		if (!ret && arg[5] && (opt->stack_bytes % 8 || !opt->stack_bytes))
			ret = -EINVAL;
		if (!ret && opt->stack_bytes > STACK_MAX)
			ret = -ERANGE;
	}
	return cmd_bad_value("record", ret, "--call-graph", arg,
			 "fp, dwarf, or dwarf,BYTES with a multiple of 8 up to 65384");
}

/* Percent of the time, as thousandths. */
static int record_parse_duty(const char *arg, uint32_t *duty)
{
	double percent;
	int ret = args_percent(arg, &percent);

	if (!ret && (percent < 3 || percent > 50))
		ret = -ERANGE;
	if (!ret)
		*duty = percent * 10 + 0.5;
	return ret;
}

/* NAME[@TIME] */
static int record_parse_meter(struct record_options *opt, const char *arg)
{
	static char name[KJOULE_NAME_LEN];
	const char *at = strchr(arg, '@');
	size_t len = at ? (size_t)(at - arg) : strlen(arg);

	if (len >= sizeof(name) || (!len && !at))
		return -EINVAL;
	memcpy(name, arg, len);
	name[len] = '\0';
	opt->vpm_source = len ? name : NULL;
	if (!at)
		return 0;
	return args_duration(at + 1, 1000000000, &opt->vpm_interval_ns) ? -EINVAL : opt->vpm_interval_ns ? 0 : -ERANGE;
}

static int record_parse_vpm(struct record_options *opt, const char *arg)
{
	const char *why;
	int ret = record_block_add(&opt->blocks, arg, &why);

	if (ret == -ENOMEM)
		return cmd_failed("%s", strerror(ENOMEM));
	if (ret)
		return cmd_usage("record", "--vpm %s: %s", arg, why);
	if (opt->blocks.n > KJOULE_VPM_BLOCKS)
		return cmd_usage("record", "--vpm %s: there can be %d blocks at most", arg, KJOULE_VPM_BLOCKS);
	return 0;
}

static int record_parse_option(struct record_options *opt, int c, const char *arg)
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
			return cmd_bad_value("record", args_rate(arg, &opt->interval_ns), "-F", arg,
					 "a rate like 1000 or 4kHz");
		ret = args_duration(arg, 0, &opt->interval_ns);
		if (!ret && !opt->interval_ns)
			ret = -ERANGE;
		return cmd_bad_value("record", ret, "-i", arg, time_like);
	case 'C':
		opt->cpus_given = true;
		return cmd_bad_value("record", kjoule_cpus_parse(arg, &opt->cpus), "-C", arg,
				 "CPUs like 0-3,8");
	case 'a':
		opt->system = true;
		return 0;
	case 'p':
	case 't':
		if (opt->pid)
			return cmd_usage("record", "-p and -t name one process or thread: give one, once");
		opt->thread = c == 't';
		return cmd_bad_value("record", args_pid(arg, &opt->pid), c == 't' ? "-t" : "-p", arg,
				 c == 't' ? "a thread id" : "a process id");
	case OPT_CGROUP:
		opt->cgroup = arg;
		return 0;
	case OPT_INHERIT:
	case OPT_NO_INHERIT:
		if (opt->inherit_given)
			return cmd_usage("record", "--inherit or --no-inherit: give one, once");
		opt->inherit_given = true;
		opt->flags |= c == OPT_INHERIT ? KJOULE_FLAG_INHERIT : 0;
		return 0;
	case OPT_WAKE_IDLE:
		opt->flags |= KJOULE_FLAG_WAKE_IDLE;
		return 0;
	case OPT_DELAY:
		return cmd_bad_value("record", args_duration(arg, 1000000000, &opt->delay_ns), "--delay", arg,
				 time_like);
	case OPT_DURATION:
		ret = args_duration(arg, 1000000000, &opt->duration_ns);
		if (!ret && !opt->duration_ns)
			ret = -ERANGE;
		return cmd_bad_value("record", ret, "--duration", arg, time_like);
	case OPT_JITTER:
		opt->jitter_given = true;
		return cmd_bad_value("record", args_duration(arg, 1000000000, &opt->jitter_ns), "--jitter", arg,
				 time_like);
	case OPT_RING:
		ret = args_bytes(arg, &opt->ring_bytes);
		if (!ret && (!opt->ring_bytes || (opt->ring_bytes & (opt->ring_bytes - 1))))
			ret = -EINVAL;
		opt->ring_given = true;
		return cmd_bad_value("record", ret, "--ring-bytes", arg, "a power of two like 65536 or 1M");
	case 'g':
		return record_parse_call_graph(opt, "fp");
	case OPT_CALL_GRAPH:
		return record_parse_call_graph(opt, arg);
	case OPT_MAX_STACK:
		ret = args_pid(arg, &opt->chain_depth);
		if (!ret && opt->chain_depth > FRAMES_MAX)
			ret = -ERANGE;
		return cmd_bad_value("record", ret, "--max-stack", arg, "a number of frames, 1 to 1024");
	case OPT_SOURCE:
		opt->source = arg;
		/* nothing at all is an answer: none */
		return cmd_bad_value("record", arg[0] ? args_sources(arg) : 0, "--source", arg,
				 "names with commas between, or \"\" for no source");
	case OPT_RUNS:
		ret = args_pid(arg, &opt->runs);
		if (!ret && opt->runs > RECORD_RUNS_MOST)
			ret = -ERANGE;
		return cmd_bad_value("record", ret, "--runs", arg, "a number of runs, 1 to 9999");
	case OPT_EXIT_CODE:
		return exit_codes_parse(opt->verb, arg, &opt->exits);
	case OPT_USER:
		opt->user_name = arg;
		return 0;
	case OPT_EDGE:
		opt->edge_duty = EDGE_DUTY;
		return arg ? cmd_bad_value("record", record_parse_duty(arg, &opt->edge_duty),
					   "--edge", arg,
					   "a percentage of the time, 3 to 50") : 0;
	case OPT_VPM:
		return record_parse_vpm(opt, arg);
	case OPT_VPM_METER:
		return cmd_bad_value("record", record_parse_meter(opt, arg), "--vpm-meter", arg,
				     "a meter like vchip-ina, or with a time like vchip-ina@100ms");
	case OPT_OVERHEAD:
		return record_parse_overhead(opt, arg);
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

static int record_parse_options(int argc, char **argv, struct record_options *opt)
{
	int c, ret;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:F:i:C:agp:t:o:qh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return -1;
		}
		if (c == '?' || c == ':')
			return cmd_getopt_error("record", c, optopt, argv[optind - 1]);
		ret = record_parse_option(opt, c, optarg);
		if (ret)
			return ret;
	}
	if (optind < argc)
		opt->command = argv + optind;
	if (opt->pid && (opt->system || opt->command || opt->cgroup))
		return cmd_usage("record", "%s goes with none of -a, --cgroup and a command",
				 opt->thread ? "-t" : "-p");
	if (opt->cgroup && opt->system)
		return cmd_usage("record", "--cgroup does not go with -a");
	if (!opt->pid && !opt->system && !opt->command && !opt->cgroup)
		return cmd_usage("record", "record whom? Give -a, -p PID, -t TID, --cgroup PATH or -- COMMAND");
	if (opt->runs && !opt->command)
		return cmd_usage("record", "--runs is of a command that is run again: give one after --");
	if (opt->exits.n && !opt->runs)
		return cmd_usage("record", "--exit-code tells with which exit codes --runs goes on: give both");
	if (opt->user_name && !opt->command)
		return cmd_usage("record", "--user needs a command: give one after --");
	if (opt->inherit_given && (opt->thread || opt->system || opt->cgroup))
		return cmd_usage("record", "--inherit and --no-inherit go with -p and with a command only");
	if (!opt->inherit_given && opt->command && !opt->system && !opt->cgroup)
		opt->flags |= KJOULE_FLAG_INHERIT;
	if (opt->chain_depth && !(opt->flags & KJOULE_FLAG_KERNEL_CHAIN))
		return cmd_usage("record", "--max-stack goes with -g or --call-graph");
	if (opt->blocks.n && (opt->thread || (!opt->pid && (opt->cgroup || !opt->command))))
		return cmd_usage("record", "--vpm is of one process: give -p PID or a COMMAND (with -a, too), without --cgroup");
	if (opt->blocks.n && opt->edge_duty)
		return cmd_usage("record", "--vpm and --edge both hold the CPUs: give one of them");
	if ((opt->vpm_source || opt->vpm_interval_ns) && !opt->blocks.n)
		return cmd_usage("record", "--vpm-meter goes with --vpm");
	ret = record_check_overhead(opt);
	if (ret)
		return ret;
	/* blocks that keep step with the ticks would look longer or shorter than they are (analysis/edge.h) */
	if (opt->edge_duty && !opt->jitter_given)
		opt->jitter_ns = opt->interval_ns * EDGE_JITTER;
	if (!(opt->overhead > 0) && opt->jitter_ns && opt->jitter_ns >= opt->interval_ns)
		return cmd_usage("record", "--jitter must be less than the interval of %.3f us",
				 opt->interval_ns / 1e3);
	return 0;
}

/* A thread has no descriptor that tells its end on every kernel; the loop asks for it by its id. */
static int record_check_thread(uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u", tid);
	if (!access(path, F_OK))
		return 0;
	return cmd_failed("-t %u: there is no such thread; see `ps -T`", tid);
}

/* A path below the mount point, or one from the root as it is. */
static int record_open_cgroup(struct record_options *opt)
{
	char path[4096], controllers[4200];

	snprintf(path, sizeof(path), "%s%s", opt->cgroup[0] == '/' ? "" : CGROUP_ROOT "/", opt->cgroup);
	opt->cgroup_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (opt->cgroup_fd < 0)
		return cmd_failed("--cgroup %s: %s: %s; see `ls " CGROUP_ROOT "`", opt->cgroup, path,
				  strerror(errno));
	snprintf(controllers, sizeof(controllers), "%s/cgroup.procs", path);
	if (access(controllers, F_OK))
		return cmd_failed("--cgroup %s: %s is no cgroup of version 2; see `ls " CGROUP_ROOT "`", opt->cgroup, path);
	return 0;
}

static int record_watch_process(uint32_t pid, int *fd)
{
	*fd = syscall(SYS_pidfd_open, pid, 0);
	if (*fd < 0 && errno == ENOSYS)
		errno = kill(pid, 0) && errno == ESRCH ? ESRCH : 0;
	if (*fd >= 0 || !errno)
		return 0;
	if (errno == ESRCH)
		return cmd_failed("-p %u: there is no such process; see `ps`", pid);
	if (errno == EINVAL)
		return cmd_failed("-p %u: that is a thread; name its process, see `ps -T`, or use -t", pid);
	return cmd_failed("-p %u: %s", pid, strerror(errno));
}

static int record_prepare_and_run(int argc, char **argv, struct record_options *opt)
{
	struct record_result result = { 0 };
	struct kjoule_error err;
	int code;

	code = record_parse_options(argc, argv, opt);
	if (code)
		return code < 0 ? EXIT_DONE : code;
	if (opt->command) {
		code = child_find(opt->command[0], &err);
		if (code) {
			cmd_warn("%s", err.text);
			return code;
		}
		code = kjoule_user_choose(opt->user_name, opt->quiet, &opt->user);
		if (code)
			return code;
	}
	if (opt->pid) {
		code = opt->thread ? record_check_thread(opt->pid) :
				     record_watch_process(opt->pid, &opt->pidfd);
		if (code)
			return code;
	}
	if (opt->cgroup)
		code = record_open_cgroup(opt);
	if (!code)
		code = opt->runs ? record_runs(opt, record_once) : record_once(opt, &result);
	if (opt->pidfd >= 0)
		close(opt->pidfd);
	if (opt->cgroup_fd >= 0)
		close(opt->cgroup_fd);
	return code;
}

int cmd_record(int argc, char **argv)
{
	struct record_options opt = {
		.verb = "record", .interval_ns = 1000000, .output = KJOULE_DATA_FILE, .output_folder = AT_FDCWD,
		.calibrate = true, .cgroup_fd = -1, .pidfd = -1 };
	int code = record_prepare_and_run(argc, argv, &opt);

	user_blocks_free(&opt.blocks);
	kjoule_user_free(opt.user);
	free(opt.exits.list);
	return code;
}
