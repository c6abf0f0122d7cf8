// SPDX-License-Identifier: GPL-2.0-or-later
/* Energies of groups of blocks over all packages, with and without interrupts; see profile.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/edge/edge_groups.h"
#include "analysis/profile/profile_internal.h"

/* What is left of the time, with the samples' relative uncertainty. */
struct value profile_sampled_time(const struct profile_group *g)
{
	double v = g->time_s.v - g->ticks_s - g->other_s, left = g->time_s.v > 0 ?
								 v / g->time_s.v : 1;

	return (struct value){ v, v - (g->time_s.v - g->time_s.lo) * left,
			       v + (g->time_s.hi - g->time_s.v) * left };
}

/* Error of a group's time in interrupts: its own part, and the calibration's. */
double profile_other_error(const struct profile_input *in, const struct profile_group *g)
{
	return hypot(in->other_error * g->exposed_s, sqrt(g->varied_s2)) + fabs(g->shifted_s);
}

/* A value that was corrected for interrupts is not more certain than these. */
struct value profile_uncertain(struct value v, double error)
{
	return (struct value){ v.v, fmax(v.v - hypot(v.v - v.lo, error), 0),
			       v.v + hypot(v.hi - v.v, error) };
}

/* Add up the packages of a domain. */
struct energy_sum {
	double uj, variance, bias, own;
	double variance_per_dof;	/* sum of variance^2 / dof, for Welch and Satterthwaite */
	uint64_t readings;
	bool known, vague;		/* vague: some variance is unknown */
};

static void energy_add_group(struct energy_sum *s, const struct cpm_group *g)
{
	s->uj += g->uj;
	s->bias += g->bias_uj;
	s->own += g->share * g->uj;
	s->readings += g->readings;
	s->known = true;
	if (g->dof > 0) {
		s->variance += g->variance;
		s->variance_per_dof += g->variance * g->variance / g->dof;
	} else if (g->uj > 0) {
		s->vague = true;
	}
}

/*
 * Energy and power without interrupts; intervals combine the sampled time's, the residuals' and the
 * calibration's. @off_j,@off_w: error of interrupts' energy, and of this group's mean power by it.
 * @left: what is left of the sum if it still includes interrupts
 */
static void energy_set_net(const struct energy_sum *s, const struct value *time, double off_j,
			   double off_w, double left, struct profile_energy *e)
{
	double residual = 0, below, above, j = s->uj * 1e-6 * left, bias = s->bias * 1e-6 * left;

	e->readings = s->readings;
	e->share = s->uj > 0 ? s->own / s->uj : isnan(s->uj) ? NAN : 0;
	e->net_j = (struct value){ j, NAN, NAN };
	e->net_w = (struct value){ time->v > 0 ? j / time->v : NAN, NAN, NAN };
	e->residual_j = s->vague ? NAN : sqrt(s->variance) * 1e-6 * left;
	e->dof = s->variance > 0 ? s->variance * s->variance / s->variance_per_dof : 0;
	e->bias_j = bias;
	e->off_j = off_j;
	e->off_w = off_w;
	if (s->vague || !(time->v > 0))
		return;
	if (s->variance > 0)
		residual = interval_t(e->dof) * e->residual_j;
	/* delta method: relative errors of time and power are added as squares */
	below = hypot(j * (1 - time->lo / time->v), residual) + bias;
	above = hypot(j * (time->hi / time->v - 1), residual) + bias;
	e->net_j = profile_uncertain((struct value){ j, j - below, j + above }, off_j);
	residual = (residual + bias) / time->v;
	e->net_w =
		profile_uncertain((struct value){ e->net_w.v, e->net_w.v - residual,
						  e->net_w.v + residual }, off_w);
}

/*
 * With ticks of different lengths, the energy if all were of mean length: the power of the longer
 * ones is unknown, and the energy of the shorter ones is off by it as well.
 */
