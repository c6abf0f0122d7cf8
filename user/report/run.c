// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the report that was asked for: of one recording, or of several as an average run; see
 * report.h. Called by cmd_report.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "attribute/merge.h"
#include "attribute/region_marks.h"
#include "cli/cmd.h"
#include "header/header.h"
#include "header/series.h"
#include "report/convergence.h"
#include "report/report.h"

#define NAMED	6	/* processes that an error names */

/* Nobody is who was asked for: who is there? */
static int report_explain_no_process(const struct blocks *b, const struct groups *g,
				     const char *path, const struct attribute_options *opt)
{
	struct attribute_options everybody = { .sort = opt->sort };
	char asked[128], *there = NULL;
	struct report all;
	size_t len;
	FILE *f;
	int ret = report_new(b, g, &everybody, &all);

	if (ret)
		return ret;
	f = open_memstream(&there, &len);
	for (size_t i = 0; f && i < all.n_processes && i < NAMED; i++) {
		const struct blocks_process *of = &b->processes[all.processes[i].total.process];

		fprintf(f, "%s%s", i ? ", " : "", of->comm);
		if (of->pid)
			fprintf(f, " (pid %u)", of->pid);
	}
	if (f && all.n_processes > NAMED)
		fprintf(f, " and %zu more", all.n_processes - NAMED);
	if (f && fclose(f)) {
		free(there);
		there = NULL;
	}
	snprintf(asked, sizeof(asked),
		 "%s%.64s%s", opt->comm ? "--comm " : "", opt->comm ? opt->comm : "",
		 opt->comm && opt->pid ? " " : "");
	if (opt->pid)
		snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "--pid %u",
			 opt->pid);
	cmd_warn("%s: %s: no such process in this recording; it has %s", path, asked,
		 !all.n_processes ? "none" : there ? there : "others");
	free(there);
	report_free(&all);
	return -ESRCH;
}

/* Is a block of this name a part of the one that the row shows? */
static bool report_block_is_part(const struct blocks *b, const struct power_model *m, uint32_t row,
				 const char *name)
{
	for (uint32_t i = 0; m->merged && i < m->n_merged; i++) {
		const struct blocks_function *f = &b->functions[i];

		if (m->merged[i] == row && f->unit && f->unit->kind == CODE_UNIT_NAMED &&
		    f->samples && !strcmp(f->symbol, name))
			return true;
	}
	return false;
}

static bool report_has_block_row(const struct report *r, const struct blocks *b,
				 const struct power_model *m, const char *name)
{
	for (size_t i = 0; i < r->n_processes; i++) {
		const struct report_process *p = &r->processes[i];

		for (size_t k = 0; k < p->n_rows; k++) {
			const struct blocks_function *f = &b->functions[p->rows[k].function];

			if (p->rows[k].kind != ROW_FUNCTION)
				continue;
			if (f->unit && f->unit->kind == CODE_UNIT_NAMED && !strcmp(f->symbol, name))
				return true;
			if (report_block_is_part(b, m, p->rows[k].function, name))
				return true;
		}
	}
	return false;
}

/*
 * What the user has named and nothing ran of is no block without energy: it was not measured.
 * Return: -ENOENT
 */
static int report_blocks_are_sampled(const struct report *r, const struct blocks *b,
				     const struct power_model *m, const struct user_blocks *named)
{
	int ret = 0;

	for (size_t i = 0; i < named->n; i++) {
		const struct user_block *block = &named->blocks[i];

		if (!report_has_block_row(r, b, m, block->name)) {
			cmd_warn("--block %s: no sample of what was asked for fell into it",
				 block->name);
			ret = -ENOENT;
			continue;
		}
		for (size_t k = 0; k < block->n; k++) {
			const struct user_blocks_part *p = &block->parts[k];

			if (!p->samples)
				cmd_warn("--block %s: no sample fell into %s%s", block->name,
					 p->where,
					 p->kind == USER_BLOCKS_LINES ? ", these lines of it" :
					 p->kind == USER_BLOCKS_ADDRESSES ?
									", these addresses of it" :
									"");
		}
	}
	return ret;
}

/* How sure figures become, instead of the figures. @head is taken over. Return: an exit code */
static int report_show_convergence(const struct convergence *c, const struct attribute_options *opt,
				   struct json_object *head)
{
	struct kjoule_error err = { 0 };
	int ret = convergence_draw(c, opt->convergence, opt->force, &err);

