// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Control flow; see flow.h. Dominators by SNCA (Georgiadis, Tarjan and Werneck, "Finding Dominators
 * in Practice", JGAA 10(1), 2006), fast on compilers' output, quadratic in the worst case; loops
 * are collapsed from the innermost outwards (Tarjan, "Testing Flow Graph Reducibility", JCSS 9(3),
 * 1974).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/flow/flow.h"
#include "lib/base/array.h"
#include "lib/base/search.h"

struct edge {
	uint32_t from, to;
};

/*
 * The graph: blocks, then a node for all jumps by table, then the root, which leads to the entry
 * and to blocks without predecessors.
 */
struct graph {
	uint32_t n, table, root;
	size_t n_edges;
	struct edge *edges;
	/* neighbours of node x: out[first_out[x]...] */
	uint32_t *first_out, *out, *first_in, *in;
};

/* All by number in depth first order; the root is 0. */
struct walk {
	uint32_t *number, *node, *parent, *stack, *next;
	uint32_t *ancestor, *label, *semi, *dominator;
	uint32_t *place, *size;		/* in a walk of the dominator tree, and of the subtree */
	uint32_t *collapsed, *loop;	/* into which number; header of the enclosing loop */
	uint32_t n;
};

static int leader_by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool insn_begins_at(const struct kjoule_insn *insns, size_t n, uint64_t address)
{
	size_t until = kjoule_count_members(insns, n, address, address);

	return until && insns[until - 1].address == address;
}

static bool insn_is_jump(const struct kjoule_insn *i)
{
	return i->kind == KJOULE_INSN_JUMP || i->kind == KJOULE_INSN_BRANCH;
}

/* Blocks begin at the entry, at targets of jumps, and after what does not just fall through. */
static int insns_find_blocks(const struct kjoule_insn *insns, size_t n, struct flow *f)
{
	uint64_t *leaders = malloc((2 * n + 1) * sizeof(*leaders));
	uint64_t end = insns[n - 1].address + insns[n - 1].size;
	size_t n_leaders = 0;

	if (!leaders)
		return -ENOMEM;
	leaders[n_leaders++] = insns[0].address;
	for (size_t i = 0; i < n; i++) {
		if (insn_is_jump(&insns[i]) && insn_begins_at(insns, n, insns[i].target))
			leaders[n_leaders++] = insns[i].target;
		if (insns[i].kind != KJOULE_INSN_PLAIN && i + 1 < n)
			leaders[n_leaders++] = insns[i + 1].address;
	}
	qsort(leaders, n_leaders, sizeof(*leaders), leader_by_address);
	f->blocks = calloc(n_leaders, sizeof(*f->blocks));
	if (!f->blocks) {
		free(leaders);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_leaders; i++) {
		if (i && leaders[i] == leaders[i - 1])
			continue;
		if (f->n_blocks)
			f->blocks[f->n_blocks - 1].end = leaders[i];
		f->blocks[f->n_blocks++] = (struct flow_block){ leaders[i], end, FLOW_NONE };
	}
	free(leaders);
	return 0;
}

uint32_t flow_block_at(const struct flow *f, uint64_t address)
{
	size_t n = kjoule_count_members(f->blocks, f->n_blocks, start, address);

	return n && address < f->blocks[n - 1].end ? n - 1 : FLOW_NONE;
}

static int graph_add_edge(struct graph *g, uint32_t from, uint32_t to)
{
	struct edge *e = kjoule_array_grow(&g->edges, &g->n_edges, sizeof(*e));

	if (!e)
		return -ENOMEM;
	*e = (struct edge){ from, to };
	return 0;
}

