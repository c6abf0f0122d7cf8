// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Groups of blocks: their time, energy, power and frequency; see profile.h.
 *
 * ALEA: t_b = n_b / n * t_exec (equation 1), which is n_b intervals; E_b = P_b * t_b
 * (equation 3). A tick takes time and energy from the block that it interrupts,
 * and so do other interrupts. Their energy is taken out of the counter's windows
 * before the blocks share them, at the power that interrupts were calibrated to
 * have; profile_net() takes their time out of the n_b intervals.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "edge_groups.h"
#include "fit.h"
#include "profile.h"

struct solved {
	struct cpm_vectors vectors;
	bool known[PROFILE_DOMAINS];
	struct cpm_domain domain[PROFILE_DOMAINS];
	bool fitted[PROFILE_DOMAINS];
	struct fit fit[PROFILE_DOMAINS];
	bool edged;		/* @edge of @edge_input was solved */
	struct edge_input edge_input;
	struct edge_result edge;
};

struct profile {
	const struct profile_input *in;
	struct solved *packages;
};

static double calibration_error(const struct profile_input *in)
{
	return fmax(in->calibration_error, PROFILE_CALIBRATION_ERROR);
}

static size_t lanes_of(const struct profile_input *in, size_t p)
{
	return in->packages[p].lanes ? in->packages[p].n_lanes : in->n_lanes;
}

static const struct profile_lane *lane_of(const struct profile_input *in, size_t p, size_t i)
{
	return &in->lanes[in->packages[p].lanes ? in->packages[p].lanes[i] : i];
}

/*
 * Energy that interrupts spend on a CPU of a package between two ticks. An idle CPU
 * has no scheduler's tick, and nothing that an interrupt could hold up.
 */
static struct cpm_irq irq_energy(const struct profile_input *in, size_t package,
				 unsigned int domain)
{
	struct cpm_irq irq = { 0 };

	for (size_t i = 0; i < lanes_of(in, package); i++) {
		const struct profile_lane *lane = lane_of(in, package, i);

		if (lane->shadow)
			continue;
		irq.busy_uj += lane->tick_ns + in->other * (in->interval_ns - lane->tick_ns);
		irq.idle_uj += lane->idle_tick_ns;
		irq.n_cpus++;
	}
	irq.busy_uj *= in->irq_w[domain] * 1e-3 / fmax(irq.n_cpus, 1);
	irq.idle_uj *= in->irq_w[domain] * 1e-3 / fmax(irq.n_cpus, 1);
	if (in->others_busy)
		irq.idle_uj = irq.busy_uj;
	else if (!isnan(in->idle_uj[domain]))
		irq.idle_uj = in->idle_uj[domain];
	return irq;
}

/* Several counters of a domain would need the same block's power in each. */
static bool is_only(const struct profile_input *in, size_t package, unsigned int domain)
{
	for (size_t i = 0; i < in->n_packages; i++)
		if (i != package && in->packages[i].n_readings[domain])
			return false;
	return true;
}

