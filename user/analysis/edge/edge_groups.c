// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From powers of vectors to energies of blocks; see edge_groups.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "analysis/cpm/cpm_divide.h"
#include "analysis/edge/edge_groups.h"
#include "lib/control/control.h"

/* Members of all other sets are unknown; but all CPUs are paused at once, in one frequent set. */
static bool vector_is_paused(const struct cpm_vectors *v, uint32_t vector, uint32_t paused)
{
	for (uint32_t m = v->first[vector]; m < v->first[vector + 1]; m++)
		if (v->members[m] == paused)
			return true;
	return false;
}

/* Seconds of a tick without interrupts. */
static double tick_net_s(const struct edge_input *in)
{
	return 1e-9 * in->session->interval_ns * (1 - edge_irq_part(in));
}

static const struct value *vector_power_value(const struct edge_result *r, uint32_t vector)
{
	return r->why[vector] == EDGE_KNOWN ? &r->w[vector] : &r->unknown_w;
}

void edge_apply(const struct edge_input *in, const struct edge_result *r, uint32_t paused,
		struct cpm_domain *d)
{
	for (uint32_t i = 0; i < d->n_vectors; i++) {
		if (vector_is_paused(in->vectors, i, paused))
			d->uj_per_tick[i] = 1e-3 * r->spin_w.v * in->session->interval_ns;
		else
			d->uj_per_tick[i] = 1e6 * fmax(vector_power_value(r, i)->v, 0) *
					    tick_net_s(in);
		for (unsigned int s = 0; s < d->steps; s++)
			d->weights[s][i] = d->uj_per_tick[i];
	}
	free(d->kinds);	/* each has a power of its own now */
	d->kinds = NULL;
	d->all_fitted = true;
}

/*
 * Error of a group, microjoule. Its vectors are independent, but for those of unknown power, which
 * have one in common; errors of the paused power and of interrupts are common to all.
 */
struct off {
	double squares, spin, irq;
	/* ticks of the current vector, and of all of unknown power */
	uint32_t vector;
	double ticks, unknown, all;
};

/* All groups. */
struct adding {
	const struct edge_input *in;
	const struct edge_result *r;
	uint32_t paused;
	struct off *off;	/* of each */
	double unknown;		/* ticks of vectors of unknown power, and of each block in them */
	double *of_block;
	bool lone;		/* nearly all of these are one block's */
};

#define NO_BLOCK	UINT32_MAX

/* Add to a group its share of a vector, because of one block. */
struct part {
	uint32_t group, block;
	double ticks;
};

static void group_end_vector(const struct adding *a, struct off *o)
{
	if (o->ticks > 0)
		o->squares += pow(o->ticks * 1e6 * tick_net_s(a->in) * a->r->own_w[o->vector], 2);
	o->ticks = 0;
}

/* Parts of one vector come in a row. */
static void group_add_part(struct adding *a, uint32_t vector, const struct part *part)
{
	struct off *o = &a->off[part->group];
	double uj_per_w = part->ticks * 1e6 * tick_net_s(a->in),
		spin_w = a->r->spin_w.hi - a->r->spin_w.v;

	o->all += part->ticks;
	o->spin += uj_per_w * spin_w;
	if (vector_is_paused(a->in->vectors, vector, a->paused))
		return;
	if (o->vector != vector)
		group_end_vector(a, o);
	o->vector = vector;
	if (a->r->why[vector] == EDGE_KNOWN) {
		o->ticks += part->ticks;
	} else {
		o->unknown += part->ticks;
		a->unknown += part->ticks;
		if (part->block != NO_BLOCK)
			a->of_block[part->block] += part->ticks;
	}
	if (!isnan(vector_power_value(a->r, vector)->v))
		o->irq += uj_per_w * edge_irq_off(a->in, vector_power_value(a->r, vector)->v);
}

static void group_set_variance(const struct adding *a, struct off *o, struct cpm_group *g)
{
	group_end_vector(a, o);
	if (o->unknown > 0 && !isnan(a->r->unknown_w.v))
		o->squares += pow(o->unknown * 1e6 * tick_net_s(a->in) * a->r->unknown_own_w, 2);
	/* only their joint power is known: the others may draw nothing or twice as much */
	if (o->unknown > EDGE_UNKNOWN_MOST * o->all && !isnan(a->r->unknown_w.v))
		o->squares +=
			pow((a->unknown - o->unknown) * 1e6 * tick_net_s(a->in) * a->r->unknown_w.v,
			    2);
	/* half of a 95 % interval is nearly two standard deviations */
	g->variance = (o->squares + o->spin * o->spin + o->irq * o->irq) / (1.96 * 1.96);
	/* unknown unless it has most of these ticks, and is not their only block */
	if (o->unknown > EDGE_UNKNOWN_MOST * o->all &&
	    (o->unknown < EDGE_UNKNOWN_ALL * a->unknown || (a->lone && o->unknown > o->all / 2)))
		g->uj = NAN;
}

