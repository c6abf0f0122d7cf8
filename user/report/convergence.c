// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The figures of growing numbers of samples; see convergence.h. What is printed and drawn of them
 * is in convergence_print.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/profile/prefix.h"
#include "report/convergence.h"

/* A beginning of fewer samples tells nothing. */
#define LEAST_SAMPLES	16

void convergence_free(struct convergence *c)
{
	free(c->at);
	memset(c, 0, sizeof(*c));
}

static bool convergence_block_is_named(const struct blocks *b, uint32_t function)
{
	const struct code_unit *unit = b->functions[function].unit;

	return unit && unit->kind == CODE_UNIT_NAMED;
}

/* What stands for no code is not followed: it is in the total. */
static bool convergence_block_is_code(const struct blocks *b, uint32_t function)
{
	return b->processes[b->functions[function].process].kind == CPM_BUSY &&
	       function != b->other && b->functions[function].samples;
}

/* All together, what the user has named, and then what has most energy. */
static int convergence_choose_blocks(const struct blocks *b, const struct groups *g,
				     struct convergence *c)
{
	bool *taken = calloc(b->n_functions + 1, sizeof(*taken));

	if (!taken)
		return -ENOMEM;
	c->names = b;
	c->blocks[c->n_blocks++] = (struct convergence_block){ UINT32_MAX, *g->total };
	while (c->n_blocks < CONVERGENCE_BLOCKS) {
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < b->n_functions; i++) {
			if (taken[i] || !convergence_block_is_code(b, i) ||
			    !(g->functions[i].time_s.v > 0))
				continue;
			if (best == UINT32_MAX ||
			    convergence_block_is_named(b, i) >
			    convergence_block_is_named(b, best) ||
			    (convergence_block_is_named(b, i) ==
			     convergence_block_is_named(b, best) &&
			     groups_weight(&g->functions[i], g->total, c->n_domains, 0) >
			     groups_weight(&g->functions[best], g->total, c->n_domains, 0)))
				best = i;
		}
		if (best == UINT32_MAX)
			break;
		taken[best] = true;
		c->blocks[c->n_blocks] = (struct convergence_block){ best, g->functions[best] };
		profile_net(&c->blocks[c->n_blocks++].last, c->n_domains);
	}
	free(taken);
	c->at = calloc(CONVERGENCE_POINTS * c->n_blocks, sizeof(*c->at));
	return c->at ? 0 : -ENOMEM;
}

static void convergence_add_point(struct convergence *c, const struct groups *g, size_t runs)
{
	struct profile_group *at = c->at + c->n_points * c->n_blocks;

	for (size_t i = 0; i < c->n_blocks; i++) {
		uint32_t f = c->blocks[i].function;

		at[i] = f == UINT32_MAX ? *g->total : g->functions[f];
		if (f != UINT32_MAX)
			profile_net(&at[i], c->n_domains);
	}
	c->samples[c->n_points] = g->total->samples;
	c->runs[c->n_points++] = runs;
}

/* Energy that is not known of all is not followed. */
static unsigned int convergence_known_domains(const struct groups *g, unsigned int n_domains)
{
	return n_domains && isnan(g->total->energy[0].j.v) ? 0 : n_domains;
}

int convergence_of_one(const struct blocks *b, const struct groups *g, struct convergence *c)
{
	uint64_t all = prefix_samples(&b->input, b->input.end_tick);
	int ret;

	memset(c, 0, sizeof(*c));
	if (all < LEAST_SAMPLES)
		return -ENODATA;
	c->n_domains = convergence_known_domains(g, b->n_domains);
	ret = convergence_choose_blocks(b, g, c);
	for (size_t i = 0; i < CONVERGENCE_POINTS && !ret; i++) {
		/* as many steps from the least to all, each the same times the one before */
		double n = LEAST_SAMPLES *
			   pow((double)all / LEAST_SAMPLES, (double)i / (CONVERGENCE_POINTS - 1));
		uint64_t tick = i + 1 < CONVERGENCE_POINTS ? prefix_tick(&b->input, n) :
							     b->input.end_tick;
		struct groups groups = { 0 };
		struct profile *p = NULL;
		struct prefix prefix;

		if (c->n_points && prefix_samples(&b->input, tick) <= c->samples[c->n_points - 1] &&
		    i + 1 < CONVERGENCE_POINTS)
			continue;
		ret = prefix_new(&b->input, tick, &prefix);
		if (ret)
			break;
		ret = profile_new(&prefix.in, &p);
		if (!ret)
			ret = groups_new(b, p, NULL, &groups);
		if (!ret)
			convergence_add_point(c, &groups, 1);
		groups_free(&groups);
		profile_free(p);
		prefix_free(&prefix);
	}
	if (ret)
		convergence_free(c);
	return ret;
}

int convergence_of_several(struct merge *m, struct convergence *c)
{
	size_t kept = 0, next = 1;
	int ret;

	memset(c, 0, sizeof(*c));
	c->several = true;
	c->n_domains = convergence_known_domains(&m->groups, m->n_domains);
	ret = convergence_choose_blocks(&m->names->b, &m->groups, c);
	for (size_t i = 0; i < m->n && !ret; i++) {
		struct groups groups = { 0 };

		kept += !m->runs[i].left_out;
		if (m->runs[i].left_out || (kept < next && kept < m->kept))
			continue;
		ret = merge_average(m, i + 1, &groups);
		if (!ret)
			convergence_add_point(c, &groups, kept);
		groups_free(&groups);
		/* all of the first ones, then as many steps as there is room for */
		next = fmax(kept + 1, ceil(pow(m->kept, (c->n_points + 1.0) / CONVERGENCE_POINTS)));
	}
	if (ret)
		convergence_free(c);
	return ret;
}