static double group_mean_ticks_s(const struct profile_input *in, const struct profile_group *g)
{
	double tick_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < in->n_streams && in->costs; i++) {
		if (in->streams[i].shadow)
			continue;
		tick_ns += in->streams[i].tick_ns;
		n++;
	}
	return n ? 1e-9 * tick_ns / n * (g->samples - g->idle_ticks) : 0;
}


/* A group's energy in one domain: net, the interrupts' parts, and the total. */
static void energy_set_with_irqs(const struct energy_sum *s, const struct profile_input *in,
				 unsigned int d, const struct profile_group *g,
				 struct profile_energy *e)
{
	double irq_w = in->irq_w[d], less_w = in->tick_less_w[d], idle_uj = in->idle_uj[d], irq_j,
		off_j, busy_s, w;
	double left = g->time_s.v > 0 ? g->net_s.v / g->time_s.v : 1;
	struct value time = profile_sampled_time(g);
	bool known = !isnan(irq_w);

	if (!known) {
		irq_w = g->time_s.v > 0 ? s->uj * 1e-6 / g->time_s.v : 0;
		less_w = 0;
		idle_uj = NAN;
	}
	busy_s = isnan(idle_uj) ? g->ticks_s : g->ticks_s - g->idle_ticks_s;
	e->ticks_j = busy_s * (irq_w - less_w) +
		     (isnan(idle_uj) ? 0 : g->idle_ticks * idle_uj * 1e-6);
	off_j = fmax(busy_s, group_mean_ticks_s(in, g)) * less_w;
	e->other_j = g->other_s * irq_w;
	irq_j = e->ticks_j + e->other_j;
	/* too much energy for interrupts goes with too much time */
	w = time.v > 0 ? s->uj * 1e-6 * (known ? 1 : left) / time.v : 0;
	energy_set_net(s, &time,
		       hypot(hypot(profile_calibration_error(in) * irq_j, off_j),
			     profile_other_error(in, g) * irq_w),
		       hypot(hypot(profile_calibration_error(in) *
				   (irq_j - w * (g->ticks_s + g->other_s)), off_j),
			     profile_other_error(in, g) * (irq_w - w)) / time.v,
		       known ? 1 : left, e);
	e->j = e->net_j;
	e->j.v += e->ticks_j + e->other_j;
	e->j.lo += e->ticks_j + e->other_j;
	e->j.hi += e->ticks_j + e->other_j;
	/* the mean over all of the time; only the net part is uncertain */
	e->w.v = g->time_s.v > 0 ? e->j.v / g->time_s.v : NAN;
	e->w.lo = e->w.v - (e->net_w.v - e->net_w.lo) * left;
	e->w.hi = e->w.v + (e->net_w.hi - e->net_w.v) * left;
}

void profile_energy_set_unknown(struct profile_energy *e)
{
	memset(e, 0, sizeof(*e));
	e->j = e->net_j = e->w = e->net_w = (struct value){ NAN, NAN, NAN };
	e->residual_j = e->ticks_j = e->other_j = e->share = NAN;
}

/* One more group, for blocks that are in none. */
static uint32_t *level_groups_and_rest(const struct profile_input *in,
				       const struct profile_level *level)
{
	uint32_t *groups = calloc(in->n_blocks + 1, sizeof(*groups));

	for (uint32_t b = 0; b < in->n_blocks && groups; b++)
		groups[b] = level->group_of[b] == UINT32_MAX ? level->n_groups : level->group_of[b];
	return groups;
}

/* A package's energy by models other than the constant one. */
static int package_refine_energy(const struct profile *p, size_t package, unsigned int d,
				 const struct cpm_level *level)
{
	const struct solved *s = &p->packages[package];
	int ret = 0;

	if (s->fitted[d])
		ret = fit_groups(&s->fit[d], &s->vectors, &s->domain[d], level->group_of,
				 level->unsampled_group, level->n_groups, level->out);
	if (!ret && s->edged)
		ret = edge_groups(&s->edge_input, &s->edge, &s->domain[d], level->group_of,
				  level->unsampled_group, p->in->paused, level->n_groups,
				  level->out);
	return ret;
}

