// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule sweep: a command at several frequencies and numbers of threads, and which of them is best for each of its
 * blocks. What was asked, and the order of things; see sweep.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "command/child.h"
#include "lib/base/privilege.h"
#include "lib/control/sources.h"
#include "output/picture.h"
#include "output/plot.h"
#include "sweep/sweep.h"
#include "verbs.h"

static const char help[] =
"Usage: kjoule sweep [OPTION]... -- COMMAND [ARGUMENT]...\n"
"       kjoule sweep [OPTION]... --from DIR\n"
"       kjoule sweep --restore\n"
"\n"
"Runs a command at several frequencies and numbers of threads, records each run, and tells for\n"
"each block of its code at which setting it takes the least energy and the least energy-delay\n"
"product, and what it would save to have each block at its own frequency.\n"
"\n"
"      --freq LIST         e.g. 800MHz,1.2GHz,max, or all (the default), or keep: as it is\n"
"      --threads LIST      e.g. 1,2,4-8: handed over as OMP_NUM_THREADS, and as {threads} in its arguments\n"
"      --runs N            run each setting so often (default 1; from 3 on it is known what runs differ by)\n"
"      --exit-code LIST    exit codes of the command that are no failure, e.g. 10,20\n"
"      --user NAME         run the command as this user, without privileges\n"
"  -o, --output DIR        keep the recordings there (default kjoule.sweep)\n"
"      --from DIR          run nothing: look at the recordings of a sweep again\n"
"      --restore           only give back the frequencies that a sweep which was killed has left\n"
"\n"
"Of each recording, as kjoule record has them:\n"
"  -F, --rate HZ   -i, --interval TIME   -C, --cpus LIST   --jitter TIME   --overhead PERCENT\n"
"  --source NAME[,...]   --no-calibrate\n"
"\n"
"Of what is shown, as kjoule report has them:\n"
"      --by GRAIN          object, function (default), line, loop, block, region\n"
"      --block NAME=PART[,PART]...\n"
"      --comm NAME         only processes of this name\n"
"      --percent-limit P   leave out blocks below P % at all settings (default 1; 0 for JSON and CSV)\n"
"      --raw               the plain model: no costs taken out\n"
"      --map FILE          also a heat map of the energies (.svg, .png), with its data beside (.csv)\n"
"      --force             replace such data that are there already\n"
"      --json              as one JSON document\n"
"      --csv               as CSV\n"
"  -q, --quiet             no progress\n"
"  -h, --help\n"
"\n"
"The exit code is 1 if a setting could not be measured to its end; the others are shown all the\n"
"same. Frequencies are given back whatever happens; after a SIGKILL by a process that waits for it,\n"
"and if that was killed as well by the next sweep.\n";

enum { OPT_FREQ = 256, OPT_THREADS, OPT_RUNS, OPT_FROM, OPT_RESTORE, OPT_JITTER, OPT_OVERHEAD, OPT_SOURCE,
       OPT_NO_CALIBRATE, OPT_BY, OPT_BLOCK, OPT_COMM, OPT_LIMIT, OPT_RAW, OPT_MAP, OPT_FORCE, OPT_JSON, OPT_CSV,
       OPT_EXIT_CODE, OPT_USER };

static const struct option options[] = {
	{ "freq", required_argument, NULL, OPT_FREQ },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "exit-code", required_argument, NULL, OPT_EXIT_CODE },
	{ "user", required_argument, NULL, OPT_USER },
	{ "output", required_argument, NULL, 'o' },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "restore", no_argument, NULL, OPT_RESTORE },
	{ "rate", required_argument, NULL, 'F' },
	{ "interval", required_argument, NULL, 'i' },
	{ "cpus", required_argument, NULL, 'C' },
	{ "jitter", required_argument, NULL, OPT_JITTER },
	{ "overhead", required_argument, NULL, OPT_OVERHEAD },
	{ "source", required_argument, NULL, OPT_SOURCE },
	{ "no-calibrate", no_argument, NULL, OPT_NO_CALIBRATE },
	{ "by", required_argument, NULL, OPT_BY },
	{ "block", required_argument, NULL, OPT_BLOCK },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "percent-limit", required_argument, NULL, OPT_LIMIT },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "map", required_argument, NULL, OPT_MAP },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

/* Below this part of the whole blocks are not shown to people unless they say so. */
#define LIMIT		1

#define MOST_THREADS	65536

struct asked {
	const char *freq, *output, *from, *map;
	bool restore;
	uint32_t *threads;
	size_t n_threads;
	uint32_t runs;
	bool runs_given, recording_given;
	struct record_options record;
	struct attribute_options report;
};

