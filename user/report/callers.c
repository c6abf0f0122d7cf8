// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Callers for people and programs: below each function who called it, or each
 * function with all that it called; see report.h. The figures are attribute/callgraph.c's; they
 * have no intervals.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output/columns.h"
#include "output/wrap.h"
#include "report/report.h"

/* Callers of a function are followed so far out. */
#define DEPTH	64

/* The weights of nodes that belong together, by each figure. */
struct figures {
	double *samples, *time_s;
	double *j[PROFILE_DOMAINS];	/* NULL: not known */
};

static void callers_figures_free(struct figures *f)
{
	free(f->samples);
	free(f->time_s);
	for (unsigned int d = 0; d < PROFILE_DOMAINS; d++)
		free(f->j[d]);
	memset(f, 0, sizeof(*f));
}

static int callers_figures_new(struct figures *f, const struct callgraph *c, size_t n)
{
	int ret = 0;

	memset(f, 0, sizeof(*f));
	f->samples = calloc(n + 1, sizeof(*f->samples));
	f->time_s = calloc(n + 1, sizeof(*f->time_s));
	if (!f->samples || !f->time_s)
		ret = -ENOMEM;
	for (unsigned int d = 0; d < c->n_domains && !ret; d++) {
		f->j[d] = c->j[d] ? calloc(n + 1, sizeof(*f->j[d])) : NULL;
		if (c->j[d] && !f->j[d])
			ret = -ENOMEM;
	}
	if (ret)
		callers_figures_free(f);
	return ret;
}

static struct report_row callers_make_row(const struct figures *f, unsigned int n_domains,
					  uint32_t i, enum report_kind kind, uint32_t process,
					  uint32_t function)
{
	struct report_row row = { .kind = kind, .process = process, .function = function };

	row.g.samples = llround(f->samples[i]);
	row.g.time_s = (struct value){ f->time_s[i], NAN, NAN };
	row.g.khz = (struct value){ NAN, NAN, NAN };
	for (unsigned int d = 0; d < n_domains; d++) {
		double j = f->j[d] ? f->j[d][i] : NAN;

		row.g.energy[d].j = (struct value){ j, NAN, NAN };
		row.g.energy[d].w = (struct value){ f->time_s[i] > 0 ? j / f->time_s[i] : NAN, NAN,
						    NAN };
		row.g.energy[d].share = 1;
	}
	return row;
}

/*
 * Below each function
 */

struct graph {
	const struct blocks *b;
	const struct report_row *total;
	const struct calltree *tree;
	struct report_row *by_node;
	uint32_t *first, *next;		/* children of each node, as lists */
	double limit;
	struct report_row *rows;
	size_t n;
};

static const struct graph *sorting;

