// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule diff: what differs between two recordings, or two series of them, and whether that can be told.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "diff/diff.h"
#include "lib/control/names.h"
#include "verbs.h"

static const char help[] =
"Usage: kjoule diff [OPTION]... A B\n"
"       kjoule diff [OPTION]... A... -- B...\n"
"\n"
"What differs between two recordings, block by block: time, energy and power of both, the\n"
"difference with its 95 % interval, and whether there is one at all. With several recordings on a\n"
"side their average run is compared, and from three on the intervals have what runs differ by.\n"
"\n"
"      --by GRAIN          tell apart: process, object, function (default), line, loop, block, region\n"
"      --block NAME=PART[,PART]...\n"
"                          count these parts as one block, see `kjoule report --help`\n"
"      --sort KEY          by the difference of: energy (default), time, power; or by name\n"
"      --percent-limit P   leave out what is below P % on both sides (default 0.1; 0 for JSON and CSV)\n"
"      --comm NAME         only processes of this name\n"
"      --source NAME[,...] compare the energy of these sources\n"
"      --interval KIND     of energies: combined (default), worst-case (ALEA's equation 10)\n"
"      --raw               the plain model: equal shares, no costs taken out\n"
"      --without-outliers  leave out recordings that differ too much from the others of their side\n"
"      --force             compare what is not the same program\n"
"      --json              as one JSON document\n"
"      --csv               as CSV\n"
"  -h, --help\n"
"\n"
"Builds of one program are compared by the names of their functions, always by the constant power model\n"
"(report's --model cpm). The exit code does not tell whether there is a difference; it is 1 if parts of\n"
"a file are damaged.\n";

enum { OPT_BY = 256, OPT_BLOCK, OPT_SORT, OPT_RAW, OPT_WITHOUT_OUTLIERS, OPT_FORCE };

static const struct option options[] = {
	{ "by", required_argument, NULL, OPT_BY },
	{ "block", required_argument, NULL, OPT_BLOCK },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "percent-limit", required_argument, NULL, ATTRIBUTE_OPT_LIMIT },
	{ "comm", required_argument, NULL, ATTRIBUTE_OPT_COMM },
	{ "source", required_argument, NULL, ATTRIBUTE_OPT_SOURCE },
	{ "interval", required_argument, NULL, ATTRIBUTE_OPT_INTERVAL },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "without-outliers", no_argument, NULL, OPT_WITHOUT_OUTLIERS },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "json", no_argument, NULL, ATTRIBUTE_OPT_JSON },
	{ "csv", no_argument, NULL, ATTRIBUTE_OPT_CSV },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

/* What is asked for besides a report's options. */
struct asked {
	struct attribute_options opt;
	bool without_outliers, force;
	size_t n[2];
	char **paths[2];
};

/* Below this part of the whole rows are not shown to people unless they say so. */
#define LIMIT	0.1

static int diff_parse_sort(const char *text, struct attribute_options *opt)
{
	static const struct {
		const char *name;
		enum attribute_sort key;
	} keys[] = { { "energy", SORT_ENERGY }, { "time", SORT_TIME }, { "power", SORT_POWER }, { "name", SORT_NAME } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(text, keys[i].name)) {
			opt->sort = keys[i].key;
			return 0;
		}
	}
	return cmd_usage("diff", "--sort %s: no such key; there are energy, time, power, name", text);
}

static int diff_parse_option(struct asked *a, int c, const char *arg, double *limit)
{
	struct attribute_options *opt = &a->opt;

	switch (c) {
	case OPT_BY:
		return attribute_parse_grain("diff", arg, opt);
	case OPT_BLOCK:
		return attribute_parse_block("diff", arg, opt);
	case OPT_SORT:
		return diff_parse_sort(arg, opt);
	case OPT_RAW:
		opt->raw = true;
		return 0;
	case OPT_WITHOUT_OUTLIERS:
		a->without_outliers = true;
		return 0;
	case OPT_FORCE:
		a->force = true;
		return 0;
	}
	return attribute_parse_common("diff", c, arg, opt, limit);
}

/* What is before "--" and what is behind it; without one there are two. */
static int diff_parse_sides(int argc, char **argv, int first, int dashes, struct asked *a)
{
	bool several = dashes < argc;

	a->paths[0] = argv + first;
	a->n[0] = dashes - first;
	if (several) {
		a->paths[1] = argv + dashes + 1;
		a->n[1] = argc - dashes - 1;
	} else if (a->n[0] == 2) {
		a->n[0] = a->n[1] = 1;
		a->paths[1] = a->paths[0] + 1;
	}
	if (several && (!a->n[0] || !a->n[1]))
		return cmd_usage("diff", "there is no recording %s --", a->n[0] ? "behind" : "before");
	if (!several && a->n[1] != 1)
		return cmd_usage("diff",
				 "two recordings, please, or -- between those of one side and of the other; found %zu",
				 a->n[0]);
	if (a->without_outliers && a->n[0] == 1 && a->n[1] == 1)
		return cmd_usage("diff", "--without-outliers is of several recordings on a side; there is one on each");
	return 0;
}