/* The mixture model, on windows that cpm_solve() has made. What it can not solve is not known. */
static int fit_domain(const struct profile_input *in, size_t package, unsigned int domain, struct solved *s)
{
	struct fit_input fit = { .vectors = &s->vectors, .domain = &s->domain[domain], .loose = in->loose,
				 .jitter = in->jitter, .unknown = in->unknown, .n_unknown = in->n_unknown };
	int ret;

	s->known[domain] = is_only(in, package, domain);
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

/* The edge-synchronised model. What it can not solve is not known. */
static int solve_edges(const struct profile_input *in, size_t p, unsigned int domain, struct solved *s)
{
	const struct profile_package *package = &in->packages[p];
	struct edge_input *e = &s->edge_input;
	size_t n = 0;
	int ret;

	s->known[domain] = false;
	if (domain != package->window_domain || !package->n_windows)
		return 0;
	*e = (struct edge_input){ .session = in->session, .vectors = &s->vectors, .windows = package->windows,
				  .n_windows = package->n_windows, .other = in->other, .irq_w = in->irq_w[domain],
				  .irq_error = calibration_error(in) };
	for (size_t i = 0; i < lanes_of(in, p); i++) {
		if (lane_of(in, p, i)->shadow)
			continue;
		e->tick += lane_of(in, p, i)->tick_ns / in->interval_ns;
		n++;
	}
	e->tick /= n ? n : 1;
	ret = edge_solve(e, &s->edge);
	if (ret)
		return ret == -ENODATA ? 0 : ret;
	s->edged = true;
	s->known[domain] = true;
	edge_apply(e, &s->edge, in->held, &s->domain[domain]);
	return 0;
}

/* What ran together on a package, and its counters' windows. */
static int make_windows(const struct profile_input *in, size_t p, struct solved *s)
{
	struct cpm_making *making[PROFILE_DOMAINS] = { NULL };
	struct cpm_lane *lanes = calloc(in->n_lanes + 1, sizeof(*lanes));
	size_t n = 0;
	int ret = lanes ? 0 : -ENOMEM;

	for (unsigned int d = 0; d < in->n_domains && !ret; d++) {
		struct cpm_irq irq = irq_energy(in, p, d);

		ret = cpm_making_new(&s->vectors, in->packages[p].readings[d], in->packages[p].n_readings[d], in->end_tick,
				     isnan(in->irq_w[d]) ? NULL : &irq, &s->domain[d], &making[n]);
		s->known[d] = !ret;
		n += s->known[d];
		ret = ret == -ENODATA ? 0 : ret;
	}
	for (size_t i = 0; i < lanes_of(in, p) && !ret; i++)
		lanes[i] = lane_of(in, p, i)->lane;
	if (!ret)
		ret = cpm_vectors_collect(lanes, lanes_of(in, p), in->kinds, &s->vectors, making, n);
	for (size_t i = 0; i < n; i++)
		ret = cpm_making_end(making[i], ret);
	free(lanes);
	return ret;
}

static int solve_package(const struct profile_input *in, size_t p, struct solved *s)
{
	int ret = make_windows(in, p, s);

	for (unsigned int d = 0; d < in->n_domains && !ret; d++) {
		if (!s->known[d])
			continue;
		ret = cpm_solve_windows(&s->vectors, in->steps, &s->domain[d]);
		if (!ret && in->model == PROFILE_MIXTURE)
			ret = fit_domain(in, p, d, s);
		if (!ret && in->model == PROFILE_EDGE)
			ret = solve_edges(in, p, d, s);
	}
	return ret;
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
	for (size_t i = 0; i < in->n_packages && !ret; i++)
		ret = solve_package(in, i, &p->packages[i]);
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
	free(p);
}

/* Entries of a lane that are looked at together. */
#define ENTRIES		256

/*
 * What interrupts took of each tick of an entry: a tick's cost is the CPU's own. What ran beside the samples is not net
 * of anything.
 */
struct irq_cost {
	double ticks_s, other_s, exposed_s;
	bool taken, idle;
};

/* A lane some entries at a time. Most samples have the frequency of the one before: what follows from it is kept. */
struct reading {
	const struct profile_input *in;
	const struct profile_lane *lane;
	struct lane_cursor c;
	double lost;
	uint32_t value;
	double weight, weighted, slower, tick_s;
	size_t n;
	struct interval_entry entries[ENTRIES];
	struct irq_cost costs[ENTRIES];
};

static void follow_value(struct reading *r, uint32_t value)
{
	double interval_s = r->in->interval_ns * 1e-9;

	r->value = value;
	r->weight = value ? interval_weight(value, r->lost) : 0;
	r->weighted = r->weight * value;
	r->slower = r->lane->usual_khz > 0 && value ? r->lane->usual_khz / value : 1;
	/* more than everything can not have been taken */
	r->tick_s = fmin(r->lane->tick_ns * r->slower * 1e-9, interval_s);
}

static void begin_reading(struct reading *r, const struct profile_input *in, const struct profile_lane *lane)
{
	r->in = in;
	r->lane = lane;
	r->lost = lane->usual_khz * (lane->tick_ns / in->interval_ns + in->other);
	lane_begin(&r->c, &lane->lane, lane->freq_khz);
	follow_value(r, 0);
}

static struct irq_cost cost_of(const struct reading *r)
{
	double interval_s = r->in->interval_ns * 1e-9, tick_s = 0;
	struct irq_cost cost = { .taken = !r->c.t.made_up && !r->c.t.parked,
				 .idle = r->in->kinds[r->c.t.block] == CPM_IDLE };

	if (cost.taken)
		tick_s = cost.idle ? fmin(r->lane->idle_tick_ns * 1e-9, interval_s) : r->tick_s;
	cost.ticks_s = tick_s;
	if (cost.idle)
		return cost;
	cost.other_s = (interval_s - tick_s) * fmin(r->in->other * r->slower, 1);
	cost.exposed_s = (interval_s - tick_s) * r->slower;
	return cost;
}

/* Return: false at the end */
static bool read_entries(struct reading *r)
{
	for (r->n = 0; r->n < ENTRIES && lane_next(&r->c); r->n++) {
		if (r->c.value != r->value)
			follow_value(r, r->c.value);
		r->entries[r->n] = (struct interval_entry){ r->c.t, r->weight, r->weighted };
		r->costs[r->n] = cost_of(r);
	}
	return r->n;
}

/* What interrupts took of a group. */
struct irq_sum {
	double ticks_s, other_s, exposed_s, idle_ticks_s;
	uint64_t idle_ticks;
};

static void add_cost(const struct irq_cost *cost, double n, struct irq_sum *sum)
{
	sum->ticks_s += n * cost->ticks_s;
	if (cost->idle && cost->taken) {
		sum->idle_ticks += n;
		sum->idle_ticks_s += n * cost->ticks_s;
	}
	sum->other_s += n * cost->other_s;
	sum->exposed_s += n * cost->exposed_s;
}

static void add_costs(const struct reading *r, const uint32_t *group_of, struct irq_sum *sums)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct cpm_tick *t = &r->entries[i].t;
		const struct irq_cost *cost = &r->costs[i];
		uint32_t group = group_of[t->block];
		double n = t->more + 1.0;

		if (group == UINT32_MAX)
			continue;
		/* samples one by one, however they were packed */
		for (uint32_t k = 0; cost->taken && t->more < LANE_ALIKE_MOST && k < t->more; k++, n--)
			add_cost(cost, 1, &sums[group]);
		add_cost(cost, n, &sums[group]);
	}
}

