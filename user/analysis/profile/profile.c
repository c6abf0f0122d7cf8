// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Solves the models of a recording's packages; see profile.h.
 *
 * ALEA: t_b = n_b / n * t_exec (equation 1), which is n_b intervals; E_b = P_b * t_b (equation 3).
 * A tick takes time and energy from the block that it interrupts, as do other interrupts. Their
 * energy, at the calibrated power of interrupts, is taken out of the counter's windows before the
 * blocks share them; profile_net() takes their time out of the n_b intervals.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/edge/edge_groups.h"
#include "analysis/profile/profile_internal.h"

/* A counter is reported as stuck after so many of its usual update periods. */
#define STILL	20

double profile_calibration_error(const struct profile_input *in)
{
	return fmax(in->calibration_error, PROFILE_CALIBRATION_ERROR);
}

size_t profile_n_streams(const struct profile_input *in, size_t p)
{
	return in->packages[p].streams ? in->packages[p].n_streams : in->n_streams;
}

const struct profile_stream *profile_stream(const struct profile_input *in, size_t p, size_t i)
{
	return &in->streams[in->packages[p].streams ? in->packages[p].streams[i] : i];
}

/*
 * Energy of interrupts on a CPU of a package between two ticks. An idle CPU has no scheduler tick,
 * and nothing to delay.
 * @more_uj: room for all blocks
 */
static struct cpm_irq package_irq_energy(const struct profile_input *in, size_t package,
					 unsigned int domain, float *more_uj)
{
	double irq_w = in->irq_w[domain], tick_w = irq_w - in->tick_less_w[domain], tick_uj = 0;
	struct cpm_irq irq = { 0 };

	for (size_t i = 0; i < profile_n_streams(in, package); i++) {
		const struct profile_stream *stream = profile_stream(in, package, i);

		if (stream->shadow)
			continue;
		irq.busy_uj += stream->tick_ns * tick_w +
			       in->other * (in->interval_ns - stream->tick_ns) * irq_w;
		tick_uj += stream->tick_ns * tick_w;
		irq.idle_uj += stream->idle_tick_ns * tick_w;
		irq.n_cpus++;
	}
	tick_uj *= 1e-3 / fmax(irq.n_cpus, 1);
	irq.busy_uj *= 1e-3 / fmax(irq.n_cpus, 1);
	irq.idle_uj *= 1e-3 / fmax(irq.n_cpus, 1);
	for (uint32_t b = 0; b < in->n_blocks && in->costs; b++)
		more_uj[b] = tick_uj * (in->costs[b].longer - 1) +
			     (irq.busy_uj - tick_uj) * (in->costs[b].interrupted - 1);
	irq.more_uj = in->costs ? more_uj : NULL;
	if (in->others_busy)
		irq.idle_uj = irq.busy_uj;
	else if (!isnan(in->idle_uj[domain]))
		irq.idle_uj = in->idle_uj[domain];
	return irq;
}

/* With several counters of a domain a block would need the same power in each. */
static bool package_is_only(const struct profile_input *in, size_t package, unsigned int domain)
{
	for (size_t i = 0; i < in->n_packages; i++)
		if (i != package && in->packages[i].n_readings[domain])
			return false;
	return true;
}

/* The mixture model, on windows of cpm_solve(). Unknown if it cannot be solved. */
static int domain_fit_mixture(const struct profile_input *in, size_t package, unsigned int domain,
			      struct solved *s)
{
	struct fit_input fit = { .vectors = &s->vectors, .domain = &s->domain[domain],
				 .loose = in->loose, .jitter = in->jitter, .unknown = in->unknown,
				 .n_unknown = in->n_unknown };
	int ret;

	s->known[domain] = package_is_only(in, package, domain);
	if (!s->known[domain])
		return 0;
	ret = fit_new(&fit, &s->fit[domain]);
	if (ret)
		return ret;
	s->fitted[domain] = true;
	s->known[domain] = s->fit[domain].m.why == MIXTURE_SOLVED;
	if (s->known[domain])
		fit_apply(&s->fit[domain], &s->vectors, &s->domain[domain]);
	return 0;
}

