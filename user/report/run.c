// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report of one recording, from the file to the rows; see report.h. Each step fills what the next
 * ones need; report_one() has their order. Called by cmd_report.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "attribute/region_marks.h"
#include "cli/cmd.h"
#include "header/header.h"
#include "report/convergence.h"
#include "report/report.h"

/**
 * struct report_work - a recording on its way to a report
 * @loaded:	@v has samples, and @b is made of them
 */
struct report_work {
	struct attribute_options *opt;
	const char *path;
	struct view v;
	bool loaded;
	struct code_units *units;
	struct blocks b;
	struct power_model model;
	struct callgraph chains;
	struct profile *profile;
	struct groups groups;
	struct report rows;
};

/* Why there is no reading of a block. */
static const char *report_rounds_text(const struct kjoule_vpm_info *vpm, char *buf, size_t len)
{
	snprintf(buf, len,
		 "%" PRIu64 " trials without a hit of the breakpoint, %" PRIu64
		 " the block did not end, %" PRIu64 " it was called from elsewhere, %" PRIu64
		 " its end was passed too often, %" PRIu64 " something failed, %" PRIu64
		 " it was only seen where it returns to, %" PRIu64 " the recording ended",
		 vpm->unmet, vpm->unended, vpm->elsewhere, vpm->crowded, vpm->failed, vpm->learnt,
		 vpm->cut);
	return buf;
}

/* Where a recording has readings of blocks, these are what it was made for. */
static int report_choose_vpm(struct report_work *w, struct kjoule_error *err)
{
	const struct kjoule_vpm_info *vpm = &w->v.rec.meta.session.vpm;
	struct attribute_options *opt = w->opt;
	size_t n = report_vpm_readings(&w->v);
	bool plain = !opt->vectors && !opt->raw && !opt->convergence && !opt->callers &&
		     !opt->by_given && !opt->sort_given && !opt->region && !opt->budget_w &&
		     !opt->worst_case && !opt->comm && !opt->pid &&
		     report_vpm_has(&w->v, &opt->named);
	char text[512];

	if (opt->model == MODEL_VPM && !n) {
		if (vpm->readings && opt->cut)
			return kjoule_fail(err, ENODATA,
					   "%s: --model vpm: no reading of a block was made between --from and --to; there are %" PRIu64
					   " in all of it", w->path, vpm->readings);
		if (vpm->interval_ns)
			return kjoule_fail(err, ENODATA,
					   "%s: --model vpm: it has no reading of a block: %s",
					   w->path, report_rounds_text(vpm, text, sizeof(text)));
		return kjoule_fail(err, ENODATA,
				   "%s: --model vpm: it needs a recording with readings of a block: `kjoule record --vpm BLOCK`",
				   w->path);
	}
	/* who recorded for readings is to know why the report has something else */
	if (!n && !opt->model_given && vpm->interval_ns && !vpm->readings)
		cmd_warn("%s: has no reading of a block, so the model is cpm: %s", w->path,
			 report_rounds_text(vpm, text, sizeof(text)));
	if (n && plain && (opt->model == MODEL_AUTO || !opt->model_given))
		opt->model = MODEL_VPM;
	return opt->model == MODEL_VPM ? report_vpm_blocks(&w->v, opt, err) : 0;
}

/* The file, and the part of it that is asked for. */
static int report_open(struct report_work *w, const char *path, struct kjoule_error *err)
{
	struct attribute_options *opt = w->opt;
	bool chosen[KJOULE_MAX_SOURCES];
	struct view *v = &w->v;
	int ret;

	w->path = path ? path : KJOULE_DATA_FILE;
	if (opt->callers && !view_has_callers(v))
		return kjoule_fail(err, ENODATA, "%s: has no callers; record with -g or --call-graph dwarf",
				   w->path);
	ret = opt->cut ? view_cut(v, w->path, opt->from_ns, opt->to_ns, err) : 0;
	if (ret)
		return ret;
	v->source = opt->source;
	v->region = opt->region;
	v->by_region = opt->by_region;
	/* rows of processes are sums of their functions' mostly */
	v->by_process = opt->processes && opt->vectors;
	opt->system = v->rec.meta.session.target == KJOULE_TARGET_SYSTEM;
	ret = region_marks_check(v, w->path, err);
	if (ret)
		return ret;
	if (energy_columns_choose(v, opt->source, chosen, err)) {
		char why[sizeof(err->text)];

		snprintf(why, sizeof(why), "%s", err->text);
		return kjoule_fail(err, ENOENT, "%s: %.400s", w->path, why);
	}
	return report_choose_vpm(w, err);
}

