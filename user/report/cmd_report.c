// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule report: which processes and functions spent the time and the energy of
 * a recording, or of several runs. What was asked; it is done by run.c.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "output/picture.h"
#include "output/plot.h"
#include "report/report.h"
#include "verbs.h"

static const char help[] =
"Usage: kjoule report [OPTION]... [FILE]...\n"
"\n"
"Time, energy, mean power and mean frequency of each process and function in a\n"
"recording (default kjoule.data), each with its 95 % interval, and what the\n"
"measurement itself took. Several recordings of one program are shown as an average run,\n"
"and those that differ too much from the rest are named.\n"
"\n"
"      --by GRAIN          tell apart: process, object, function (default), line, loop, block, and\n"
"                          region: what the program says it is at, see kjoule_region(3)\n"
"      --block NAME=PART[,PART]...\n"
"                          count these parts as one block, whatever --by says; a PART is a function,\n"
"                          FILE:FROM-TO in lines or OBJECT:0xFROM-0xTO in addresses of the ELF file\n"
"  -g, --call-graph        below each function who called it\n"
"      --children          each function with all that it called, itself beside it\n"
"      --folded            a line for each stack, for flame graphs: outer;...;inner WEIGHT\n"
"      --weight KEY        of --folded: energy in microjoule (default), time in ns, samples\n"
"      --sort KEY          energy (default), time, power, freq, samples, name\n"
"      --percent-limit P   leave out functions below P % (default 0.1, for callers with -g 0.5;\n"
	"                        0 for JSON and CSV)\n"
"      --vectors           what ran together on the CPUs, and what was spent meanwhile\n"
"      --power-budget W    mark what draws more power than that: 2W, 500mW\n"
"      --region NAME       only what ran inside of this region, or of outer/inner\n"
"      --from TIME         leave out what was before, counted from the start: 10s, 250ms; as if it had not been recorded\n"
"      --to TIME           leave out what was after\n"
"      --pid PID           only this process\n"
"      --comm NAME         only processes of this name\n"
"      --source NAME[,...] attribute the energy of these sources of the recording\n"
"      --model MODEL       how energy becomes that of blocks: cpm (constant power, the default), mixture (blocks\n"
"                          shorter than the counter's period, by many ticks in each), edge (the same, of a\n"
"                          recording made for it), vpm (the power of single blocks that a recording has\n"
"                          readings of), auto (whichever fits)\n"
"      --interval KIND     of energies: combined (default), worst-case (ALEA's equation 10)\n"
"      --convergence FILE  instead: how sure figures become with more samples, as a picture (.svg, .png), with\n"
"                          its data beside (.csv), and as rows\n"
"      --force             replace such data that are there already\n"
"      --without-outliers  of several recordings: leave out those that differ too much from the rest\n"
"      --raw               the plain model: equal shares, no costs taken out\n"
"      --json              as one JSON document\n"
"      --csv               as CSV\n"
"  -h, --help\n"
"\n"
"The exit code is 1 if parts of the file are damaged, or if no sample fell into a --block; what is good\n"
"is reported all the same.\n";

enum { OPT_SORT = 256, OPT_RAW, OPT_CHILDREN, OPT_FOLDED, OPT_WEIGHT, OPT_BY, OPT_BLOCK,
       OPT_BUDGET, OPT_VECTORS, OPT_WITHOUT_OUTLIERS, OPT_CONVERGENCE, OPT_FORCE, OPT_MODEL, OPT_FROM, OPT_TO };

static const struct option options[] = {
	{ "by", required_argument, NULL, OPT_BY },
	{ "block", required_argument, NULL, OPT_BLOCK },
	{ "call-graph", no_argument, NULL, 'g' },
	{ "children", no_argument, NULL, OPT_CHILDREN },
	{ "folded", no_argument, NULL, OPT_FOLDED },
	{ "weight", required_argument, NULL, OPT_WEIGHT },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "percent-limit", required_argument, NULL, ATTRIBUTE_OPT_LIMIT },
	{ "power-budget", required_argument, NULL, OPT_BUDGET },
	{ "vectors", no_argument, NULL, OPT_VECTORS },
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "interval", required_argument, NULL, ATTRIBUTE_OPT_INTERVAL },
	{ "convergence", required_argument, NULL, OPT_CONVERGENCE },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "without-outliers", no_argument, NULL, OPT_WITHOUT_OUTLIERS },
	{ "region", required_argument, NULL, ATTRIBUTE_OPT_REGION },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "pid", required_argument, NULL, ATTRIBUTE_OPT_PID },
	{ "comm", required_argument, NULL, ATTRIBUTE_OPT_COMM },
	{ "source", required_argument, NULL, ATTRIBUTE_OPT_SOURCE },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "json", no_argument, NULL, ATTRIBUTE_OPT_JSON },
	{ "csv", no_argument, NULL, ATTRIBUTE_OPT_CSV },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

static int report_parse_sort(const char *text, enum attribute_sort *sort)
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