/* The neighbours of each node in the order of the edges. */
static int graph_sort_edges(struct graph *g)
{
	free(g->first_out);
	free(g->first_in);
	free(g->out);
	free(g->in);
	g->first_out = calloc(g->n + 3, sizeof(*g->first_out));
	g->first_in = calloc(g->n + 3, sizeof(*g->first_in));
	g->out = calloc(g->n_edges + 1, sizeof(*g->out));
	g->in = calloc(g->n_edges + 1, sizeof(*g->in));
	if (!g->first_out || !g->first_in || !g->out || !g->in)
		return -ENOMEM;
	/* counted two places on, so that filling in leaves each beginning where it belongs */
	for (size_t i = 0; i < g->n_edges; i++) {
		g->first_out[g->edges[i].from + 2]++;
		g->first_in[g->edges[i].to + 2]++;
	}
	for (uint32_t x = 1; x <= g->n + 1; x++) {
		g->first_out[x] += g->first_out[x - 1];
		g->first_in[x] += g->first_in[x - 1];
	}
	for (size_t i = 0; i < g->n_edges; i++) {
		g->out[g->first_out[g->edges[i].from + 1]++] = g->edges[i].to;
		g->in[g->first_in[g->edges[i].to + 1]++] = g->edges[i].from;
	}
	return 0;
}

static int graph_add_block_edges(struct graph *g, const struct kjoule_insn *insns, size_t n,
				 const struct flow *f)
{
	uint32_t block = 0;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		uint32_t to;

		if (insns[i].address + insns[i].size < f->blocks[block].end)
			continue;
		if (insn_is_jump(&insns[i])) {
			to = flow_block_at(f, insns[i].target);
			/* into the middle of an instruction: as if into another function */
			if (to != FLOW_NONE && f->blocks[to].start == insns[i].target)
				ret = graph_add_edge(g, block, to);
		}
		if (!ret && insns[i].kind == KJOULE_INSN_INDIRECT)
			ret = graph_add_edge(g, block, g->table);
		if (!ret &&
		    (insns[i].kind == KJOULE_INSN_PLAIN || insns[i].kind == KJOULE_INSN_BRANCH) &&
		    block + 1 < f->n_blocks)
			ret = graph_add_edge(g, block, block + 1);
		block++;
	}
	return ret;
}

/* Blocks without predecessors are targets of tables; without any table they are entries. */
static int graph_add_entries(struct graph *g, const struct flow *f)
{
	bool *led_to = calloc(g->n, sizeof(*led_to));
	bool tables = false;
	int ret = led_to ? 0 : -ENOMEM;

	for (size_t i = 0; i < g->n_edges && !ret; i++) {
		led_to[g->edges[i].to] = true;
		tables |= g->edges[i].to == g->table;
	}
	if (!ret)
		ret = graph_add_edge(g, g->root, 0);
	for (uint32_t b = 1; b < f->n_blocks && !ret; b++)
		if (!led_to[b])
			ret = graph_add_edge(g, tables ? g->table : g->root, b);
	free(led_to);
	return ret;
}

static void nodes_number_from(const struct graph *g, struct walk *w, uint32_t from)
{
	uint32_t depth = 0;

	w->stack[depth++] = from;
	w->next[from] = g->first_out[from];
	w->number[from] = w->n;
	w->node[w->n++] = from;
	while (depth) {
		uint32_t x = w->stack[depth - 1], to;

		if (w->next[x] == g->first_out[x + 1]) {
			depth--;
			continue;
		}
		to = g->out[w->next[x]++];
		if (w->number[to] != FLOW_NONE)
			continue;
		w->number[to] = w->n;
		w->parent[w->n] = w->number[x];
		w->node[w->n++] = to;
		w->next[to] = g->first_out[to];
		w->stack[depth++] = to;
	}
}

/* Walk everything; cycles without an entry are entered at their lowest block. */
static int nodes_number_all(struct graph *g, struct walk *w, uint32_t n_blocks)
{
	bool more = true;
	int ret = 0;

	while (more && !ret) {
		memset(w->number, 0xff, g->n * sizeof(*w->number));
		w->n = 0;
		w->parent[0] = 0;
		nodes_number_from(g, w, g->root);
		more = false;
		for (uint32_t b = 0; b < n_blocks && !ret; b++) {
			if (w->number[b] != FLOW_NONE)
				continue;
			more = true;
			ret = graph_add_edge(g, g->root, b);
			nodes_number_from(g, w, b);
		}
		if (more && !ret)
			ret = graph_sort_edges(g);
	}
	return ret;
}

