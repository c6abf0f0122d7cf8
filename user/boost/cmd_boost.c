// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule boost: chips that run fast for some time and then slow down, and what that does to a benchmark. What was asked
 * for; the rest is in boost_*.c, see boost.h.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "boost/boost.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "output/picture.h"
#include "output/plot.h"
#include "verbs.h"

static const char help[] =
"Usage: kjoule boost trace [OPTION]... [-- COMMAND [ARGUMENT]...]\n"
"       kjoule boost window [OPTION]... [-- COMMAND [ARGUMENT]...]\n"
"       kjoule boost cause [OPTION]...\n"
"       kjoule boost run [OPTION]... [--] COMMAND [ARGUMENT]... [-- OTHER [ARGUMENT]...]\n"
"       kjoule boost plan --r R --boost TIME | --from FILE [OPTION]...\n"
"\n"
"Today's chips run fast for some time and then slow down, and what they do depends on the last minutes.\n"
"\n"
"trace: idles, loads the CPUs until they have slowed down, and tells power, frequency, temperature and\n"
"throughput of each phase, how long the boost lasts, and whether the limits of powercap explain it.\n"
"With a COMMAND that is the load: it is started as often as it ends, and ended when that was long enough.\n"
"  -C, --cpus LIST         CPUs that are loaded (default: all)\n"
"      --threads N         one CPU after another has one (default: one for each)\n"
"      --load NAME         saxpy (default), multiply, memory, mixed\n"
"      --idle TIME         before the load (default: five time constants of powercap's limit, or 2m)\n"
"      --duration TIME     of the load (default: until it was slow for as long as it was fast, for ten time\n"
"                          constants or 3m at most)\n"
"      --slice TIME        what is told apart in time (default 20ms)\n"
"      --source NAME       of energy or power (see `kjoule list`)\n"
"      --temperature NAME  a source of temperature (default: the processor's, if one is known)\n"
"  -o, --output FILE       all slices of time as CSV\n"
"      --plot FILE         a picture of it (.svg, .png), its data beside (.csv)\n"
"\n"
"window: how much of its past the chip remembers. Loads it until the boost is used up, idles, and measures\n"
"the boost that follows, for ever longer times, until the boost is whole again; takes three quarters of\n"
"an hour where a boost lasts a minute. Options as for trace.\n"
"\n"
"cause: does the temperature decide when a boost ends, what the chip drew before, or the time? Boosts under the\n"
"load, under a weaker one, and with a fan slowed down. Options as for trace, and\n"
"      --fan FILE          its value, such as /sys/class/hwmon/hwmon0/pwm1; given back whatever comes\n"
"      --fan-slow VALUE    what is written there to slow it down (default 85, of 255)\n"
"      --runs N            boosts under each condition (default 2)\n"
"\n"
"run: a benchmark runner that brings the chip into a known state before each run, says of each whether it was\n"
"boosted, throttled, a mix of both or disturbed by others, and how long it would have taken at one speed. Of\n"
"two commands it tells the speed-up, as observed and at one frequency.\n"
"      --history clean|saturated|as-is   before each run idle for the window (default), or load the chip until it\n"
"                          has slowed down, or do nothing\n"
"      --runs N            of each command, in turn (default 10)\n"
"      --warmup N          runs before these, which do not count\n"
"      --window TIME       idleness that makes the history clean (default: five time constants, or 2m)\n"
"      --boosted FREQ --sustained FREQ   of the chip (default: measured before, as trace does)\n"
"      --pin-frequency FREQ   hold all CPUs there meanwhile\n"
"      --equal-duration TIME  a run is as many of the command as fit into that\n"
"      --export-json FILE, --export-csv FILE, --export-markdown FILE   times in the layout of hyperfine\n"
"      --plot FILE         a picture of how much slower each run was\n"
"      --show-output       of the commands, on standard error\n"
"      --user NAME         run commands as this user, without privileges; also with trace and window\n"
"\n"
"plan: what a boost does to benchmarks, by the paper's equations: errors of runs of different lengths, of\n"
"runs one right after the other, and how long a run has to be. Needs no machine.\n"
"      --r R               boosted over sustained frequency, such as 1.125\n"
"      --boost TIME        how long a boost lasts from a clean history\n"
"      --window TIME       the idleness after which the history is clean\n"
"      --from FILE         takes these three, as far as they are not given, from what `kjoule boost trace --json`\n"
"                          or `kjoule boost window --json` printed; of several files the last that has it counts\n"
"      --bound PERCENT     that an error may be (default 1)\n"
"      --run TIME          length of a run (default 15s)\n"
"      --runs N            one after the other (default 6)\n"
"      --plot FILE         a picture of the errors over the length of a run\n"
"\n"
"      --force             of --plot: replace data that are there already\n"
"      --json              as one JSON document\n"
"      --csv               as CSV\n"
"  -q, --quiet             no progress\n"
"  -h, --help\n";

