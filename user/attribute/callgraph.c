// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts each tick's callers into a tree and divides the blocks' time and energy among its nodes; see
 * callgraph.h for the formula. The conventions:
 *
 * - Callers are functions of the sampled process, kernel ones as well.
 * - A missed tick has the callers of the neighbouring sample that it was attributed to.
 * - Idle CPUs, lost samples and the recorder have no callers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/callgraph.h"
#include "lib/base/hash_index.h"

/* Functions of addresses that were looked up before. */
struct known {
	uint64_t at;
	uint32_t process;
	uint32_t function;	/* + 1; 0: an empty slot */
	bool kernel;
};

struct builder {
	struct view *v;
	struct blocks *b;
	struct callgraph *c;
	struct view_frame *frames;
	struct known *known;
	size_t n_known, room;
};

static size_t callgraph_frame_slot(const struct builder *w, uint64_t at, uint32_t process,
				   bool kernel)
{
	size_t i = kjoule_hash_text(at ^ (uint64_t)process << 32, "") & (w->room - 1);

	while (w->known[i].function && (w->known[i].at != at || w->known[i].process != process ||
					w->known[i].kernel != kernel))
		i = (i + 1) & (w->room - 1);
	return i;
}

static int callgraph_grow_table(struct builder *w)
{
	struct known *old = w->known;
	size_t room = w->room;

	w->room = room ? 2 * room : 4096;
	w->known = calloc(w->room, sizeof(*w->known));
	if (!w->known) {
		w->known = old;
		w->room = room;
		return -ENOMEM;
	}
	for (size_t i = 0; i < room; i++)
		if (old[i].function)
			w->known[callgraph_frame_slot(w, old[i].at, old[i].process,
						      old[i].kernel)] = old[i];
	free(old);
	return 0;
}

static int callgraph_find_function(struct builder *w, uint32_t process,
				   const struct timeline_sample *s, const struct view_frame *frame,
				   uint32_t *function)
{
	struct view_place place;
	struct known *k;
	int ret;

	if (2 * (w->n_known + 1) > w->room && callgraph_grow_table(w))
		return -ENOMEM;
	k = &w->known[callgraph_frame_slot(w, frame->at, process, frame->kernel)];
	if (!k->function) {
		view_resolve_at(w->v, s->tgid, view_time(w->v, s->tick, s->late_ns), frame->at,
				frame->kernel, &place);
		ret = blocks_function(w->b, process, place.symbol, place.object, frame->kernel,
				      function);
		if (ret)
			return ret;
		*k = (struct known){ frame->at, process, *function + 1, frame->kernel };
		w->n_known++;
	}
	*function = k->function - 1;
	return 0;
}

/* The node of a sample of @block. */
static int callgraph_find_node(struct builder *w, const struct timeline_cpu *cpu,
			       const struct timeline_sample *s, uint32_t block, uint32_t *node)
{
	uint32_t at = CALLTREE_ROOT, function, process = w->b->functions[block].process;
	bool idle = s->flags & KJOULE_SAMPLE_IDLE, cut = false;
	size_t n = 0;
	int ret = 0;

	w->c->samples += !idle;
	if (s->callers && !idle) {
		n = view_callers(w->v, cpu->cpu, s, &cpu->callers[s->callers - 1], w->frames, &cut);
		w->c->with++;
		w->c->cut += cut;
	}
	while (n-- > 0 && !ret) {
		ret = callgraph_find_function(w, process, s, &w->frames[n], &function);
		if (!ret)
			ret = calltree_child(&w->c->tree, at, function, &at);
	}
	return ret ? ret : calltree_child(&w->c->tree, at, block, node);
}