/* The least semidominator on the way up to what is not linked yet (numbers below @linked). */
static uint32_t semidominator_least(struct walk *w, uint32_t v, uint32_t linked)
{
	uint32_t depth = 0, above, best;

	if (w->ancestor[v] < linked)
		return w->label[v];
	do {
		w->stack[depth++] = v;
		v = w->ancestor[v];
	} while (w->ancestor[v] >= linked);
	above = v;
	best = w->label[above];
	while (depth) {
		v = w->stack[--depth];
		w->ancestor[v] = w->ancestor[above];
		if (w->semi[best] < w->semi[w->label[v]])
			w->label[v] = best;
		else
			best = w->label[v];
		above = v;
	}
	return w->label[v];
}

static void dominators_find(const struct graph *g, struct walk *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		w->ancestor[i] = w->dominator[i] = w->parent[i];
		w->label[i] = w->semi[i] = i;
	}
	for (uint32_t i = w->n - 1; i > 0; i--) {
		uint32_t x = w->node[i];

		w->semi[i] = w->parent[i];
		for (uint32_t e = g->first_in[x]; e < g->first_in[x + 1]; e++) {
			uint32_t from = w->number[g->in[e]], s;

			if (from == FLOW_NONE)
				continue;	/* a table that nothing uses */
			s = w->semi[semidominator_least(w, from, i + 1)];
			if (s < w->semi[i])
				w->semi[i] = s;
		}
	}
	for (uint32_t i = 1; i < w->n; i++)
		while (w->dominator[i] > w->semi[i])
			w->dominator[i] = w->dominator[w->dominator[i]];
}

/* Numbers in the dominator tree: what a node dominates comes right after it. */
static void dominators_place(struct walk *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		w->size[i] = 1;
	for (uint32_t i = w->n - 1; i > 0; i--)
		w->size[w->dominator[i]] += w->size[i];
	w->place[0] = 0;
	for (uint32_t i = 0; i < w->n; i++)
		w->next[i] = 1;
	for (uint32_t i = 1; i < w->n; i++) {
		uint32_t d = w->dominator[i];

		w->place[i] = w->place[d] + w->next[d];
		w->next[d] += w->size[i];
	}
}

static bool node_dominates(const struct walk *w, uint32_t a, uint32_t b)
{
	return w->place[b] - w->place[a] < w->size[a];
}

/* The outermost loop found so far that @i is in, by its header. */
static uint32_t loop_outermost(struct walk *w, uint32_t i)
{
	while (w->collapsed[i] != i) {
		w->collapsed[i] = w->collapsed[w->collapsed[i]];
		i = w->collapsed[i];
	}
	return i;
}

/* All that gets to @from without @header is in the header's loop. */
static void loop_collapse(const struct graph *g, struct walk *w, uint32_t header, uint32_t from)
{
	uint32_t depth = 0, x = loop_outermost(w, from);

	if (x == header)
		return;
	w->stack[depth++] = x;
	w->collapsed[x] = w->loop[x] = header;
	while (depth) {
		uint32_t node = w->node[w->stack[--depth]];

		for (uint32_t e = g->first_in[node]; e < g->first_in[node + 1]; e++) {
			if (w->number[g->in[e]] == FLOW_NONE)
				continue;
			x = loop_outermost(w, w->number[g->in[e]]);
			if (x == header)
				continue;
			w->collapsed[x] = w->loop[x] = header;
			w->stack[depth++] = x;
		}
	}
}

/* Headers are marked in w->next. */
static uint32_t loops_find(const struct graph *g, struct walk *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		w->collapsed[i] = i;
		w->loop[i] = FLOW_NONE;
		w->next[i] = FLOW_NONE;
	}
	for (uint32_t i = w->n; i-- > 0;) {
		uint32_t node = w->node[i];

		for (uint32_t e = g->first_in[node]; e < g->first_in[node + 1]; e++) {
			uint32_t from = w->number[g->in[e]];

			if (from == FLOW_NONE || !node_dominates(w, i, from))
				continue;
			n += w->next[i] == FLOW_NONE;
			w->next[i] = 0;
			loop_collapse(g, w, i, from);
		}
	}
	return n;
}

