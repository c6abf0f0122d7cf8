// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From powers of vectors to energies of blocks; see edge_groups.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "cpm_divide.h"
#include "edge_groups.h"
#include "kjoule.h"

/* Of a crowd it is not known: but when CPUs are held all of them are, which is a vector of many ticks. */
static bool is_held(const struct cpm_vectors *v, uint32_t vector, uint32_t held)
{
	for (uint32_t m = v->first[vector]; m < v->first[vector + 1]; m++)
		if (v->members[m] == held)
			return true;
	return false;
}

/* Seconds of a tick that are not interrupts'. */
static double tick_s(const struct edge_input *in)
{
	return 1e-9 * in->session->interval_ns * (1 - edge_irq_part(in));
}

static const struct value *power_of(const struct edge_result *r, uint32_t vector)
{
	return r->why[vector] == EDGE_KNOWN ? &r->w[vector] : &r->unknown_w;
}

void edge_apply(const struct edge_input *in, const struct edge_result *r, uint32_t held, struct cpm_domain *d)
{
	for (uint32_t i = 0; i < d->n_vectors; i++) {
		if (is_held(in->vectors, i, held))
			d->uj_per_tick[i] = 1e-3 * r->spin_w.v * in->session->interval_ns;
		else
			d->uj_per_tick[i] = 1e6 * fmax(power_of(r, i)->v, 0) * tick_s(in);
		for (unsigned int s = 0; s < d->steps; s++)
			d->weights[s][i] = d->uj_per_tick[i];
	}
	free(d->kinds);	/* each has a power of its own now */
	d->kinds = NULL;
	d->all_fitted = true;
}

/* What a group has of one vector. */
struct part {
	uint32_t group;
	double ticks;
};

static void add_part(const struct edge_input *in, const struct edge_result *r, uint32_t vector, uint32_t held,
		     const struct part *part, double *unknown, double *unknown_all, double *all, struct cpm_group *groups)
{
	double off;

	all[part->group] += part->ticks;
	if (is_held(in->vectors, vector, held)) {
		off = r->spin_w.hi - r->spin_w.v;
	} else {
		off = power_of(r, vector)->hi - power_of(r, vector)->v;
		if (r->why[vector] != EDGE_KNOWN) {
			unknown[part->group] += part->ticks;
			*unknown_all += part->ticks;
		}
	}
	/* half of a 95 % interval is two standard deviations, nearly */
	if (!isnan(off))
		groups[part->group].variance += pow(part->ticks * 1e6 * tick_s(in) * off / 1.96, 2);
}

/* Of the ticks of each crowd, how many are each group's: @ticks, a row of all groups for each of them. Return: 0 or -ENOMEM */
static int share_crowds(const struct cpm_vectors *v, const struct cpm_domain *d, const uint32_t *group_of,
			uint32_t silent_group, uint32_t n_groups, double *ticks)
{
	struct cpm_events e;
	int ret = cpm_events_begin(v, &e);

	while (!ret && cpm_events_next(&e)) {
		struct cpm_sharing s;
		double *row;

		if (!cpm_is_crowd(v, e.vector))
			continue;
		row = ticks + (size_t)(e.vector - v->first_crowd) * n_groups;
		s = cpm_share_among(v, d, e.vector, e.walk.blocks, e.n, d->uj_per_tick[e.vector]);
		if (!s.others)
			row[silent_group] += e.count * s.part;
		for (size_t m = 0; m < e.n; m++)
			row[group_of[e.walk.blocks[m]]] += e.count * cpm_share_of(v, d, &s, e.walk.blocks[m]);
	}
	cpm_events_end(&e);
	return ret;
}

int edge_groups(const struct edge_input *in, const struct edge_result *r, const struct cpm_domain *d,
		const uint32_t *group_of, uint32_t silent_group, uint32_t held, uint32_t n_groups,
		struct cpm_group *groups)
{
	const struct cpm_vectors *v = in->vectors;
	uint64_t *count = calloc(v->n_vectors + 1ul, sizeof(*count));
	double *unknown = calloc(n_groups + 1ul, sizeof(*unknown));
	double *all = calloc(n_groups + 1ul, sizeof(*all)), unknown_all = 0;
	size_t n_crowds = cpm_has_crowds(v) ? v->n_vectors - v->first_crowd : 0;
	double *crowds = calloc(n_crowds * n_groups + 1, sizeof(*crowds));
	int ret = count && unknown && all && crowds ? cpm_counts(d, count) : -ENOMEM;

	for (uint32_t g = 0; g < n_groups && !ret; g++) {
		groups[g].variance = 0;
		groups[g].bias_uj = 0;
		groups[g].purity = NAN;
		groups[g].readings = r->windows;
		groups[g].dof = r->windows;
	}
	for (uint32_t i = 0; i < v->n_vectors - n_crowds && !ret; i++) {
		struct cpm_sharing s = cpm_share(v, d, i, d->uj_per_tick[i]);

		if (!s.n)
			add_part(in, r, i, held, &(struct part){ silent_group, count[i] }, unknown, &unknown_all, all,
				 groups);
		for (uint32_t m = v->first[i]; m < v->first[i + 1]; m++)
			add_part(in, r, i, held,
				 &(struct part){ group_of[v->members[m]], count[i] * cpm_share_of(v, d, &s, v->members[m]) },
				 unknown, &unknown_all, all, groups);
	}
	if (!ret && n_crowds)
		ret = share_crowds(v, d, group_of, silent_group, n_groups, crowds);
	for (size_t i = 0; i < n_crowds && !ret; i++)
		for (uint32_t g = 0; g < n_groups; g++)
			add_part(in, r, v->first_crowd + i, held, &(struct part){ g, crowds[i * n_groups + g] }, unknown,
				 &unknown_all, all, groups);
	for (uint32_t g = 0; g < n_groups && !ret; g++)
		/* of all of them together the power is known, and of no other part of them */
		if (unknown[g] > EDGE_UNKNOWN_MOST * all[g] && unknown[g] < EDGE_UNKNOWN_ALL * unknown_all)
			groups[g].uj = NAN;
	free(count);
	free(crowds);
	free(unknown);
	free(all);
	return ret;
}