/* Interpolated ticks [@from, @to) of a stream: of the sample before or after, or of none. */
static int callgraph_label_missed(struct builder *w, const struct cpm_tick *ticks, uint32_t *labels,
				  size_t from, size_t to, size_t n)
{
	int ret = 0;

	for (size_t i = from; i < to && !ret; i++) {
		bool first = i - from < (to - from) / 2;
		size_t near = first ? from - 1 : to, far = first ? to : from - 1;

		/* from may be 0: then the one before is beyond n as well */
		if (near < n && ticks[near].block == ticks[i].block)
			labels[i] = labels[near];
		else if (far < n && ticks[far].block == ticks[i].block)
			labels[i] = labels[far];
		else
			ret = calltree_child(&w->c->tree, CALLTREE_ROOT, ticks[i].block,
					     &labels[i]);
	}
	return ret;
}

/* @cpu: NULL for a stream that is no CPU's. */
static int callgraph_label_stream(struct builder *w, const struct cpm_stream *stream,
				  const struct timeline_cpu *cpu, uint32_t *labels)
{
	size_t sample = 0, begin = 0;
	int ret = 0;

	for (size_t i = 0; i < stream->n && !ret; i++) {
		const struct cpm_tick *t = &stream->ticks[i];

		while (cpu && sample < cpu->n_samples && cpu->samples[sample].tick < t->tick)
			sample++;
		if (t->interpolated || !cpu || sample == cpu->n_samples ||
		    cpu->samples[sample].tick != t->tick)
			continue;
		ret = callgraph_find_node(w, cpu, &cpu->samples[sample], t->block, &labels[i]);
		if (!ret)
			ret = callgraph_label_missed(w, stream->ticks, labels, begin, i, stream->n);
		begin = i + 1;
	}
	/* to the end there is no sample after it: one beyond */
	for (size_t i = begin; i < stream->n && !ret; i++) {
		if (begin && stream->ticks[begin - 1].block == stream->ticks[i].block)
			labels[i] = labels[begin - 1];
		else
			ret = calltree_child(&w->c->tree, CALLTREE_ROOT, stream->ticks[i].block,
					     &labels[i]);
	}
	return ret;
}

int callgraph_new(struct view *v, struct blocks *b, struct callgraph *c)
{
	struct builder w = { .v = v, .b = b, .c = c };
	int ret;

	memset(c, 0, sizeof(*c));
	ret = view_unwind(v);
	if (ret)
		return ret;
	w.frames = calloc(VIEW_FRAMES, sizeof(*w.frames));
	c->labels = calloc(b->input.n_streams + 1, sizeof(*c->labels));
	c->n_streams = b->input.n_streams;
	ret = w.frames && c->labels ? calltree_init(&c->tree) : -ENOMEM;
	for (size_t i = 0; i < c->n_streams && !ret; i++) {
		const struct cpm_stream *stream = &b->streams[i].stream;

		c->labels[i] = calloc(stream->n + 1, sizeof(*c->labels[i]));
		ret = c->labels[i] ?
		      callgraph_label_stream(&w, stream, i < v->tl.n_cpus ? &v->tl.cpus[i] : NULL,
					     c->labels[i]) : -ENOMEM;
	}
	if (!ret)
		ret = blocks_seal(b);
	free(w.known);
	free(w.frames);
	if (ret)
		callgraph_free(c);
	return ret;
}

/* @v of each node becomes its part of @whole of its function, in proportion. */
static int callgraph_scale_nodes(const struct callgraph *c, uint32_t n_functions,
				 const double *whole, double *v, const double *otherwise)
{
	double *sums = calloc(n_functions + 1, sizeof(*sums));
	double *ticks = calloc(n_functions + 1, sizeof(*ticks));
	int ret = sums && ticks ? 0 : -ENOMEM;

	for (uint32_t i = 1; !ret && i < c->tree.n; i++) {
		sums[c->tree.nodes[i].function] += v[i];
		ticks[c->tree.nodes[i].function] += otherwise[i];
	}
	for (uint32_t i = 1; !ret && i < c->tree.n; i++) {
		uint32_t f = c->tree.nodes[i].function;
		double part = sums[f] > 0 ? v[i] / sums[f] :
			      ticks[f] > 0 ? otherwise[i] / ticks[f] : 0;

		v[i] = isnan(whole[f]) ? 0 : whole[f] * part;
	}
	free(ticks);
	free(sums);
	return ret;
}

