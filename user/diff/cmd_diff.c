// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule diff: what differs between two recordings, or two series of them, and whether that is
 * significant.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cmd.h"
#include "diff/diff.h"
#include "lib/control/names.h"
#include "output/columns.h"
#include "output/terminal.h"
#include "verbs.h"

static const struct options_verb diff_verb = {
	.name = "diff",
	.usage = "[OPTION]... A B\n[OPTION]... A... -- B...",
	.about =
	"What differs between two recordings, block by block: time, energy and power of\n"
	"both, the difference with its 95 % interval, and whether there is one at all.\n"
	"With several recordings on a side their average run is compared, and from three\n"
	"on the intervals have what runs differ by.",
	.examples =
	"  kjoule diff before.data after.data\n"
	"  kjoule diff --sort time --by object before.data after.data\n"
	"  kjoule diff --json before.[123].data -- after.[123].data\n",
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
		return cmd_usage("diff", "there is no recording %s --",
				 a->n[0] ? "behind" : "before");
	if (!several && a->n[1] != 1)
		return cmd_usage("diff",
				 "expected two recordings, or 'A... -- B...'; found %zu",
				 a->n[0]);
	if (a->without_outliers && a->n[0] == 1 && a->n[1] == 1)
		return cmd_usage("diff",
				 "--without-outliers is of several recordings on a side; there is one on each");
	return 0;
}

/* Return: as options_parse() */
static int diff_parse_options(int argc, char **argv, struct asked *a)
{
	struct attribute_options *opt = &a->opt;
	const struct options_row options[] = {
		ATTRIBUTE_OPT_BY(opt),
		ATTRIBUTE_OPT_BLOCK(opt),
		{ 0, "sort", "KEY", "by the difference of energy, time, power; or name",
		  OPT_WORD(&opt->sort, [SORT_ENERGY] = "energy", [SORT_TIME] = "time",
		  [SORT_POWER] = "power",
			   [SORT_NAME] = "name") },
		ATTRIBUTE_OPT_LIMIT(&opt->percent_limit,
				    "leave out below P % on both sides (default 0.1)"),
		ATTRIBUTE_OPT_COMM(&opt->comm),
		ATTRIBUTE_OPT_SOURCE(&opt->source),
		ATTRIBUTE_OPT_INTERVAL(&opt->worst_case),
		ATTRIBUTE_OPT_RAW(&opt->raw),
		{ 0, "without-outliers", NULL, "leave out recordings that differ too much",
		  OPT_FLAG(&a->without_outliers) },
		{ 0, "force", NULL, "compare what is not the same program", OPT_FLAG(&a->force) },
		ATTRIBUTE_OPT_TABLE(opt),
		OPT_JSON(&opt->format),
		OPT_CSV(&opt->format),
		{ 0 }
	};
	int dashes = 1, code, first;
	struct kjoule_error err;

	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	first = options_parse(&diff_verb, options, dashes, argv);
	if (first <= 0)
		return first;
	if (opt->percent_limit < 0)
		opt->percent_limit = opt->format == OUTPUT_TABLE ? LIMIT : 0;
	code = attribute_options_check("diff", opt);
	if (!code && diff_fields_check(opt->fields, &err))
		code = cmd_usage("diff", "%s", err.text);
	return code ? -code : -diff_parse_sides(argc, argv, first, dashes, a) ?: first;
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
	} else if (a->program && b->program && !(a->build_id && b->build_id) &&
		   strcmp(a->program, b->program)) {
		ret = merge_note(&d->notes,
				 "whether %s and %s are the same build is not known: code is joined by its names",
				 a->program, b->program);
	}
	if (!ret && a->target != b->target && !force)
		ret = kjoule_fail(err, EXDEV,
				  "%.150s is a recording of a %s, %.150s of a %s: to compare them all the same give --force",
				  a->path, kjoule_target_name(a->target), b->path,
				  kjoule_target_name(b->target));
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
		ret = merge_note(&d->notes, "A was recorded at %.6g Hz, B at %.6g Hz",
				 1e9 / a->interval_ns, 1e9 / b->interval_ns);
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
						   d->sides[0].runs[i].path,
						   d->sides[1].runs[k].path);
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

/*
 * What the user has named and nothing ran of on either side is no block without a difference.
 * Return: all of it ran
 */
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
			cmd_warn("--block %s: no sample fell into it on either side",
				 named->blocks[i].name);
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
		ret = columns_check_domains(a->opt.domains, d.domains, d.n_domains, &err);
	d.shown_first = columns_shown_first(a->opt.domains, d.domains, d.n_domains);
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
	struct asked a = { .opt = { .format = OUTPUT_TABLE, .percent_limit = -1 } };
	int code = diff_parse_options(argc, argv, &a);

	if (code > 0)
		code = cmd_privilege_drop(a.paths[0], a.paths[1] + a.n[1] - a.paths[0]);
	else
		code = code ? -code : -1;
	if (!code) {
		terminal_start_pager();
		code = diff_recordings(&a);
	}
	code = code < 0 ? EXIT_DONE : code;
	user_blocks_free(&a.opt.named);
	return code;
}
