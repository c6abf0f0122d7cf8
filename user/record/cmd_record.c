// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule record: what was asked, checked before anything is started. The
 * recording itself is loop.c.
 */
#include <errno.h>
#include <fcntl.h>
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
#include "record/options.h"
#include "verbs.h"

/* The largest stack that fits into a record. */
#define STACK_MAX	65384
#define FRAMES_MAX	1024

/* Of edge windows, in thousandths of the time: nearly as many as there can be. */
#define EDGE_DUTY	400

/* Part of the interval by which their ticks are jittered. */
#define EDGE_JITTER	0.6

#define CGROUP_ROOT	"/sys/fs/cgroup"

static const struct options_verb record_verb = {
	.name = "record",
	.usage = "[OPTION]... [--] COMMAND [ARGUMENT]...\n"
		 "[OPTION]... (-a | -p PID | -t TID | --cgroup PATH)",
	.about =
	"Records what runs, what it costs and how fast it is clocked, and writes it to a\n"
	"file. A TIME has ns, us, ms, s, m or h; seconds need no unit, but for -i.",
	.examples =
	"  sudo kjoule record -- ./mix 30 10\n"
	"  sudo kjoule record -g -F 4kHz -o mix.data -- ./mix 30 10\n"
	"  sudo kjoule record -a --duration 10\n",
	.command = true,
};

/* Callbacks of options, see OPT_CALL(). "fp", which is NULL as well, "dwarf" or "dwarf,BYTES" */
static int record_parse_call_graph(void *context, const char *arg, const char **why)
{
	struct record_options *opt = context;
	int ret;

	(void)why;
	opt->stack_bytes = 0;
	opt->flags &= ~(uint64_t)(KJOULE_FLAG_USER_CHAIN | KJOULE_FLAG_USER_STACK);
	opt->flags |= KJOULE_FLAG_KERNEL_CHAIN;
	if (!arg || !strcmp(arg, "fp")) {
		opt->flags |= KJOULE_FLAG_USER_CHAIN;
		return 0;
	}
	if (strncmp(arg, "dwarf", 5) || (arg[5] && arg[5] != ','))
		return -EINVAL;
	opt->flags |= KJOULE_FLAG_USER_STACK;
	if (!arg[5])
		return 0;
	ret = args_bytes(arg + 6, &opt->stack_bytes);
	if (!ret && (opt->stack_bytes % 8 || !opt->stack_bytes))
		ret = -EINVAL;
	return !ret && opt->stack_bytes > STACK_MAX ? -ERANGE : ret;
}

static int record_parse_ring_bytes(void *bytes, const char *arg, const char **why)
{
	uint32_t n = 0;
	int ret = args_bytes(arg, &n);

	(void)why;
	*(uint32_t *)bytes = n;
	return !ret && (!n || (n & (n - 1))) ? -EINVAL : ret;
}

/* Nothing at all is an answer: none. */
static int record_parse_source(void *source, const char *arg, const char **why)
{
	(void)why;
	*(const char **)source = arg;
	return arg[0] ? args_sources(arg) : 0;
}

/* Percent of the time, as thousandths. */
static int record_parse_duty(void *duty, const char *arg, const char **why)
{
	double percent = EDGE_DUTY / 10.0;
	int ret = arg ? args_percent(arg, &percent) : 0;

	(void)why;
	*(uint32_t *)duty = percent * 10 + 0.5;
	return !ret && (percent < 3 || percent > 50) ? -ERANGE : ret;
}

/* NAME[@TIME] */
static int record_parse_meter(void *context, const char *arg, const char **why)
{
	static char name[KJOULE_NAME_LEN];
	struct record_options *opt = context;
	const char *at = strchr(arg, '@');
	size_t len = at ? (size_t)(at - arg) : strlen(arg);

	(void)why;
	if (len >= sizeof(name) || (!len && !at))
		return -EINVAL;
	memcpy(name, arg, len);
	name[len] = '\0';
	opt->vpm_source = len ? name : NULL;
	if (!at)
		return 0;
	return args_duration(at + 1, 1000000000, &opt->vpm_interval_ns) ? -EINVAL :
	       opt->vpm_interval_ns ? 0 : -ERANGE;
}

