// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule annotate: which lines, blocks and instructions of a function spent its time and its energy.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/annotate.h"
#include "attribute/region_marks.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "header/header.h"
#include "verbs.h"

static const char help[] =
"Usage: kjoule annotate [OPTION]... [FILE]\n"
"\n"
"The code of the functions that spent most in a recording (default kjoule.data),\n"
"with time, energy, power and frequency of each basic block, or line of source.\n"
"\n"
"  -f, --function NAME     only functions of this name\n"
"      --by GRAIN          block (default), line\n"
"      --no-source         leave out the source among instructions\n"
"      --percent-limit P   leave out functions below P % (default 5; 0 with --function)\n"
"      --region NAME       only what ran inside of this region, see kjoule_region(3)\n"
"      --pid PID           only what this process did\n"
"      --comm NAME         only what processes of this name did\n"
"      --source NAME[,...] attribute the energy of these sources of the recording\n"
"      --json              as one JSON document\n"
"      --csv               as CSV\n"
"  -h, --help\n"
"\n"
"The exit code is 1 if parts of the file are damaged, or if there is no such function.\n";

enum { OPT_BY = 256, OPT_NO_SOURCE };

static const struct option options[] = {
	{ "function", required_argument, NULL, 'f' },
	{ "by", required_argument, NULL, OPT_BY },
	{ "no-source", no_argument, NULL, OPT_NO_SOURCE },
	{ "percent-limit", required_argument, NULL, ATTRIBUTE_OPT_LIMIT },
	{ "region", required_argument, NULL, ATTRIBUTE_OPT_REGION },
	{ "pid", required_argument, NULL, ATTRIBUTE_OPT_PID },
	{ "comm", required_argument, NULL, ATTRIBUTE_OPT_COMM },
	{ "source", required_argument, NULL, ATTRIBUTE_OPT_SOURCE },
	{ "json", no_argument, NULL, ATTRIBUTE_OPT_JSON },
	{ "csv", no_argument, NULL, ATTRIBUTE_OPT_CSV },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

#define FUNCTIONS_LIMIT	5

static int annotate_parse_options(int argc, char **argv, struct annotate_options *opt,
				  const char **path)
{
	struct attribute_options common = { .format = OUTPUT_TABLE };
	double limit = -1;
	int c, ret = 0;

	optind = 0;
	opterr = 0;
	while (!ret && (c = getopt_long(argc, argv, ":f:h", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			opt->function = optarg;
			break;
		case OPT_BY:
			opt->lines = !strcmp(optarg, "line");
			if (!opt->lines && strcmp(optarg, "block"))
				ret = cmd_usage("annotate", "--by %s: no such grain; there are block, line", optarg);
			break;
		case OPT_NO_SOURCE:
			opt->source = false;
			break;
		case 'h':
			fputs(help, stdout);
			return -1;
		default:
			ret = attribute_parse_common("annotate", c, optarg, &common, &limit);
			if (ret == -ENOENT)
				return cmd_getopt_error("annotate", c, optopt, argv[optind - 1]);
		}
	}
	if (ret)
		return ret;
	opt->pid = common.pid;
	opt->comm = common.comm;
	opt->energy = common.source;
	opt->region = common.region;
	opt->format = common.format;
	if (opt->lines && !opt->source)
		return cmd_usage("annotate", "--no-source leaves nothing of --by line");
	if (argc - optind > 1)
		return cmd_usage("annotate", "one file, please; found %s as well", argv[optind + 1]);
	if (optind < argc)
		*path = argv[optind];
	opt->percent_limit = limit >= 0 ? limit : opt->function ? 0 : FUNCTIONS_LIMIT;
	return 0;
}

static int annotate_recording(struct view *v, const char *path, const struct annotate_options *opt)
{
	const struct power_model model = { .asked = MODEL_CPM, .used = MODEL_CPM };
	struct code_units *grain = NULL;
	struct profile *p = NULL;
	struct annotate a;
	struct blocks b;
	int ret;

	ret = code_units_new(opt->lines ? CODE_UNIT_LINE : CODE_UNIT_BLOCK, NULL, &grain);
	if (ret)
		return ret;
	ret = blocks_new(v, grain, false, &b);
	if (ret) {
		code_units_free(grain);
		return ret;
	}
	if (blocks_paused_by(&b))
		cmd_warn(BLOCKS_PAUSED, path, blocks_paused_by(&b));
	ret = profile_new(&b.input, &p);
	if (!ret)
		ret = annotate_new(v, &b, p, opt, &a);
	if (!ret) {
		if (a.n && opt->format == OUTPUT_TABLE)
			header_doubts_print(v, &b, p);
		if (a.n)
			ret = annotate_print(&a, &b, opt, opt->format == OUTPUT_JSON ?
					     header_json(v, &b, p, NULL, &model, path) : NULL);
		else
			ret = -ESRCH;
		annotate_free(&a);
	}
	profile_free(p);
	blocks_free(&b);
	code_units_free(grain);
	return ret;
}

int cmd_annotate(int argc, char **argv)
{
	struct annotate_options opt = { .format = OUTPUT_TABLE, .source = true };
	const char *path = NULL;
	bool chosen[KJOULE_MAX_SOURCES];
	struct kjoule_error err;
	struct view v;
	int code, ret;

	code = annotate_parse_options(argc, argv, &opt, &path);
	if (code)
		return code < 0 ? EXIT_DONE : code;
	code = cmd_privilege_drop(argv + optind, argc - optind);
	if (code)
		return code;
	if (view_open(path, &v, &err))
		return cmd_failed("%s", err.text);
	path = path ? path : KJOULE_DATA_FILE;
	v.source = opt.energy;
	v.region = opt.region;
	if (region_marks_check(&v, path, &err)) {
		cmd_warn("%s", err.text);
		if (!view_load(&v))
			view_complain(&v, path);
		view_close(&v);
		return EXIT_FAILED;
	}
	if (energy_columns_choose(&v, opt.energy, chosen, &err)) {
		view_close(&v);
		return cmd_failed("%s: %s", path, err.text);
	}
	ret = annotate_recording(&v, path, &opt);
	code = view_complain(&v, path) ? EXIT_FAILED : EXIT_DONE;
	if (ret == -ESRCH && opt.function)
		code = cmd_failed("%s: no sample fell into a function %s of what was asked for; kjoule report tells which there are",
				  path, opt.function);
	else if (ret == -ESRCH)
		code = cmd_failed("%s: no function of what was asked for, and whose code can be seen, has %g %% of the whole",
				  path, opt.percent_limit);
	else if (ret)
		code = cmd_failed("%s: %s", path, view_why_not(ret));
	view_close(&v);
	return code;
}