/* Options of a recording. */
static int sweep_parse_record_option(struct asked *a, int c, const char *arg)
{
	static const char time_like[] = "a time like 500us, 20ms or 3s";
	struct record_options *r = &a->record;
	int ret;

	a->recording_given = true;
	switch (c) {
	case 'F':
	case 'i':
		if (r->interval_given)
			return cmd_usage("sweep", "-F and -i say the same thing: give one, once");
		r->interval_given = true;
		r->interval_exact = c == 'i';
		if (c == 'F')
			return cmd_bad_value("sweep", args_rate(arg, &r->interval_ns), "-F", arg, "a rate like 1000 or 4kHz");
		ret = args_duration(arg, 0, &r->interval_ns);
		return cmd_bad_value("sweep", !ret && !r->interval_ns ? -ERANGE : ret, "-i", arg, time_like);
	case 'C':
		r->cpus_given = true;
		return cmd_bad_value("sweep", kjoule_cpus_parse(arg, &r->cpus), "-C", arg, "CPUs like 0-3,8");
	case OPT_JITTER:
		r->jitter_given = true;
		return cmd_bad_value("sweep", args_duration(arg, 1000000000, &r->jitter_ns), "--jitter", arg, time_like);
	case OPT_OVERHEAD:
		return record_parse_overhead(r, arg);
	case OPT_NO_CALIBRATE:
		r->calibrate = false;
		return 0;
	case OPT_EXIT_CODE:
		return exit_codes_parse(r->verb, arg, &r->exits);
	case OPT_USER:
		r->user_name = arg;
		return 0;
	}
	return EXIT_USAGE;
}

static int sweep_parse_option(struct asked *a, int c, const char *arg, double *limit)
{
	switch (c) {
	case OPT_FREQ:
		a->freq = arg;
		return 0;
	case OPT_THREADS:
		free(a->threads);
		return cmd_bad_value("sweep", args_list(arg, MOST_THREADS, &a->threads, &a->n_threads), "--threads", arg,
				 "numbers of threads like 1,2,4-8");
	case OPT_RUNS:
		a->runs_given = true;
		return cmd_bad_value("sweep", args_pid(arg, &a->runs) ? -EINVAL : a->runs > SWEEP_RUNS ? -ERANGE : 0, "--runs", arg,
				 "a number of runs, 1 to 999");
	case 'o':
		a->output = arg;
		return 0;
	case OPT_FROM:
		a->from = arg;
		return 0;
	case OPT_RESTORE:
		a->restore = true;
		return 0;
	case OPT_SOURCE:
		a->record.source = a->report.source = arg;
		return cmd_bad_value("sweep", args_sources(arg), "--source", arg, "names with commas between");
	case OPT_BY:
		return attribute_parse_grain("sweep", arg, &a->report);
	case OPT_BLOCK:
		return attribute_parse_block("sweep", arg, &a->report);
	case OPT_COMM:
		a->report.comm = arg;
		return 0;
	case OPT_LIMIT:
		return cmd_bad_value("sweep", args_percent(arg, limit), "--percent-limit", arg, "a number from 0 to 100");
	case OPT_RAW:
		a->report.raw = true;
		return 0;
	case OPT_MAP:
		a->map = arg;
		return plot_kind(arg) ? 0 : cmd_usage("sweep", "--map %s: expected a file that ends in .svg or .png", arg);
	case OPT_FORCE:
		a->report.force = true;
		return 0;
	case OPT_JSON:
		a->report.format = OUTPUT_JSON;
		return 0;
	case OPT_CSV:
		a->report.format = OUTPUT_CSV;
		return 0;
	case 'q':
		a->record.quiet = true;
		return 0;
	}
	return sweep_parse_record_option(a, c, arg);
}