/* What is added up of a level besides its groups. */
struct summing {
	struct interval_lane at;
	struct time_sum *times;
	struct interval_mean *means;
	struct irq_sum *costs;
};

/* What is to be known of a block before its ticks are added up. */
struct presence {
	enum { ABSENT, BESIDE, PRESENT } where;	/* ticks of it: none, on shadow lanes only, on a CPU */
	uint64_t values;			/* that the mean is of */
};

static struct presence *find_present(const struct profile_input *in)
{
	struct presence *present = calloc(in->n_blocks + 1ul, sizeof(*present));
	struct lane_cursor c;

	if (!present)
		return NULL;
	present[in->silent_block].where = BESIDE;
	for (size_t l = 0; l < in->n_lanes; l++) {
		lane_begin(&c, &in->lanes[l].lane, in->lanes[l].freq_khz);
		while (lane_next(&c)) {
			struct presence *p = &present[c.t.block];

			p->values += c.value ? c.t.more + 1 : 0;
			if (!in->lanes[l].shadow)
				p->where = PRESENT;
			else if (p->where == ABSENT)
				p->where = BESIDE;
		}
	}
	return present;
}

static void sum_lanes(const struct profile *p, const struct profile_level *levels, struct summing *sums, size_t n,
		      struct reading *r)
{
	for (size_t l = 0; l < p->in->n_lanes; l++) {
		const struct profile_lane *lane = &p->in->lanes[l];

		begin_reading(r, p->in, lane);
		for (size_t i = 0; i < n; i++)
			interval_lane_begin(&sums[i].at, sums[i].times, p->in->jitter);
		while (read_entries(r)) {
			for (size_t i = 0; i < n; i++) {
				interval_means_add(sums[i].means, levels[i].group_of, r->entries, r->n);
				interval_lane_add(&sums[i].at, levels[i].group_of, r->entries, r->n);
				if (!lane->shadow)
					add_costs(r, levels[i].group_of, sums[i].costs);
			}
		}
		for (size_t i = 0; i < n; i++)
			interval_lane_end(&sums[i].at, p->in->end_tick);
	}
}

