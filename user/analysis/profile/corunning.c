// SPDX-License-Identifier: GPL-2.0-or-later
/* Co-running sets and their figures; see corunning.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/mixture/fit.h"
#include "analysis/profile/corunning.h"

struct count {
	uint64_t ticks;
	uint32_t vector;
	bool other_set;
};

/* State for a package. */
struct work {
	const struct cpm_vectors *v;
	const struct profile *p;
	const struct profile_input *in;
	size_t package;
	struct count *counts;
	uint32_t *group_of;		/* of each vector */
	uint32_t n_groups;
	uint32_t n_kept;		/* vectors that ran and have members of their own */
	bool rest;			/* the last group is the rest */
};

/* All other sets come after those that ran, unused ones last. */
static int vector_by_ticks(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (!x->ticks != !y->ticks)
		return x->ticks ? -1 : 1;
	if (x->other_set != y->other_set)
		return x->other_set ? 1 : -1;
	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? 1 : -1;
	return (x->vector > y->vector) - (x->vector < y->vector);
}

/* Unused vectors are for the model only. */
static int vectors_choose(struct work *w, uint32_t most)
{
	const struct cpm_vectors *v = w->v;
	uint64_t ran = v->ticks + v->bystanders, unsampled = w->in->end_tick -
							     (ran < w->in->end_tick ?
							      ran : w->in->end_tick);
	struct cpm_events e;
	uint32_t n = 0;
	int ret = cpm_events_begin(v, &e);

	for (uint32_t i = 0; i < v->n_vectors; i++)
		w->counts[i] = (struct count){ i == CPM_UNSAMPLED ? unsampled : 0, i,
					       cpm_is_other_set(v, i) };
	while (!ret && cpm_events_next(&e))
		w->counts[e.vector].ticks += e.count;
	cpm_events_end(&e);
	qsort(w->counts, v->n_vectors, sizeof(*w->counts), vector_by_ticks);
	while (n < v->n_vectors && w->counts[n].ticks && !w->counts[n].other_set)
		n++;
	w->n_kept = n;
	/* the last row is the rest */
	w->rest = n > most || (n < v->n_vectors && w->counts[n].ticks);
	w->n_groups = !w->rest ? n : n < most ? n + 1 : most;
	for (uint32_t i = 0; i < v->n_vectors; i++)
		w->group_of[w->counts[i].vector] = i < w->n_groups ? i : w->n_groups ? w->n_groups -
						   1 : 0;
	return ret;
}

static void vectors_describe(const struct work *w, const struct profile *p,
			     struct corunning_vector *out)
{
	const struct cpm_vectors *v = w->v;

	for (uint32_t g = 0; g < w->n_groups; g++) {
		uint32_t vector = w->counts[g].vector;

		out[g].package = w->package;
		out[g].ticks = w->counts[g].ticks;
		if (w->rest && g == w->n_groups - 1) {
			for (uint32_t i = g; i < v->n_vectors && w->counts[i].ticks; i++) {
				out[g].others += i < w->n_kept;
				out[g].other_set_ticks += w->counts[i].other_set ?
							  w->counts[i].ticks : 0;
				out[g].ticks += i > g ? w->counts[i].ticks : 0;
			}
			continue;
		}
		out[g].members = v->members + v->first[vector];
		out[g].n = v->first[vector + 1] - v->first[vector];
		out[g].idle = profile_cpus(p, w->package) > out[g].n ? profile_cpus(p, w->package) -
			      out[g].n : 0;
	}
}

/* Put ticks [from, to), however many. */
static int stream_put_range(struct tick_stream *l, uint64_t from, uint64_t to, uint32_t vector,
			    bool interpolated)
{
	int ret = 0;

	while (from < to && !ret) {
		uint64_t n = to - from <= CPM_MORE_MOST ? to - from : CPM_MORE_MOST;

		ret = tick_stream_put(l,
				      &(struct cpm_tick){ .tick = from, .block = vector,
							  .interpolated = interpolated,
							  .more = n - 1 }, 0);
		from += n;
	}
	return ret;
}