enum { OPT_THREADS = 256, OPT_LOAD, OPT_IDLE, OPT_DURATION, OPT_SLICE, OPT_SOURCE, OPT_TEMPERATURE, OPT_R, OPT_BOOST, OPT_WINDOW,
       OPT_FROM, OPT_BOUND, OPT_RUN, OPT_RUNS, OPT_HISTORY, OPT_WARMUP, OPT_BOOSTED, OPT_SUSTAINED, OPT_PIN, OPT_EQUAL,
       OPT_EXPORT_JSON, OPT_EXPORT_CSV, OPT_EXPORT_MARKDOWN, OPT_SHOW, OPT_FAN, OPT_FAN_SLOW, OPT_PLOT, OPT_FORCE,
       OPT_JSON, OPT_CSV, OPT_USER };

static const struct option options[] = {
	{ "cpus", required_argument, NULL, 'C' },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "load", required_argument, NULL, OPT_LOAD },
	{ "idle", required_argument, NULL, OPT_IDLE },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "source", required_argument, NULL, OPT_SOURCE },
	{ "temperature", required_argument, NULL, OPT_TEMPERATURE },
	{ "output", required_argument, NULL, 'o' },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "r", required_argument, NULL, OPT_R },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "boost", required_argument, NULL, OPT_BOOST },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ "bound", required_argument, NULL, OPT_BOUND },
	{ "run", required_argument, NULL, OPT_RUN },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "history", required_argument, NULL, OPT_HISTORY },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "boosted", required_argument, NULL, OPT_BOOSTED },
	{ "sustained", required_argument, NULL, OPT_SUSTAINED },
	{ "pin-frequency", required_argument, NULL, OPT_PIN },
	{ "equal-duration", required_argument, NULL, OPT_EQUAL },
	{ "export-json", required_argument, NULL, OPT_EXPORT_JSON },
	{ "export-csv", required_argument, NULL, OPT_EXPORT_CSV },
	{ "export-markdown", required_argument, NULL, OPT_EXPORT_MARKDOWN },
	{ "fan", required_argument, NULL, OPT_FAN },
	{ "fan-slow", required_argument, NULL, OPT_FAN_SLOW },
	{ "show-output", no_argument, NULL, OPT_SHOW },
	{ "user", required_argument, NULL, OPT_USER },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

enum verb { TRACE, WINDOW, CAUSE, RUN, PLAN, VERBS };

static const struct {
	const char *name;
	int (*run)(const struct boost_options *opt);
} verbs[VERBS] = {
	{ "trace", boost_trace },
	{ "window", boost_window },
	{ "cause", boost_cause },
	{ "run", boost_run },
	{ "plan", boost_plan },
};

#define THREADS_MOST	8192
#define RUNS		10
#define RUNS_PLANNED	6
#define RUNS_CAUSE	2
#define FAN_SLOW	85
#define FAN_MOST	65535
#define SLICE_LEAST_NS	1000000ull
#define SLICE_MOST_NS	1000000000ull
#define SECOND_NS	1e9

/* A time that is above 0, in seconds. */
static int boost_parse_time(const char *option, const char *arg, double *seconds)
{
	uint64_t ns = 0;
	int ret = args_duration(arg, 0, &ns);

	*seconds = ns / SECOND_NS;
	return cmd_bad_value("boost", ret ? ret : ns ? 0 : -ERANGE, option, arg, "a time like 500ms, 20s or 2m");
}

