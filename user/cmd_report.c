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
#include "merge.h"
#include "report.h"
#include "report_runs.h"

static const char help[] =
"Usage: kjoule report [OPTION]... [FILE]...\n"
"\n"
"Time, energy, mean power and mean frequency of each process and function in a\n"
"recording (default kjoule.data), each with its 95 % interval, and what the\n"
"measurement itself took. Several recordings of one program are shown as an average run,\n"
"and those that differ too much from the rest are named.\n"
"\n"
"      --by GRAIN          tell apart: process, object, function (default), line, loop, block\n"
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
"      --pid PID           only this process\n"
"      --comm NAME         only processes of this name\n"
"      --source NAME[,...] attribute the energy of these sources of the recording\n"
"      --interval KIND     of energies: combined (default), worst-case (ALEA's equation 10)\n"
"      --without-outliers  of several recordings: leave out those that differ too much, or are no whole runs\n"
"      --raw               the plain model: equal shares, no costs taken out\n"
"      --json              as one JSON document\n"
"      --csv               as CSV\n"
"  -h, --help\n"
"\n"
"The exit code is 1 if parts of the file are damaged, or if no sample fell into a --block; what is good\n"
"is reported all the same.\n";

enum { OPT_SORT = 256, OPT_LIMIT, OPT_PID, OPT_COMM, OPT_RAW, OPT_SOURCE, OPT_JSON, OPT_CSV,
       OPT_CHILDREN, OPT_FOLDED, OPT_WEIGHT, OPT_BY, OPT_BLOCK,
       OPT_BUDGET, OPT_VECTORS, OPT_INTERVAL, OPT_WITHOUT_OUTLIERS };

static const struct option options[] = {
	{ "by", required_argument, NULL, OPT_BY },
	{ "block", required_argument, NULL, OPT_BLOCK },
	{ "call-graph", no_argument, NULL, 'g' },
	{ "children", no_argument, NULL, OPT_CHILDREN },
	{ "folded", no_argument, NULL, OPT_FOLDED },
	{ "weight", required_argument, NULL, OPT_WEIGHT },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "percent-limit", required_argument, NULL, OPT_LIMIT },
	{ "power-budget", required_argument, NULL, OPT_BUDGET },
	{ "vectors", no_argument, NULL, OPT_VECTORS },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "without-outliers", no_argument, NULL, OPT_WITHOUT_OUTLIERS },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "source", required_argument, NULL, OPT_SOURCE },
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

static int parse_weight(const char *text, enum report_weight *weight)
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

static int show_callers(struct report_options *opt, enum report_callers how)
{
	if (opt->callers && opt->callers != how)
		return cmd_usage("report", "-g, --children and --folded are three: give one");
	opt->callers = how;
	return 0;
}

/* What is to be reported. */
struct report_files {
	size_t n;
	const char **paths;
	bool without_outliers;
};

/* Percent of everything: what is below is not shown to people unless they say so. */
#define FUNCTIONS_LIMIT	0.1
#define CALLERS_LIMIT	0.5

/* What knows of one recording only. */
static int parse_several(const struct report_options *opt, bool without_outliers, size_t files)
{
	if (files < 2 && without_outliers)
		return cmd_usage("report", "--without-outliers is of several recordings; there is one");
	if (files < 2)
		return 0;
	if (opt->callers)
		return cmd_usage("report", "-g, --children and --folded are of one recording; there are %zu", files);
	if (opt->vectors)
		return cmd_usage("report", "--vectors is of one recording; there are %zu", files);
	if (opt->pid)
		return cmd_usage("report", "--pid is of one recording, other runs have other process ids: take --comm");
	return 0;
}

