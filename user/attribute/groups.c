// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figures of blocks, added up by function, by process and over all; see groups.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/groups.h"

enum groups_level { GROUPS_TOTAL, GROUPS_PROCESSES, GROUPS_FUNCTIONS };

/* The groups of one level: every block, every process, everything. */
static int groups_make_level(const struct blocks *b, enum groups_level level,
			     const struct groups_places *at, struct profile_level *l)
{
	uint32_t *group_of = calloc(b->n_functions + 1, sizeof(*group_of));

	l->n_groups = level == GROUPS_TOTAL ? 1 : level == GROUPS_PROCESSES ? at->n_processes :
		      at->n_functions;
	l->out = calloc(l->n_groups + 1, sizeof(*l->out));
	l->group_of = group_of;
	if (!group_of || !l->out)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_functions; i++) {
		uint32_t process = b->functions[i].process;

		/* all but the target, and in the total also the recorder and pauses */
		if (blocks_is_unattributed(b, i) ||
		    (level == GROUPS_TOTAL && (i == b->recorder || i == b->paused)))
			group_of[i] = UINT32_MAX;
		else if (level == GROUPS_TOTAL)
			group_of[i] = 0;
		else if (level == GROUPS_PROCESSES)
			group_of[i] = at->process_of ? at->process_of[process] : process;
		else
			group_of[i] = at->function_of ? at->function_of[i] : i;
	}
	return 0;
}

int groups_new(const struct blocks *b, const struct profile *p, const struct groups_places *at,
		      struct groups *g)
{
	static const enum groups_level order[] = { GROUPS_TOTAL, GROUPS_PROCESSES,
						   GROUPS_FUNCTIONS };
	const struct groups_places own = { .n_processes = b->n_processes,
					   .n_functions = b->n_functions };
	struct profile_level levels[3] = { 0 };
	int ret = 0;

	memset(g, 0, sizeof(*g));
	at = at ? at : &own;
	for (int i = 0; i < 3 && !ret; i++)
		ret = groups_make_level(b, order[i], at, &levels[i]);
	if (!ret)
		ret = profile_levels(p, levels, 3);
	for (int i = 0; i < 3; i++)
		free((void *)levels[i].group_of);
	g->total = levels[0].out;
	g->processes = levels[1].out;
	g->functions = levels[2].out;
	g->n_processes = at->n_processes;
	g->n_functions = at->n_functions;
	if (ret)
		groups_free(g);
	return ret;
}

void groups_free(struct groups *g)
{
	free(g->total);
	free(g->processes);
	free(g->functions);
	free(g->marks);
	free(g->total_between);
	free(g->processes_between);
	free(g->functions_between);
	memset(g, 0, sizeof(*g));
}

double groups_weight(const struct profile_group *g, const struct profile_group *all,
		     unsigned int n_domains, unsigned int domain)
{
	double all_j = n_domains ? all->energy[domain].j.v : NAN;

	if (isnan(all_j) || !(all->time_s.v > 0))
		return g->time_s.v;
	if (isnan(g->energy[domain].j.v))
		return g->time_s.v * all_j / all->time_s.v;
	return g->energy[domain].j.v;
}

void region_marks_add(struct region_marks *m, const struct kjoule_regions_count *c)
{
	if (!c)
		return;
	m->known = true;
	m->entered += c->entered;
	m->unended += c->unended;
	m->marked_s += c->marked_ns * 1e-9;
}

int groups_add_marks(const struct view *v, const struct blocks *b, struct groups *g)
{
	g->marks = calloc(b->n_functions + 1, sizeof(*g->marks));
	if (!g->marks)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_functions; i++)
		region_marks_add(&g->marks[i], blocks_marks(b, v->regions, i));
	return 0;
}
