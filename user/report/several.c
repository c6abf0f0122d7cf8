// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report of several recordings as an average run; see report.h. Called by cmd_report.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <json-c/json.h>
#include "attribute/merge.h"
#include "cli/cmd.h"
#include "header/series.h"
#include "report/convergence.h"
#include "report/report.h"

/* The average's blocks have the domains that all recordings have. */
static void report_set_domains(const struct merge *m, struct blocks *b, struct power_model *model)
{
	b->n_domains = m->n_domains;
	for (unsigned int d = 0; d < m->n_domains; d++) {
		b->domains[d] = &m->domains[d];
		for (size_t i = 0; i < m->n; i++)
			model->read |= m->runs[i].readings[d] ? 1u << d : 0;
	}
}

static int report_find_rows(const struct merge *m, const struct attribute_options *opt,
			    struct report *r, struct kjoule_error *err)
{
	int ret = report_new(&m->names->b, &m->groups, opt, r);

	for (size_t i = 0; i < m->n && !ret; i++)
		r->parallel += m->runs[i].left_out ? 0 : m->runs[i].parallel / m->kept;
	if (ret || r->n_processes)
		return ret;
	if (opt->region)
		return kjoule_fail(err, ENOENT,
				   "--region %s: no sample of what was asked for fell into it in any of these %zu recordings: record for longer, or faster (-F)",
				   opt->region, m->kept);
	if (opt->comm)
		return report_process_not_found(&m->names->b, &m->groups, m->runs[0].path, opt,
						err);
	return 0;
}

/* The rows of an average run. */
static int report_print_average(struct merge *m, struct attribute_options *opt,
				struct kjoule_error *err)
{
	struct power_model model = { .asked = opt->model, .used = MODEL_CPM,
				      .reason = "of several recordings it is the only one" };
	struct blocks *b = &m->names->b;
	bool people = opt->format == OUTPUT_TABLE && !opt->quiet;
	struct header_series series = { 0, opt->verbose, &model, b };
	struct json_object *head = NULL;
	struct report r = { 0 };
	int ret;

	report_set_domains(m, b, &model);
	opt->system = m->runs[0].target == KJOULE_TARGET_SYSTEM;
	opt->runs = m->kept;
	ret = report_choose_domain(b, opt, err);
	if (!ret)
		ret = report_find_rows(m, opt, &r, err);
	series.shown_first = b->shown_first;
	if (!ret && people)
		header_series_print(m, &series);
	else
		header_series_warn(m);
	if (!ret && opt->format == OUTPUT_JSON)
		head = header_series_json(m, &series);
	if (!ret)
		ret = report_print(&r, b, NULL, opt, &model, head);
	if (!ret && opt->by_region && people)
		report_regions_footnote_of_several(b, &m->groups);
	if (!ret)
		ret = report_blocks_check(&r, b, &model, &opt->named, err);
	report_free(&r);
	return ret;
}

static int report_print_series_convergence(struct merge *m, const struct attribute_options *opt,
					   struct kjoule_error *err)
{
	struct convergence c;
	int ret = convergence_of_several(m, &c);

	if (ret)
		return ret;
	header_series_warn(m);
	ret = convergence_show(&c, opt,
			       opt->format == OUTPUT_JSON ? header_series_json(m, NULL) : NULL,
			       err);
	convergence_free(&c);
	return ret;
}

int report_several(const struct report_files *files, struct attribute_options *opt)
{
	struct kjoule_error err = { 0 };
	struct merge_names names;
	int ret, code = EXIT_DONE;
	struct merge m;

	ret = merge_names_new(MERGE_SAME, &names);
	merge_new(&m, &names, opt);
	for (size_t i = 0; i < files->n && !ret; i++)
		ret = merge_add(&m, files->paths[i], &err);
	if (!ret)
		ret = merge_outliers(&m, files->without_outliers);
	if (!ret)
		ret = merge_average(&m, m.n, &m.groups);
	if (ret == -ENODATA && !err.text[0])
		kjoule_fail(&err, ENODATA,
			    "no recording is left: each differs too much from the others");
	if (!ret)
		ret = opt->convergence ? report_print_series_convergence(&m, opt, &err) :
					 report_print_average(&m, opt, &err);
	if (ret)
		code = cmd_failed("%s", err.text[0] ? err.text : strerror(-ret));
	else if (m.damaged)
		code = EXIT_FAILED;
	merge_free(&m);
	merge_names_free(&names);
	return code;
}