static int report_parse_weight(const char *text, enum attribute_weight *weight)
{
	static const char *const keys[] = { [WEIGHT_ENERGY] = "energy", [WEIGHT_TIME] = "time",
					    [WEIGHT_SAMPLES] = "samples" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(text, keys[i])) {
			*weight = i;
			return 0;
		}
	}
	return cmd_usage("report", "--weight %s: no such key; there are energy, time, samples", text);
}

static int report_set_callers(struct attribute_options *opt, enum attribute_callers how)
{
	if (opt->callers && opt->callers != how)
		return cmd_usage("report", "-g, --children and --folded are three: give one");
	opt->callers = how;
	return 0;
}

/* Percent of everything: what is below is not shown to people unless they say so. */
#define FUNCTIONS_LIMIT	0.1
#define CALLERS_LIMIT	0.5

/* What a recording gives power to is a matter of the recording, and may be several blocks that it does not tell apart. */
static bool report_model_is_fitted(const struct attribute_options *opt)
{
	return opt->model == MODEL_MIXTURE || opt->model == MODEL_EDGE || opt->model == MODEL_VPM;
}

/* What knows of one recording only. */
static int report_check_several(const struct attribute_options *opt, bool without_outliers,
				size_t files)
{
	if (files < 2 && without_outliers)
		return cmd_usage("report", "--without-outliers is of several recordings; there is one");
	if (files < 2)
		return 0;
	if (opt->callers)
		return cmd_usage("report", "-g, --children and --folded are of one recording; there are %zu", files);
	if (opt->vectors)
		return cmd_usage("report", "--vectors is of one recording; there are %zu", files);
	if (report_model_is_fitted(opt))
		return cmd_usage("report", "--model mixture, edge and vpm are for one recording; there are %zu: report each by itself, or take cpm",
				 files);
	if (opt->cut)
		return cmd_usage("report", "--from and --to are of one recording; there are %zu", files);
	if (opt->pid)
		return cmd_usage("report", "--pid is of one recording, other runs have other process ids: take --comm");
	return 0;
}

static int report_parse_options(int argc, char **argv, struct attribute_options *opt,
				struct report_files *files)
{
	bool weighed = false;
	double limit = -1;
	int c, ret = 0;