int report_choose_domain(struct blocks *b, const struct attribute_options *opt,
			 struct kjoule_error *err)
{
	const char *names[PROFILE_DOMAINS];
	size_t n = blocks_domain_names(b, names);

	b->shown_first = columns_shown_first(opt->domains, names, n);
	return columns_check_domains(opt->domains, names, n, err);
}

/* Samples become blocks of code. */
static int report_attribute(struct report_work *w, struct kjoule_error *err)
{
	struct attribute_options *opt = w->opt;
	int ret = opt->units ? code_units_new(opt->grain, &opt->named, &w->units) : 0;

	if (!ret)
		ret = blocks_new(&w->v, w->units, opt->raw, &w->b);
	w->loaded = !ret;
	return ret ? ret : report_choose_domain(&w->b, opt, err);
}

/* Which model was asked for, or follows from how it was recorded. */
static void report_choose_model(struct report_work *w)
{
	struct attribute_options *opt = w->opt;
	bool windows = w->b.windows.n;

	if (!opt->model_given && windows && !opt->vectors && !opt->raw && !opt->convergence)
		opt->model = MODEL_AUTO;
	if (windows && opt->vectors && opt->model == MODEL_AUTO)
		opt->model = MODEL_CPM;
	if (opt->convergence && blocks_paused_by(&w->b))
		cmd_warn(BLOCKS_PAUSED, w->path, blocks_paused_by(&w->b));
}

/* Blocks get their energy. */
static int report_fit(struct report_work *w, struct kjoule_error *err)
{
	struct attribute_options *opt = w->opt;
	int ret;

	report_choose_model(w);
	ret = power_model_new(&w->b, opt, &w->model);
	if (ret == -ENODATA)
		kjoule_fail(err, ENODATA, "%s: --model %s: %s", w->path,
			    power_model_asked(&w->model), w->model.reason);
	if (!ret && opt->callers)
		ret = callgraph_new(&w->v, &w->b, &w->chains);
	if (!ret)
		ret = profile_new(&w->b.input, &w->profile);
	if (!ret)
		ret = power_model_blocks(&w->model, &w->b, w->profile);
	if (!ret)
		ret = groups_new(&w->b, w->profile, NULL, &w->groups);
	if (!ret && opt->by_region)
		ret = groups_add_marks(&w->v, &w->b, &w->groups);
	return ret;
}

static int report_make_rows(struct report_work *w, struct kjoule_error *err)
{
	struct attribute_options *opt = w->opt;
	int ret = report_new(&w->b, &w->groups, opt, &w->rows);

	if (ret)
		return ret;
	w->rows.parallel = profile_parallel(w->profile);
	if (w->rows.n_processes)
		return opt->callers ? callgraph_solve(&w->chains, &w->b, w->profile) : 0;
	if (opt->region)
		return report_region_not_sampled(&w->v, w->path, err);
	if (opt->pid || opt->comm)
		return report_process_not_found(&w->b, &w->groups, w->path, opt, err);
	return 0;
}

/* What kjoule's recorder used besides its ticks; NAN: not known. */
static double report_outside_j(const struct blocks *b, const struct groups *g)
{
	return b->recorder == UINT32_MAX || !b->n_domains ? NAN :
	       g->functions[b->recorder].energy[b->shown_first].j.v;
}

static struct header report_header(const struct report_work *w)
{
	return (struct header){ &w->v, &w->b, w->profile, w->opt->callers ? &w->chains : NULL,
				&w->model, w->path, w->rows.total.g.samples,
				report_outside_j(&w->b, &w->groups), w->opt->verbose };
}

