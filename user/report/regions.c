// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What report and annotate say of regions besides their figures: whether there are those that were
 * asked for, how the marks went, and what was entered without being sampled. See report.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "cli/cmd.h"
#include "output/wrap.h"
#include "report/report.h"

#define NAMED	6	/* regions that are named */

int report_region_not_sampled(const struct view *v, const char *path, struct kjoule_error *err)
{
	const struct kjoule_regions *r = v->regions;
	uint64_t entered = 0, marked_ns = 0;

	for (size_t i = 0; i < r->n_counts; i++) {
		if (!kjoule_regions_inside(r, r->counts[i].path, v->region))
			continue;
		entered += r->counts[i].entered;
		marked_ns += r->counts[i].marked_ns;
	}
	return kjoule_fail(err, ENOENT, "%s: --region %s: entered %" PRIu64
			   " times, for %.6g s in all, but no sample of what was asked for fell into it: record for longer, or faster (-F)",
			   path, v->region, entered, marked_ns * 1e-9);
}

void report_regions_columns(struct columns *c)
{
	columns_add(c, "entered", "ENTERED", false);
	columns_add(c, "unended", NULL, false);
	columns_add(c, "marked_s", "MARKED s", false);
}

void report_regions_cells(struct output *out, const struct report_row *row, int digits)
{
	if (!row->marks || !row->marks->known) {
		output_none(out, NULL);
		output_none(out, NULL);
		output_none(out, NULL);
		return;
	}
	output_u64(out, row->marks->entered);
	output_u64(out, row->marks->unended);
	output_real(out, row->marks->marked_s, digits);
}

/* Of a region that no sample fell into. */
static void report_print_unsampled(const char *name, uint64_t entered, double marked_s,
				   const char *in)
{
	wrap_footnote(stdout, "",
		      "entered %" PRIu64
		      " times, for %.3g s in %s, and never met by a sample: %s", entered, marked_s, in,
		      name);
}

static void report_print_more_unsampled(size_t n)
{
	if (n > NAMED)
		wrap_footnote(stdout, "",
			      "and %zu more regions that were entered and never met by a sample",
			      n - NAMED);
}

void report_regions_footnote_of_several(const struct blocks *b, const struct groups *g)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_functions; i++) {
		const struct code_unit *unit = b->functions[i].unit;
		struct region_marks sum = { 0 };
		bool told = false;

		if (!g->marks[i].entered || g->functions[i].samples)
			continue;
		/* in whichever process */
		for (size_t k = 0; k < b->n_functions && !told; k++) {
			if (b->functions[k].unit != unit)
				continue;
			told = g->functions[k].samples || (k < i && g->marks[k].entered);
			sum.entered += g->marks[k].entered;
			sum.marked_s += g->marks[k].marked_s;
		}
		if (!told && n++ < NAMED)
			report_print_unsampled(unit->name, sum.entered, sum.marked_s, "a run");
	}
	report_print_more_unsampled(n);
}

void report_regions_footnote(const struct view *v, const struct blocks *b)
{
	const struct kjoule_regions *r = v->regions;
	bool *sampled = calloc(r->n_paths, sizeof(*sampled));
	size_t n = 0;

	for (size_t i = 0; sampled && i < b->n_functions; i++)
		if (b->functions[i].unit && b->functions[i].samples)
			sampled[b->functions[i].region] = true;
	for (size_t i = 0; sampled && i < r->n_counts; i++) {
		const struct kjoule_regions_count *c = &r->counts[i];

		if (c->path <= KJOULE_REGIONS_UNKNOWN || sampled[c->path] || !c->entered)
			continue;
		if (n++ < NAMED)
			report_print_unsampled(r->paths[c->path].text, c->entered,
					       c->marked_ns * 1e-9, "all");
	}
	report_print_more_unsampled(n);
	free(sampled);
}
