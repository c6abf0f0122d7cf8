// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule boost: chips that run fast for some time and then slow down, and what that does to a
 * benchmark. What was asked for; the rest is in boost_*.c, see boost.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "boost/boost.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "output/picture.h"
#include "verbs.h"

enum verb { TRACE, WINDOW, CAUSE, RUN, PLAN, VERBS };

static const struct {
	struct options_verb verb;
	const char *what;
	int (*run)(const struct boost_options *opt);
} verbs[VERBS] = {
	{ { .name = "boost trace",
	    .usage = "[OPTION]... [-- COMMAND [ARGUMENT]...]",
	    .about =
	    "Idles, loads the CPUs until they have slowed down, and reports power, frequency,\n"
	    "temperature and throughput of each phase, how long the boost lasts, and whether\n"
	    "the limits of powercap explain it. A COMMAND is the load: it is started as often\n"
	    "as it ends, and ended when that was long enough.",
	    .examples =
	    "  sudo kjoule boost trace\n"
	    "  sudo kjoule boost trace --plot boost.svg --json > trace.json\n"
	    "  sudo kjoule boost trace -C 0-3 --duration 5m -- ./solver input\n",
	    .command = true },
	  "how long a boost lasts, and what the chip does meanwhile", boost_trace },
	{ { .name = "boost window",
	    .usage = "[OPTION]... [-- COMMAND [ARGUMENT]...]",
	    .about =
	    "How much of its past the chip remembers: loads it until the boost is used up,\n"
	    "idles, and measures the boost that follows, for ever longer times, until the\n"
	    "boost is whole again. That takes some fifty times as long as a boost lasts.",
	    .examples =
	    "  sudo kjoule boost window\n"
	    "  sudo kjoule boost window --json > window.json\n"
	    "  sudo kjoule boost window --load memory --plot window.svg\n",
	    .command = true },
	  "how much of its past the chip remembers", boost_window },
	{ { .name = "boost cause",
	    .usage = "[OPTION]...",
	    .about =
	    "Does the temperature decide when a boost ends, what the chip drew before, or the\n"
	    "time? Boosts under the load, under a weaker one, and with a fan slowed down,\n"
	    "which is restored whatever happens.",
	    .examples =
	    "  sudo kjoule boost cause\n"
	    "  sudo kjoule boost cause --fan /sys/class/hwmon/hwmon0/pwm1 --fan-slow 120\n"
	    "  sudo kjoule boost cause --runs 4 --csv\n" },
	  "temperature, power or time: what ends a boost", boost_cause },
	{ { .name = "boost run",
	    .usage = "[OPTION]... [--] COMMAND [ARGUMENT]... [-- OTHER...]",
	    .about =
	    "Runs benchmarks, brings the chip into a known state before each run, and says\n"
	    "of each whether it was boosted, throttled, mixed or disturbed by others, how\n"
	    "long it would have taken at one speed, and of two commands the speed-up.",
	    .examples =
	    "  sudo kjoule boost run ./mix 30 10\n"
	    "  sudo kjoule boost run --runs 20 --history as-is -- ./old -- ./new\n"
	    "  sudo kjoule boost run --pin-frequency 2GHz --export-json times.json ./mix\n",
	    .command = true },
	  "a benchmark runner that knows of boosts", boost_run },
	{ { .name = "boost plan",
	    .usage = "(--r R --boost TIME | --from FILE) [OPTION]...",
	    .about =
	    "What a boost does to benchmarks, by the equations of Emurian et al.: errors of\n"
	    "runs of different lengths and of runs one right after the other, and how long a\n"
	    "run has to be. Needs no machine.",
	    .examples =
	    "  kjoule boost plan --r 1.125 --boost 20s\n"
	    "  kjoule boost plan --from trace.json --from window.json --bound 0.5\n"
	    "  kjoule boost plan --from trace.json --run 5s --plot errors.svg\n" },
	  "what a boost does to benchmarks", boost_plan },
};

static const char *boost_verb_name(enum verb verb)
{
	return strchr(verbs[verb].verb.name, ' ') + 1;
}

#define THREADS_MOST	8192
#define RUNS_MOST	1000
#define RUNS		10
#define RUNS_PLANNED	6
#define RUNS_CAUSE	2
#define FAN_SLOW	85
#define FAN_MOST	65535
#define SLICE_LEAST_NS	1000000ull
#define SLICE_MOST_NS	1000000000ull

