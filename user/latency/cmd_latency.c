// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule latency: how long changes of a CPU's frequency take. What was asked for, and the order of things; see
 * latency.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "latency/latency.h"
#include "lib/control/sources.h"
#include "output/picture.h"
#include "output/plot.h"
#include "verbs.h"

static const char help[] =
"Usage: kjoule latency [OPTION]...\n"
"\n"
"Measures how long changes of a CPU's frequency take, from the request until the CPU runs at the\n"
"new frequency, by the time that a short loop takes before, while and after.\n"
"\n"
"  -C, --cpu CPU           measure there (default 0)\n"
"      --all-pairs         from every frequency to every other (the default)\n"
"      --freq LIST         only these, e.g. 800MHz,1.2GHz\n"
"      --from FREQ --to FREQ   one change\n"
"      --repeats N         good tries of each change (default 31)\n"
"      --engine kernel|user    who times the loops: the module, interrupts off (default), or this process,\n"
"                          which needs no module and is easier to disturb\n"
"      --way fast|limits   how the module requests frequencies: by the driver's fast switch (default, if it has\n"
"                          one), or by limits, which every driver takes\n"
"      --at idle|load      leave the other CPUs alone (default), or keep them busy\n"
"      --related           hold the other CPUs at the lower one of the two frequencies\n"
"      --adds N            additions in a loop (default: as few as it takes)\n"
"      --timeout TIME      give up a try after that (default 100ms, or ten times what the driver says)\n"
"      --slice TIME        interrupts off for no longer at a time (default 500us, at most 1ms)\n"
"  -o, --output FILE       also keep all that was measured, each loop, as JSON\n"
"      --plot FILE         a picture of the latencies over the target frequency (.svg, .png), its data beside (.csv)\n"
"      --plot-series FILE  a picture of the loops around one change\n"
"      --force             replace data of pictures that are there already\n"
"      --json              as one JSON document\n"
"      --csv               as CSV\n"
"  -q, --quiet             no progress\n"
"  -h, --help\n"
"\n"
"The exit code is 1 if a change could not be measured; the others are shown all the same. Governors and\n"
"limits are given back whatever happens.\n";

enum { OPT_ALL = 256, OPT_FREQ, OPT_FROM, OPT_TO, OPT_REPEATS, OPT_ENGINE, OPT_WAY, OPT_AT, OPT_RELATED, OPT_ADDS, OPT_TIMEOUT,
       OPT_SLICE, OPT_PLOT, OPT_PLOT_SERIES, OPT_FORCE, OPT_JSON, OPT_CSV };

static const struct option options[] = {
	{ "cpu", required_argument, NULL, 'C' },
	{ "all-pairs", no_argument, NULL, OPT_ALL },
	{ "freq", required_argument, NULL, OPT_FREQ },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "repeats", required_argument, NULL, OPT_REPEATS },
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "way", required_argument, NULL, OPT_WAY },
	{ "at", required_argument, NULL, OPT_AT },
	{ "related", no_argument, NULL, OPT_RELATED },
	{ "adds", required_argument, NULL, OPT_ADDS },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "output", required_argument, NULL, 'o' },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "plot-series", required_argument, NULL, OPT_PLOT_SERIES },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

#define TIMEOUT_NS	100000000ull
#define TIMEOUT_TIMES	10
#define TIMEOUT_MOST_NS	10000000000ull
/* So that with a pause of a few loops in it, and loops behind that, it is less than a millisecond. */
#define SLICE_NS	500000ull
#define SLICE_MOST_NS	1000000ull
#define REPEATS_LEAST	6
#define REPEATS_MOST	10000

/* What frequencies are called, until it is known which there are. */
struct asked {
	struct latency_options opt;
	const char *freq, *from, *to;
	bool all;
};

static int latency_parse_words(struct asked *a, int c, const char *arg)
{
	struct latency_options *opt = &a->opt;

	switch (c) {
	case OPT_ENGINE:
		opt->user_engine = !strcmp(arg, "user");
		return cmd_bad_value("latency", opt->user_engine || !strcmp(arg, "kernel") ? 0 : -EINVAL, "--engine", arg, "kernel or user");
	case OPT_WAY:
		opt->way_given = true;
		opt->way = strcmp(arg, "limits") ? LATENCY_WAY_FAST : LATENCY_WAY_LIMITS;
		return cmd_bad_value("latency", opt->way || !strcmp(arg, "fast") ? 0 : -EINVAL, "--way", arg, "fast or limits");
	case OPT_AT:
		opt->load = !strcmp(arg, "load");
		return cmd_bad_value("latency", opt->load || !strcmp(arg, "idle") ? 0 : -EINVAL, "--at", arg, "idle or load");
	case OPT_PLOT:
		opt->plot = arg;
		return cmd_bad_value("latency", plot_kind(arg) ? 0 : -EINVAL, "--plot", arg, "a file that ends in .svg or .png");
	case OPT_PLOT_SERIES:
		opt->plot_series = arg;
		return cmd_bad_value("latency", plot_kind(arg) ? 0 : -EINVAL, "--plot-series", arg, "a file that ends in .svg or .png");
	}
	return EXIT_USAGE;
}