/* The vector of each tick, unsampled ones as well, as if it were a block of one CPU. */
static int vectors_add_times(const struct work *w, struct corunning_vector *out)
{
	struct time_sum *sums = calloc(w->n_groups + 1, sizeof(*sums));
	struct tick_stream packed = { 0 };
	struct cpm_stream stream = { .packed = &packed };
	struct cpm_events e;
	uint64_t next = 0;
	int ret = cpm_events_begin(w->v, &e);

	while (!ret && cpm_events_next(&e)) {
		ret = stream_put_range(&packed, next, e.tick, CPM_UNSAMPLED, false);
		next = e.tick + e.count;
		if (!ret)
			ret = stream_put_range(&packed, e.tick, next, e.vector, e.interpolated);
	}
	cpm_events_end(&e);
	if (!ret)
		ret = stream_put_range(&packed, next, w->in->end_tick, CPM_UNSAMPLED, false);
	if (!ret)
		ret = sums ? tick_stream_seal(&packed) : -ENOMEM;
	if (!ret)
		ret = interval_times(&stream, 1, w->in->end_tick, w->in->jitter, w->group_of,
				     w->n_groups, sums);
	for (uint32_t g = 0; g < w->n_groups && !ret; g++) {
		struct value t = interval_time(&sums[g]);
		double s = w->in->interval_ns * 1e-9;

		out[g].time_s = (struct value){ out[g].ticks * s,
						out[g].ticks * s - (t.v - t.lo) * s,
						out[g].ticks * s + (t.hi - t.v) * s };
	}
	free(sums);
	tick_stream_free(&packed);
	return ret;
}

static const struct profile_energy not_known = {
	.j = { NAN, NAN, NAN }, .w = { NAN, NAN, NAN }, .net_j = { NAN, NAN, NAN },
	.net_w = { NAN, NAN, NAN },
	.share = NAN };

/* Relative errors of time and power are added as squares, as for blocks. */
static void energy_set_figures(const struct cpm_group *g, const struct value *time,
			       struct profile_energy *e)
{
	double j = g->uj * 1e-6, residual, bias = g->bias_uj * 1e-6;

	if (isnan(j)) {
		*e = not_known;
		return;
	}
	e->readings = g->readings;
	e->share = g->share;
	e->j = (struct value){ j, NAN, NAN };
	e->w = (struct value){ time->v > 0 ? j / time->v : NAN, NAN, NAN };
	if (!(g->dof > 0) || !(time->v > 0))
		return;
	residual = interval_t(g->dof) * sqrt(g->variance) * 1e-6;
	e->j.lo = fmax(j - hypot(j * (1 - time->lo / time->v), residual) - bias, 0);
	e->j.hi = j + hypot(j * (time->hi / time->v - 1), residual) + bias;
	e->w.lo = fmax(e->w.v - (residual + bias) / time->v, 0);
	e->w.hi = e->w.v + (residual + bias) / time->v;
}

/* A solved domain's energies by groups of vectors, by the mixture model if there is one. */
static int domain_sum_groups(const struct work *w, unsigned int d, struct cpm_domain *domain,
			     struct cpm_group *groups)
{
	struct fit_input in = { .vectors = w->v, .domain = domain, .loose = w->in->loose,
				.jitter = w->in->jitter, .unknown = w->in->unknown,
				.n_unknown = w->in->n_unknown };
	const struct mixture *m = profile_mixture(w->p, w->package, d);
	struct fit fit = { 0 };
	int ret = m ? fit_new(&in, &fit) : 0;

