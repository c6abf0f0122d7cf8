// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule latency: how long changes of a CPU's frequency take. What was asked for, and the order of
 * things; see latency.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "latency/latency.h"
#include "lib/control/sources.h"
#include "output/picture.h"
#include "verbs.h"

static const struct options_verb latency_verb = {
	.name = "latency",
	.usage = "[OPTION]...",
	.about =
	"Measures how long changes of a CPU's frequency take, from the request until the\n"
	"CPU runs at the new one, by the time that a short loop takes before, while and\n"
	"after. Governors and limits are restored whatever happens.",
	.examples =
	"  sudo kjoule latency\n"
	"  sudo kjoule latency --from min --to max --plot-series change.svg\n"
	"  kjoule latency -C 2 --engine user --freq 800MHz,1.2GHz --json\n",
};

#define TIMEOUT_NS	100000000ull
#define TIMEOUT_TIMES	10
#define TIMEOUT_MOST_NS	10000000000ull
/*
 * So that with a pause of a few loops in it, and loops behind that, it is less than a millisecond.
 */
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

/* Return: as options_parse() */
static int latency_parse_options(int argc, char **argv, struct asked *a)
{
	struct latency_options *opt = &a->opt;
	const struct options_row options[] = {
		{ 'C', "cpu", "CPU", "measure there (default 0)",
		  OPT_NUMBER(&opt->cpu, 0, KJOULE_MAX_CPUS - 1), .expected = "a CPU's number" },
		{ 0, "all-pairs", NULL, "from every frequency to every other (default)",
		  OPT_FLAG(&a->all) },
		{ 0, "freq", "LIST", "only these: 800MHz,1.2GHz", OPT_TEXT(&a->freq),
		  OPT_OFFER("min", "max") },
		{ 0, "from", "FREQ", "one change only, from this one",
		  OPT_TEXT(&a->from), OPT_OFFER("min", "max"), .needs = "to",
		  .not_with = "all-pairs freq" },
		{ 0, "to", "FREQ", "to this one", OPT_TEXT(&a->to), OPT_OFFER("min", "max"),
		  .needs = "from" },
		{ 0, "repeats", "N", "good tries of each change (default 31)",
		  OPT_NUMBER(&opt->repeats, REPEATS_LEAST, REPEATS_MOST),
		  .expected = "a number from 6, of which a median has an interval, to 10000" },
		{ 0, "engine", "NAME", "who times the loops: kernel (default) or user space",
		  OPT_WORD(&opt->user_engine, "kernel", "user") },
		{ 0, "way", "NAME", "how the module requests: by fast switch or limits",
		  OPT_WORD(&opt->way, [LATENCY_WAY_FAST] = "fast", [LATENCY_WAY_LIMITS] = "limits"),
		  .given = &opt->way_given },
		{ 0, "at", "LOAD", "keep the other CPUs idle (default), or under load",
		  OPT_WORD(&opt->load, "idle", "load") },
		{ 0, "related", NULL, "keep the other CPUs at the lower of both frequencies",
		  OPT_FLAG(&opt->related) },
		{ 0, "adds", "N", "additions in a loop (default: as few as it takes)",
		  OPT_NUMBER(&opt->adds, 64, 1000000) },
		{ 0, "timeout", "TIME", "give up a try after that (default 100ms or more)",
		  OPT_TIME(&opt->timeout_ns, 0, 1, TIMEOUT_MOST_NS),
		  .expected = "a time like 50ms, at most 10s" },
		{ 0, "slice", "TIME", "interrupts off for no longer at a time (default 500us)",
		  OPT_TIME(&opt->slice_ns, 0, 1, SLICE_MOST_NS),
		  .expected = "a time like 500us, at most 1ms" },
		{ 'o', "output", "FILE", "keep all that was measured, each loop, as JSON",
		  OPT_TEXT(&opt->output) },
		{ 0, "plot", "FILE", "draw latencies over the target frequency (.svg, .png)",
		  OPT_PICTURE(&opt->plot) },
		{ 0, "plot-series", "FILE", "draw the loops around one change",
		  OPT_PICTURE(&opt->plot_series) },
		OPT_FORCE(&opt->force, "plot plot-series"),
		OPT_JSON(&opt->format),
		OPT_CSV(&opt->format),
		OPT_QUIET(&opt->quiet),
		{ 0 }
	};
	int first = options_parse(&latency_verb, options, argc, argv);

	if (first <= 0)
		return first;
	if (first < argc)
		return -cmd_usage("latency", "'%s': no such argument", argv[first]);
	if (opt->user_engine && opt->way_given)
		return -cmd_usage("latency", "--way does not go with --engine user");
	opt->pair = a->from;
	return first;
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
	return kjoule_fail(err, ENODEV,
			   "CPU %u has no cpufreq policy: no driver sets its frequency",
			   l->opt->cpu);
}

static int latency_parse_frequency(struct latency_options *opt, const struct kjoule_policy *p,
				   const char *option, const char *text)
{
	uint32_t khz;
	int ret = args_frequency(text, p->min_khz, p->max_khz, &khz);

	if (ret)
		return cmd_bad_value("latency", ret, option, text,
				     "a frequency like 800MHz, 1.2GHz, 1200000 (kHz), min or max");
	if (opt->n_khz == LATENCY_FREQUENCIES)
		return cmd_usage("latency", "%s: more than %d frequencies", option,
				 LATENCY_FREQUENCIES);
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
		code = cmd_usage("latency",
				 "--from %s --to %s: both are %u kHz, there is no change to measure",
				 a->from, a->to, opt->khz[0]);
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

/* What else was asked for; the first failure is reported, the rest is done all the same. */
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

	if (code <= 0)
		return -code;
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