/* What contradicts itself. */
static int sweep_check_options(struct asked *a)
{
	struct record_options *r = &a->record;
	int ret = record_check_overhead(r);

	if (ret)
		return ret;
	if (a->restore && (a->from || r->command))
		return cmd_usage("sweep", "--restore only gives back frequencies: it takes neither a command nor --from");
	if (a->from && (r->command || a->freq || a->threads || a->runs_given || a->output || a->recording_given))
		return cmd_usage("sweep", "--from looks at what was recorded: it goes with no command, and with nothing of how one is run");
	if (a->report.force && !a->map)
		return cmd_usage("sweep", "--force goes with --map");
	if (r->user_name && !r->command)
		return cmd_usage("sweep", "--user needs a command: give one after --");
	if (!a->from && !a->restore && !r->command)
		return cmd_usage("sweep", "sweep what? Give a command after --, or --from DIR");
	if (r->command && strstr(r->command[0], SWEEP_THREADS))
		return cmd_usage("sweep", "%.200s: a program for each number of threads is not one program, and settings of different ones are not compared; hand the number over as an argument (./program %s) or as OMP_NUM_THREADS, or sweep each program by itself and hold two recordings against each other with `kjoule diff --force`",
				 r->command[0], SWEEP_THREADS);
	if (!(r->overhead > 0) && r->jitter_ns && r->jitter_ns >= r->interval_ns)
		return cmd_usage("sweep", "--jitter must be less than the interval of %.3f us", r->interval_ns / 1e3);
	if (a->report.processes)
		return cmd_usage("sweep", "--by process: the total says that; take object, function, line, loop, block or region");
	if (a->report.by_region && a->report.named.n)
		return cmd_usage("sweep", "--by region has no place for --block");
	return 0;
}

static int sweep_parse_options(int argc, char **argv, struct asked *a)
{
	double limit = -1;
	int c, ret;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:F:i:C:o:qh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return -1;
		}
		if (c == '?' || c == ':')
			return cmd_getopt_error("sweep", c, optopt, argv[optind - 1]);
		ret = sweep_parse_option(a, c, optarg, &limit);
		if (ret)
			return ret;
	}
	if (optind < argc)
		a->record.command = argv + optind;
	a->record.flags |= KJOULE_FLAG_INHERIT;
	a->report.units = a->report.grain != CODE_UNIT_FUNCTION || a->report.named.n;
	a->report.percent_limit = limit >= 0 ? limit : a->report.format == OUTPUT_TABLE ? LIMIT : 0;
	return sweep_check_options(a);
}

/* What a sweep that was killed has left. Return: 0, or the exit code after saying why not */
static int sweep_restore_frequencies(bool alone)
{
	struct kjoule_error err;
	char said[512];
	int ret = kjoule_frequency_recover(KJOULE_SYSFS, KJOULE_FREQUENCY_STATE, said, sizeof(said), &err);

	if (said[0])
		cmd_warn("%s", said);
	if (ret < 0)
		return cmd_failed("%s", err.text);
	if (alone && !said[0])
		cmd_warn("there is nothing to restore: no sweep was killed while it held the CPUs at a frequency");
	return 0;
}

/* The frequencies that were asked for, each of which all CPUs have to have. */
static int sweep_choose_frequencies(const struct asked *a, const struct kjoule_frequency *f,
				    uint32_t **khz, size_t *n)
{
	struct kjoule_error err;
	uint32_t *all;
	size_t n_all;
	int ret = kjoule_frequency_list(f, &all, &n_all);

	if (ret)
		return cmd_failed("%s", ret == -ENOENT ? "there is no frequency that all CPUs have" : strerror(-ret));
	if (!a->freq || !strcmp(a->freq, "all")) {
		*khz = all;
		*n = n_all;
		return 0;
	}
	ret = args_frequencies(a->freq, all[0], all[n_all - 1], khz, n);
	free(all);
	if (ret)
		return cmd_bad_value("sweep", ret, "--freq", a->freq, "frequencies like 800MHz,1.2GHz,max, or all, or keep");
	for (size_t i = 0; i < *n; i++) {
		if (kjoule_frequency_check(f, (*khz)[i], &err)) {
			free(*khz);
			*khz = NULL;
			return cmd_failed("--freq %s: %s", a->freq, err.text);
		}
	}
	return 0;
}

static void sweep_describe_machine(struct sweep_plan *p, const struct kjoule_frequency *f)
{
	struct utsname u;
	struct timespec ts;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	p->wall_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	if (!uname(&u)) {
		snprintf(p->host, sizeof(p->host), "%s", u.nodename);
		snprintf(p->kernel, sizeof(p->kernel), "%.40s %.40s %.100s", u.sysname, u.release, u.version);
	}
	if (!f)
		return;
	snprintf(p->driver, sizeof(p->driver), "%s", kjoule_frequency_policies(f, &n)->driver);
	p->latency_ns = kjoule_frequency_latency_ns(f);
}

/* Is there what records? */
static int sweep_check_module(void)
{
	struct kjoule_device *dev = NULL;
	struct kjoule_error err;
	int ret = kjoule_device_open(&dev, &err);

	kjoule_device_close(dev);
	return ret ? cmd_failed("%s", err.text) : 0;
}