static int record_parse_vpm(void *context, const char *arg, const char **why)
{
	struct user_blocks *blocks = context;
	static char many[64];
	int ret = record_block_add(blocks, arg, why);

	if (ret || blocks->n <= KJOULE_VPM_BLOCKS)
		return ret;
	snprintf(many, sizeof(many), "there can be %d blocks at most", KJOULE_VPM_BLOCKS);
	*why = many;
	return -EINVAL;
}

static int record_parse_options(int argc, char **argv, struct record_options *opt)
{
	bool inherit = false, no_inherit = false, wake_idle = false;
	const struct options_row options[] = {
		RECORD_OPT_RATE(opt),
		RECORD_OPT_INTERVAL(opt),
		RECORD_OPT_CPUS(opt),
		{ 'a', "all", NULL, "whatever runs; with a COMMAND for as long as it takes",
		  OPT_FLAG(&opt->system) },
		{ 'p', "pid", "PID", "one running process with its threads", OPT_PID(&opt->pid),
		  .not_with = "pid tid all cgroup" },
		{ 't', "tid", "TID", "one thread", OPT_NUMBER(&opt->pid, 1, INT_MAX),
		  .given = &opt->thread,
		  .not_with = "tid all cgroup", .expected = "a thread id" },
		{ 0, "cgroup", "PATH", "the processes of a cgroup", OPT_TEXT(&opt->cgroup),
		  .not_with = "all" },
		{ 0, "no-inherit", NULL, "a COMMAND without the children that it forks",
		  OPT_FLAG(&no_inherit),
		  .not_with = "no-inherit tid all cgroup" },
		{ 0, "inherit", NULL, "with -p: the children as well that it forks",
		  OPT_FLAG(&inherit),
		  .not_with = "inherit no-inherit tid all cgroup" },
		{ 0, "wake-idle", NULL, "tick on idle CPUs too", OPT_FLAG(&wake_idle) },
		{ 0, "delay", "TIME", "wait so long before the first tick",
		  OPT_TIME(&opt->delay_ns, 1000000000, 0, UINT64_MAX) },
		{ 0, "duration", "TIME", "stop after so long; a COMMAND goes on unrecorded",
		  OPT_TIME(&opt->duration_ns, 1000000000, 1, UINT64_MAX) },
		RECORD_OPT_JITTER(opt),
		{ 0, "ring-bytes", "N", "size of each CPU's ring, a power of two: 1M",
		  OPT_CALL(record_parse_ring_bytes, &opt->ring_bytes), .given = &opt->ring_given,
		  .expected = "a power of two like 65536 or 1M" },
		{ 'g', NULL, NULL, "who called as well: the same as --call-graph fp",
		  OPT_CALL(record_parse_call_graph, opt) },
		{ 0, "call-graph", "HOW",
		  "fp, or dwarf[,BYTES] of user stacks (default 8192)",
		  OPT_CALL(record_parse_call_graph, opt),
		  OPT_OFFER("fp", "dwarf", "dwarf,"),
		  .expected = "fp, dwarf, or dwarf,BYTES with a multiple of 8 up to 65384" },
		{ 0, "max-stack", "N", "frames of kernel and, with fp, user (default 127)",
		  OPT_NUMBER(&opt->chain_depth, 1, FRAMES_MAX), .needs = "g call-graph" },
		{ 0, "source", "NAME[@PERIOD][,...]",
		  "see kjoule list; energy is attributed by the first",
		  OPT_CALL(record_parse_source, &opt->source),
		  .expected = "names with commas between, or \"\" for no source" },
		{ 0, "runs", "N", "the COMMAND so many times, each into a file of its own",
		  OPT_NUMBER(&opt->runs, 1, RECORD_RUNS_MOST) },
		RECORD_OPT_EXIT_CODE(opt, .needs = "runs"),
		RECORD_OPT_USER(opt),
		{ 0, "edge", "[=PERCENT]",
		  "for model edge: pause all CPUs up to energy updates, so "
		  "much of the time (3 to 50, default 40)",
		  OPT_CALL(record_parse_duty, &opt->edge_duty), .not_with = "vpm",
		  .expected = "a percentage of the time, 3 to 50" },
		{ 0, "vpm", "BLOCK",
		  "for model vpm: read a meter at random runs of "
		  "FUNCTION, FILE:FROM-TO or OBJECT:0xFROM-0xTO",
		  OPT_CALL(record_parse_vpm, &opt->blocks) },
		{ 0, "vpm-meter", "NAME[@TIME]", "by this meter, so far apart on the average",
		  OPT_CALL(record_parse_meter, opt), .needs = "vpm",
		  .expected = "a meter like vchip-ina, or with a time like vchip-ina@100ms" },
		RECORD_OPT_OVERHEAD(opt, "edge vpm"),
		RECORD_OPT_NO_CALIBRATE(opt),
		{ 'o', "output", "FILE", "where to (default kjoule.data)", OPT_TEXT(&opt->output) },
		{ 'q', "quiet", NULL, "no progress, no summary", OPT_FLAG(&opt->quiet) },
		{ 0 }
	};
	int first = options_parse(&record_verb, options, argc, argv);

	if (first <= 0)
		return first;
	if (first < argc)
		opt->command = argv + first;
	if (opt->pid && opt->command)
		return -cmd_usage("record", "%s does not go with a command",
				  opt->thread ? "-t" : "-p");
	if (!opt->pid && !opt->system && !opt->command && !opt->cgroup)
		return -cmd_usage("record",
				  "record whom? Give -a, -p PID, -t TID, --cgroup PATH or -- COMMAND");
	if (opt->runs && !opt->command)
		return -cmd_usage("record",
				  "--runs is of a command that is run again: give one after --");
	if (opt->user_name && !opt->command)
		return -cmd_usage("record", "--user needs a command: give one after --");
	if (opt->blocks.n && (opt->thread || (!opt->pid && (opt->cgroup || !opt->command))))
		return -cmd_usage("record",
				  "--vpm is of one process: give -p PID or a COMMAND (with -a, too), without --cgroup");
	if (wake_idle)
		opt->flags |= KJOULE_FLAG_WAKE_IDLE;
	if (inherit || (!no_inherit && opt->command && !opt->system && !opt->cgroup))
		opt->flags |= KJOULE_FLAG_INHERIT;
	/*
	 * blocks that keep step with the ticks would look longer or shorter than they are
	 * (analysis/edge.h)
	 */
	if (opt->edge_duty && !opt->jitter_given)
		opt->jitter_ns = opt->interval_ns * EDGE_JITTER;
	return -record_check_jitter(opt) ?: first;
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

	snprintf(path, sizeof(path), "%s%s", opt->cgroup[0] == '/' ? "" : CGROUP_ROOT "/",
		 opt->cgroup);
	opt->cgroup_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (opt->cgroup_fd < 0)
		return cmd_failed("--cgroup %s: %s: %s; see `ls " CGROUP_ROOT "`", opt->cgroup,
				  path, strerror(errno));
	snprintf(controllers, sizeof(controllers), "%s/cgroup.procs", path);
	if (access(controllers, F_OK))
		return cmd_failed("--cgroup %s: %s is no cgroup of version 2; see `ls "
				  CGROUP_ROOT "`", opt->cgroup, path);
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
	int first = record_parse_options(argc, argv, opt), code = 0;

	if (first <= 0)
		return -first;
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
		.verb = "record", .interval_ns = 1000000, .output = KJOULE_DATA_FILE,
		.output_folder = AT_FDCWD, .calibrate = true, .cgroup_fd = -1, .pidfd = -1 };
	int code = record_prepare_and_run(argc, argv, &opt);

	user_blocks_free(&opt.blocks);
	kjoule_user_free(opt.user);
	free(opt.exits.list);
	return code;
}