/* The edge-synchronised model. Unknown if it cannot be solved. */
static int domain_solve_edges(const struct profile_input *in, size_t p, unsigned int domain,
			      struct solved *s)
{
	const struct profile_package *package = &in->packages[p];
	struct edge_input *e = &s->edge_input;
	size_t n = 0;
	int ret;

	s->known[domain] = false;
	if (domain != package->window_domain || !package->n_windows)
		return 0;
	*e = (struct edge_input){ .session = in->session, .vectors = &s->vectors,
				  .windows = package->windows, .n_windows = package->n_windows,
				  .other = in->other, .irq_w = in->irq_w[domain],
				  .irq_error = profile_calibration_error(in) };
	for (size_t i = 0; i < profile_n_streams(in, p); i++) {
		if (profile_stream(in, p, i)->shadow)
			continue;
		e->tick += profile_stream(in, p, i)->tick_ns / in->interval_ns;
		n++;
	}
	e->tick /= n ? n : 1;
	ret = edge_solve(e, &s->edge);
	s->too_many = ret == -EFBIG;
	if (ret)
		return ret == -ENODATA || ret == -EFBIG ? 0 : ret;
	s->edged = true;
	s->known[domain] = true;
	edge_apply(e, &s->edge, in->paused, &s->domain[domain]);
	return 0;
}

/* The co-running sets of a package, and its counters' windows. */
static int package_make_windows(const struct profile_input *in, size_t p, const uint8_t *kinds,
				struct solved *s)
{
	struct cpm_making *making[PROFILE_DOMAINS] = { NULL };
	struct cpm_stream *streams = calloc(in->n_streams + 1, sizeof(*streams));
	float *more_uj = calloc(in->n_blocks * (size_t)in->n_domains + 1, sizeof(*more_uj));
	size_t n = 0;
	int ret = streams && more_uj ? 0 : -ENOMEM;

	for (unsigned int d = 0; d < in->n_domains && !ret; d++) {
		struct cpm_irq irq = package_irq_energy(in, p, d,
							more_uj + d * (size_t)in->n_blocks);
		struct cpm_edges edges =
			cpm_edges_of(in->packages[p].periods_ns[d] / in->interval_ns);

		ret = cpm_making_new(&s->vectors, in->packages[p].readings[d],
				     in->packages[p].n_readings[d], in->end_tick,
				     isnan(in->irq_w[d]) ? NULL : &irq, in->model == PROFILE_CPM &&
				     !in->one_silence && in->steps > 1 &&
				     in->packages[p].periods_ns[d] > 0 ? &edges : NULL,
				     &s->domain[d], &making[n]);
		s->known[d] = !ret;
		n += s->known[d];
		ret = ret == -ENODATA ? 0 : ret;
	}
	for (size_t i = 0; i < profile_n_streams(in, p) && !ret; i++)
		streams[i] = profile_stream(in, p, i)->stream;
	if (!ret)
		ret = cpm_vectors_collect(streams, profile_n_streams(in, p), kinds,
					  in->vectors_room, &s->vectors, making, n);
	for (size_t i = 0; i < n; i++)
		ret = cpm_making_end(making[i], ret);
	free(streams);
	free(more_uj);
	return ret;
}

static int package_solve(const struct profile_input *in, size_t p, const uint8_t *kinds,
			 struct solved *s)
{
	int ret = package_make_windows(in, p, kinds, s);

	for (unsigned int d = 0; d < in->n_domains && !ret; d++) {
		if (!s->known[d])
			continue;
		ret = cpm_solve_windows(&s->vectors, in->steps,
					in->idle_w[d] * in->interval_ns * 1e-3, &s->domain[d]);
		if (!ret && in->model == PROFILE_MIXTURE)
			ret = domain_fit_mixture(in, p, d, s);
		if (!ret && in->model == PROFILE_EDGE)
			ret = domain_solve_edges(in, p, d, s);
	}
	return ret;
}