/* Code on CPUs without a counter draws as the rest of its group, unless that is too little. */
static void energy_extend(struct energy_sum *s, const struct profile_covered *c)
{
	double known_part = profile_known_part(c);

	if (known_part < CPM_KNOWN_LEAST) {
		s->known = false;
		return;
	}
	s->uj /= known_part;
	s->own /= known_part;
	s->bias /= known_part;
	s->variance /= known_part * known_part;
	s->variance_per_dof /= pow(known_part, 4);
}

static int energies_extend(const struct profile_covered *blocks, uint32_t n_blocks,
			   const struct cpm_level *groups, struct energy_sum *sums)
{
	struct profile_covered *covered = calloc(groups->n_groups + 1ul, sizeof(*covered));

	if (!covered)
		return -ENOMEM;
	profile_cover_groups(blocks, groups->group_of, n_blocks, covered);
	for (uint32_t g = 0; g + 1 < groups->n_groups; g++)
		energy_extend(&sums[g], &covered[g]);
	free(covered);
	return 0;
}

/* The energies of all levels in a domain. @groups: of these, with one more each. */
static int domain_sum_energies(const struct profile *p, unsigned int d,
			       const struct profile_level *levels, const struct cpm_level *groups,
			       size_t n)
{
	struct energy_sum **sums = calloc(n + 1, sizeof(*sums));
	struct profile_covered *covered = NULL;
	int ret = sums ? profile_cover(p, d, &covered) : -ENOMEM;

	for (size_t l = 0; l < n && !ret; l++) {
		sums[l] = calloc(levels[l].n_groups + 1, sizeof(**sums));
		ret = sums[l] ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < p->in->n_packages && !ret; i++) {
		if (!p->packages[i].known[d])
			continue;
		ret = cpm_levels(&p->packages[i].vectors, &p->packages[i].domain[d], groups, n);
		for (size_t l = 0; l < n && !ret; l++) {
			ret = package_refine_energy(p, i, d, &groups[l]);
			for (uint32_t g = 0; g < levels[l].n_groups && !ret; g++)
				energy_add_group(&sums[l][g], &groups[l].out[g]);
		}
	}
	for (size_t l = 0; l < n && !ret && covered; l++)
		ret = energies_extend(covered, p->in->n_blocks, &groups[l], sums[l]);
	for (size_t l = 0; l < n && !ret; l++) {
		for (uint32_t g = 0; g < levels[l].n_groups; g++) {
			struct profile_group *out = &levels[l].out[g];

			if (sums[l][g].known)
				energy_set_with_irqs(&sums[l][g], p->in, d, out, &out->energy[d]);
			else
				profile_energy_set_unknown(&out->energy[d]);
		}
	}
	for (size_t l = 0; sums && l < n; l++)
		free(sums[l]);
	free(covered);
	free(sums);
	return ret;
}

int profile_energies(const struct profile *p, const struct profile_level *levels, size_t n)
{
	struct cpm_level *groups = calloc(n + 1, sizeof(*groups));
	int ret = groups ? 0 : -ENOMEM;

	for (size_t l = 0; l < n && !ret; l++) {
		struct cpm_level *g = &groups[l];

		g->group_of = level_groups_and_rest(p->in, &levels[l]);
		g->n_groups = levels[l].n_groups + 1;
		g->out = calloc(g->n_groups, sizeof(*g->out));
		if (g->group_of && g->out)
			g->unsampled_group = g->group_of[p->in->unsampled_block];
		else
			ret = -ENOMEM;
	}
	for (unsigned int d = 0; d < p->in->n_domains && !ret; d++)
		ret = domain_sum_energies(p, d, levels, groups, n);
	for (size_t l = 0; groups && l < n; l++) {
		free((void *)groups[l].group_of);
		free(groups[l].out);
	}
	free(groups);
	return ret;
}