static int boost_parse_ratio(void *r, const char *arg, const char **why)
{
	double value;
	char *end;

	(void)why;
	errno = 0;
	value = strtod(arg, &end);
	*(double *)r = value;
	if (errno || end == arg || *end)
		return -EINVAL;
	return value >= 1 && value <= BOOST_RATIO_MOST ? 0 : -ERANGE;
}

static int boost_parse_temperature(void *source, const char *arg, const char **why)
{
	(void)why;
	*(const char **)source = arg;
	return strchr(arg, ',') ? -EINVAL : args_sources(arg);
}

static int boost_parse_from(void *context, const char *arg, const char **why)
{
	struct boost_options *opt = context;

	if (opt->n_from == BOOST_FROM_MOST) {
		*why = "there are too many files";
		return -EINVAL;
	}
	opt->from[opt->n_from++] = arg;
	return 0;
}

/* Rows of all that load and watch the machine. */
#define BOOST_WATCH_OPTIONS(opt) \
	{ 'C', "cpus", "LIST", "CPUs that are loaded: 0-3,8 (default: all)", \
	  OPT_CPUS(&(opt)->cpus), .given = &(opt)->cpus_given }, \
	{ 0, "threads", "N", "of the load, one CPU after another has one", \
	  OPT_NUMBER(&(opt)->threads, 1, THREADS_MOST) }, \
	{ 0, "load", "NAME", "saxpy (default), multiply, memory, mixed", \
	  OPT_WORD_OF(&(opt)->load, cpu_load_names, CPU_LOAD_KINDS), \
	  .given = &(opt)->load_given }, \
	{ 0, "idle", "TIME", "before the load (default: by powercap's limit, or 2m)", \
	  OPT_SECONDS(&(opt)->idle_s) }, \
	{ 0, "duration", "TIME", "of the load (default: twice the boost, 3m at most)", \
	  OPT_SECONDS(&(opt)->duration_s) }, \
	{ 0, "slice", "TIME", "resolution in time, 1ms to 1s (default 20ms)", \
	  OPT_TIME(&(opt)->watch.slice_ns, 0, SLICE_LEAST_NS, SLICE_MOST_NS), \
	  .expected = "a time from 1ms to 1s" }, \
	{ 0, "source", "NAME", "of energy or power, see kjoule list", \
	  OPT_SOURCES(&(opt)->watch.source) }, \
	{ 0, "temperature", "NAME", "a source of temperature (default: the processor's)", \
	  OPT_CALL(boost_parse_temperature, &(opt)->watch.temperature), \
	  .expected = "the name of one source" }, \
	{ 'o', "output", "FILE", "all slices of time as CSV", OPT_TEXT(&(opt)->output) }
#define BOOST_OPT_USER(opt) \
	{ 0, "user", "NAME", "run commands as this user, without privileges", \
	  OPT_TEXT(&(opt)->user_name) }
#define BOOST_OPT_RUNS(opt, help) \
	{ 0, "runs", "N", help, OPT_NUMBER(&(opt)->runs, 1, RUNS_MOST) }
#define BOOST_OPT_BOOST(opt) \
	{ 0, "boost", "TIME", "how long a boost lasts from a clean history", \
	  OPT_SECONDS(&(opt)->tb_s) }
#define BOOST_OPT_WINDOW(opt) \
	{ 0, "window", "TIME", "idleness after which the history is clean", \
	  OPT_SECONDS(&(opt)->window_s) }
#define BOOST_OUTPUT_OPTIONS(opt) \
	{ 0, "plot", "FILE", "a picture of it (.svg, .png), its data in .csv", \
	  OPT_PICTURE(&(opt)->plot) }, \
	OPT_FORCE(&(opt)->force, "plot"), OPT_JSON(&(opt)->format), OPT_CSV(&(opt)->format), \
	OPT_QUIET(&(opt)->quiet), { 0 }