static int diff_parse_options(int argc, char **argv, struct asked *a)
{
	double limit = -1;
	int dashes = 1, c, ret = 0;

	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	optind = 0;
	opterr = 0;
	while (!ret && (c = getopt_long(dashes, argv, ":h", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return -1;
		}
		if (c == '?' || c == ':')
			return cmd_getopt_error("diff", c, optopt, argv[optind - 1]);
		ret = diff_parse_option(a, c, optarg, &limit);
	}
	if (ret)
		return ret;
	a->opt.units = a->opt.grain != CODE_UNIT_FUNCTION || a->opt.named.n;
	if (a->opt.by_region && a->opt.named.n)
		return cmd_usage("diff", "--by region has no place for --block");
	if (a->opt.processes && a->opt.named.n)
		return cmd_usage("diff", "--by process has no place for --block: take --by object");
	a->opt.percent_limit = limit >= 0 ? limit : a->opt.format == OUTPUT_TABLE ? LIMIT : 0;
	return diff_parse_sides(argc, argv, optind, dashes, a);
}

/* The program's file, or where only the command is known the first word of that. */
static void diff_program_name(const struct merge_run *r, char *buf, size_t len)
{
	const char *name = r->program ? r->program : r->command;

	snprintf(buf, len, "%.*s", (int)strcspn(name, r->program ? "" : " "), name);
}

static const char *diff_text_or_none(const char *text)
{
	return text && text[0] ? text : "none";
}

/* How the sides differ in what they are. Return: 0, -EXDEV with the reason in @err, -ENOMEM */
static int diff_compare_sides(struct diff *d, bool force, struct kjoule_error *err)
{
	const struct merge_run *a = &d->sides[0].runs[0], *b = &d->sides[1].runs[0];
	char names[2][512], cpus[2][200];
	int ret = 0;

	diff_program_name(a, names[0], sizeof(names[0]));
	diff_program_name(b, names[1], sizeof(names[1]));
	if (strcmp(basename(names[0]), basename(names[1]))) {
		if (!force)
			ret = kjoule_fail(err, EXDEV,
					  "%.120s is a recording of %.80s, %.120s of %.80s: to compare different programs give --force",
					  a->path, diff_text_or_none(names[0]), b->path,
					  diff_text_or_none(names[1]));
		else
			ret = merge_note(&d->notes,
					 "these are different programs: A is %s, B is %s",
					 diff_text_or_none(names[0]), diff_text_or_none(names[1]));
	} else if (a->build_id && b->build_id && strcmp(a->build_id, b->build_id)) {
		ret = merge_note(&d->notes,
				 "A and B are different builds of %s (build ids %.12s and %.12s): code is joined by its names",
				 basename(names[0]), a->build_id, b->build_id);
	} else if (a->program && b->program && !(a->build_id && b->build_id) && strcmp(a->program, b->program)) {
		ret = merge_note(&d->notes,
				 "whether %s and %s are the same build is not known: code is joined by its names", a->program,
				 b->program);
	}
	if (!ret && a->target != b->target && !force)
		ret = kjoule_fail(err, EXDEV,
				  "%.150s is a recording of a %s, %.150s of a %s: to compare them all the same give --force",
				  a->path, kjoule_target_name(a->target), b->path, kjoule_target_name(b->target));
	else if (!ret && a->target != b->target)
		ret = merge_note(&d->notes, "A is a recording of a %s, B of a %s: they do not tell of the same",
				 kjoule_target_name(a->target), kjoule_target_name(b->target));
	if (!ret && strcmp(a->command, b->command))
		ret = merge_note(&d->notes, "A was run as `%s`, B as `%s`",
				 diff_text_or_none(a->command), diff_text_or_none(b->command));
	if (!ret && strcmp(a->host, b->host))
		ret = merge_note(&d->notes, "A was recorded on %s, B on %s", a->host, b->host);
	else if (!ret && strcmp(a->kernel, b->kernel))
		ret = merge_note(&d->notes, "A was recorded on %s, B on %s", a->kernel, b->kernel);
	if (!ret && a->interval_ns != b->interval_ns)
		ret = merge_note(&d->notes, "A was recorded at %.6g Hz, B at %.6g Hz", 1e9 / a->interval_ns,
				 1e9 / b->interval_ns);
	if (!ret && memcmp(&a->cpus, &b->cpus, sizeof(a->cpus)))
		ret = merge_note(&d->notes, "A was recorded on CPUs %s, B on CPUs %s",
				 kjoule_cpus_format(&a->cpus, cpus[0], sizeof(cpus[0])),
				 kjoule_cpus_format(&b->cpus, cpus[1], sizeof(cpus[1])));
	if (!ret && !a->paused != !b->paused)
		ret = merge_note(&d->notes,
				 "only %s was recorded with %s: its CPUs were held again and again, which the other's were not",
				 a->paused ? "A" : "B", a->paused ? a->paused : b->paused);
	if (!ret && a->calibrated != b->calibrated)
		ret = merge_note(&d->notes,
				 "only %s knows what a tick costs: the other's figures have that cost in them",
				 a->calibrated ? "A" : "B");
	return ret;
}

static bool diff_side_has_domain(const struct merge *m, const char *domain)
{
	for (unsigned int i = 0; i < m->n_domains; i++)
		if (!strcmp(m->domains[i].name, domain))
			return true;
	return false;
}

/* Energy that only one side knows cannot be compared, and is not silently left out. */
static int diff_compare_domains(struct diff *d)
{
	int ret = 0;

	for (int side = 0; side < 2; side++) {
		const struct merge *m = &d->sides[side], *other = &d->sides[!side];

		for (unsigned int i = 0; i < m->n_domains && !ret; i++) {
			if (!diff_side_has_domain(other, m->domains[i].name))
				ret = merge_note(&d->notes, "only %s tells of %s (%s): it is not compared",
						 side ? "B" : "A",
						 m->domains[i].name, m->sources[i]);
			for (unsigned int k = 0; k < other->n_domains && !side && !ret; k++)
				if (!strcmp(m->domains[i].name, other->domains[k].name) &&
				    strcmp(m->sources[i], other->sources[k]))
					ret = merge_note(&d->notes, "A has its %s from %s, B from %s",
							 m->domains[i].name, m->sources[i],
							 other->sources[k]);
		}
	}
	return ret;
}

static int diff_check_same_recording(const struct diff *d, struct kjoule_error *err)
{
	for (size_t i = 0; i < d->sides[0].n; i++)
		for (size_t k = 0; k < d->sides[1].n; k++)
			if (merge_same(&d->sides[0].runs[i], &d->sides[1].runs[k]))
				return kjoule_fail(err, EXDEV,
						   "%.200s and %.200s are the same recording, on both sides",
						   d->sides[0].runs[i].path, d->sides[1].runs[k].path);
	return 0;
}

static int diff_load_sides(struct diff *d, const struct asked *a, struct kjoule_error *err)
{
	int ret = 0;

	for (int side = 0; side < 2 && !ret; side++) {
		merge_new(&d->sides[side], &d->names, &a->opt);
		for (size_t i = 0; i < a->n[side] && !ret; i++)
			ret = merge_add(&d->sides[side], a->paths[side][i], err);
		if (!ret)
			ret = merge_outliers(&d->sides[side], a->without_outliers);
		if (ret == -ENODATA)
			kjoule_fail(err, ENODATA, "no recording is left of side %s: each differs too much from the others",
				    side ? "B" : "A");
	}
	if (!ret)
		ret = diff_check_same_recording(d, err);
	if (!ret)
		ret = diff_compare_sides(d, a->force, err);
	if (!ret)
		ret = diff_compare_domains(d);
	/* both when all names are known */
	for (int side = 0; side < 2 && !ret; side++)
		ret = merge_average(&d->sides[side], d->sides[side].n, &d->sides[side].groups);
	return ret;
}

/* What the user has named and nothing ran of on either side is no block without a difference. Return: all of it ran */
static bool diff_blocks_are_sampled(const struct diff *d, const struct user_blocks *named)
{
	bool all = true;

	for (size_t i = 0; i < named->n; i++) {
		bool found = false;

		for (uint32_t f = 0; f < d->names.b.n_functions && !found; f++) {
			const struct blocks_function *of = &d->names.b.functions[f];

			found = of->unit && of->unit->kind == CODE_UNIT_NAMED && of->samples &&
				!strcmp(of->symbol, named->blocks[i].name);
		}
		if (!found)
			cmd_warn("--block %s: no sample fell into it on either side", named->blocks[i].name);
		all &= found;
	}
	return all;
}

static int diff_recordings(const struct asked *a)
{
	struct kjoule_error err = { 0 };
	struct diff d = { 0 };
	int code = EXIT_DONE;
	int ret = merge_names_new(MERGE_NAMES, &d.names);

	if (!ret)
		ret = diff_load_sides(&d, a, &err);
	if (!ret)
		ret = diff_rows(&d, &a->opt);
	if (ret == -ESRCH && !err.text[0])
		kjoule_fail(&err, ESRCH, "--comm %s: no such process on either side", a->opt.comm);
	if (!ret)
		ret = diff_print(&d, &a->opt);
	if (ret)
		code = cmd_failed("%s", err.text[0] ? err.text : strerror(-ret));
	else if (!diff_blocks_are_sampled(&d, &a->opt.named) || d.sides[0].damaged ||
		 d.sides[1].damaged)
		code = EXIT_FAILED;
	merge_notes_free(&d.notes);
	free(d.rows);
	merge_free(&d.sides[0]);
	merge_free(&d.sides[1]);
	merge_names_free(&d.names);
	return code;
}

int cmd_diff(int argc, char **argv)
{
	struct asked a = { .opt = { .format = OUTPUT_TABLE } };
	int code = diff_parse_options(argc, argv, &a);

	if (!code)
		code = cmd_privilege_drop(a.paths[0], a.paths[1] + a.n[1] - a.paths[0]) ?:
			       diff_recordings(&a);
	else if (code < 0)
		code = EXIT_DONE;
	user_blocks_free(&a.opt.named);
	return code;
}