/* Assign blocks to their innermost loops, from these outwards. */
static void loops_count_blocks(struct flow *f)
{
	for (uint32_t b = 0; b < f->n_blocks; b++) {
		struct flow_loop *l;

		if (f->blocks[b].loop == FLOW_NONE)
			continue;
		l = &f->loops[f->blocks[b].loop];
		if (!l->blocks++)
			l->start = f->blocks[b].start;
		l->end = f->blocks[b].end;
	}
	for (uint32_t i = f->n_loops; i-- > 0;) {
		struct flow_loop *l = &f->loops[i], *around;

		if (l->header == FLOW_NONE)
			l->header = flow_block_at(f, l->start);
		if (l->parent == FLOW_NONE)
			continue;
		around = &f->loops[l->parent];
		if (!around->blocks || l->start < around->start)
			around->start = l->start;
		if (l->end > around->end)
			around->end = l->end;
		around->blocks += l->blocks;
	}
}

static int loops_make(const struct graph *g, struct walk *w, struct flow *f)
{
	uint32_t n = loops_find(g, w);

	f->loops = calloc(n + 1, sizeof(*f->loops));
	if (!f->loops)
		return -ENOMEM;
	/* a loop's header has a lower number than those of inner loops */
	for (uint32_t i = 0; i < w->n; i++) {
		struct flow_loop *l = &f->loops[f->n_loops];
		uint32_t node = w->node[i];

		if (w->next[i] == FLOW_NONE)
			continue;
		l->header = node < f->n_blocks ? node : FLOW_NONE;
		l->parent = w->loop[i] == FLOW_NONE ? FLOW_NONE : w->next[w->loop[i]];
		l->depth = l->parent == FLOW_NONE ? 1 : f->loops[l->parent].depth + 1;
		w->next[i] = f->n_loops++;
	}
	for (uint32_t b = 0; b < f->n_blocks; b++) {
		uint32_t i = w->number[b];

		if (w->next[i] == FLOW_NONE)
			i = w->loop[i];
		f->blocks[b].loop = i == FLOW_NONE ? FLOW_NONE : w->next[i];
	}
	loops_count_blocks(f);
	return 0;
}

static int graph_walk_init(struct walk *w, uint32_t n)
{
	uint32_t **all[] = { &w->number, &w->node, &w->parent, &w->stack, &w->next, &w->ancestor,
			     &w->label, &w->semi, &w->dominator, &w->place, &w->size, &w->collapsed,
			     &w->loop };

	memset(w, 0, sizeof(*w));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		*all[i] = calloc(n + 1, sizeof(**all[i]));
		if (!*all[i])
			return -ENOMEM;
	}
	return 0;
}

static void graph_walk_exit(struct walk *w)
{
	uint32_t *all[] = { w->number, w->node, w->parent, w->stack, w->next, w->ancestor, w->label,
			    w->semi, w->dominator, w->place, w->size, w->collapsed, w->loop };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}

int flow_new(const struct kjoule_insn *insns, size_t n, struct flow *f)
{
	struct graph g = { 0 };
	struct walk w = { 0 };
	int ret;

	memset(f, 0, sizeof(*f));
	if (!n)
		return 0;
	ret = insns_find_blocks(insns, n, f);
	g.table = f->n_blocks;
	g.root = f->n_blocks + 1;
	g.n = f->n_blocks + 2;
	if (!ret)
		ret = graph_add_block_edges(&g, insns, n, f);
	if (!ret)
		ret = graph_add_entries(&g, f);
	if (!ret)
		ret = graph_sort_edges(&g);
	if (!ret)
		ret = graph_walk_init(&w, g.n);
	if (!ret)
		ret = nodes_number_all(&g, &w, f->n_blocks);
	if (!ret) {
		dominators_find(&g, &w);
		dominators_place(&w);
		ret = loops_make(&g, &w, f);
	}
	graph_walk_exit(&w);
	free(g.edges);
	free(g.first_out);
	free(g.first_in);
	free(g.out);
	free(g.in);
	if (ret)
		flow_free(f);
	return ret;
}

void flow_free(struct flow *f)
{
	free(f->blocks);
	free(f->loops);
	memset(f, 0, sizeof(*f));
}
