// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The average run, see runs.h. Used by attribute/merge.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/runs/runs.h"

#define NORMAL		1.959964	/* quantile for 95 % */
#define MANY		1e6		/* degrees of freedom that are practically infinite */

/* Contribution of a run to a sum, with its uncertainty. */
struct part {
	double x;
	double variance;	/* NAN: unknown */
	double dof;		/* of @variance */
};

/* Half of the interval of the sum of all parts, NAN if unknown. */
static double parts_half_interval(const struct part *p, size_t n, double *between)
{
	double sum = 0, squares = 0, within = 0, per_dof = 0, variance, f, dof;

	for (size_t i = 0; i < n; i++) {
		sum += p[i].x;
		within += p[i].variance;
		if (p[i].variance > 0)
			per_dof += p[i].variance * p[i].variance / p[i].dof;
	}
	for (size_t i = 0; i < n; i++)
		squares += pow(p[i].x - sum / n, 2);
	*between = NAN;
	if (n < RUNS_SPREAD)
		variance = 0;
	else if (isnan(within))
		return interval_t(n - 1) * sqrt(n * squares / (n - 1));
	else
		variance = fmax(squares / (n - 1) - within / n, 0);
	if (n >= RUNS_SPREAD)
		*between = sqrt(variance);
	if (isnan(within))
		return NAN;
	variance *= n;
	if (!(within + variance > 0))
		return 0;
	f = sqrt(variance / (within + variance));
	dof = (1 - f) * (within > 0 ? per_dof / (within * within) : 0) +
	      (variance > 0 ? f / (n - 1) : 0);
	return interval_t(fmin(1 / fmax(dof, 1 / MANY), MANY)) * sqrt(within + variance);
}

/* A lower end is not below 0. */
static struct value value_around_least_0(double v, double half)
{
	return (struct value){ v, isnan(half) ? NAN : fmax(v - half, 0), v + half };
}

/* The mean of @n runs with this sum. @off: error that is common to all runs */
static struct value runs_mean_value(double sum, double half, double bias, double off, size_t n)
{
	return value_around_least_0(sum / n, hypot(half / n + bias, off));
}

/* Few samples that are all apart are Poisson's, whatever their weight (interval_time()). */
static void value_widen(struct value *v, const struct value *few)
{
	if (isnan(v->lo) || !(few->v > 0))
		return;
	v->lo = fmin(v->lo, v->v * few->lo / few->v);
	v->hi = fmax(v->hi, v->v * few->hi / few->v);
}

/* Variance of a run's time as sampled, in units of the time. */
static double group_time_variance(const struct profile_group *g)
{
	return g->count.ticks > 0 ? g->count.variance * pow(g->time_s.v / g->count.ticks, 2) : 0;
}

static double group_net_part(const struct profile_group *g)
{
	return g->time_s.v > 0 ? g->net_s.v / g->time_s.v : 1;
}

static void runs_mean_times(const struct profile_group *const *g, size_t n, struct part *p,
			    struct profile_group *out, struct runs_between *between)
{
	double sum = 0, net = 0, unused;
	struct value few;

	for (size_t i = 0; i < n; i++) {
		out->samples += g[i]->samples;
		out->idle_ticks += g[i]->idle_ticks;
		out->ticks_s += g[i]->ticks_s / n;
		out->idle_ticks_s += g[i]->idle_ticks_s / n;
		out->other_s += g[i]->other_s / n;
		out->exposed_s += g[i]->exposed_s / n;
		out->varied_s2 += g[i]->varied_s2 / (n * (double)n);
		out->shifted_s += g[i]->shifted_s / n;
		out->off_s += g[i]->off_s / n;
		out->count.ticks += g[i]->count.ticks;
		out->count.real += g[i]->count.real;
		out->count.fine += g[i]->count.fine;
		out->count.coarse += g[i]->count.coarse;
		out->count.variance += g[i]->count.variance;
		between->seen += g[i]->time_s.v > 0;
		p[i] = (struct part){ g[i]->time_s.v, group_time_variance(g[i]), MANY };
		sum += p[i].x;
	}
	few = interval_time(&out->count);
	out->time_s = runs_mean_value(sum, parts_half_interval(p, n, &between->time_s), 0, 0, n);
	value_widen(&out->time_s, &few);
	for (size_t i = 0; i < n; i++) {
		p[i].x = g[i]->time_s.v > 0 ? g[i]->net_s.v : 0;
		p[i].variance *= group_net_part(g[i]) * group_net_part(g[i]);
		net += p[i].x;
	}
	out->net_s = runs_mean_value(net, parts_half_interval(p, n, &unused), 0, out->off_s, n);
	value_widen(&out->net_s, &few);
}

/* Sum over @n runs of figures over that of their times: the ratio, with its uncertainty. */
static struct value runs_mean_ratio(struct part *p, const double *weights, size_t n, double bias,
				    double off)
{
	double sum = 0, weight = 0, unused;

	for (size_t i = 0; i < n; i++) {
		sum += p[i].x;
		weight += weights[i];
	}
	if (!(weight > 0))
		return (struct value){ NAN, NAN, NAN };
	for (size_t i = 0; i < n; i++)
		p[i].x -= sum / weight * weights[i];
	return value_around_least_0(sum / weight,
				    hypot((parts_half_interval(p, n, &unused) + bias) / weight,
					  off));
}