	if (opt->format == OUTPUT_TABLE && !opt->quiet)
		output_printf(stdout, "# %s of %s: half of the 95 %% interval (%s %%)%s\n\n",
			      opt->convergence,
			      c->several ? "more and more recordings" :
					   "longer and longer beginnings of the recording",
			      output_half(),
			      c->several ? ", and how far off the estimate of all (OFF %)" : "");
	if (convergence_write(c, stdout, opt->format, head) && !ret)
		ret = kjoule_fail(&err, ENOMEM, "%s", strerror(ENOMEM));
	return ret ? cmd_failed("%s", err.text) : EXIT_DONE;
}

/* What kjoule's recorder used besides its ticks; NAN: not known. */
static double report_outside_j(const struct blocks *b, const struct groups *g)
{
	return b->recorder == UINT32_MAX || !b->n_domains ? NAN :
	       g->functions[b->recorder].energy[b->shown_first].j.v;
}

static int report_choose_domain(struct blocks *b, const struct attribute_options *opt,
				const char *path)
{
	const char *names[PROFILE_DOMAINS];
	size_t n = blocks_domain_names(b, names);
	struct kjoule_error err;

	b->shown_first = columns_shown_first(opt->domains, names, n);
	if (!columns_check_domains(opt->domains, names, n, &err))
		return 0;
	cmd_warn("%s: %s", path, err.text);
	return -EDOM;
}

static int report_make_and_print(struct view *v, const char *path, struct attribute_options *opt)
{
	struct callgraph chains = { 0 }, *c = opt->callers ? &chains : NULL;
	struct groups groups = { 0 };
	struct json_object *head = NULL;
	struct power_model model = { 0 };
	struct profile *p = NULL;
	struct report r = { 0 };
	struct code_units *grain = NULL;
	struct header header = { 0 };
	struct blocks b;
	int ret = 0;

	if (opt->units)
		ret = code_units_new(opt->grain, &opt->named, &grain);
	if (!ret)
		ret = blocks_new(v, grain, opt->raw, &b);
	if (ret) {
		code_units_free(grain);
		return ret;
	}
	ret = report_choose_domain(&b, opt, path);
	/* who has held the program for it wants that */
	if (!opt->model_given && b.windows.n && !opt->vectors && !opt->raw && !opt->convergence)
		opt->model = MODEL_AUTO;
	if (b.windows.n && opt->vectors && opt->model == MODEL_AUTO)
		opt->model = MODEL_CPM;
	if (opt->convergence && blocks_paused_by(&b))
		cmd_warn(BLOCKS_PAUSED, path, blocks_paused_by(&b));
	if (!ret)
		ret = power_model_new(&b, opt, &model);
	if (ret == -ENODATA) {
		cmd_warn("%s: --model %s: %s", path, power_model_asked(&model), model.reason);
		ret = -EDOM;
	}
	if (!ret && c)
		ret = callgraph_new(v, &b, c);
	if (!ret)
		ret = profile_new(&b.input, &p);
	if (!ret)
		ret = power_model_blocks(&model, &b, p);
	if (!ret)
		ret = groups_new(&b, p, NULL, &groups);
	if (!ret && opt->by_region)
		ret = groups_add_marks(v, &b, &groups);
	if (!ret)
		ret = report_new(&b, &groups, opt, &r);
	if (!ret) {
		r.parallel = profile_parallel(p);
		header = (struct header){ v, &b, p, c, &model, path, r.total.g.samples,
					  report_outside_j(&b, &groups), opt->verbose };
	}
	if (!ret && opt->convergence) {
		struct convergence convergence;

		ret = convergence_of_one(&b, &groups, &convergence);
		if (ret == -ENODATA)
			cmd_warn("%s: too few samples: there is nothing that could become surer", path);
		else if (!ret)
			ret = report_show_convergence(&convergence, opt,
						      opt->format == OUTPUT_JSON ?
						      header_json(&header) : NULL) ? -ENOENT : 0;
		convergence_free(&convergence);
		ret = ret == -ENODATA ? -ENOENT : ret;
		goto out;
	}
	if (!ret && !r.n_processes && opt->region)
		ret = report_regions_nobody(v, path);
	else if (!ret && !r.n_processes && (opt->pid || opt->comm))
		ret = report_explain_no_process(&b, &groups, path, opt);
	if (!ret && c)
		ret = callgraph_solve(c, &b, p);
	if (!ret) {
		if (opt->format == OUTPUT_TABLE && opt->callers != CALLERS_FOLDED && !opt->quiet)
			header_print(&header);
		if (opt->format == OUTPUT_JSON)
			head = header_json(&header);
		ret = opt->model == MODEL_VPM ? report_vpm(v, &b, p, opt, head) :
		      opt->vectors ? report_vectors(&b, p, opt, head) :
		      opt->callers == CALLERS_FOLDED ? report_folded(&r, &b, c, opt) :
		      opt->callers == CALLERS_CHILDREN ? report_children(&r, &b, c, opt, head) :
		      report_print(&r, &b, c, opt, &model, head);
		if (!ret && opt->by_region && !opt->vectors && opt->format == OUTPUT_TABLE &&
		    !opt->quiet)
			report_regions_footnote(v, &b);
		if (!ret && opt->model != MODEL_VPM)
			ret = report_blocks_are_sampled(&r, &b, &model, &opt->named);
		if (!ret && model.used == MODEL_EDGE && !model.solved) {
			cmd_warn(
				"%s: the edge windows tell nothing, so no energy is known; %s, or see --model cpm",
				path,
				model.too_many ? "--from and --to take a part of the recording" :
						 "record for longer");
			ret = -EDOM;
		}
	}
out:
	callgraph_free(&chains);
	report_free(&r);
	power_model_free(&model);
	groups_free(&groups);
	profile_free(p);
	blocks_free(&b);
	code_units_free(grain);
	return ret;
}

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