/* What is left of the time, as sure as the samples make it. */
static struct value sampled_time(const struct profile_group *g)
{
	double v = g->time_s.v - g->ticks_s - g->other_s, left = g->time_s.v > 0 ? v / g->time_s.v : 1;

	return (struct value){ v, v - (g->time_s.v - g->time_s.lo) * left,
			       v + (g->time_s.hi - g->time_s.v) * left };
}

/* How far off what interrupts took of a group may be. */
static double time_error(const struct profile_input *in, const struct profile_group *g)
{
	return hypot(calibration_error(in) * (g->ticks_s + g->other_s), in->other_error * g->exposed_s);
}

/* A value that was corrected for interrupts is not surer than they are known. */
static struct value uncertain(struct value v, double error)
{
	return (struct value){ v.v, fmax(v.v - hypot(v.v - v.lo, error), 0),
			       v.v + hypot(v.hi - v.v, error) };
}

/* Add up the packages of a domain. */
struct energy_sum {
	double uj, variance, bias, own;
	double variance_per_dof;	/* sum of variance^2 / dof, for Welch and Satterthwaite */
	uint64_t readings;
	bool known, vague;		/* vague: some variance can not be told */
};

static void add_group(struct energy_sum *s, const struct cpm_group *g)
{
	s->uj += g->uj;
	s->bias += g->bias_uj;
	s->own += g->purity * g->uj;
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
 * Energy and power without interrupts, with their intervals out of those of the time as
 * sampled, of the residuals and of the calibration. @off_j,@off_w: how far off what
 * interrupts spent may be, as energy, and as this group's mean power.
 * @left: what is left of the sum where it still has the interrupts in it
 */
static void conclude_net(const struct energy_sum *s, const struct value *time, double off_j,
			 double off_w, double left, struct profile_energy *e)
{
	double residual = 0, below, above, j = s->uj * 1e-6 * left, bias = s->bias * 1e-6 * left;

	e->readings = s->readings;
	e->purity = s->uj > 0 ? s->own / s->uj : 0;
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
	e->net_j = uncertain((struct value){ j, j - below, j + above }, off_j);
	residual = (residual + bias) / time->v;
	e->net_w = uncertain((struct value){ e->net_w.v, e->net_w.v - residual, e->net_w.v + residual },
			     off_w);
}

/* A group's energy in one domain: net, the interrupts' parts, and all together. */
static void conclude(const struct energy_sum *s, const struct profile_input *in, unsigned int d,
		     const struct profile_group *g, struct profile_energy *e)
{
	double irq_w = in->irq_w[d], idle_uj = in->idle_uj[d], irq_j, w;
	double left = g->time_s.v > 0 ? g->net_s.v / g->time_s.v : 1;
	struct value time = sampled_time(g);
	bool known = !isnan(irq_w);

	if (!known) {
		irq_w = g->time_s.v > 0 ? s->uj * 1e-6 / g->time_s.v : 0;
		idle_uj = NAN;
	}
	e->ticks_j = isnan(idle_uj) ? g->ticks_s * irq_w :
		     (g->ticks_s - g->idle_ticks_s) * irq_w + g->idle_ticks * idle_uj * 1e-6;
	e->other_j = g->other_s * irq_w;
	irq_j = e->ticks_j + e->other_j;
	/* too much energy for interrupts is too much time for them as well */
	w = time.v > 0 ? s->uj * 1e-6 * (known ? 1 : left) / time.v : 0;
	conclude_net(s, &time, hypot(calibration_error(in) * irq_j, in->other_error * g->exposed_s * irq_w),
		     hypot(calibration_error(in) * (irq_j - w * (g->ticks_s + g->other_s)),
			   in->other_error * g->exposed_s * (irq_w - w)) / time.v, known ? 1 : left, e);
	e->j = e->net_j;
	e->j.v += e->ticks_j + e->other_j;
	e->j.lo += e->ticks_j + e->other_j;
	e->j.hi += e->ticks_j + e->other_j;
	/* the mean over all of the time; only the net part of it is uncertain */
	e->w.v = g->time_s.v > 0 ? e->j.v / g->time_s.v : NAN;
	e->w.lo = e->w.v - (e->net_w.v - e->net_w.lo) * left;
	e->w.hi = e->w.v + (e->net_w.hi - e->net_w.v) * left;
}

void profile_unknown(struct profile_energy *e)
{
	memset(e, 0, sizeof(*e));
	e->j = e->net_j = e->w = e->net_w = (struct value){ NAN, NAN, NAN };
	e->residual_j = e->ticks_j = e->other_j = NAN;
}

/* A group more for blocks that are in none. */
static uint32_t *within(const struct profile_input *in, const struct profile_level *level)
{
	uint32_t *groups = calloc(in->n_blocks + 1, sizeof(*groups));

	for (uint32_t b = 0; b < in->n_blocks && groups; b++)
		groups[b] = level->group_of[b] == UINT32_MAX ? level->n_groups : level->group_of[b];
	return groups;
}

/* What models besides the constant one say of a package's energy. */
static int refine(const struct profile *p, size_t package, unsigned int d, const struct cpm_level *level)
{
	const struct solved *s = &p->packages[package];
	int ret = 0;

	if (s->fitted[d])
		ret = fit_groups(&s->fit[d], &s->vectors, &s->domain[d], level->group_of, level->silent_group,
				 level->n_groups, level->out);
	if (!ret && s->edged)
		ret = edge_groups(&s->edge_input, &s->edge, &s->domain[d], level->group_of, level->silent_group,
				  p->in->held, level->n_groups, level->out);
	return ret;
}

/* The energies of all levels in a domain. @groups: of these, with one more each. */
static int energies(const struct profile *p, unsigned int d, const struct profile_level *levels,
		    const struct cpm_level *groups, size_t n)
{
	struct energy_sum **sums = calloc(n + 1, sizeof(*sums));
	int ret = sums ? 0 : -ENOMEM;

	for (size_t l = 0; l < n && !ret; l++) {
		sums[l] = calloc(levels[l].n_groups + 1, sizeof(**sums));
		ret = sums[l] ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < p->in->n_packages && !ret; i++) {
		if (!p->packages[i].known[d])
			continue;
		ret = cpm_levels(&p->packages[i].vectors, &p->packages[i].domain[d], groups, n);
		for (size_t l = 0; l < n && !ret; l++) {
			ret = refine(p, i, d, &groups[l]);
			for (uint32_t g = 0; g < levels[l].n_groups && !ret; g++)
				add_group(&sums[l][g], &groups[l].out[g]);
		}
	}
	for (size_t l = 0; l < n && !ret; l++) {
		for (uint32_t g = 0; g < levels[l].n_groups; g++) {
			struct profile_group *out = &levels[l].out[g];

			if (sums[l][g].known)
				conclude(&sums[l][g], p->in, d, out, &out->energy[d]);
			else
				profile_unknown(&out->energy[d]);
		}
	}
	for (size_t l = 0; sums && l < n; l++)
		free(sums[l]);
	free(sums);
	return ret;
}

static int all_energies(const struct profile *p, const struct profile_level *levels, size_t n)
{
	struct cpm_level *groups = calloc(n + 1, sizeof(*groups));
	int ret = groups ? 0 : -ENOMEM;

	for (size_t l = 0; l < n && !ret; l++) {
		struct cpm_level *g = &groups[l];

		g->group_of = within(p->in, &levels[l]);
		g->n_groups = levels[l].n_groups + 1;
		g->out = calloc(g->n_groups, sizeof(*g->out));
		if (g->group_of && g->out)
			g->silent_group = g->group_of[p->in->silent_block];
		else
			ret = -ENOMEM;
	}
	for (unsigned int d = 0; d < p->in->n_domains && !ret; d++)
		ret = energies(p, d, levels, groups, n);
	for (size_t l = 0; groups && l < n; l++) {
		free((void *)groups[l].group_of);
		free(groups[l].out);
	}
	free(groups);
	return ret;
}

/* Times and frequencies, before energies are known. */
static void conclude_times(const struct profile_input *in, const struct profile_level *level,
			   const struct summing *sums)
{
	double s = in->interval_ns * 1e-9;

	for (uint32_t g = 0; g < level->n_groups; g++) {
		struct value t = interval_time(&sums->times[g]);
		struct profile_group *out = &level->out[g];

		out->samples = sums->times[g].real;
		out->time_s = (struct value){ t.v * s, t.lo * s, t.hi * s };
		out->khz = interval_mean(&sums->means[g]);
		out->count = sums->times[g];
		out->ticks_s = sums->costs[g].ticks_s;
		out->other_s = sums->costs[g].other_s;
		out->exposed_s = sums->costs[g].exposed_s;
		out->idle_ticks = sums->costs[g].idle_ticks;
		out->idle_ticks_s = sums->costs[g].idle_ticks_s;
		out->off_s = time_error(in, out);
		out->net_s = uncertain(sampled_time(out), out->off_s);
	}
}

static int sum_levels(const struct profile *p, const struct presence *present, const struct profile_level *levels,
		      size_t n)
{
	struct summing *sums = calloc(n + 1, sizeof(*sums));
	struct reading *r = malloc(sizeof(*r));
	int ret = sums && r ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret; i++) {
		memset(levels[i].out, 0, levels[i].n_groups * sizeof(*levels[i].out));
		sums[i].times = calloc(levels[i].n_groups + 1, sizeof(*sums[i].times));
		sums[i].means = calloc(levels[i].n_groups + 1, sizeof(*sums[i].means));
		sums[i].costs = calloc(levels[i].n_groups + 1, sizeof(*sums[i].costs));
		ret = sums[i].times && sums[i].means && sums[i].costs ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < n && !ret; i++)
		for (uint32_t b = 0; b < p->in->n_blocks; b++)
			if (levels[i].group_of[b] != UINT32_MAX)
				sums[i].means[levels[i].group_of[b]].n += present[b].values;
	if (!ret)
		sum_lanes(p, levels, sums, n, r);
	for (size_t i = 0; i < n && !ret; i++)
		conclude_times(p->in, &levels[i], &sums[i]);
	for (size_t i = 0; sums && i < n; i++) {
		free(sums[i].times);
		free(sums[i].means);
		free(sums[i].costs);
	}
	free(sums);
	free(r);
	return ret ? ret : all_energies(p, levels, n);
}