/* Models of short blocks see all that is not the target as one block. Return: 0 or -ENOMEM */
static int blocks_set_kinds(struct profile *p)
{
	const struct profile_input *in = p->in;

	if (in->model == PROFILE_CPM && !in->one_silence)
		return 0;
	p->kinds = malloc(in->n_blocks + 1ul);
	if (!p->kinds)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->n_blocks; i++)
		p->kinds[i] = in->kinds[i] == CPM_BYSTANDER ? CPM_IDLE : in->kinds[i];
	return 0;
}

int profile_new(const struct profile_input *in, struct profile **out)
{
	struct profile *p = calloc(1, sizeof(*p));
	int ret = 0;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->in = in;
	p->packages = calloc(in->n_packages + 1, sizeof(*p->packages));
	if (!p->packages)
		ret = -ENOMEM;
	if (!ret)
		ret = blocks_set_kinds(p);
	for (size_t i = 0; i < in->n_packages && !ret; i++)
		ret = package_solve(in, i, p->kinds ? p->kinds : in->kinds, &p->packages[i]);
	if (ret) {
		profile_free(p);
		return ret;
	}
	*out = p;
	return 0;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->packages && i < p->in->n_packages; i++) {
		cpm_vectors_free(&p->packages[i].vectors);
		edge_free(&p->packages[i].edge);
		for (unsigned int d = 0; d < PROFILE_DOMAINS; d++) {
			cpm_domain_free(&p->packages[i].domain[d]);
			if (p->packages[i].fitted[d])
				fit_free(&p->packages[i].fit[d]);
		}
	}
	free(p->packages);
	free(p->kinds);
	free(p);
}

/* Entries of a stream that are processed at once. */

int profile_labels(const struct profile *p, unsigned int domain, const uint32_t *const *labels,
		   uint32_t unsampled_label, uint32_t n_labels, double *uj)
{
	const struct profile_input *in = p->in;
	struct cpm_labelled *streams = calloc(in->n_streams + 1, sizeof(*streams));
	int ret = streams ? 0 : -ENOMEM;
	bool known = false;

	memset(uj, 0, n_labels * sizeof(*uj));
	for (size_t i = 0; i < in->n_packages && !ret; i++) {
		if (!p->packages[i].known[domain])
			continue;
		for (size_t l = 0; l < profile_n_streams(in, i); l++) {
			const struct profile_stream *stream = profile_stream(in, i, l);

			streams[l] = (struct cpm_labelled){ stream->stream,
							    labels[stream - in->streams] };
		}
		ret = cpm_labels(&p->packages[i].vectors, &p->packages[i].domain[domain], streams,
				 profile_n_streams(in, i), unsampled_label, uj);
		known = true;
	}
	free(streams);
	return ret ? ret : known ? 0 : -ENODATA;
}

void profile_net(struct profile_group *g, unsigned int n_domains)
{
	g->time_s = g->net_s;
	for (unsigned int d = 0; d < n_domains; d++) {
		g->energy[d].j = g->energy[d].net_j;
		g->energy[d].w = g->energy[d].net_w;
	}
	g->ticks_s = 0;
	g->other_s = 0;
}

void profile_worst_case(struct profile_group *g, unsigned int n_domains)
{
	for (unsigned int d = 0; d < n_domains; d++) {
		struct profile_energy *e = &g->energy[d];

		double lo = g->time_s.lo * e->w.lo, hi = g->time_s.hi * e->w.hi;

		/*
		 * An error in the time of interrupts is also one in their energy, which leaves the
		 * power nearly as it was: if that is most of the uncertainty, the energy's own
		 * interval is the wider one. NAN if either is.
		 */
		e->j.lo = isnan(lo) ? lo : fmin(e->j.lo, lo);
		e->j.hi = isnan(hi) ? hi : fmax(e->j.hi, hi);
	}
}

const struct cpm_vectors *profile_vectors(const struct profile *p, size_t package)
{
	return &p->packages[package].vectors;
}

const struct cpm_domain *profile_domain(const struct profile *p, size_t package,
					unsigned int domain)
{
	return p->packages[package].known[domain] ? &p->packages[package].domain[domain] : NULL;
}

const struct mixture *profile_mixture(const struct profile *p, size_t package, unsigned int domain)
{
	return p->packages[package].fitted[domain] ? &p->packages[package].fit[domain].m : NULL;
}