	optind = 0;
	opterr = 0;
	while (!ret && (c = getopt_long(argc, argv, ":gh", options, NULL)) != -1) {
		switch (c) {
		case OPT_BY:
			opt->by_given = true;
			ret = attribute_parse_grain("report", optarg, opt);
			break;
		case OPT_BLOCK:
			ret = attribute_parse_block("report", optarg, opt);
			break;
		case 'g':
			ret = report_set_callers(opt, CALLERS_GRAPH);
			break;
		case OPT_CHILDREN:
			ret = report_set_callers(opt, CALLERS_CHILDREN);
			break;
		case OPT_FOLDED:
			ret = report_set_callers(opt, CALLERS_FOLDED);
			break;
		case OPT_WEIGHT:
			weighed = true;
			ret = report_parse_weight(optarg, &opt->weight);
			break;
		case OPT_SORT:
			opt->sort_given = true;
			ret = report_parse_sort(optarg, &opt->sort);
			break;
		case OPT_MODEL:
			opt->model_given = true;
			if (power_model_parse(optarg, &opt->model))
				ret = cmd_usage("report", "--model %s: no such model; there are cpm, mixture, edge, vpm, auto", optarg);
			break;
		case OPT_VECTORS:
			opt->vectors = true;
			break;
		case OPT_BUDGET:
			if (args_power(optarg, &opt->budget_w))
				ret = cmd_usage("report", "--power-budget %s: expected watts such as 2W or 500mW", optarg);
			break;
		case OPT_FROM:
			opt->cut = true;
			if (args_duration(optarg, 0, &opt->from_ns))
				ret = cmd_usage("report", "--from %s: expected a time such as 10s, 250ms", optarg);
			break;
		case OPT_TO:
			opt->cut = true;
			if (args_duration(optarg, 0, &opt->to_ns))
				ret = cmd_usage("report", "--to %s: expected a time such as 10s, 250ms", optarg);
			break;
		case OPT_CONVERGENCE:
			opt->convergence = optarg;
			if (!plot_kind(optarg))
				ret = cmd_usage("report", "--convergence %s: expected a file that ends in .svg or .png", optarg);
			break;
		case OPT_FORCE:
			opt->force = true;
			break;
		case OPT_WITHOUT_OUTLIERS:
			files->without_outliers = true;
			break;
		case OPT_RAW:
			opt->raw = true;
			break;
		case 'h':
			fputs(help, stdout);
			return -1;
		default:
			ret = attribute_parse_common("report", c, optarg, opt, &limit);
			if (ret == -ENOENT)
				return cmd_getopt_error("report", c, optopt, argv[optind - 1]);
		}
	}
	if (ret)
		return ret;
	opt->units = opt->grain != CODE_UNIT_FUNCTION || opt->named.n;
	if (opt->callers && (opt->units || opt->processes || opt->by_region))
		return cmd_usage("report", "-g, --children and --folded are of functions: leave out --by and --block");
	if (opt->processes && opt->named.n)
		return cmd_usage("report", "--by process has no place for --block: take --by object");
	if (opt->by_region && opt->named.n)
		return cmd_usage("report", "--by region has no place for --block: take --region NAME --block");
	if (opt->from_ns >= opt->to_ns)
		return cmd_usage("report", "--to has to be after --from");
	if (opt->cut && opt->by_region)
		return cmd_usage("report", "--by region counts the marks of all of a recording: leave out --from and --to, or take --region NAME");
	if (opt->vectors && opt->region)
		return cmd_usage("report", "--vectors is of all that ran: leave out --region, or take --by region");
	if (opt->vectors && (opt->callers || opt->pid || opt->comm || opt->named.n))
		return cmd_usage("report", "--vectors is of all that ran: leave out --block, --pid, --comm and what shows callers");
	if (opt->vectors && (opt->worst_case || opt->sort != SORT_ENERGY))
		return cmd_usage("report", "--vectors are sorted by energy, and have intervals of one kind: leave out --sort and --interval");
	if ((opt->model == MODEL_EDGE || opt->model == MODEL_VPM) && opt->vectors)
		return cmd_usage("report", "--model edge and vpm do not go with --vectors: take mixture, or cpm");
	if (report_model_is_fitted(opt) && opt->raw)
		return cmd_usage("report", "--model mixture, edge and vpm do not go with --raw, which is cpm as ALEA has it");
	if (report_model_is_fitted(opt) && opt->convergence)
		return cmd_usage("report", "--convergence goes with --model cpm only: mixture, edge and vpm need all of a recording");
	if (opt->model == MODEL_VPM && (opt->callers || opt->by_given || opt->sort_given || opt->region || opt->budget_w ||
					 opt->worst_case || opt->comm || opt->pid))
		return cmd_usage("report", "--model vpm is of the blocks that the recording has readings of: of what chooses or orders rows it goes with --block only");
	if (opt->model == MODEL_AUTO && (opt->raw || opt->convergence))
		opt->model = MODEL_CPM;
	if (opt->processes && opt->budget_w && !opt->vectors)
		return cmd_usage("report", "--power-budget is for what is finer than a process: take another --by");
	if (opt->budget_w && (opt->callers == CALLERS_CHILDREN || opt->callers == CALLERS_FOLDED))
		return cmd_usage("report", "--power-budget does not go with --children and --folded: these have no intervals");
	if (opt->convergence && (opt->callers || opt->vectors || opt->processes || opt->budget_w || opt->pid || opt->comm || opt->region ||
				 opt->worst_case || opt->sort != SORT_ENERGY || limit >= 0))
		return cmd_usage("report", "--convergence follows the blocks of the most energy: of what chooses or orders rows it goes with --by, --block and --source only");
	if (opt->force && !opt->convergence)
		return cmd_usage("report", "--force goes with --convergence");
	if (weighed && opt->callers != CALLERS_FOLDED)
		return cmd_usage("report", "--weight goes with --folded");
	if (opt->callers == CALLERS_FOLDED && opt->format != OUTPUT_TABLE)
		return cmd_usage("report", "--folded is a format of its own: leave out --json and --csv");
	if (optind < argc) {
		files->n = argc - optind;
		files->paths = (const char **)argv + optind;
	}
	ret = report_check_several(opt, files->without_outliers, files->n);
	if (ret)
		return ret;
	if (opt->callers == CALLERS_FOLDED && limit > 0)
		return cmd_usage("report", "--percent-limit does not go with --folded: its lines add up to the total");
	opt->percent_limit = limit >= 0 ? limit :
			     opt->format == OUTPUT_TABLE && opt->callers != CALLERS_FOLDED ? FUNCTIONS_LIMIT : 0;
	opt->callers_limit = limit >= 0 ? limit : opt->format == OUTPUT_TABLE ? CALLERS_LIMIT : 0;
	return 0;
}

static int report_recordings(int argc, char **argv, struct attribute_options *opt)
{
	const char *unnamed = NULL;
	struct kjoule_error err;
	struct report_files files = { 1, &unnamed, false };
	int code = report_parse_options(argc, argv, opt, &files);

	if (code)
		return code < 0 ? EXIT_DONE : code;
	code = cmd_privilege_drop((char **)files.paths, files.paths == &unnamed ? 0 : files.n);
	if (code)
		return code;
	/* before it takes its time */
	if (opt->convergence && picture_check(opt->convergence, opt->force, &err))
		return cmd_failed("%s", err.text);
	return files.n > 1 ? report_several(&files, opt) : report_one(files.paths[0], opt);
}

int cmd_report(int argc, char **argv)
{
	struct attribute_options opt = { .format = OUTPUT_TABLE, .to_ns = UINT64_MAX };
	int code = report_recordings(argc, argv, &opt);

	user_blocks_free(&opt.named);
	return code;
}
