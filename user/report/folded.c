// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report --folded: the stacks of a call graph, and what the measurement took, as export/folded.h
 * writes them; see report.h.
 */
#include <errno.h>
#include <math.h>
#include "export/folded.h"
#include "report/report.h"

/* What of the measurement is in the process's figures: lines of their own, as in a table. */
static int report_fold_costs(struct folded *f, const struct report_process *p,
			    const struct blocks *b, const struct calltree *t,
			    const struct attribute_options *opt)
{
	int ret = 0;

	for (size_t i = 0; i < p->n_rows && !ret; i++) {
		const struct report_row *row = &p->rows[i];
		double weight = opt->weight == WEIGHT_ENERGY ? row->g.energy[0].j.v * 1e6 :
				row->g.time_s.v * 1e9;

		if ((row->kind == ROW_TICKS || row->kind == ROW_INTERRUPTS) && !isnan(weight))
			ret = folded_add(f, b, p->total.process, t, CALLTREE_ROOT,
					 row->kind == ROW_TICKS ? ";[kjoule ticks]" :
								  ";[interrupts]", weight);
	}
	return ret;
}

int report_folded(const struct report *r, const struct blocks *b, const struct callgraph *c,
		  const struct attribute_options *opt)
{
	const double *weights = opt->weight == WEIGHT_ENERGY ? c->j[0] :
				opt->weight == WEIGHT_TIME ? c->time_s : c->weight_samples;
	double unit = opt->weight == WEIGHT_ENERGY ? 1e6 : opt->weight == WEIGHT_TIME ? 1e9 : 1;
	struct folded f = { 0 };
	int ret = 0;

	if (!weights || (opt->weight == WEIGHT_ENERGY && !c->n_domains))
		return -ENODATA;
	for (uint32_t i = 1; i < c->tree.n && !ret; i++) {
		uint32_t function = c->tree.nodes[i].function;
		uint32_t process = b->functions[function].process;

		/* the recorder of a process is not in the total */
		if (weights[i] != 0 && !blocks_is_unattributed(b, function) &&
		    function != b->recorder && attribute_is_wanted(&b->processes[process], opt))
			ret = folded_add(&f, b, process, &c->tree, i, "", weights[i] * unit);
	}
	for (size_t i = 0; i < r->n_processes && opt->weight != WEIGHT_SAMPLES && !ret; i++)
		ret = report_fold_costs(&f, &r->processes[i], b, &c->tree, opt);
	if (!ret)
		folded_write(&f, stdout);
	folded_free(&f);
	return ret;
}