static int latency_parse_option(struct asked *a, int c, const char *arg)
{
	struct latency_options *opt = &a->opt;
	uint64_t ns;
	int ret;

	switch (c) {
	case 'C':
		return cmd_bad_value("latency", args_number(arg, 0, KJOULE_MAX_CPUS - 1, &opt->cpu), "-C", arg, "a CPU's number");
	case OPT_ALL:
		a->all = true;
		return 0;
	case OPT_FREQ:
		a->freq = arg;
		return 0;
	case OPT_FROM:
		a->from = arg;
		return 0;
	case OPT_TO:
		a->to = arg;
		return 0;
	case OPT_REPEATS:
		return cmd_bad_value("latency", args_number(arg, REPEATS_LEAST, REPEATS_MOST, &opt->repeats), "--repeats", arg,
				 "a number from 6, of which a median has an interval, to 10000");
	case OPT_ADDS:
		return cmd_bad_value("latency", args_number(arg, 64, 1000000, &opt->adds), "--adds", arg, "a number from 64 to 1000000");
	case OPT_TIMEOUT:
		ret = args_duration(arg, 0, &ns);
		opt->timeout_ns = ns;
		return cmd_bad_value("latency", !ret && (!ns || ns > TIMEOUT_MOST_NS) ? -ERANGE : ret, "--timeout", arg, "a time like 50ms, at most 10s");
	case OPT_SLICE:
		ret = args_duration(arg, 0, &ns);
		opt->slice_ns = ns;
		return cmd_bad_value("latency", !ret && (!ns || ns > SLICE_MOST_NS) ? -ERANGE : ret, "--slice", arg, "a time like 500us, at most 1ms");
	case 'o':
		opt->output = arg;
		return 0;
	case OPT_RELATED:
		opt->related = true;
		return 0;
	case OPT_FORCE:
		opt->force = true;
		return 0;
	case OPT_JSON:
		opt->format = OUTPUT_JSON;
		return 0;
	case OPT_CSV:
		opt->format = OUTPUT_CSV;
		return 0;
	case 'q':
		opt->quiet = true;
		return 0;
	}
	return latency_parse_words(a, c, arg);
}

static int latency_check_options(struct asked *a)
{
	struct latency_options *opt = &a->opt;

	if (!a->from != !a->to)
		return cmd_usage("latency", "--from and --to go together");
	if (a->from && (a->all || a->freq))
		return cmd_usage("latency", "--from and --to are one change: leave out %s", a->all ? "--all-pairs" : "--freq");
	if (opt->user_engine && opt->way_given)
		return cmd_usage("latency", "--way is of the kernel engine: leave it out with --engine user");
	if (opt->force && !opt->plot && !opt->plot_series)
		return cmd_usage("latency", "--force goes with --plot or --plot-series");
	opt->pair = a->from;
	return 0;
}

/* Return: -1: go on; else an exit code */
static int latency_parse_options(int argc, char **argv, struct asked *a)
{
	int c, ret;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":C:o:qh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_DONE;
		}
		ret = c == '?' || c == ':' ?
			      cmd_getopt_error("latency", c, optopt, argv[optind - 1]) :
			      latency_parse_option(a, c, optarg);
		if (ret)
			return ret;
	}
	if (optind < argc)
		return cmd_usage("latency", "%s: no such argument", argv[optind]);
	ret = latency_check_options(a);
	return ret ? ret : -1;
}

static int latency_find_policy(struct latency *l, struct kjoule_error *err)
{
	const struct kjoule_policy *p;
	struct kjoule_cpus online;
	size_t n;
	int ret = kjoule_frequency_open(KJOULE_SYSFS, KJOULE_FREQUENCY_STATE, &l->frequency, err);

	if (ret)
		return ret;
	p = kjoule_frequency_policies(l->frequency, &n);
	for (size_t i = 0; i < n; i++)
		if (kjoule_cpus_has(&p[i].cpus, l->opt->cpu))
			l->policy = &p[i];
	if (l->policy)
		return 0;
	if (!kjoule_cpus_online(&online) && !kjoule_cpus_has(&online, l->opt->cpu))
		return kjoule_fail(err, ENODEV, "CPU %u is not online", l->opt->cpu);
	return kjoule_fail(err, ENODEV, "CPU %u has no cpufreq policy: no driver sets its frequency", l->opt->cpu);
}