/* Return: as options_parse() */
static int boost_parse_options(enum verb verb, int argc, char **argv, struct boost_options *opt)
{
	const struct options_row load[] = {
		BOOST_WATCH_OPTIONS(opt),
		BOOST_OPT_USER(opt),
		BOOST_OUTPUT_OPTIONS(opt)
	};
	const struct options_row cause[] = {
		{ 0, "fan", "FILE", "its value, such as /sys/class/hwmon/hwmon0/pwm1",
		  OPT_TEXT(&opt->fan) },
		{ 0, "fan-slow", "VALUE", "what slows it down (default 85, of 255)",
		  OPT_NUMBER(&opt->fan_slow, 0, FAN_MOST), .needs = "fan" },
		BOOST_OPT_RUNS(opt, "boosts under each condition (default 2)"),
		BOOST_WATCH_OPTIONS(opt),
		BOOST_OUTPUT_OPTIONS(opt)
	};
	const struct options_row run[] = {
		{ 0, "history", "WHICH", "before each run: clean (default), saturated, as-is",
		  OPT_WORD(&opt->run.history, "clean", "saturated", "as-is") },
		BOOST_OPT_RUNS(opt, "of each command, in turn (default 10)"),
		{ 0, "warmup", "N", "runs before these, which do not count",
		  OPT_NUMBER(&opt->run.warmup, 0, RUNS_MOST) },
		BOOST_OPT_WINDOW(opt),
		{ 0, "boosted", "FREQ", "of the chip (default: measured before)",
		  OPT_FREQUENCY(&opt->run.boosted_khz), .needs = "sustained" },
		{ 0, "sustained", "FREQ", "the same, when the boost is used up",
		  OPT_FREQUENCY(&opt->run.sustained_khz) },
		BOOST_OPT_BOOST(opt),
		{ 0, "pin-frequency", "FREQ", "keep all CPUs there meanwhile",
		  OPT_FREQUENCY(&opt->run.pin_khz) },
		{ 0, "equal-duration", "TIME", "a run is as many of the command as fit into that",
		  OPT_SECONDS(&opt->run.equal_s) },
		{ 0, "export-json", "FILE", "times in the layout of hyperfine",
		  OPT_TEXT(&opt->run.json) },
		{ 0, "export-csv", "FILE", "the same as CSV", OPT_TEXT(&opt->run.csv) },
		{ 0, "export-markdown", "FILE", "the same as Markdown",
		  OPT_TEXT(&opt->run.markdown) },
		{ 0, "show-output", NULL, "of the commands, on standard error",
		  OPT_FLAG(&opt->run.show) },
		BOOST_OPT_USER(opt),
		BOOST_WATCH_OPTIONS(opt),
		BOOST_OUTPUT_OPTIONS(opt)
	};
	const struct options_row plan[] = {
		{ 0, "r", "R", "boosted over sustained frequency, such as 1.125",
		  OPT_CALL(boost_parse_ratio, &opt->r),
		  .expected = "boosted over sustained frequency, from 1 to 1000" },
		BOOST_OPT_BOOST(opt),
		BOOST_OPT_WINDOW(opt),
		{ 0, "from", "FILE", "these three, out of trace --json and window --json",
		  OPT_CALL(boost_parse_from, opt) },
		{ 0, "bound", "PERCENT", "that an error may be (default 1)",
		  OPT_PERCENT(&opt->bound) },
		{ 0, "run", "TIME", "length of a run (default 15s)", OPT_SECONDS(&opt->run_s) },
		BOOST_OPT_RUNS(opt, "one after the other (default 6)"),
		BOOST_OUTPUT_OPTIONS(opt)
	};
	const struct options_row *const tables[VERBS] = { load, load, cause, run, plan };

	return options_parse(&verbs[verb].verb, tables[verb], argc, argv);
}

static int boost_check_options(struct boost_options *opt, enum verb verb)
{
	if (opt->user_name && !opt->command && !opt->run.n_commands)
		return cmd_usage(verbs[verb].verb.name, "--user needs a command: give one after --");
	if (verb == PLAN && !opt->n_from && (isnan(opt->r) || isnan(opt->tb_s)))
		return cmd_usage("boost plan",
				 "plan needs --r and --boost: how much faster the boost is, and how long it lasts; or --from, a file with what `kjoule boost trace --json` printed, which measures both");
	if (!(opt->bound > 0))
		return cmd_usage("boost plan", "--bound has to be above 0");
	opt->bound /= 100;
	if (verb == RUN && opt->run.boosted_khz && opt->run.boosted_khz <= opt->run.sustained_khz)
		return cmd_usage("boost run",
				 "--boosted is not above --sustained: is there a boost?");
	if (verb == RUN && opt->run.sustained_khz && opt->run.history == BOOST_SATURATED &&
	    (isnan(opt->tb_s) || !opt->run.boosted_khz))
		return cmd_usage("boost run",
				 "--history saturated with --sustained needs --boosted and --boost, how long a boost lasts");
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
	return opt->plot && picture_check(opt->plot, opt->force, &err) ?
	       cmd_failed("%s", err.text) : 0;
}