/*
 * Ticks of each group in each of all other sets: @ticks, a row of all groups for each set. Return:
 * 0 or -ENOMEM
 */
static int other_sets_share_ticks(const struct cpm_vectors *v, const struct cpm_domain *d,
				  const uint32_t *group_of, uint32_t unsampled_group,
				  uint32_t n_groups, double *ticks)
{
	struct cpm_events e;
	int ret = cpm_events_begin(v, &e);

	while (!ret && cpm_events_next(&e)) {
		struct cpm_sharing s;
		double *row;

		if (!cpm_is_other_set(v, e.vector))
			continue;
		row = ticks + (size_t)(e.vector - v->first_other_set) * n_groups;
		s = cpm_share_among(v, d, e.vector, e.walk.blocks, e.n, d->uj_per_tick[e.vector]);
		if (!s.others)
			row[unsampled_group] += e.count * s.part;
		for (size_t m = 0; m < e.n; m++)
			row[group_of[e.walk.blocks[m]]] += e.count *
							   cpm_share_of(v, d, &s, e.walk.blocks[m]);
	}
	cpm_events_end(&e);
	return ret;
}

/* Number of blocks: beyond the last of any vector. */
static uint32_t vectors_count_blocks(const struct cpm_vectors *v)
{
	uint32_t n = 0;

	for (uint32_t m = 0; m < v->first[v->n_vectors]; m++)
		n = v->members[m] >= n ? v->members[m] + 1 : n;
	return n;
}

int edge_groups(const struct edge_input *in, const struct edge_result *r,
		const struct cpm_domain *d, const uint32_t *group_of, uint32_t unsampled_group,
		uint32_t paused, uint32_t n_groups, struct cpm_group *groups)
{
	struct adding a = { .in = in, .r = r, .paused = paused,
			    .off = calloc(n_groups + 1ul, sizeof(*a.off)) };
	const struct cpm_vectors *v = in->vectors;
	uint32_t n_blocks = vectors_count_blocks(v);
	uint64_t *count = calloc(v->n_vectors + 1ul, sizeof(*count));
	size_t n_other_sets = cpm_has_other_sets(v) ? v->n_vectors - v->first_other_set : 0;
	double *other_sets = calloc(n_other_sets * n_groups + 1, sizeof(*other_sets));
	int ret;

	a.of_block = calloc(n_blocks + 1ul, sizeof(*a.of_block));
	ret = count && a.off && a.of_block && other_sets ? cpm_counts(d, count) : -ENOMEM;

	for (uint32_t g = 0; g < n_groups && !ret; g++) {
		groups[g].bias_uj = 0;
		groups[g].share = NAN;
		groups[g].readings = r->windows;
		groups[g].dof = r->windows;
	}
	for (uint32_t i = 0; i < v->n_vectors - n_other_sets && !ret; i++) {
		struct cpm_sharing s = cpm_share(v, d, i, d->uj_per_tick[i]);

		if (!s.n)
			group_add_part(&a, i,
				       &(struct part){ unsampled_group, NO_BLOCK, count[i] });
		for (uint32_t m = v->first[i]; m < v->first[i + 1]; m++)
			group_add_part(&a, i,
				       &(struct part){ group_of[v->members[m]], v->members[m],
						       count[i] *
						       cpm_share_of(v, d, &s, v->members[m]) });
	}
	if (!ret && n_other_sets)
		ret = other_sets_share_ticks(v, d, group_of, unsampled_group, n_groups, other_sets);
	for (size_t i = 0; i < n_other_sets && !ret; i++)
		for (uint32_t g = 0; g < n_groups; g++)
			group_add_part(&a, v->first_other_set + i,
				       &(struct part){ g, NO_BLOCK, other_sets[i * n_groups + g] });
	for (uint32_t b = 0; b < n_blocks && !ret; b++)
		a.lone |= a.of_block[b] > EDGE_UNKNOWN_ALL * a.unknown;
	for (uint32_t g = 0; g < n_groups && !ret; g++)
		group_set_variance(&a, &a.off[g], &groups[g]);
	free(count);
	free(other_sets);
	free(a.off);
	free(a.of_block);
	return ret;
}
