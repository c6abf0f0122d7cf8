// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule report: which processes and functions spent the time and the energy of
 * a recording.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "args.h"
#include "cmd.h"
#include "report.h"

static const char help[] =
"Usage: kjoule report [OPTION]... [FILE]\n"
"\n"
"Time, energy, mean power and mean frequency of each process and function in a\n"
"recording (default kjoule.data), each with its 95 % interval, and what the\n"
"measurement itself took.\n"
"\n"
"      --sort KEY          energy (default), time, power, freq, samples, name\n"
"      --percent-limit P   leave out functions below P % (default 0.1; 0 for JSON and CSV)\n"
"      --pid PID           only this process\n"
"      --comm NAME         only processes of this name\n"
"      --raw               the plain model: equal shares, no costs taken out\n"
"      --json              as one JSON document\n"
"      --csv               as CSV\n"
"  -h, --help\n"
"\n"
"The exit code is 1 if parts of the file are damaged; what is good is reported all the same.\n";

enum { OPT_SORT = 256, OPT_LIMIT, OPT_PID, OPT_COMM, OPT_RAW, OPT_JSON, OPT_CSV };

static const struct option options[] = {
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "percent-limit", required_argument, NULL, OPT_LIMIT },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

static int parse_sort(const char *text, enum report_sort *sort)
{
	static const char *const keys[] = {
		[SORT_ENERGY] = "energy", [SORT_TIME] = "time", [SORT_POWER] = "power",
		[SORT_FREQ] = "freq", [SORT_SAMPLES] = "samples", [SORT_NAME] = "name" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(text, keys[i])) {
			*sort = i;
			return 0;
		}
	}
	return cmd_usage("report", "--sort %s: no such key; there are energy, time, power, freq, samples, name",
			 text);
}

static int parse_limit(const char *text, double *limit)
{
	char *end;

	*limit = strtod(text, &end);
	if (end == text || *end || !(*limit >= 0 && *limit <= 100))
		return cmd_usage("report", "--percent-limit %s: expected a number from 0 to 100",
				 text);
	return 0;
}

static int parse(int argc, char **argv, struct report_options *opt, const char **path)
{
	double limit = -1;
	int c, ret = 0;

	optind = 0;
	opterr = 0;
	while (!ret && (c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_SORT:
			ret = parse_sort(optarg, &opt->sort);
			break;
		case OPT_LIMIT:
			ret = parse_limit(optarg, &limit);
			break;
		case OPT_PID:
			if (args_pid(optarg, &opt->pid))
				ret = cmd_usage("report", "--pid %s: expected a process id", optarg);
			break;
		case OPT_COMM:
			opt->comm = optarg;
			break;
		case OPT_RAW:
			opt->raw = true;
			break;
		case OPT_JSON:
			opt->format = OUTPUT_JSON;
			break;
		case OPT_CSV:
			opt->format = OUTPUT_CSV;
			break;
		case 'h':
			fputs(help, stdout);
			return -1;
		default:
			return cmd_getopt_error("report", c, optopt, argv[optind - 1]);
		}
	}
	if (ret)
		return ret;
	if (argc - optind > 1)
		return cmd_usage("report", "one file, please; found %s as well", argv[optind + 1]);
	if (optind < argc)
		*path = argv[optind];
	opt->percent_limit = limit >= 0 ? limit : opt->format == OUTPUT_TABLE ? 0.1 : 0;
	return 0;
}

static int run(struct view *v, const char *path, const struct report_options *opt)
{
	struct json_object *head = NULL;
	struct profile *p = NULL;
	struct report r = { 0 };
	struct blocks b;
	int ret = blocks_new(v, opt->raw, &b);

	if (ret)
		return ret;
	ret = profile_new(&b.input, &p);
	if (!ret)
		ret = report_new(&b, p, opt, &r);
	if (!ret) {
		if (opt->format == OUTPUT_TABLE)
			report_head_print(v, &b, p, &r, path);
		if (opt->format == OUTPUT_JSON)
			head = report_head_json(v, &b, p, path);
		ret = report_print(&r, &b, opt, head);
	}
	report_free(&r);
	profile_free(p);
	blocks_free(&b);
	return ret;
}

int cmd_report(int argc, char **argv)
{
	struct report_options opt = { .format = OUTPUT_TABLE };
	const char *path = "kjoule.data";
	struct kjoule_error err;
	struct view v;
	int code;

	code = parse(argc, argv, &opt, &path);
	if (code)
		return code < 0 ? EXIT_DONE : code;
	if (view_open(path, &v, &err))
		return cmd_failed("%s", err.text);
	code = run(&v, path, &opt);
	if (code)
		code = cmd_failed("%s: %s", path, strerror(-code));
	else
		code = view_complain(&v, path);
	view_close(&v);
	return code;
}