static int latency_parse_frequency(struct latency_options *opt, const struct kjoule_policy *p,
				   const char *option, const char *text)
{
	uint32_t khz;
	int ret = args_frequency(text, p->min_khz, p->max_khz, &khz);

	if (ret)
		return cmd_bad_value("latency", ret, option, text, "a frequency like 800MHz, 1.2GHz, 1200000 (kHz), min or max");
	if (opt->n_khz == LATENCY_FREQUENCIES)
		return cmd_usage("latency", "%s: more than %d frequencies", option, LATENCY_FREQUENCIES);
	opt->khz[opt->n_khz++] = khz;
	return 0;
}

/* Return: 0, or the exit code after saying why not */
static int latency_parse_frequencies(const struct asked *a, const struct kjoule_policy *p,
				     struct latency_options *opt)
{
	char *copy = a->freq ? strdup(a->freq) : NULL, *rest = copy, *one;
	int code = a->freq && !copy ? cmd_failed("no memory") : 0;

	while (!code && (one = strsep(&rest, ",")))
		code = latency_parse_frequency(opt, p, "--freq", one);
	free(copy);
	if (!code && a->freq && opt->n_khz < 2)
		code = cmd_usage("latency", "--freq %s: a change needs two frequencies", a->freq);
	if (!code && a->from)
		code = latency_parse_frequency(opt, p, "--from", a->from);
	if (!code && a->to)
		code = latency_parse_frequency(opt, p, "--to", a->to);
	if (!code && a->from && opt->khz[0] == opt->khz[1])
		code = cmd_usage("latency", "--from %s --to %s: both are %u kHz, there is no change to measure", a->from, a->to,
				 opt->khz[0]);
	return code;
}

static uint64_t latency_default_timeout(const struct latency *l)
{
	uint64_t ns = TIMEOUT_TIMES * l->policy->latency_ns;

	return ns > TIMEOUT_NS && ns <= TIMEOUT_MOST_NS ? ns : TIMEOUT_NS;
}

/*
 * What cannot be written is refused before minutes are spent on measuring. Return: 0, or the exit
 * code after saying why not
 */
static int latency_files_check(const struct latency_options *opt)
{
	struct kjoule_error err;

	if ((opt->output && kjoule_output_file_check(opt->output, 0, &err)) ||
	    (opt->plot && picture_check(opt->plot, opt->force, &err)) ||
	    (opt->plot_series && picture_check(opt->plot_series, opt->force, &err)))
		return cmd_failed("%s", err.text);
	return 0;
}

/* What else was asked for; the first thing that fails is told, the rest is done all the same. */
static int latency_write_files(const struct latency *l)
{
	const struct latency_options *opt = l->opt;
	struct kjoule_error err;
	int code = EXIT_DONE;

	if (opt->output && latency_save(l, opt->output, &err))
		code = cmd_failed("%s", err.text);
	if (opt->plot && latency_plot(l, opt->plot, &err))
		code = cmd_failed("%s", err.text);
	if (opt->plot_series && latency_plot_series(l, opt->plot_series, &err))
		code = cmd_failed("%s", err.text);
	return code;
}

static int latency_print_and_save(const struct latency *l)
{
	int code = EXIT_DONE;

	if (latency_print(l))
		return cmd_failed("no memory");
	for (size_t i = 0; i < l->n_pairs; i++)
		if (latency_why(l, &l->pairs[i]))
			code = EXIT_FAILED;
	if (latency_write_files(l))
		code = EXIT_FAILED;
	return l->stopped ? 128 + l->stopped : code;
}

int cmd_latency(int argc, char **argv)
{
	struct asked a = { .opt = { .repeats = TRANSITION_REPEATS, .slice_ns = SLICE_NS } };
	struct latency l = { .opt = &a.opt, .guard.fd = -1 };
	struct kjoule_error err = { "" };
	int ret, code = latency_parse_options(argc, argv, &a);

	if (code >= 0)
		return code;
	code = latency_files_check(&a.opt);
	if (code)
		return code;
	ret = latency_find_policy(&l, &err);
	code = ret ? 0 : latency_parse_frequencies(&a, l.policy, &a.opt);
	if (code)
		goto out;
	if (!ret) {
		if (!a.opt.timeout_ns)
			a.opt.timeout_ns = latency_default_timeout(&l);
		l.engine = a.opt.user_engine ? &latency_user : &latency_kernel;
		ret = latency_run(&l, &err);
	}
	code = ret ? cmd_failed("%s", err.text) : latency_print_and_save(&l);
out:
	latency_free(&l);
	kjoule_frequency_close(l.frequency);
	return code;
}