	/* solved without interrupts; here they are included */
	if (!ret && m && fit.m.why)
		ret = -ENODATA;
	if (!ret && m)
		fit_apply(&fit, w->v, domain);
	if (!ret)
		ret = cpm_vector_groups(w->v, domain, w->group_of, w->n_groups, groups);
	if (!ret && m)
		ret = fit_vector_groups(&fit, w->v, domain, w->group_of, w->n_groups, groups);
	if (m)
		fit_free(&fit);
	return ret;
}

/* Solve again with nothing taken out of the windows. */
static int vectors_add_energies(const struct work *w, struct corunning *t,
				struct corunning_vector *out)
{
	const struct profile_package *package = &w->in->packages[w->package];
	struct cpm_group *groups = calloc(w->n_groups + 1, sizeof(*groups));
	int ret = groups ? 0 : -ENOMEM;

	for (unsigned int d = 0; d < w->in->n_domains && !ret; d++) {
		struct cpm_edges edges = cpm_edges_of(package->periods_ns[d] / w->in->interval_ns);
		bool shared = w->in->model == PROFILE_CPM && w->in->steps > 1 &&
			      package->periods_ns[d] > 0;
		struct cpm_domain domain;

		ret = cpm_solve(w->v, package->readings[d], package->n_readings[d], w->in->end_tick,
				w->in->steps, NULL, shared ? &edges : NULL,
				w->in->idle_w[d] * w->in->interval_ns * 1e-3, &domain);
		if (!ret) {
			ret = domain_sum_groups(w, d, &domain, groups);
			cpm_domain_free(&domain);
		}
		if (ret == -ENODATA) {
			for (uint32_t g = 0; g < w->n_groups; g++)
				out[g].energy[d] = not_known;
			ret = 0;
			continue;
		}
		for (uint32_t g = 0; g < w->n_groups && !ret; g++) {
			energy_set_figures(&groups[g], &out[g].time_s, &out[g].energy[d]);
			if (!isnan(groups[g].uj))
				t->total_j[d].v = (isnan(t->total_j[d].v) ? 0 : t->total_j[d].v) +
						  groups[g].uj * 1e-6;
		}
	}
	free(groups);
	return ret;
}

static int corunning_add_package(struct corunning *t, const struct profile *p,
				 const struct profile_input *in, size_t package, uint32_t most)
{
	struct work w = { .v = profile_vectors(p, package), .p = p, .in = in, .package = package };
	struct corunning_vector *more, *out;
	int ret = -ENOMEM;

	w.counts = calloc(w.v->n_vectors + 1, sizeof(*w.counts));
	w.group_of = calloc(w.v->n_vectors + 1, sizeof(*w.group_of));
	if (!w.counts || !w.group_of)
		goto out;
	ret = vectors_choose(&w, most);
	if (ret)
		goto out;
	ret = -ENOMEM;
	more = realloc(t->vectors, (t->n + w.n_groups + 1) * sizeof(*more));
	if (!more)
		goto out;
	t->vectors = more;
	out = more + t->n;
	memset(out, 0, w.n_groups * sizeof(*out));
	vectors_describe(&w, p, out);
	ret = vectors_add_times(&w, out);
	if (!ret)
		ret = vectors_add_energies(&w, t, out);
	t->n += w.n_groups;
out:
	free(w.counts);
	free(w.group_of);
	return ret;
}

int corunning_new(const struct profile *p, const struct profile_input *in, uint32_t most,
		  struct corunning *t)
{
	int ret = 0;

	memset(t, 0, sizeof(*t));
	for (unsigned int d = 0; d < PROFILE_DOMAINS; d++)
		t->total_j[d] = (struct value){ NAN, NAN, NAN };
	for (size_t i = 0; i < in->n_packages && !ret; i++)
		ret = corunning_add_package(t, p, in, i, most ? most : 1);
	if (ret)
		corunning_free(t);
	return ret;
}

void corunning_free(struct corunning *t)
{
	free(t->vectors);
	memset(t, 0, sizeof(*t));
}