static int boost_parse_ratio(const char *arg, double *r)
{
	char *end;

	errno = 0;
	*r = strtod(arg, &end);
	return cmd_bad_value("boost", errno || end == arg || *end ? -EINVAL : *r >= 1 && *r <= BOOST_RATIO_MOST ? 0 : -ERANGE, "--r", arg,
			     "boosted over sustained frequency, from 1 to 1000");
}

static int boost_parse_watch_option(struct boost_options *opt, int c, const char *arg)
{
	double seconds;
	int ret;

	switch (c) {
	case 'C':
		opt->cpus_given = true;
		ret = kjoule_cpus_parse(arg, &opt->cpus);
		if (!ret && !kjoule_cpus_count(&opt->cpus))
			ret = -EINVAL;
		return cmd_bad_value("boost", ret, "-C", arg, "CPUs like 0-3,8");
	case OPT_THREADS:
		return cmd_bad_value("boost", args_number(arg, 1, THREADS_MOST, &opt->threads), "--threads", arg, "a number from 1 to 8192");
	case OPT_LOAD:
		opt->load_given = true;
		return cmd_bad_value("boost", cpu_load_parse(arg, &opt->load), "--load", arg, "saxpy, multiply, memory or mixed");
	case OPT_IDLE:
		return boost_parse_time("--idle", arg, &opt->idle_s);
	case OPT_DURATION:
		return boost_parse_time("--duration", arg, &opt->duration_s);
	case OPT_SLICE:
		ret = boost_parse_time("--slice", arg, &seconds);
		if (ret)
			return ret;
		opt->watch.slice_ns = seconds * SECOND_NS;
		return cmd_bad_value("boost", opt->watch.slice_ns < SLICE_LEAST_NS || opt->watch.slice_ns > SLICE_MOST_NS ? -ERANGE : 0,
				     "--slice", arg, "a time from 1ms to 1s");
	case OPT_SOURCE:
		opt->watch.source = arg;
		return cmd_bad_value("boost", args_sources(arg), "--source", arg, "names of sources with commas between");
	case OPT_TEMPERATURE:
		opt->watch.temperature = arg;
		return cmd_bad_value("boost", strchr(arg, ',') ? -EINVAL : args_sources(arg), "--temperature", arg, "the name of one source");
	case 'o':
		opt->output = arg;
		return 0;
	case OPT_FAN:
		opt->fan = arg;
		return 0;
	case OPT_USER:
		opt->user_name = arg;
		return 0;
	case OPT_FAN_SLOW:
		return cmd_bad_value("boost", args_number(arg, 0, FAN_MOST, &opt->fan_slow), "--fan-slow", arg, "a number");
	case OPT_PLOT:
		opt->plot = arg;
		return cmd_bad_value("boost", plot_kind(arg) ? 0 : -EINVAL, "--plot", arg, "a file that ends in .svg or .png");
	}
	return EXIT_USAGE;
}

static int boost_parse_plan_option(struct boost_options *opt, int c, const char *arg)
{
	int ret;

	switch (c) {
	case OPT_R:
		return boost_parse_ratio(arg, &opt->r);
	case OPT_FROM:
		if (opt->n_from == BOOST_FROM_MOST)
			return cmd_usage("boost", "--from %s: more than %d files", arg, BOOST_FROM_MOST);
		opt->from[opt->n_from++] = arg;
		return 0;
	case OPT_BOOST:
		return boost_parse_time("--boost", arg, &opt->tb_s);
	case OPT_WINDOW:
		return boost_parse_time("--window", arg, &opt->window_s);
	case OPT_RUN:
		return boost_parse_time("--run", arg, &opt->run_s);
	case OPT_RUNS:
		return cmd_bad_value("boost", args_number(arg, 1, 1000, &opt->runs), "--runs", arg, "a number from 1 to 1000");
	case OPT_BOUND:
		ret = args_percent(arg, &opt->bound);
		opt->bound /= 100;
		return cmd_bad_value("boost", ret ? ret : opt->bound > 0 ? 0 : -ERANGE, "--bound", arg, "a percentage above 0");
	}
	return EXIT_USAGE;
}

static int boost_parse_khz(const char *option, const char *arg, uint32_t *khz)
{
	return cmd_bad_value("boost", args_frequency(arg, 0, 0, khz), option, arg, "a frequency like 800MHz, 2.4GHz or 2400000 (kHz)");
}