/* Where blocks were met for it, their readings are what was wanted. Return: an exit code */
static int report_choose_vpm(struct view *v, const char *path, struct attribute_options *opt)
{
	size_t n = report_vpm_readings(v);
	bool plain = !opt->vectors && !opt->raw && !opt->convergence && !opt->callers &&
		     !opt->by_given && !opt->sort_given && !opt->region && !opt->budget_w &&
		     !opt->worst_case && !opt->comm && !opt->pid && report_vpm_has(v, &opt->named);
	char text[512];
	int ret;

	if (opt->model == MODEL_VPM && !n) {
		if (v->rec.meta.session.vpm.readings && opt->cut)
			return cmd_failed("%s: --model vpm: no reading of a block was made between --from and --to; there are %" PRIu64
					  " in all of it",
					  path, v->rec.meta.session.vpm.readings);
		if (v->rec.meta.session.vpm.interval_ns)
			return cmd_failed("%s: --model vpm: it has no reading of a block: %s", path,
					  report_rounds_text(&v->rec.meta.session.vpm, text,
							     sizeof(text)));
		return cmd_failed("%s: --model vpm: it needs a recording with readings of a block: `kjoule record --vpm BLOCK`", path);
	}
	/* who had blocks met wanted their readings, and is to know why this is something else */
	if (!n && !opt->model_given && v->rec.meta.session.vpm.interval_ns &&
	    !v->rec.meta.session.vpm.readings)
		cmd_warn("%s: has no reading of a block, so the model is cpm: %s", path,
			 report_rounds_text(&v->rec.meta.session.vpm, text, sizeof(text)));
	if (n && plain && (opt->model == MODEL_AUTO || !opt->model_given))
		opt->model = MODEL_VPM;
	if (opt->model != MODEL_VPM)
		return EXIT_DONE;
	ret = report_vpm_blocks(v, opt);
	if (ret && ret != -ENOENT)
		return cmd_failed("%s: %s", path, strerror(-ret));
	return ret ? EXIT_FAILED : EXIT_DONE;
}

