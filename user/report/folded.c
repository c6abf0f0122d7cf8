// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks for flame graphs, one a line: "process;outer;...;inner WEIGHT"; see
 * report.h. Weights are whole numbers that add up to the total: what rounding takes
 * from one line it gives to the next.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/report.h"

struct stack {
	char *text;
	double weight;
};

struct stacks {
	size_t n, room;
	struct stack *list;
};

/* Takes @text over. */
static int folded_add_stack(struct stacks *s, char *text, double weight)
{
	if (!text)
		return -ENOMEM;
	if (s->n == s->room) {
		void *p = realloc(s->list, (s->room ? 2 * s->room : 256) * sizeof(*s->list));

		if (!p) {
			free(text);
			return -ENOMEM;
		}
		s->list = p;
		s->room = s->room ? 2 * s->room : 256;
	}
	s->list[s->n++] = (struct stack){ text, weight };
	return 0;
}

/* Names may hold anything; a semicolon and a line's end have a meaning here. */
static void folded_put_name(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name == '\n' ? '?' : *name, f);
}

static void folded_put_frames(FILE *f, const struct calltree *t, const struct blocks *b,
			      uint32_t node)
{
	const struct blocks_function *function;

	if (node == CALLTREE_ROOT)
		return;
	folded_put_frames(f, t, b, t->nodes[node].parent);
	function = &b->functions[t->nodes[node].function];
	/* idle, lost: the process's name says it all */
	if (!function->object[0])
		return;
	fputc(';', f);
	/* a function without a name: at least whose it is */
	if (strcmp(function->symbol, "[unknown]")) {
		folded_put_name(f, function->symbol);
	} else {
		const char *base = strrchr(function->object, '/');

		folded_put_name(f,
				base && function->object[0] == '/' ? base + 1 : function->object);
	}
	if (function->kernel)
		fputs("_[k]", f);
}

static char *folded_stack_text(const struct blocks *b, uint32_t process, const struct calltree *t,
			       uint32_t node, const char *more)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	folded_put_name(f, b->processes[process].comm);
	folded_put_frames(f, t, b, node);
	fputs(more, f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int folded_stack_by_text(const void *a, const void *b)
{
	return strcmp(((const struct stack *)a)->text, ((const struct stack *)b)->text);
}

static void folded_print_stacks(struct stacks *s)
{
	double carry = 0;
	size_t i, k;

	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), folded_stack_by_text);
	for (i = 0; i < s->n; i = k) {
		double weight = 0;
		int64_t whole;

		for (k = i; k < s->n && !strcmp(s->list[k].text, s->list[i].text); k++)
			weight += s->list[k].weight;
		whole = llround(fmax(weight + carry, 0));
		carry += weight - whole;
		if (whole)
			output_printf(stdout, "%s %" PRId64 "\n", s->list[i].text, whole);
	}
}

/* What of the measurement is in the process's figures: lines of their own, as in a table. */
static int folded_add_costs(struct stacks *s, const struct report_process *p,
			    const struct blocks *b, const struct calltree *t,
			    const struct attribute_options *opt)
{
	int ret = 0;

	for (size_t i = 0; i < p->n_rows && !ret; i++) {
		const struct report_row *row = &p->rows[i];
		double weight = opt->weight == WEIGHT_ENERGY ? row->g.energy[0].j.v * 1e6 :
				row->g.time_s.v * 1e9;

		if ((row->kind == ROW_TICKS || row->kind == ROW_INTERRUPTS) && !isnan(weight))
			ret = folded_add_stack(
				s, folded_stack_text(b, p->total.process, t, CALLTREE_ROOT,
						     row->kind == ROW_TICKS ? ";[kjoule ticks]" :
						     ";[interrupts]"), weight);
	}
	return ret;
}

int report_folded(const struct report *r, const struct blocks *b, const struct callgraph *c,
		  const struct attribute_options *opt)
{
	const double *weights = opt->weight == WEIGHT_ENERGY ? c->j[0] :
				opt->weight == WEIGHT_TIME ? c->time_s : c->weight_samples;
	double unit = opt->weight == WEIGHT_ENERGY ? 1e6 : opt->weight == WEIGHT_TIME ? 1e9 : 1;
	struct stacks s = { 0 };
	int ret = 0;

	if (!weights || (opt->weight == WEIGHT_ENERGY && !c->n_domains))
		return -ENODATA;
	for (uint32_t i = 1; i < c->tree.n && !ret; i++) {
		uint32_t function = c->tree.nodes[i].function;
		uint32_t process = b->functions[function].process;

		/* the recorder beside a process is not in the total */
		if (weights[i] != 0 && !blocks_is_unattributed(b, function) &&
		    function != b->recorder && attribute_is_wanted(&b->processes[process], opt))
			ret = folded_add_stack(&s, folded_stack_text(b, process, &c->tree, i, ""),
					       weights[i] * unit);
	}
	for (size_t i = 0; i < r->n_processes && opt->weight != WEIGHT_SAMPLES && !ret; i++)
		ret = folded_add_costs(&s, &r->processes[i], b, &c->tree, opt);
	if (!ret)
		folded_print_stacks(&s);
	for (size_t i = 0; i < s.n; i++)
		free(s.list[i].text);
	free(s.list);
	return ret;
}