static int callers_node_by_weight(const void *a, const void *b)
{
	const struct report_row *x = &sorting->by_node[*(const uint32_t *)a];
	const struct report_row *y = &sorting->by_node[*(const uint32_t *)b];
	double wx = report_weight_of(x, sorting->total, sorting->b),
	       wy = report_weight_of(y, sorting->total, sorting->b);

	if (wx != wy)
		return wx > wy ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

/* The callers of the function of @node, and theirs. */
static int callers_show_node(struct graph *g, uint32_t node, unsigned int depth,
			     unsigned int indent)
{
	uint32_t n = 0, *list;
	int ret = 0;

	for (uint32_t i = g->first[node]; i; i = g->next[i])
		n += report_weight_of(&g->by_node[i], g->total, g->b) >= g->limit;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	n = 0;
	for (uint32_t i = g->first[node]; i; i = g->next[i])
		if (report_weight_of(&g->by_node[i], g->total, g->b) >= g->limit)
			list[n++] = i;
	sorting = g;
	if (n > 1)
		qsort(list, n, sizeof(*list), callers_node_by_weight);
	for (uint32_t i = 0; i < n && !ret; i++) {
		struct report_row *row = &g->rows[g->n++];

		*row = g->by_node[list[i]];
		row->depth = depth;
		row->indent = indent;
		row->branch = n > 1;
		ret = callers_show_node(g, list[i], depth + 1, indent + (n > 1));
	}
	free(list);
	return ret;
}

static int callers_show_all(const struct callgraph *c, const struct blocks *b, uint32_t function,
			    const struct calltree *callers, const uint32_t *node_of,
			    struct graph *g)
{
	struct figures f;
	int ret = callers_figures_new(&f, c, callers->n);

	if (ret)
		return ret;
	/* a chain counts for all callers on its way out */
	for (uint32_t i = 0; i < c->tree.n; i++) {
		if (node_of[i] == CALLTREE_NONE)
			continue;
		for (uint32_t at = node_of[i]; at != CALLTREE_ROOT;
		     at = callers->nodes[at].parent) {
			f.samples[at] += c->weight_samples[i];
			f.time_s[at] += c->time_s[i];
			for (unsigned int d = 0; d < c->n_domains; d++)
				if (f.j[d])
					f.j[d][at] += c->j[d][i];
		}
	}
	g->by_node = calloc(callers->n + 1, sizeof(*g->by_node));
	g->first = calloc(callers->n + 1, sizeof(*g->first));
	g->next = calloc(callers->n + 1, sizeof(*g->next));
	g->rows = calloc(callers->n + 1, sizeof(*g->rows));
	if (!g->by_node || !g->first || !g->next || !g->rows)
		ret = -ENOMEM;
	for (uint32_t i = 1; i < callers->n && !ret; i++) {
		const struct calltree_node *node = &callers->nodes[i];

		g->by_node[i] = callers_make_row(&f, c->n_domains, i, ROW_CALLER,
						 b->functions[function].process, node->function);
		g->next[i] = g->first[node->parent];
		g->first[node->parent] = i;
	}
	/* the root's only child is the function itself, which has its row */
	if (!ret && g->first[CALLTREE_ROOT])
		ret = callers_show_node(g, g->first[CALLTREE_ROOT], 1, 0);
	callers_figures_free(&f);
	return ret;
}

int report_callers(const struct callgraph *c, const struct blocks *b, uint32_t function,
		   const struct report_row *total, double limit, struct report_row **rows,
		   size_t *n)
{
	struct graph g = { .b = b, .total = total, .limit = limit };
	uint32_t *node_of = calloc(c->tree.n, sizeof(*node_of));
	struct calltree callers;
	int ret = node_of ? calltree_callers(&c->tree, function, DEPTH, &callers, node_of) :
			    -ENOMEM;

	*rows = NULL;
	*n = 0;
	if (!ret) {
		g.tree = &callers;
		ret = callers_show_all(c, b, function, &callers, node_of, &g);
		calltree_free(&callers);
	}
	free(node_of);
	free(g.by_node);
	free(g.first);
	free(g.next);
	*rows = g.rows;
	*n = ret ? 0 : g.n;
	return ret;
}

/*
 * With all that it called
 */

/* A function, or what the measurement took: what it called included, and itself. */
struct pair {
	struct report_row all, self;
};

static const struct blocks *pair_blocks;
static const struct report_row *pair_total;

static int callers_pair_by_weight(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	double wx = report_weight_of(&x->all, pair_total, pair_blocks);
	double wy = report_weight_of(&y->all, pair_total, pair_blocks);

	if (x->all.kind != y->all.kind)
		return x->all.kind < y->all.kind ? -1 : 1;
	if (wx != wy)
		return wx > wy ? -1 : 1;
	return (x->all.function > y->all.function) - (x->all.function < y->all.function);
}

/* By function: its own nodes, and those that it is an outer frame of. */
static int callers_sum_functions(const struct callgraph *c, uint32_t n, struct figures *self,
				 struct figures *all)
{
	int ret = callers_figures_new(self, c, n);

	if (ret)
		return ret;
	ret = callers_figures_new(all, c, n);
	if (ret) {
		callers_figures_free(self);
		return ret;
	}
	for (uint32_t i = 1; i < c->tree.n; i++) {
		uint32_t function = c->tree.nodes[i].function;

		self->samples[function] += c->weight_samples[i];
		self->time_s[function] += c->time_s[i];
		for (unsigned int d = 0; d < c->n_domains; d++)
			if (self->j[d])
				self->j[d][function] += c->j[d][i];
	}
	ret = calltree_cumulate(&c->tree, c->weight_samples, n, all->samples);
	if (!ret)
		ret = calltree_cumulate(&c->tree, c->time_s, n, all->time_s);
	for (unsigned int d = 0; d < c->n_domains && !ret; d++)
		if (c->j[d])
			ret = calltree_cumulate(&c->tree, c->j[d], n, all->j[d]);
	if (ret) {
		callers_figures_free(self);
		callers_figures_free(all);
	}
	return ret;
}

static const struct output_field fields[] = {
	{ "energy", true },   { "self", true },	    { "time", true },
	{ "samples", false }, { "pid", false },	    { "command", false },
	{ "mode", false },    { "function", true }, { "object", true },
};

#define N_FIELDS	(sizeof(fields) / sizeof(fields[0]))

int callers_fields_check(const struct attribute_options *opt, struct kjoule_error *err)
{
	return fields_check(&(struct fields){ fields, N_FIELDS, opt->fields }, err);
}

static void callers_add_column(struct columns *c, const char *field, const char *name,
			       const char *title, bool left)
{
	columns_field(c, field);
	columns_add(c, name, title, left);
}

static void callers_add_energy_columns(struct columns *c, const char *domain, bool first)
{
	const char *title = columns_domain_title(c, domain, first, "ENERGY", "J");

	columns_field(c, "energy");
	columns_add_of(c, "children_energy", domain, "j", title);
	columns_add_of(c, "children_energy", domain, "percent", title ? "%" : NULL);
	columns_field(c, "self");
	columns_add_of(c, "self_energy", domain, "j", title ? "SELF J" : NULL);
	columns_add_of(c, "self_energy", domain, "percent", title ? "%" : NULL);
}

static void callers_make_columns(struct columns *c, const struct blocks *b)
{
	callers_add_column(c, NULL, "kind", NULL, true);
	callers_add_column(c, "pid", "pid", "PID", false);
	callers_add_column(c, "command", "comm", "COMMAND", true);
	callers_add_column(c, "function", "function", "FUNCTION", true);
	callers_add_column(c, "object", "object", "OBJECT", true);
	callers_add_column(c, "mode", "mode", "MODE", true);
	callers_add_column(c, "samples", "children_samples", "SAMPLES", false);
	columns_add(c, "self_samples", "SELF", false);
	callers_add_column(c, "time", "children_time_s", "TIME s", false);
	columns_add(c, "self_time_s", "SELF s", false);
	for (unsigned int d = 0; d < b->n_domains; d++)
		callers_add_energy_columns(c, b->domains[d]->name, !d);
}

struct style {
	int time, energy[PROFILE_DOMAINS];
	double total_j[PROFILE_DOMAINS];
};

static const char no_domain[] =
	"the energy counter was not seen to move twice; record for longer, or see `kjoule list`";

static void callers_print_energy(struct output *out, const struct report_row *r, unsigned int d,
				 const struct style *s)
{
	double j = r->g.energy[d].j.v;

	if (isnan(j))
		output_none(out, no_domain);
	else
		output_real(out, j, s->energy[d]);
	if (isnan(j) || !(s->total_j[d] > 0))
		output_none(out, NULL);
	else
		output_real(out, 100 * j / s->total_j[d], 1);
}

static void callers_print_pair(struct output *out, const struct blocks *b, const struct pair *p,
			       const struct style *s)
{
	bool cost = p->all.kind == ROW_TICKS || p->all.kind == ROW_INTERRUPTS;

	report_names(out, b, &p->all, NULL);
	if (cost) {
		output_none(out, NULL);
		output_none(out, NULL);
	} else {
		output_u64(out, p->all.g.samples);
		output_u64(out, p->self.g.samples);
	}
	output_real(out, p->all.g.time_s.v, s->time);
	output_real(out, p->self.g.time_s.v, s->time);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		callers_print_energy(out, &p->all, d, s);
		callers_print_energy(out, &p->self, d, s);
	}
	output_row(out);
}