const struct edge_result *profile_edge(const struct profile *p, size_t package)
{
	return p->packages[package].edged ? &p->packages[package].edge : NULL;
}

bool profile_edge_too_many(const struct profile *p, size_t package)
{
	return p->packages[package].too_many;
}

unsigned int profile_cpus(const struct profile *p, size_t package)
{
	unsigned int n = 0;

	for (size_t i = 0; i < profile_n_streams(p->in, package); i++)
		n += !profile_stream(p->in, package, i)->shadow;
	return n;
}

uint64_t profile_readings(const struct profile *p, unsigned int domain)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->in->n_packages; i++)
		if (p->packages[i].known[domain])
			n += p->packages[i].domain[domain].known;
	return n;
}

/*
 * The ends of windows of known energy, as in analysis/cpm/cpm_windows.c. Return: ticks between them
 */
static uint64_t readings_known_ticks(const struct cpm_reading *r, size_t n)
{
	size_t second = 0;

	while (second + 1 < n && r[second].tick == r[0].tick)
		second++;
	return r[n - 1].tick - (r[second].tick < r[n - 1].tick ? r[second].tick : r[0].tick);
}

double profile_unmeasured_part(const struct profile *p, unsigned int domain)
{
	struct profile_covered *blocks, cover = { 0 };
	double known_ticks = 0, all = 0;

	for (size_t i = 0; i < p->in->n_packages; i++) {
		const struct profile_package *package = &p->in->packages[i];
		size_t n = package->n_readings[domain];

		if (!p->packages[i].known[domain] || p->packages[i].edged)
			continue;
		known_ticks += readings_known_ticks(package->readings[domain], n);
		all += fmax(p->in->end_tick, package->readings[domain][n - 1].tick);
	}
	if (!(all > 0) || profile_cover(p, domain, &blocks))
		return NAN;
	/* other processes and idle CPUs need no energy */
	for (uint32_t b = 0; b < p->in->n_blocks && blocks; b++) {
		cover.busy.all += p->in->kinds[b] == CPM_BUSY ? blocks[b].busy.all : 0;
		cover.busy.known_ticks += p->in->kinds[b] == CPM_BUSY ?
					  blocks[b].busy.known_ticks : 0;
	}
	free(blocks);
	return 1 - known_ticks / all * profile_known_part(&cover);
}

/* Ticks since the last update, if far more than an update period. */
static uint64_t readings_stuck_ticks(const struct cpm_reading *r, size_t n)
{
	uint64_t moves = 0, still;
	size_t last = 0;

	for (size_t i = 1; i < n; i++) {
		if (r[i].uj == r[i - 1].uj)
			continue;
		moves++;
		last = i;
	}
	still = r[n - 1].tick - r[last].tick;
	return moves && still * moves > STILL * (r[last].tick - r[0].tick) ? still : 0;
}

double profile_still_s(const struct profile *p, unsigned int domain)
{
	uint64_t most = 0, still;

	for (size_t i = 0; i < p->in->n_packages; i++) {
		if (!p->packages[i].known[domain] || p->packages[i].edged)
			continue;
		still = readings_stuck_ticks(p->in->packages[i].readings[domain],
					     p->in->packages[i].n_readings[domain]);
		most = still > most ? still : most;
	}
	return most * 1e-9 * p->in->interval_ns;
}

double profile_parallel(const struct profile *p)
{
	double multi = 0, busy = 0;

	for (size_t i = 0; i < p->in->n_packages; i++) {
		multi += p->packages[i].vectors.multi;
		busy += p->packages[i].vectors.ticks;
	}
	return busy > 0 ? multi / busy : 0;
}

uint64_t profile_other_set_ticks(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->in->n_packages; i++)
		n += p->packages[i].vectors.other_set_ticks;
	return n;
}

double profile_other_set_part(const struct profile *p)
{
	double busy = 0;

	for (size_t i = 0; i < p->in->n_packages; i++)
		busy += p->packages[i].vectors.ticks;
	return busy > 0 ? profile_other_set_ticks(p) / busy : 0;
}