int report_one(const char *path, struct attribute_options *opt)
{
	bool chosen[KJOULE_MAX_SOURCES];
	struct kjoule_error err;
	struct view v;
	int code;

	if (view_open(path, &v, &err))
		return cmd_failed("%s", err.text);
	path = path ? path : KJOULE_DATA_FILE;
	if (opt->callers && !view_has_callers(&v)) {
		view_close(&v);
		return cmd_failed("%s: has no callers; record with -g or --call-graph dwarf", path);
	}
	if (opt->cut && view_cut(&v, path, opt->from_ns, opt->to_ns, &err)) {
		view_complain(&v, path);
		view_close(&v);
		return cmd_failed("%s", err.text);
	}
	v.source = opt->source;
	v.region = opt->region;
	v.by_region = opt->by_region;
	/* rows of processes are sums of their functions' mostly */
	v.by_process = opt->processes && opt->vectors;
	if (region_marks_check(&v, path, &err)) {
		cmd_warn("%s", err.text);
		if (!view_load(&v))
			view_complain(&v, path);
		view_close(&v);
		return EXIT_FAILED;
	}
	opt->system = v.rec.meta.session.target == KJOULE_TARGET_SYSTEM;
	if (energy_columns_choose(&v, opt->source, chosen, &err)) {
		view_close(&v);
		return cmd_failed("%s: %s", path, err.text);
	}
	if (report_choose_vpm(&v, path, opt)) {
		view_close(&v);
		return EXIT_FAILED;
	}
	code = report_make_and_print(&v, path, opt);
	if (code == -ENODATA)
		code = cmd_failed("%s: the energy is not known; give --weight time or --weight samples",
				  path);
	else if (code && code != -ESRCH && code != -ENOENT && code != -EDOM)
		code = cmd_failed("%s: %s", path, view_why_not(code));
	else
		code = view_complain(&v, path) || code ? EXIT_FAILED : EXIT_DONE;
	view_close(&v);
	return code;
}

/* The rows of an average run. */
static int report_show_average(struct merge *m, struct attribute_options *opt)
{
	struct power_model model = { .asked = opt->model, .used = MODEL_CPM,
				      .reason = "of several recordings it is the only one" };
	struct blocks *b = &m->names->b;
	struct json_object *head = NULL;
	struct report r = { 0 };
	int ret;

	b->n_domains = m->n_domains;
	for (unsigned int d = 0; d < m->n_domains; d++) {
		b->domains[d] = &m->domains[d];
		for (size_t i = 0; i < m->n; i++)
			model.read |= m->runs[i].readings[d] ? 1u << d : 0;
	}
	opt->system = m->runs[0].target == KJOULE_TARGET_SYSTEM;
	opt->runs = m->kept;
	ret = report_choose_domain(b, opt, m->runs[0].path);
	if (!ret)
		ret = report_new(b, &m->groups, opt, &r);
	for (size_t i = 0; i < m->n && !ret; i++)
		r.parallel += m->runs[i].left_out ? 0 : m->runs[i].parallel / m->kept;
	if (!ret && !r.n_processes && opt->region) {
		header_series_warn(m);
		cmd_warn("--region %s: no sample of what was asked for fell into it in any of these %zu recordings: record for longer, or faster (-F)",
			 opt->region, m->kept);
		ret = -ENOENT;
	} else if (!ret && !r.n_processes && opt->comm) {
		ret = report_explain_no_process(b, &m->groups, m->runs[0].path, opt);
	}
	if (!ret) {
		const struct header_series series = { b->shown_first, opt->verbose, &model, b };

		if (opt->format == OUTPUT_TABLE && !opt->quiet) {
			header_series_print(m, &series);
		} else {
			header_series_warn(m);
		}
		if (opt->format == OUTPUT_JSON)
			head = header_series_json(m, &series);
		ret = report_print(&r, b, NULL, opt, &model, head);
		if (!ret && opt->by_region && opt->format == OUTPUT_TABLE && !opt->quiet)
			report_regions_footnote_of_several(b, &m->groups);
	}
	if (!ret)
		ret = report_blocks_are_sampled(&r, b, &model, &opt->named);
	report_free(&r);
	return ret;
}

static int report_series_convergence(struct merge *m, const struct attribute_options *opt)
{
	struct convergence c;
	int ret = convergence_of_several(m, &c);

	if (!ret) {
		header_series_warn(m);
		ret = report_show_convergence(&c, opt, opt->format == OUTPUT_JSON ?
					      header_series_json(m, NULL) : NULL) ? -ENOENT : 0;
		convergence_free(&c);
	}
	return ret;
}

int report_several(const struct report_files *files, struct attribute_options *opt)
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
		code = cmd_failed("no recording is left: each differs too much from the others");
	else if (!ret)
		ret = opt->convergence ? report_series_convergence(&m, opt) :
					 report_show_average(&m, opt);
	if (ret && ret != -ENODATA && ret != -ESRCH && ret != -ENOENT && ret != -EDOM)
		cmd_warn("%s", strerror(-ret));
	if (ret || m.damaged)
		code = EXIT_FAILED;
out:
	merge_free(&m);
	merge_names_free(&names);
	return code;
}