/*
 * Functions of a process, those that only called included. Return: how many of them are below the
 * limit
 */
static size_t callers_add_functions(struct pair *pairs, size_t *n, uint32_t process,
				    const struct blocks *b, const struct figures *self,
				    const struct figures *all, double limit)
{
	size_t hidden = 0;

	for (uint32_t f = 0; f < b->n_functions; f++) {
		struct report_row row;

		if (b->functions[f].process != process || !(all->time_s[f] > 0))
			continue;
		row = callers_make_row(all, b->n_domains, f, ROW_FUNCTION, process, f);
		if (report_weight_of(&row, pair_total, b) < limit) {
			hidden++;
			continue;
		}
		pairs[(*n)++] = (struct pair){ row, callers_make_row(self, b->n_domains, f,
								     ROW_FUNCTION, process, f) };
	}
	return hidden;
}

static void callers_print_sorted(struct output *out, struct pair *pairs, size_t n,
				 const struct blocks *b, const struct style *style)
{
	qsort(pairs, n, sizeof(*pairs), callers_pair_by_weight);
	for (size_t i = 0; i < n; i++)
		callers_print_pair(out, b, &pairs[i], style);
}

/* For programs: each process, and its rows behind it. */
static void callers_print_process(struct output *out, const struct report_process *p,
				  struct pair *pairs, const struct blocks *b,
				  const struct figures *self, const struct figures *all,
				  double limit, const struct style *style)
{
	size_t n = 0;

	callers_add_functions(pairs, &n, p->total.process, b, self, all, limit);
	for (size_t i = 0; i < p->n_rows; i++)
		if (p->rows[i].kind != ROW_FUNCTION)
			pairs[n++] = (struct pair){ p->rows[i], p->rows[i] };
	callers_print_pair(out, b, &(struct pair){ p->total, p->total }, style);
	callers_print_sorted(out, pairs, n, b, style);
}