/* The blocks' own figures, net: @time and @j[d] by function. */
static int callgraph_block_figures(const struct blocks *b, const struct profile *p, double *time,
				   double **j)
{
	uint32_t *group_of = calloc(b->n_functions + 1, sizeof(*group_of));
	struct profile_group *g = calloc(b->n_functions + 1, sizeof(*g));
	int ret = group_of && g ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < b->n_functions && !ret; i++)
		group_of[i] = blocks_is_unattributed(b, i) ? UINT32_MAX : i;
	if (!ret)
		ret = profile_groups(p, group_of, b->n_functions, g);
	for (uint32_t i = 0; i < b->n_functions && !ret; i++) {
		profile_net(&g[i], b->n_domains);
		time[i] = g[i].time_s.v;
		for (unsigned int d = 0; d < b->n_domains; d++)
			j[d][i] = blocks_is_unattributed(b, i) ? 0 : g[i].energy[d].j.v;
	}
	free(g);
	free(group_of);
	return ret;
}

/* Ticks and samples of each node. */
static void callgraph_count_ticks(struct callgraph *c, const struct blocks *b, double *ticks)
{
	for (size_t l = 0; l < c->n_streams; l++) {
		struct tick_stream_cursor at;

		tick_stream_begin(&at, &b->streams[l].stream, NULL);
		for (size_t i = 0; tick_stream_next(&at); i++) {
			ticks[c->labels[l][i]] += at.t.more + 1.0;
			c->weight_samples[c->labels[l][i]] += !at.t.interpolated && !at.t.skipped;
		}
	}
}

int callgraph_solve(struct callgraph *c, const struct blocks *b, const struct profile *p)
{
	double *time = calloc(b->n_functions + 1, sizeof(*time)), *ticks = NULL;
	double *j[PROFILE_DOMAINS] = { NULL };
	uint32_t unsampled;
	int ret = calltree_child(&c->tree, CALLTREE_ROOT, b->input.unsampled_block, &unsampled);

	c->n_domains = b->n_domains;
	ticks = calloc(c->tree.n, sizeof(*ticks));
	c->time_s = calloc(c->tree.n, sizeof(*c->time_s));
	c->weight_samples = calloc(c->tree.n, sizeof(*c->weight_samples));
	if (!time || !ticks || !c->time_s || !c->weight_samples)
		ret = -ENOMEM;
	for (unsigned int d = 0; d < b->n_domains && !ret; d++) {
		j[d] = calloc(b->n_functions + 1, sizeof(*j[d]));
		c->j[d] = calloc(c->tree.n, sizeof(*c->j[d]));
		ret = j[d] && c->j[d] ? 0 : -ENOMEM;
	}
	if (!ret) {
		callgraph_count_ticks(c, b, ticks);
		memcpy(c->time_s, ticks, c->tree.n * sizeof(*ticks));
		ret = callgraph_block_figures(b, p, time, j);
	}
	if (!ret)
		ret = callgraph_scale_nodes(c, b->n_functions, time, c->time_s, ticks);
	for (unsigned int d = 0; d < b->n_domains && !ret; d++) {
		ret = profile_labels(p, d, (const uint32_t *const *)c->labels, unsampled, c->tree.n,
				     c->j[d]);
		if (!ret)
			ret = callgraph_scale_nodes(c, b->n_functions, j[d], c->j[d], ticks);
		if (ret == -ENODATA) {
			free(c->j[d]);
			c->j[d] = NULL;
			ret = 0;
		}
	}
	for (unsigned int d = 0; d < b->n_domains; d++)
		free(j[d]);
	free(ticks);
	free(time);
	return ret;
}

void callgraph_free(struct callgraph *c)
{
	for (size_t i = 0; c->labels && i < c->n_streams; i++)
		free(c->labels[i]);
	free(c->labels);
	calltree_free(&c->tree);
	free(c->weight_samples);
	free(c->time_s);
	for (unsigned int d = 0; d < PROFILE_DOMAINS; d++)
		free(c->j[d]);
	memset(c, 0, sizeof(*c));
}
