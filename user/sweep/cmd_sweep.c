// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule sweep: a command at several frequencies and numbers of threads, and which of them is best
 * for each of its blocks. What was asked, and the order of things; see sweep.h.
 */
#include <errno.h>
#include <fcntl.h>
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
#include "record/options.h"
#include "sweep/sweep.h"
#include "verbs.h"

static const struct options_verb sweep_verb = {
	.name = "sweep",
	.usage = "[OPTION]... -- COMMAND [ARGUMENT]...\n[OPTION]... --from DIR\n--restore",
	.about =
	"Runs a command at several frequencies and numbers of threads, records each run,\n"
	"and shows for each block of its code at which setting it takes the least energy\n"
	"and the least energy-delay product. Frequencies are restored whatever happens.",
	.examples =
	"  sudo kjoule sweep -- ./mix 30 10\n"
	"  sudo kjoule sweep --freq 800MHz,1.2GHz,max --threads 1,2,4 --runs 3 -- ./omp\n"
	"  kjoule sweep --from kjoule.sweep --by loop --map energy.svg\n",
	.command = true,
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
	struct record_options record;
	struct attribute_options report;
};

static int sweep_parse_threads(void *context, const char *arg, const char **why)
{
	struct asked *a = context;

	(void)why;
	free(a->threads);
	return args_list(arg, MOST_THREADS, &a->threads, &a->n_threads);
}

/* What contradicts itself. */
static int sweep_check_options(struct asked *a)
{
	struct record_options *r = &a->record;

	if (a->restore && r->command)
		return cmd_usage("sweep",
				 "--restore only gives back frequencies: it takes no command");
	if (a->from && r->command)
		return cmd_usage("sweep",
				 "--from looks at what was recorded: it goes with no command");
	if (r->user_name && !r->command)
		return cmd_usage("sweep", "--user needs a command: give one after --");
	if (!a->from && !a->restore && !r->command)
		return cmd_usage("sweep", "sweep what? Give a command after --, or --from DIR");
	if (r->command && strstr(r->command[0], SWEEP_THREADS))
		return cmd_usage("sweep",
				 "%.200s: a program for each number of threads is not one program, and settings of different ones are not compared; hand the number over as an argument (./program %s) or as OMP_NUM_THREADS, or sweep each program by itself and hold two recordings against each other with `kjoule diff --force`",
				 r->command[0], SWEEP_THREADS);
	return record_check_jitter(r) ?: attribute_options_check("sweep", &a->report);
}

/* Return: as options_parse() */
static int sweep_parse_options(int argc, char **argv, struct asked *a)
{
	const struct options_row options[] = {
		{ 0, "freq", "LIST", "800MHz,1.2GHz,max, or all (default), or keep: as it is",
		  OPT_TEXT(&a->freq), OPT_OFFER("min", "max", "all", "keep") },
		{ 0, "threads", "LIST", "1,2,4-8: in OMP_NUM_THREADS, and for {threads}",
		  OPT_CALL(sweep_parse_threads, a), .expected = "numbers of threads like 1,2,4-8" },
		{ 0, "runs", "N", "run each setting so often (default 1)",
		  OPT_NUMBER(&a->runs, 1, SWEEP_RUNS) },
		RECORD_OPT_EXIT_CODE(&a->record),
		RECORD_OPT_USER(&a->record),
		{ 'o', "output", "DIR", "keep the recordings there (default kjoule.sweep)",
		  OPT_TEXT(&a->output) },
		{ 0, "from", "DIR", "run nothing: look at the recordings of a sweep again",
		  OPT_TEXT(&a->from),
		  .not_with = "freq threads runs exit-code user output rate interval cpus jitter "
			      "overhead no-calibrate" },
		{ 0, "restore", NULL, "only restore frequencies that a killed kjoule left",
		  OPT_FLAG(&a->restore),
		  .not_with = "from" },
		RECORD_OPT_RATE(&a->record),
		RECORD_OPT_INTERVAL(&a->record),
		RECORD_OPT_CPUS(&a->record),
		RECORD_OPT_JITTER(&a->record),
		RECORD_OPT_OVERHEAD(&a->record, ""),
		RECORD_OPT_NO_CALIBRATE(&a->record),
		ATTRIBUTE_OPT_SOURCE(&a->report.source),
		{ 0, "by", "UNIT", "function (default), object, line, loop, block, region",
		  OPT_WORD(&a->report.by, ATTRIBUTE_BY_CODE) },
		ATTRIBUTE_OPT_BLOCK(&a->report),
		ATTRIBUTE_OPT_COMM(&a->report.comm),
		ATTRIBUTE_OPT_LIMIT(&a->report.percent_limit,
				    "leave out blocks below P % at all settings (default 1)"),
		ATTRIBUTE_OPT_RAW(&a->report.raw),
		{ 0, "map", "FILE", "also a heat map of the energies (.svg, .png)",
		  OPT_PICTURE(&a->map) },
		OPT_FORCE(&a->report.force, "map"),
		OPT_JSON(&a->report.format),
		OPT_CSV(&a->report.format),
		OPT_QUIET(&a->record.quiet),
		{ 0 }
	};
	int first = options_parse(&sweep_verb, options, argc, argv);

	if (first <= 0)
		return first;
	if (first < argc)
		a->record.command = argv + first;
	a->record.source = a->report.source;
	a->record.flags |= KJOULE_FLAG_INHERIT;
	if (a->report.percent_limit < 0)
		a->report.percent_limit = a->report.format == OUTPUT_TABLE ? LIMIT : 0;
	return -sweep_check_options(a) ?: first;
}

/* What a process that was killed has left held. Return: 0, or the exit code after saying why not */
static int sweep_restore_frequencies(bool alone)
{
	struct kjoule_error err;
	char said[512];
	int ret = kjoule_frequency_recover(KJOULE_SYSFS, KJOULE_FREQUENCY_STATE, said, sizeof(said),
					   &err);

	if (said[0])
		cmd_warn("%s", said);
	if (ret < 0)
		return cmd_failed("%s", err.text);
	if (alone && !said[0])
		cmd_warn("there is nothing to restore: no sweep, latency or boost run --pin-frequency has left the CPUs held at a frequency");
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
		return cmd_failed("%s", ret == -ENOENT ?
				  "there is no frequency that all CPUs have" : strerror(-ret));
	if (!a->freq || !strcmp(a->freq, "all")) {
		*khz = all;
		*n = n_all;
		return 0;
	}
	ret = args_frequencies(a->freq, all[0], all[n_all - 1], khz, n);
	free(all);
	if (ret)
		return cmd_bad_value("sweep", ret, "--freq", a->freq,
				     "frequencies like 800MHz,1.2GHz,max, or all, or keep");
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
		snprintf(p->kernel, sizeof(p->kernel), "%.40s %.40s %.100s", u.sysname, u.release,
			 u.version);
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
		code = cmd_usage("sweep",
				 "%zu frequencies with %zu numbers of threads are more than %u settings: name fewer",
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
	 * The command's files name others: what is left needs no right but to read and write. Not
	 * as the caller of sudo, who could not write the map where root could when the sweep began.
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
		.record = { .verb = "sweep", .interval_ns = 1000000, .calibrate = true,
			    .cgroup_fd = -1, .pidfd = -1 },
		.report = { .format = OUTPUT_TABLE, .percent_limit = -1 } };
	int code = sweep_parse_options(argc, argv, &a);

	code = code > 0 ? sweep_run_or_read(&a) : -code;
	free(a.threads);
	kjoule_user_free(a.record.user);
	free(a.record.exits.list);
	user_blocks_free(&a.report.named);
	return code;
}