static int boost_parse_history(struct boost_options *opt, const char *arg)
{
	static const char *const histories[BOOST_HISTORIES] = { "clean", "saturated", "as-is" };

	for (unsigned int i = 0; i < BOOST_HISTORIES; i++) {
		if (!strcmp(arg, histories[i])) {
			opt->run.history = i;
			return 0;
		}
	}
	return cmd_bad_value("boost", -EINVAL, "--history", arg, "clean, saturated or as-is");
}

static int boost_parse_run_option(struct boost_options *opt, int c, const char *arg)
{
	switch (c) {
	case OPT_HISTORY:
		return boost_parse_history(opt, arg);
	case OPT_WARMUP:
		return cmd_bad_value("boost", args_number(arg, 0, 1000, &opt->run.warmup), "--warmup", arg, "a number up to 1000");
	case OPT_BOOSTED:
		return boost_parse_khz("--boosted", arg, &opt->run.boosted_khz);
	case OPT_SUSTAINED:
		return boost_parse_khz("--sustained", arg, &opt->run.sustained_khz);
	case OPT_PIN:
		return boost_parse_khz("--pin-frequency", arg, &opt->run.pin_khz);
	case OPT_EQUAL:
		return boost_parse_time("--equal-duration", arg, &opt->run.equal_s);
	case OPT_EXPORT_JSON:
		opt->run.json = arg;
		return 0;
	case OPT_EXPORT_CSV:
		opt->run.csv = arg;
		return 0;
	case OPT_EXPORT_MARKDOWN:
		opt->run.markdown = arg;
		return 0;
	case OPT_SHOW:
		opt->run.show = true;
		return 0;
	}
	return EXIT_USAGE;
}

/* Options that a verb has besides those of the machine and of the output. */
static bool boost_verb_has_option(enum verb verb, int c)
{
	if (c == OPT_RUNS && verb == CAUSE)
		return true;
	if (c == OPT_FAN || c == OPT_FAN_SLOW)
		return verb == CAUSE;
	if (c == OPT_USER)
		return verb == TRACE || verb == WINDOW || verb == RUN;
	if (c == OPT_RUNS || c == OPT_WINDOW || c == OPT_BOOST)
		return verb == PLAN || verb == RUN;
	if (c >= OPT_R && c <= OPT_RUNS)
		return verb == PLAN;
	if (c >= OPT_HISTORY && c <= OPT_SHOW)
		return verb == RUN;
	return verb != PLAN || c == OPT_PLOT;
}

static int boost_parse_option(struct boost_options *opt, enum verb verb, int c, const char *arg)
{
	switch (c) {
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
	if (!boost_verb_has_option(verb, c))
		return cmd_usage("boost", "%s has an option that it does not take", verbs[verb].name);
	if (c >= OPT_R && c <= OPT_RUNS)
		return boost_parse_plan_option(opt, c, arg);
	return c >= OPT_HISTORY && c <= OPT_SHOW ? boost_parse_run_option(opt, c, arg) :
						   boost_parse_watch_option(opt, c, arg);
}

static int boost_check_options(const struct boost_options *opt, enum verb verb)
{
	if (opt->user_name && !opt->command && !opt->run.n_commands)
		return cmd_usage("boost", "--user needs a command: give one after --");
	if (verb == PLAN && !opt->n_from && (isnan(opt->r) || isnan(opt->tb_s)))
		return cmd_usage("boost", "plan needs --r and --boost: how much faster the boost is, and how long it lasts; or --from, a file with what `kjoule boost trace --json` printed, which measures both");
	if (opt->force && !opt->plot)
		return cmd_usage("boost", "--force goes with --plot");
	if (verb == RUN && opt->run.boosted_khz && !opt->run.sustained_khz)
		return cmd_usage("boost", "--boosted goes with --sustained");
	if (verb == RUN && opt->run.boosted_khz && opt->run.boosted_khz <= opt->run.sustained_khz)
		return cmd_usage("boost", "--boosted is not above --sustained: is there a boost?");
	if (verb == RUN && opt->run.sustained_khz && opt->run.history == BOOST_SATURATED && (isnan(opt->tb_s) || !opt->run.boosted_khz))
		return cmd_usage("boost", "--history saturated with --sustained needs --boosted and --boost, how long a boost lasts");
	return 0;
}

/*
 * What cannot be written is refused before minutes are spent on measuring. Return: 0, or the exit
 * code after saying why not
 */
static int boost_files_check(const struct boost_options *opt)
{
	const char *const files[] = { opt->output, opt->run.json, opt->run.csv, opt->run.markdown };
	struct kjoule_error err;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] && kjoule_output_file_check(files[i], 0, &err))
			return cmd_failed("%s", err.text);
	return opt->plot && picture_check(opt->plot, opt->force, &err) ? cmd_failed("%s", err.text) : 0;
}

