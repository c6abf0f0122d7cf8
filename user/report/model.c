// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report says of the model below its table, and of rows without energy; see report.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include "analysis/edge/edge_groups.h"
#include "attribute/inseparable.h"
#include "output/output.h"
#include "output/wrap.h"
#include "report/report.h"

const char *report_model_no_energy(const struct power_model *m, const struct report_row *r,
				   unsigned int domain)
{
	static const char *const whys[] = {
		[EDGE_SCARCE] =
			"less than 1 % of the time in edge windows, or in fewer than 30 of them: too little for a power of its own",
		[EDGE_SHORT] =
			"runs of fewer than 3 ticks, which ticks do not follow; record at a higher rate",
		[EDGE_ALIKE] =
			"about the same part of each edge window as something else: the two cannot be separated"
	};

	if (m->used != MODEL_EDGE && m->read & 1u << domain)
		return "no energy was measured in most of its time; see the header's line unmeasured";
	if (m->used == MODEL_MIXTURE)
		return "this counter did not move often enough for the mixture model, or there are several of them; see --model cpm";
	if (m->used != MODEL_EDGE)
		return "the energy counter was not seen to move twice; record for longer, or see `kjoule list`";
	if (!(m->windows_of & 1u << domain))
		return "edge windows are of another domain; see --model cpm";
	if (!m->solved)
		return "no power follows from the edge windows: see the header's line windows";
	if (r->kind == ROW_FUNCTION && m->why && r->function < m->n_whys && m->why[r->function])
		return whys[m->why[r->function]];
	return "the power of a part of it does not follow from edge windows";
}

/* Of a row whose name has no room for all of them. */
static void report_print_merged(const struct blocks *b, const struct power_model *m,
				uint32_t merged)
{
	size_t n = 0, len;
	char *names;
	FILE *f;

	for (uint32_t i = 0; i < m->n_merged; i++)
		n += power_model_is_part(b, m, i, merged);
	if (n <= BLOCKS_MERGED_NAMED)
		return;
	f = open_memstream(&names, &len);
	if (!f)
		return;
	for (uint32_t i = 0, left = n; i < m->n_merged; i++) {
		if (power_model_is_part(b, m, i, merged))
			fprintf(f, " %s%s", b->functions[i].symbol, --left ? "," : "");
	}
	fclose(f);
	wrap_footnote(stdout, "", "%zu are one:%s", n, names);
	free(names);
}

void report_model_footnotes(const struct report *r, const struct blocks *b,
			    const struct power_model *m)
{
	bool little = false, one = false;

	for (size_t i = 0; i < r->n_processes; i++) {
		for (size_t k = 0; k < r->processes[i].n_rows; k++) {
			const struct report_row *row = &r->processes[i].rows[k];
			uint8_t fate = row->kind == ROW_FUNCTION && m->fate &&
						       row->function < m->n_fates ?
					       m->fate[row->function] :
					       SEPARABILITY_ALONE;

			little |= fate == SEPARABILITY_LITTLE;
			one |= fate > SEPARABILITY_LITTLE;
		}
	}
	if (little)
		wrap_footnote(stdout, "[others]",
			      "blocks of less than 1 %% of the time, too little for a power of their own");
	if (!one)
		return;
	wrap_footnote(
		stdout, "(not separable)",
		"the counter's windows do not separate these, or they run for too few ticks at a time; together they are right");
	for (size_t i = 0; i < r->n_processes; i++) {
		for (size_t k = 0; k < r->processes[i].n_rows; k++) {
			const struct report_row *row = &r->processes[i].rows[k];

			if (row->kind == ROW_FUNCTION && m->fate && row->function < m->n_fates &&
			    m->fate[row->function] > SEPARABILITY_LITTLE)
				report_print_merged(b, m, row->function);
		}
	}
}