static int parse(int argc, char **argv, struct report_options *opt, struct report_files *files)
{
	bool weighed = false;
	double limit = -1;
	int c, ret = 0;

	optind = 0;
	opterr = 0;
	while (!ret && (c = getopt_long(argc, argv, ":gh", options, NULL)) != -1) {
		switch (c) {
		case OPT_BY:
			ret = report_parse_grain("report", optarg, opt);
			break;
		case OPT_BLOCK:
			ret = report_parse_block("report", optarg, opt);
			break;
		case 'g':
			ret = show_callers(opt, CALLERS_GRAPH);
			break;
		case OPT_CHILDREN:
			ret = show_callers(opt, CALLERS_CHILDREN);
			break;
		case OPT_FOLDED:
			ret = show_callers(opt, CALLERS_FOLDED);
			break;
		case OPT_WEIGHT:
			weighed = true;
			ret = parse_weight(optarg, &opt->weight);
			break;
		case OPT_SORT:
			ret = parse_sort(optarg, &opt->sort);
			break;
		case OPT_LIMIT:
			if (args_percent(optarg, &limit))
				ret = cmd_usage("report", "--percent-limit %s: expected a number from 0 to 100", optarg);
			break;
		case OPT_INTERVAL:
			opt->worst_case = !strcmp(optarg, "worst-case");
			if (!opt->worst_case && strcmp(optarg, "combined"))
				ret = cmd_usage("report", "--interval %s: no such kind; there are combined, worst-case", optarg);
			break;
		case OPT_VECTORS:
			opt->vectors = true;
			break;
		case OPT_BUDGET:
			if (args_power(optarg, &opt->budget_w))
				ret = cmd_usage("report", "--power-budget %s: expected watts such as 2W or 500mW", optarg);
			break;
		case OPT_PID:
			if (args_pid(optarg, &opt->pid))
				ret = cmd_usage("report", "--pid %s: expected a process id", optarg);
			break;
		case OPT_COMM:
			opt->comm = optarg;
			break;
		case OPT_SOURCE:
			opt->source = optarg;
			if (args_sources(optarg))
				ret = cmd_usage("report", "--source '%s': expected names with commas between, none of them empty",
						optarg);
			break;
		case OPT_WITHOUT_OUTLIERS:
			files->without_outliers = true;
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
	opt->units = opt->grain != GRAIN_FUNCTION || opt->named.n;
	if (opt->callers && (opt->units || opt->processes))
		return cmd_usage("report", "-g, --children and --folded are of functions: leave out --by and --block");
	if (opt->processes && opt->named.n)
		return cmd_usage("report", "--by process has no place for --block: take --by object");
	if (opt->vectors && (opt->callers || opt->processes || opt->budget_w || opt->pid || opt->comm || opt->named.n))
		return cmd_usage("report", "--vectors is of all that ran: leave out --block, --by process, --pid, --comm, --power-budget and what shows callers");
	if (opt->vectors && (opt->worst_case || opt->sort != SORT_ENERGY))
		return cmd_usage("report", "--vectors are sorted by energy, and have intervals of one kind: leave out --sort and --interval");
	if (opt->processes && opt->budget_w)
		return cmd_usage("report", "--power-budget is for what is finer than a process: take another --by");
	if (opt->budget_w && (opt->callers == CALLERS_CHILDREN || opt->callers == CALLERS_FOLDED))
		return cmd_usage("report", "--power-budget does not go with --children and --folded: these have no intervals");
	if (weighed && opt->callers != CALLERS_FOLDED)
		return cmd_usage("report", "--weight goes with --folded");
	if (opt->callers == CALLERS_FOLDED && opt->format != OUTPUT_TABLE)
		return cmd_usage("report", "--folded is a format of its own: leave out --json and --csv");
	if (optind < argc) {
		files->n = argc - optind;
		files->paths = (const char **)argv + optind;
	}
	ret = parse_several(opt, files->without_outliers, files->n);
	if (ret)
		return ret;
	if (opt->callers == CALLERS_FOLDED && limit > 0)
		return cmd_usage("report", "--percent-limit does not go with --folded: its lines add up to the total");
	opt->percent_limit = limit >= 0 ? limit :
			     opt->format == OUTPUT_TABLE && opt->callers != CALLERS_FOLDED ? FUNCTIONS_LIMIT : 0;
	opt->callers_limit = limit >= 0 ? limit : opt->format == OUTPUT_TABLE ? CALLERS_LIMIT : 0;
	return 0;
}

#define TOLD	6	/* processes that an error names */

/* Nobody is who was asked for: who is there? */
static int nobody(const struct blocks *b, const struct report_groups *g, const char *path,
		  const struct report_options *opt)
{
	struct report_options everybody = { .sort = opt->sort };
	char asked[128], *there = NULL;
	struct report all;
	size_t len;
	FILE *f;
	int ret = report_new(b, g, &everybody, &all);

	if (ret)
		return ret;
	f = open_memstream(&there, &len);
	for (size_t i = 0; f && i < all.n_processes && i < TOLD; i++) {
		const struct blocks_process *of = &b->processes[all.processes[i].total.process];

		fprintf(f, "%s%s", i ? ", " : "", of->comm);
		if (of->pid)
			fprintf(f, " (pid %u)", of->pid);
	}
	if (f && all.n_processes > TOLD)
		fprintf(f, " and %zu more", all.n_processes - TOLD);
	if (f && fclose(f)) {
		free(there);
		there = NULL;
	}
	snprintf(asked, sizeof(asked), "%s%.64s%s", opt->comm ? "--comm " : "", opt->comm ? opt->comm : "",
		 opt->comm && opt->pid ? " " : "");
	if (opt->pid)
		snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "--pid %u", opt->pid);
	cmd_warn("%s: %s: no such process in this recording; it has %s", path, asked,
		 !all.n_processes ? "none" : there ? there : "others");
	free(there);
	report_free(&all);
	return -ESRCH;
}

static bool has_row(const struct report *r, const struct blocks *b, const char *name)
{
	for (size_t i = 0; i < r->n_processes; i++) {
		const struct report_process *p = &r->processes[i];

		for (size_t k = 0; k < p->n_rows; k++) {
			const struct blocks_function *f = &b->functions[p->rows[k].function];

			if (p->rows[k].kind == ROW_FUNCTION && f->unit && f->unit->kind == GRAIN_NAMED &&
			    !strcmp(f->symbol, name))
				return true;
		}
	}
	return false;
}

/* What the user has named and nothing ran of is no block without energy: it was not measured. Return: -ENOENT */
static int all_sampled(const struct report *r, const struct blocks *b, const struct named *named)
{
	int ret = 0;

	for (size_t i = 0; i < named->n; i++) {
		const struct named_block *block = &named->blocks[i];

		if (!has_row(r, b, block->name)) {
			cmd_warn("--block %s: no sample of what was asked for fell into it", block->name);
			ret = -ENOENT;
			continue;
		}
		for (size_t k = 0; k < block->n; k++) {
			const struct named_part *p = &block->parts[k];

			if (!p->samples)
				cmd_warn("--block %s: no sample fell into %s%s", block->name, p->where,
					 p->kind == NAMED_LINES ? ", these lines of it" :
					 p->kind == NAMED_ADDRESSES ? ", these addresses of it" : "");
		}
	}
	return ret;
}

static int run(struct view *v, const char *path, struct report_options *opt)
{
	struct chains chains = { 0 }, *c = opt->callers ? &chains : NULL;
	struct report_groups groups = { 0 };
	struct json_object *head = NULL;
	struct profile *p = NULL;
	struct report r = { 0 };
	struct grain *grain = NULL;
	struct blocks b;
	int ret = 0;

	if (opt->units)
		ret = grain_new(opt->grain, &opt->named, &grain);
	if (!ret)
		ret = blocks_new(v, grain, opt->raw, &b);
	if (ret) {
		grain_free(grain);
		return ret;
	}
	if (c)
		ret = chains_new(v, &b, c);
	if (!ret)
		ret = profile_new(&b.input, &p);
	if (!ret)
		ret = report_groups_new(&b, p, NULL, &groups);
	if (!ret)
		ret = report_new(&b, &groups, opt, &r);
	if (!ret && !r.n_processes && (opt->pid || opt->comm))
		ret = nobody(&b, &groups, path, opt);
	if (!ret && c)
		ret = chains_solve(c, &b, p);
	if (!ret) {
		if (opt->format == OUTPUT_TABLE && opt->callers != CALLERS_FOLDED)
			report_head_print(v, &b, p, &r, c, path);
		if (opt->format == OUTPUT_JSON)
			head = report_head_json(v, &b, p, c, path);
		ret = opt->vectors ? report_vectors(&b, p, opt, head) :
		      opt->callers == CALLERS_FOLDED ? report_folded(&r, &b, c, opt) :
		      opt->callers == CALLERS_CHILDREN ? report_children(&r, &b, c, opt, head) :
		      report_print(&r, &b, c, opt, head);
		if (!ret)
			ret = all_sampled(&r, &b, &opt->named);
	}
	chains_free(&chains);
	report_free(&r);
	report_groups_free(&groups);
	profile_free(p);
	blocks_free(&b);
	grain_free(grain);
	return ret;
}

static int report_one(const char *path, struct report_options *opt)
{
	bool chosen[KJOULE_MAX_SOURCES];
	struct kjoule_error err;
	struct view v;
	int code;

	if (view_open(path, &v, &err))
		return cmd_failed("%s", err.text);
	if (opt->callers && !view_has_callers(&v)) {
		view_close(&v);
		return cmd_failed("%s: has no callers; record with -g or --call-graph dwarf", path);
	}
	v.source = opt->source;
	opt->system = v.rec.meta.session.target == KJOULE_TARGET_SYSTEM;
	if (meters_choose(&v, opt->source, chosen, &err)) {
		view_close(&v);
		return cmd_failed("%s: %s", path, err.text);
	}
	code = run(&v, path, opt);
	if (code == -ENODATA)
		code = cmd_failed("%s: the energy is not known; give --weight time or --weight samples",
				  path);
	else if (code && code != -ESRCH && code != -ENOENT)
		code = cmd_failed("%s: %s", path, strerror(-code));
	else
		code = view_complain(&v, path) || code ? EXIT_FAILED : EXIT_DONE;
	view_close(&v);
	return code;
}

/* The rows of an average run. */
static int show_average(struct merge *m, struct report_options *opt)
{
	struct blocks *b = &m->names->b;
	struct json_object *head = NULL;
	struct report r = { 0 };
	int ret;

	b->n_domains = m->n_domains;
	for (unsigned int d = 0; d < m->n_domains; d++)
		b->domains[d] = &m->domains[d];
	opt->system = m->runs[0].target == KJOULE_TARGET_SYSTEM;
	opt->runs = m->kept;
	ret = report_new(b, &m->groups, opt, &r);
	if (!ret && !r.n_processes && opt->comm)
		ret = nobody(b, &m->groups, m->runs[0].path, opt);
	if (!ret) {
		if (opt->format == OUTPUT_TABLE) {
			report_runs_print(m, NULL);
			printf("# \xc2\xb1 is half of a 95 %% interval\n\n");
		} else {
			report_runs_warn(m);
		}
		if (opt->format == OUTPUT_JSON)
			head = report_runs_json(m);
		ret = report_print(&r, b, NULL, opt, head);
	}
	if (!ret)
		ret = all_sampled(&r, b, &opt->named);
	report_free(&r);
	return ret;
}

static int report_several(const struct report_files *files, struct report_options *opt)
{
	struct merge_names names;
	struct kjoule_error err = { 0 };
	int ret, code = EXIT_DONE;
	struct merge m;

	ret = merge_names_new(MERGE_SAME, &names);
	merge_new(&m, &names, opt);
	for (size_t i = 0; i < files->n && !ret; i++)
		ret = merge_add(&m, files->paths[i], &err);
	if (ret) {
		code = cmd_failed("%s", err.text[0] ? err.text : strerror(-ret));
		goto out;
	}
	ret = merge_outliers(&m, files->without_outliers);
	if (!ret)
		ret = merge_average(&m, m.n, &m.groups);
	if (ret == -ENODATA)
		code = cmd_failed("no recording is left: none of them is a whole run");
	else if (!ret)
		ret = show_average(&m, opt);
	if (ret && ret != -ENODATA && ret != -ESRCH && ret != -ENOENT)
		cmd_warn("%s", strerror(-ret));
	if (ret || m.damaged)
		code = EXIT_FAILED;
out:
	merge_free(&m);
	merge_names_free(&names);
	return code;
}

static int report(int argc, char **argv, struct report_options *opt)
{
	const char *usual = "kjoule.data";
	struct report_files files = { 1, &usual, false };
	int code = parse(argc, argv, opt, &files);

	if (code)
		return code < 0 ? EXIT_DONE : code;
	return files.n > 1 ? report_several(&files, opt) : report_one(files.paths[0], opt);
}

int cmd_report(int argc, char **argv)
{
	struct report_options opt = { .format = OUTPUT_TABLE };
	int code = report(argc, argv, &opt);

	named_free(&opt.named);
	return code;
}