/*
 * A group of @of that has the very blocks that the only group of @level has, as far as they are present, with none of
 * another group among them. A process is mostly all there is: then what is said of it is said of the total. Return:
 * UINT32_MAX if there is none
 */
static uint32_t find_same(const struct profile_input *in, const struct presence *present,
			  const struct profile_level *level, const struct profile_level *of)
{
	uint32_t same = UINT32_MAX;

	if (level->n_groups != 1)
		return UINT32_MAX;
	for (uint32_t b = 0; b < in->n_blocks; b++)
		if (present[b].where && !level->group_of[b])
			same = of->group_of[b];
	for (uint32_t b = 0; b < in->n_blocks && same != UINT32_MAX; b++) {
		bool here = level->group_of[b] == 0, there = of->group_of[b] == same;

		if (present[b].where &&
		    (here != there || (present[b].where == PRESENT && !there && of->group_of[b] != UINT32_MAX)))
			same = UINT32_MAX;
	}
	return same;
}

int profile_levels(const struct profile *p, const struct profile_level *levels, size_t n)
{
	struct profile_level *others = calloc(n + 1, sizeof(*others));
	struct presence *present = find_present(p->in);
	size_t like = n, first = n, n_others = 0;
	uint32_t group = UINT32_MAX;
	int ret = others && present ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret && group == UINT32_MAX; i++) {
		for (size_t k = 0; k < n && group == UINT32_MAX; k++) {
			if (k == i)
				continue;
			group = find_same(p->in, present, &levels[i], &levels[k]);
			first = i;
			like = k;
		}
	}
	for (size_t i = 0; i < n && !ret; i++)
		if (i != first || group == UINT32_MAX)
			others[n_others++] = levels[i];
	if (!ret)
		ret = sum_levels(p, present, others, n_others);
	if (!ret && group != UINT32_MAX)
		levels[first].out[0] = levels[like].out[group];
	free(present);
	free(others);
	return ret;
}