/* How sure figures become, instead of the figures. */
static int report_print_convergence(struct report_work *w, struct kjoule_error *err)
{
	const struct header header = report_header(w);
	struct convergence c;
	int ret = convergence_of_one(&w->b, &w->groups, &c);

	if (ret == -ENODATA)
		kjoule_fail(err, ENODATA, "%s: too few samples: there is nothing that could become surer",
			    w->path);
	if (!ret)
		ret = convergence_show(&c, w->opt,
				       w->opt->format == OUTPUT_JSON ? header_json(&header) : NULL,
				       err);
	convergence_free(&c);
	return ret;
}

static int report_print_table(struct report_work *w, struct kjoule_error *err)
{
	struct callgraph *c = w->opt->callers ? &w->chains : NULL;
	const struct header header = report_header(w);
	struct attribute_options *opt = w->opt;
	bool people = opt->format == OUTPUT_TABLE && !opt->quiet;
	struct json_object *head = NULL;
	int ret;

	if (people && opt->callers != CALLERS_FOLDED)
		header_print(&header);
	if (opt->format == OUTPUT_JSON)
		head = header_json(&header);
	ret = opt->model == MODEL_VPM ? report_vpm(&w->v, &w->b, w->profile, opt, head, err) :
	      opt->vectors ? report_vectors(&w->b, w->profile, opt, head) :
	      opt->callers == CALLERS_FOLDED ? report_folded(&w->rows, &w->b, c, opt) :
	      opt->callers == CALLERS_CHILDREN ? report_children(&w->rows, &w->b, c, opt, head) :
	      report_print(&w->rows, &w->b, c, opt, &w->model, head);
	if (ret == -ENODATA && opt->callers == CALLERS_FOLDED)
		kjoule_fail(err, ENODATA,
			    "%s: the energy is not known; give --weight time or --weight samples",
			    w->path);
	if (!ret && opt->by_region && !opt->vectors && people)
		report_regions_footnote(&w->v, &w->b);
	return ret;
}

/* A report that lacks what was asked for is no success to a script, though it was printed. */
static int report_check(const struct report_work *w, struct kjoule_error *err)
{
	const struct power_model *m = &w->model;
	int ret = w->opt->model == MODEL_VPM ? 0 :
		  report_blocks_check(&w->rows, &w->b, m, &w->opt->named, err);

	if (!ret && m->used == MODEL_EDGE && !m->solved)
		ret = kjoule_fail(err, ENODATA,
				  "%s: no power follows from the edge windows, so no energy is known; %s, or see --model cpm",
				  w->path, m->too_many ? "--from and --to take a part of the recording" :
							 "record for longer");
	return ret;
}

static int report_print_all(struct report_work *w, struct kjoule_error *err)
{
	int ret;

	if (w->opt->convergence)
		return report_print_convergence(w, err);
	ret = report_print_table(w, err);
	return ret ? ret : report_check(w, err);
}

static void report_work_free(struct report_work *w)
{
	callgraph_free(&w->chains);
	report_free(&w->rows);
	power_model_free(&w->model);
	groups_free(&w->groups);
	profile_free(w->profile);
	if (w->loaded)
		blocks_free(&w->b);
	code_units_free(w->units);
	view_close(&w->v);
}

int report_one(const char *path, struct attribute_options *opt)
{
	struct report_work w = { .opt = opt };
	struct kjoule_error err = { 0 };
	int code = EXIT_DONE, ret;

	if (view_open(path, &w.v, &err))
		return cmd_failed("%s", err.text);
	ret = report_open(&w, path, &err);
	if (!ret)
		ret = report_attribute(&w, &err);
	if (!ret)
		ret = report_fit(&w, &err);
	if (!ret)
		ret = report_make_rows(&w, &err);
	if (!ret)
		ret = report_print_all(&w, &err);
	if (ret && err.text[0])
		code = cmd_failed("%s", err.text);
	else if (ret)
		code = cmd_failed("%s: %s", w.path, view_why_not(ret));
	/* what is wrong with the file may be why */
	if (!ret || err.text[0])
		code = (w.loaded ? view_complain(&w.v, w.path) : view_complain_file(&w.v, w.path)) ?
		       EXIT_FAILED : code;
	report_work_free(&w);
	return code;
}