/* Everything that can be wrong before anything is started. */
static int sweep_prepare_plan(struct asked *a, struct sweep_plan *p, struct kjoule_frequency **f,
			      int *folder)
{
	struct kjoule_error err;
	uint32_t *khz = NULL;
	size_t n_khz = 0;
	int code = child_find(a->record.command[0], &err);

	if (code) {
		cmd_warn("%s", err.text);
		return code;
	}
	code = kjoule_user_choose(a->record.user_name, a->record.quiet, &a->record.user);
	if (code)
		return code;
	if (!a->freq || strcmp(a->freq, "keep")) {
		code = sweep_restore_frequencies(false);
		if (!code && kjoule_frequency_open(KJOULE_SYSFS, KJOULE_FREQUENCY_STATE, f, &err))
			code = cmd_failed("%s", err.text);
		if (!code)
			code = sweep_choose_frequencies(a, *f, &khz, &n_khz);
	}
	p->runs = a->runs;
	if (!code && a->map && picture_check(a->map, a->report.force, &err))
		code = cmd_failed("%s", err.text);
	if (!code)
		code = sweep_check_module();
	if (!code && (n_khz ? n_khz : 1) * (a->n_threads ? a->n_threads : 1) > SWEEP_SETTINGS)
		code = cmd_usage("sweep", "%zu frequencies with %zu numbers of threads are more than %u settings: name fewer",
				 n_khz, a->n_threads, SWEEP_SETTINGS);
	if (!code && (sweep_plan_settings(p, khz, n_khz, a->threads, a->n_threads) ||
		      sweep_plan_command(p, a->record.command) ||
		      !(p->folder = strdup(a->output ? a->output : "kjoule.sweep"))))
		code = cmd_failed("no memory");
	sweep_describe_machine(p, *f);
	if (!code) {
		*folder = sweep_folder_new(p->folder, &err);
		if (*folder < 0)
			code = cmd_failed("%s", err.text);
	}
	free(khz);
	return code;
}

static bool sweep_has_gaps(const struct sweep *s)
{
	for (size_t i = 0; i < s->plan.n_settings; i++)
		if (s->merges[i].kept < s->plan.runs)
			return true;
	return false;
}

/* What was measured. Return: an exit code */
static int sweep_show_results(struct sweep *s, const struct asked *a)
{
	struct kjoule_error err = { 0 };
	int ret = sweep_figures_new(s, &a->report, &err);

	if (!ret)
		ret = sweep_print(s);
	if (!ret && a->map)
		ret = sweep_draw(s, a->map, a->report.force, &err);
	if (ret)
		return cmd_failed("%s", err.text[0] ? err.text : strerror(-ret));
	return s->damaged || sweep_has_gaps(s) ? EXIT_FAILED : EXIT_DONE;
}

static int sweep_run_or_read(struct asked *a)
{
	struct kjoule_frequency *f = NULL;
	struct kjoule_error err;
	struct sweep s = { 0 };
	int code, signal = 0, folder = -1;

	if (a->restore)
		return sweep_restore_frequencies(true);
	if (a->from) {
		char *from = (char *)a->from;

		code = cmd_privilege_drop(&from, 1);
		if (code)
			return code;
		if (a->map && picture_check(a->map, a->report.force, &err))
			return cmd_failed("%s", err.text);
		code = sweep_folder_read(a->from, &s.plan, &err) ? cmd_failed("%s", err.text) :
		       sweep_show_results(&s, a);
		sweep_free(&s);
		return code;
	}
	code = sweep_prepare_plan(a, &s.plan, &f, &folder);
	if (!code)
		code = sweep_run(&s.plan, folder, f, &a->record, record_once, &signal);
	if (folder >= 0)
		close(folder);
	kjoule_frequency_close(f);
	/*
	 * The command's files name others: what is left needs no right but to read and write. Not as the
	 * caller of sudo, who could not write the map where root could when the sweep began.
	 */
	if (!code && kjoule_privilege_limit())
		code = cmd_failed("cannot give up root's rights: %s", strerror(errno));
	if (!code)
		code = sweep_show_results(&s, a);
	sweep_free(&s);
	return code;
}

int cmd_sweep(int argc, char **argv)
{
	struct asked a = {
		.runs = 1,
		.record = { .verb = "sweep", .interval_ns = 1000000, .calibrate = true, .cgroup_fd = -1, .pidfd = -1 },
		.report = { .format = OUTPUT_TABLE } };
	int code = sweep_parse_options(argc, argv, &a);

	if (!code)
		code = sweep_run_or_read(&a);
	else if (code < 0)
		code = EXIT_DONE;
	free(a.threads);
	kjoule_user_free(a.record.user);
	free(a.record.exits.list);
	user_blocks_free(&a.report.named);
	return code;
}