int profile_groups(const struct profile *p, const uint32_t *group_of, uint32_t n_groups,
		   struct profile_group *out)
{
	return profile_levels(p, &(struct profile_level){ group_of, n_groups, out }, 1);
}

int profile_labels(const struct profile *p, unsigned int domain, const uint32_t *const *labels,
		   uint32_t silent_label, uint32_t n_labels, double *uj)
{
	const struct profile_input *in = p->in;
	struct cpm_labelled *lanes = calloc(in->n_lanes + 1, sizeof(*lanes));
	int ret = lanes ? 0 : -ENOMEM;
	bool known = false;

	memset(uj, 0, n_labels * sizeof(*uj));
	for (size_t i = 0; i < in->n_packages && !ret; i++) {
		if (!p->packages[i].known[domain])
			continue;
		for (size_t l = 0; l < lanes_of(in, i); l++) {
			const struct profile_lane *lane = lane_of(in, i, l);

			lanes[l] = (struct cpm_labelled){ lane->lane, labels[lane - in->lanes] };
		}
		ret = cpm_labels(&p->packages[i].vectors, &p->packages[i].domain[domain], lanes,
				 lanes_of(in, i), silent_label, uj);
		known = true;
	}
	free(lanes);
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

		/* NAN stays NAN: where one of the two can not be told, neither can this be */
		e->j.lo = g->time_s.lo * e->w.lo;
		e->j.hi = g->time_s.hi * e->w.hi;
	}
}

const struct cpm_vectors *profile_vectors(const struct profile *p, size_t package)
{
	return &p->packages[package].vectors;
}

const struct cpm_domain *profile_domain(const struct profile *p, size_t package, unsigned int domain)
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

unsigned int profile_cpus(const struct profile *p, size_t package)
{
	unsigned int n = 0;

	for (size_t i = 0; i < lanes_of(p->in, package); i++)
		n += !lane_of(p->in, package, i)->shadow;
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

double profile_parallel(const struct profile *p)
{
	double multi = 0, busy = 0;

	for (size_t i = 0; i < p->in->n_packages; i++) {
		multi += p->packages[i].vectors.multi;
		busy += p->packages[i].vectors.ticks;
	}
	return busy > 0 ? multi / busy : 0;
}