/* COMMAND [-- OTHER]...: split where "--" is, in place. Return: 0, or the exit code after saying why not */
static int boost_split_commands(struct boost_options *opt, int argc, char **argv)
{
	opt->run.commands = calloc(argc + 1, sizeof(*opt->run.commands));
	if (!opt->run.commands)
		return cmd_failed("no memory");
	for (int i = 0; i < argc; i++) {
		if (!i || !argv[i - 1])
			opt->run.commands[opt->run.n_commands++] = &argv[i];
		if (strcmp(argv[i], "--"))
			continue;
		argv[i] = NULL;
		if (!*opt->run.commands[opt->run.n_commands - 1])
			return cmd_usage("boost", "a command is missing between -- and --");
	}
	if (!opt->run.n_commands || !argv[argc - 1])
		return cmd_usage("boost", "run needs a command: kjoule boost run -- COMMAND [ARGUMENT]... [-- OTHER [ARGUMENT]...]");
	return 0;
}

/* The command that trace and window load the machine with. Return: 0, or the exit code after saying why not */
static int boost_set_load_command(struct boost_options *opt, enum verb verb, int argc, char **argv)
{
	if (verb != TRACE && verb != WINDOW)
		return cmd_usage("boost", "%s: no such argument", argv[0]);
	if (opt->load_given)
		return cmd_usage("boost", "--load and a command, %s: the load is one or the other", argv[0]);
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return cmd_usage("boost", "%s takes one command only", verbs[verb].name);
	opt->command = argv;
	return boost_command_find(argv[0]);
}

int cmd_boost(int argc, char **argv)
{
	struct boost_options opt = { .watch.slice_ns = 20000000, .idle_s = NAN, .duration_s = NAN, .r = NAN, .tb_s = NAN,
				     .window_s = NAN, .bound = 0.01, .run_s = 15, .fan_slow = FAN_SLOW, .run.equal_s = NAN };
	enum verb verb = TRACE;
	int c, ret = 0;

	if (argc < 2)
		return cmd_usage("boost", "what is to be done? trace, window, cause, run or plan");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(help, stdout);
		return EXIT_DONE;
	}
	while (verb < VERBS && strcmp(argv[1], verbs[verb].name))
		verb++;
	if (verb == VERBS)
		return cmd_usage("boost", "%s: no such thing to do; trace, window, cause, run or plan", argv[1]);
	argc--;
	argv++;
	optind = 0;
	opterr = 0;
	opt.watch.per_cpu = verb == TRACE;
	opt.runs = verb == RUN ? RUNS : verb == CAUSE ? RUNS_CAUSE : RUNS_PLANNED;
	while ((c = getopt_long(argc, argv, "+:C:o:qh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_DONE;
		}
		ret = c == '?' || c == ':' ?
			      cmd_getopt_error("boost", c, optopt, argv[optind - 1]) :
			      boost_parse_option(&opt, verb, c, optarg);
		if (ret)
			return ret;
	}
	if (verb == RUN)
		ret = boost_split_commands(&opt, argc - optind, argv + optind);
	else if (optind < argc)
		ret = boost_set_load_command(&opt, verb, argc - optind, argv + optind);
	ret = ret ? ret : boost_check_options(&opt, verb);
	ret = ret ? ret : boost_files_check(&opt);
	if (!ret && (opt.command || opt.run.n_commands))
		ret = kjoule_user_choose(opt.user_name, opt.quiet, &opt.user);
	ret = ret ? ret : verbs[verb].run(&opt);
	kjoule_user_free(opt.user);
	free(opt.run.commands);
	return ret;
}