/* A table: functions of all processes in one list. Return: how many are below the limit */
static size_t callers_print_list(struct output *out, const struct report *r,
				 const struct report_row *rows, size_t n_rows, struct pair *pairs,
				 const struct blocks *b, const struct figures *self,
				 const struct figures *all, double limit, const struct style *style)
{
	size_t n = 0, hidden = 0;

	for (size_t i = 0; i < r->n_processes; i++)
		if (!r->processes[i].outside)
			hidden += callers_add_functions(pairs, &n, r->processes[i].total.process, b,
							self, all, limit);
	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].kind == ROW_TICKS || rows[i].kind == ROW_INTERRUPTS)
			pairs[n++] = (struct pair){ rows[i], rows[i] };
	callers_print_sorted(out, pairs, n, b, style);
	return hidden;
}

static void callers_layout(const struct columns *c, struct output *out,
			   const struct attribute_options *opt, bool several)
{
	struct output_field known[N_FIELDS];

	memcpy(known, fields, sizeof(known));
	for (size_t i = 0; i < N_FIELDS; i++)
		known[i].shown |= several && !strcmp(known[i].key, "command");
	columns_layout(c, out, &(struct fields){ known, N_FIELDS, opt->fields }, !opt->no_titles);
	if (opt->quiet)
		output_quiet(out);
}

static int callers_print_all(const struct report *r, const struct blocks *b,
			     const struct attribute_options *opt, const struct figures *self,
			     const struct figures *all, struct json_object *head)
{
	double limit = report_weight_of(&r->total, &r->total, b) * opt->percent_limit / 100;
	struct pair *pairs = calloc(b->n_functions + 2 * r->n_processes + 2, sizeof(*pairs));
	struct style style = { .time = columns_digits(r->total.g.time_s.v) };
	struct columns *columns = columns_new(opt->domains);
	struct report_row *rows = NULL;
	struct output *out = NULL;
	size_t hidden = 0, n_rows;
	bool several;
	int ret = pairs && columns ? report_rows_list(r, b, opt, &rows, &n_rows, &several) :
				     -ENOMEM;

	pair_blocks = b;
	pair_total = &r->total;
	for (unsigned int d = 0; d < b->n_domains; d++) {
		style.total_j[d] = r->total.g.energy[d].j.v;
		style.energy[d] = columns_digits(r->total.g.energy[d].j.v);
	}
	if (!ret) {
		callers_make_columns(columns, b);
		out = output_open(stdout, opt->format, columns->list, columns->n);
	}
	if (!out) {
		json_object_put(head);
		ret = -ENOMEM;
		goto out_free;
	}
	callers_layout(columns, out, opt, several);
	if (opt->format == OUTPUT_TABLE)
		hidden = callers_print_list(out, r, rows, n_rows, pairs, b, self, all, limit,
					    &style);
	for (size_t i = 0; i < r->n_processes && opt->format != OUTPUT_TABLE; i++)
		callers_print_process(out, &r->processes[i], pairs, b, self, all, limit, &style);
	callers_print_pair(out, b, &(struct pair){ r->total, r->total }, &style);
	output_close(out, head, "rows");
	if (hidden && opt->format == OUTPUT_TABLE && !opt->quiet)
		wrap_footnote(stdout, "",
			      "%zu more functions below %g %%", hidden, opt->percent_limit);
out_free:
	free(columns);
	free(pairs);
	free(rows);
	return ret;
}

int report_children(const struct report *r, const struct blocks *b, const struct callgraph *c,
		    const struct attribute_options *opt, struct json_object *head)
{
	struct figures self, all;
	int ret = callers_sum_functions(c, b->n_functions, &self, &all);

	if (ret) {
		json_object_put(head);
		return ret;
	}
	ret = callers_print_all(r, b, opt, &self, &all, head);
	callers_figures_free(&self);
	callers_figures_free(&all);
	return ret;
}