/* Components of the interval of a run's energy other than the time's. */
static double energy_residual_variance(const struct profile_energy *e)
{
	return e->net_j.v > 0 ? e->residual_j * e->residual_j : 0;
}

static void runs_mean_energy(const struct profile_group *const *g, size_t n, unsigned int d,
			     struct part *p, double *weights, struct profile_group *out,
			     struct runs_between *between)
{
	struct profile_energy *e = &out->energy[d];
	double sum = 0, own = 0, time = 0, off = 0, left = group_net_part(out);
	struct value few = interval_time(&out->count);
	size_t known = 0, met = 0;

	e->dof = 0;
	for (size_t i = 0; i < n; i++) {
		const struct profile_energy *one = &g[i]->energy[d];
		double residual = energy_residual_variance(one), t;

		if (isnan(one->j.v))
			continue;
		t = g[i]->time_s.v > 0 ? one->net_j.v * sqrt(group_time_variance(g[i])) /
		    g[i]->time_s.v : 0;
		p[known] = (struct part){ one->net_j.v, t * t + residual, MANY };
		if (residual > 0)
			p[known].dof = fmin(one->dof * pow(p[known].variance / residual, 2), MANY);
		/* until runs show how much they differ it is that of the least known one */
		if (one->dof > 0 && (!(e->dof > 0) || one->dof < e->dof))
			e->dof = one->dof;
		sum += one->net_j.v;
		own += one->share * one->net_j.v;
		e->ticks_j += one->ticks_j;
		e->other_j += one->other_j;
		e->bias_j += one->bias_j;
		e->off_j += one->off_j;
		e->readings += one->readings;
		known++;
	}
	if (!known) {
		profile_energy_set_unknown(e);
		between->j[d] = NAN;
		return;
	}
	e->ticks_j /= known;
	e->other_j /= known;
	e->bias_j /= known;
	e->off_j /= known;
	e->share = sum > 0 ? own / sum : 0;
	e->net_j = runs_mean_value(sum, parts_half_interval(p, known, &between->j[d]), e->bias_j,
				   e->off_j, known);
	value_widen(&e->net_j, &few);
	/* the power: of the runs in which it was seen */
	for (size_t i = 0; i < n; i++) {
		const struct profile_energy *one = &g[i]->energy[d];

		if (isnan(one->j.v) || !(g[i]->net_s.v > 0))
			continue;
		p[met] = (struct part){ one->net_j.v, energy_residual_variance(one),
					fmax(one->dof, 1) };
		weights[met++] = g[i]->net_s.v;
		time += g[i]->net_s.v;
		off += one->off_w * g[i]->net_s.v;
	}
	e->off_w = time > 0 ? off / time : 0;
	e->net_w = runs_mean_ratio(p, weights, met, e->bias_j * known, e->off_w);
	e->j = (struct value){ e->net_j.v + e->ticks_j + e->other_j, e->net_j.lo + e->ticks_j +
			       e->other_j, e->net_j.hi + e->ticks_j + e->other_j };
	/* of the time of runs of known energy */
	time = 0;
	for (size_t i = 0; i < n; i++)
		time += isnan(g[i]->energy[d].j.v) ? 0 : g[i]->time_s.v;
	e->w.v = time > 0 ? e->j.v * known / time : NAN;
	e->w.lo = e->w.v - (e->net_w.v - e->net_w.lo) * left;
	e->w.hi = e->w.v + (e->net_w.hi - e->net_w.v) * left;
	e->residual_j = NAN;
}

static void runs_mean_frequency(const struct profile_group *const *g, size_t n, struct part *p,
				double *weights, struct profile_group *out)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		double w = g[i]->samples, half = (g[i]->khz.hi - g[i]->khz.lo) / 2;

		if (!g[i]->samples || isnan(g[i]->khz.v))
			continue;
		p[known] = (struct part){ w * g[i]->khz.v, pow(w * half / NORMAL, 2), MANY };
		weights[known++] = w;
	}
	out->khz = runs_mean_ratio(p, weights, known, 0, 0);
}

int runs_average(const struct profile_group *const *groups, size_t n, unsigned int n_domains,
		 struct profile_group *out, struct runs_between *between)
{
	struct part *p = calloc(n + 1, sizeof(*p));
	double *weights = calloc(n + 1, sizeof(*weights));
	struct runs_between own;
	int ret = p && weights ? 0 : -ENOMEM;

	between = between ? between : &own;
	memset(out, 0, sizeof(*out));
	memset(between, 0, sizeof(*between));
	if (!ret) {
		runs_mean_times(groups, n, p, out, between);
		for (unsigned int d = 0; d < n_domains; d++)
			runs_mean_energy(groups, n, d, p, weights, out, between);
		runs_mean_frequency(groups, n, p, weights, out);
	}
	free(weights);
	free(p);
	return ret;
}