/*
 * COMMAND [-- OTHER]...: split where "--" is, in place. Return: 0, or the exit code after saying
 * why not
 */
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
			return cmd_usage("boost run", "a command is missing between -- and --");
	}
	if (!opt->run.n_commands || !argv[argc - 1])
		return cmd_usage("boost run",
				 "run needs a command: kjoule boost run -- COMMAND [ARGUMENT]... [-- OTHER [ARGUMENT]...]");
	return 0;
}

/*
 * The command that trace and window load the machine with. Return: 0, or the exit code after saying
 * why not
 */
static int boost_set_load_command(struct boost_options *opt, enum verb verb, int argc, char **argv)
{
	if (verb != TRACE && verb != WINDOW)
		return cmd_usage(verbs[verb].verb.name, "'%s': no such argument", argv[0]);
	if (opt->load_given)
		return cmd_usage(verbs[verb].verb.name,
				 "--load and a command, '%s': the load is one or the other",
				 argv[0]);
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return cmd_usage(verbs[verb].verb.name, "it takes one command only");
	opt->command = argv;
	return boost_command_find(argv[0]);
}

static void boost_print_help(void)
{
	fputs("Usage: kjoule boost VERB [OPTION]...\n\n"
	      "Chips run fast for some time and then slow down, and what they do depends on the\n"
	      "last minutes. What that is, and what it does to benchmarks.\n\n", stdout);
	for (enum verb verb = TRACE; verb < VERBS; verb++)
		output_printf(stdout, "  %-8s%s\n", boost_verb_name(verb),
			      verbs[verb].what);
	fputs("\n  kjoule boost VERB --help   what a verb takes\n"
	      "\nExamples:\n"
	      "  sudo kjoule boost trace --json > trace.json\n"
	      "  kjoule boost plan --from trace.json\n"
	      "  sudo kjoule boost run -- ./old -- ./new\n", stdout);
}

int cmd_boost(int argc, char **argv)
{
	struct boost_options opt = { .watch.slice_ns = 20000000, .idle_s = NAN, .duration_s = NAN,
				     .r = NAN, .tb_s = NAN, .window_s = NAN, .bound = 1,
				     .run_s = 15, .fan_slow = FAN_SLOW, .run.equal_s = NAN };
	enum verb verb = TRACE;
	int first, ret = 0;

	if (argc < 2)
		return cmd_usage("boost", "what is to be done? trace, window, cause, run or plan");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		boost_print_help();
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--complete-options")) {
		for (; verb < VERBS; verb++)
			options_print_complete(boost_verb_name(verb), NULL, NULL,
					       verbs[verb].what);
		options_print_complete("--help", NULL, NULL, "the verbs");
		return EXIT_DONE;
	}
	while (verb < VERBS && strcmp(argv[1], boost_verb_name(verb)))
		verb++;
	if (verb == VERBS)
		return cmd_usage("boost",
				 "'%s': no such thing to do; trace, window, cause, run or plan",
				 argv[1]);
	opt.watch.per_cpu = verb == TRACE;
	opt.runs = verb == RUN ? RUNS : verb == CAUSE ? RUNS_CAUSE : RUNS_PLANNED;
	argc--;
	argv++;
	first = boost_parse_options(verb, argc, argv, &opt);
	if (first <= 0)
		return -first;
	if (verb == RUN)
		ret = boost_split_commands(&opt, argc - first, argv + first);
	else if (first < argc)
		ret = boost_set_load_command(&opt, verb, argc - first, argv + first);
	ret = ret ? ret : boost_check_options(&opt, verb);
	ret = ret ? ret : boost_files_check(&opt);
	if (!ret && (opt.command || opt.run.n_commands))
		ret = kjoule_user_choose(opt.user_name, opt.quiet, &opt.user);
	ret = ret ? ret : verbs[verb].run(&opt);
	kjoule_user_free(opt.user);
	free(opt.run.commands);
	return ret;
}
