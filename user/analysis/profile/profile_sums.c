// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times, frequencies and costs of groups of blocks: each stream is read once for all groupings; see
 * profile.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/profile/profile_internal.h"

#define ENTRIES		256

/* Cost of interrupts in each tick of an entry; shadow streams have none. */
struct irq_cost {
	double ticks_s, other_s, exposed_s, varied_s2, shifted_s;
	bool taken, idle;
};

/* What follows from a frequency. */
struct followed {
	uint32_t value;
	double weight, weighted, slower, tick_s;
	struct irq_cost busy;		/* of a sample that is not idle */
};

/* A stream in batches of entries. Most samples have the frequency of the one before: cached. */
struct reading {
	const struct profile_input *in;
	const struct profile_stream *stream;
	struct tick_stream_cursor c;
	double lost;
	struct followed now, other;	/* the current value and the one before: they alternate */
	size_t n;
	struct interval_entry entries[ENTRIES];
	struct irq_cost costs[ENTRIES];
};

/* fmin() of numbers, without a call. */
static double real_least(double a, double b)
{
	return a < b ? a : b;
}

static struct irq_cost entry_irq_cost(const struct reading *r, const struct followed *f, bool taken,
				      bool idle)
{
	double interval_s = r->in->interval_ns * 1e-9, tick_s = 0;
	struct irq_cost cost = { .taken = taken, .idle = idle };

	if (cost.taken)
		tick_s = cost.idle ? fmin(r->stream->idle_tick_ns * 1e-9, interval_s) : f->tick_s;
	cost.ticks_s = tick_s;
	if (cost.idle)
		return cost;
	cost.other_s = (interval_s - tick_s) * real_least(r->in->other * f->slower, 1);
	cost.exposed_s = (interval_s - tick_s) * f->slower;
	return cost;
}

static struct followed value_follow(const struct reading *r, uint32_t value)
{
	struct followed f = { .value = value };

	f.weight = value ? interval_weight(value, r->lost) : 0;
	f.weighted = f.weight * value;
	f.slower = r->stream->usual_khz > 0 && value ? r->stream->usual_khz / value : 1;
	/* at most everything */
	f.tick_s = real_least(r->stream->tick_ns * f.slower * 1e-9, r->in->interval_ns * 1e-9);
	f.busy = entry_irq_cost(r, &f, true, false);
	return f;
}

static void reading_next_value(struct reading *r, uint32_t value)
{
	struct followed before = r->now;

	r->now = value == r->other.value ? r->other : value_follow(r, value);
	r->other = before;
}

static void reading_begin(struct reading *r, const struct profile_input *in,
			  const struct profile_stream *stream)
{
	r->in = in;
	r->stream = stream;
	r->lost = stream->usual_khz * (stream->tick_ns / in->interval_ns + in->other);
	tick_stream_begin(&r->c, &stream->stream, stream->freq_khz);
	r->now = r->other = value_follow(r, 0);
}

/*
 * Block's factors instead of the average. A tick that takes longer leaves less to other interrupts.
 */
static void irq_cost_adapt(struct irq_cost *cost, const struct profile_cost *by, double interval_s)
{
	double tick_s = real_least(cost->ticks_s * by->longer, interval_s),
		left_s = interval_s - cost->ticks_s;
	double part = left_s > 0 ? (interval_s - tick_s) / left_s : 0;

	cost->ticks_s = tick_s;
	cost->other_s = real_least(cost->other_s * by->interrupted * part, interval_s - tick_s);
	cost->exposed_s *= part;
	cost->varied_s2 = by->variance * interval_s * interval_s;
	cost->shifted_s = by->shifted * interval_s;
}

/* Return: false at the end */
static bool reading_fill_entries(struct reading *r)
{
	for (r->n = 0; r->n < ENTRIES && stream_take(&r->c, &r->entries[r->n].t); r->n++) {
		struct interval_entry *e = &r->entries[r->n];
		bool taken = !e->t.interpolated && !e->t.skipped,
			idle = r->in->kinds[e->t.block] == CPM_IDLE;

		if (r->c.value != r->now.value)
			reading_next_value(r, r->c.value);
		e->weight = r->now.weight;
		e->weighted = r->now.weighted;
		r->costs[r->n] = taken && !idle ? r->now.busy :
						  entry_irq_cost(r, &r->now, taken, idle);
		if (r->in->costs && taken && !idle)
			irq_cost_adapt(&r->costs[r->n], &r->in->costs[e->t.block],
				       r->in->interval_ns * 1e-9);
	}
	return r->n;
}

/* Sums of a group. */
struct group_sum {
	struct interval_mean mean;
	/* cost of interrupts */
	double ticks_s, other_s, exposed_s, idle_ticks_s, varied_s2, shifted_s;
	uint64_t idle_ticks;
};

static void sum_add_cost(const struct irq_cost *cost, double n, struct group_sum *sum)
{
	sum->ticks_s += n * cost->ticks_s;
	if (cost->idle && cost->taken) {
		sum->idle_ticks += n;
		sum->idle_ticks_s += n * cost->ticks_s;
	}
	sum->other_s += n * cost->other_s;
	sum->exposed_s += n * cost->exposed_s;
	sum->varied_s2 += n * cost->varied_s2;
	sum->shifted_s += n * cost->shifted_s;
}

/* Two sums that grow together. */
typedef double pair __attribute__((vector_size(16)));

/* Most entries: samples of a busy CPU in one batch of the mean, each added by itself. */
static inline void sum_add_samples(const struct interval_entry *e, const struct irq_cost *cost,
				   uint32_t n, struct group_sum *sum)
{
	pair all = { sum->mean.sum, sum->mean.weight },
		batch = { sum->mean.batch, sum->mean.batch_weight };
	pair taken = { sum->ticks_s, sum->other_s }, value = { e->weighted, e->weight };
	pair costs = { cost->ticks_s, cost->other_s };
	double exposed_s = sum->exposed_s;

	for (uint32_t i = 0; i < n; i++) {
		all += value;
		batch += value;
		taken += costs;
		exposed_s += cost->exposed_s;
	}
	/* errors, which need not be added one by one */
	sum->varied_s2 += n * cost->varied_s2;
	sum->shifted_s += n * cost->shifted_s;
	sum->mean.seen += n;
	sum->mean.sum = all[0];
	sum->mean.weight = all[1];
	sum->mean.batch = batch[0];
	sum->mean.batch_weight = batch[1];
	sum->ticks_s = taken[0];
	sum->other_s = taken[1];
	sum->exposed_s = exposed_s;
}

/* Any other: what follows from its frequency and, on a CPU, cost of interrupts. */
static void sum_add_entry(const struct interval_entry *e, const struct irq_cost *cost, bool shadow,
			  struct group_sum *sum)
{
	uint32_t n = e->t.more + 1u;

	interval_mean_add(&sum->mean, e, n);
	if (!shadow && cost->taken && n <= TICK_STREAM_ALIKE_MOST)
		for (uint32_t i = 0; i < n; i++)
			sum_add_cost(cost, 1, sum);
	else if (!shadow)
		sum_add_cost(cost, n, sum);
}

static void sums_add_entries(const struct reading *r, const uint32_t *group_of,
			     struct group_sum *sums)
{
	bool shadow = r->stream->shadow;

	for (size_t i = 0; i < r->n; i++) {
		const struct interval_entry *e = &r->entries[i];
		const struct irq_cost *cost = &r->costs[i];
		uint32_t group = group_of[e->t.block], n = e->t.more + 1u;
		struct group_sum *sum = &sums[group];

		if (group == UINT32_MAX)
			continue;
		if (cost->taken && !cost->idle && !shadow && n <= TICK_STREAM_ALIKE_MOST &&
		    e->weight > 0 && n <= sum->mean.until - sum->mean.seen)
			sum_add_samples(e, cost, n, sum);
		else
			sum_add_entry(e, cost, shadow, sum);
	}
}

/* Sums of a level other than its groups'. */
struct summing {
	struct interval_stream at;
	struct time_sum *times;
	struct group_sum *sums;
};

/* What must be known of a block before its ticks are added up. */
struct presence {
	/* ticks of it: none, on shadow streams only, on a CPU */
	enum { ABSENT, SHADOWED, PRESENT } where;
	uint64_t values;			/* that the mean is of */
};

static void presence_add_ticks(struct presence *p, uint64_t ticks, uint64_t values, bool shadow)
{
	p->values += values;
	if (ticks && !shadow)
		p->where = PRESENT;
	else if (ticks && p->where == ABSENT)
		p->where = SHADOWED;
}

/*
 * From streams that counted their blocks when they were written. Return: false if this one has not
 */
static bool presence_add_counts(const struct profile_input *in, size_t l, struct presence *present)
{
	const struct cpm_stream *stream = &in->streams[l].stream;
	const struct tick_stream_counts *counts = stream->packed && !stream->end ?
						  stream->packed->counts : NULL;

	if (!counts)
		return false;
	for (size_t k = 0; k < l; k++)
		if (in->streams[k].stream.packed && in->streams[k].stream.packed->counts == counts)
			return true;
	for (size_t b = 0; b < counts->n; b++)
		if (counts->of[b].ticks)
			presence_add_ticks(&present[stream->packed->to ? stream->packed->to[b] : b],
					   counts->of[b].ticks, counts->of[b].values,
					   in->streams[l].shadow);
	return true;
}

static struct presence *presence_find(const struct profile_input *in)
{
	struct presence *present = calloc(in->n_blocks + 1ul, sizeof(*present));
	struct tick_stream_cursor c;

	if (!present)
		return NULL;
	present[in->unsampled_block].where = SHADOWED;
	for (size_t l = 0; l < in->n_streams; l++) {
		if (presence_add_counts(in, l, present))
			continue;
		tick_stream_begin(&c, &in->streams[l].stream, in->streams[l].freq_khz);
		while (tick_stream_next(&c)) {
			uint64_t ticks = c.t.more + 1ull;

			presence_add_ticks(&present[c.t.block], ticks, c.value ? ticks : 0,
					   in->streams[l].shadow);
		}
	}
	return present;
}

static void levels_sum_streams(const struct profile *p, const struct profile_level *levels,
			       struct summing *sums, size_t n, struct reading *r)
{
	for (size_t l = 0; l < p->in->n_streams; l++) {
		const struct profile_stream *stream = &p->in->streams[l];

		reading_begin(r, p->in, stream);
		for (size_t i = 0; i < n; i++)
			interval_stream_begin(&sums[i].at, sums[i].times, levels[i].n_groups,
					      p->in->jitter);
		while (reading_fill_entries(r)) {
			for (size_t i = 0; i < n; i++) {
				sums_add_entries(r, levels[i].group_of, sums[i].sums);
				interval_stream_add(&sums[i].at, levels[i].group_of, r->entries,
						    r->n);
			}
		}
		for (size_t i = 0; i < n; i++)
			interval_stream_end(&sums[i].at, p->in->end_tick);
	}
}

/* Error of a group's interrupts. */
static double group_time_error(const struct profile_input *in, const struct profile_group *g)
{
	return hypot(profile_calibration_error(in) * (g->ticks_s + g->other_s),
		     profile_other_error(in, g));
}

/* Times and frequencies, before energies are known. */
static void level_set_times(const struct profile_input *in, const struct profile_level *level,
			    const struct summing *sums)
{
	double s = in->interval_ns * 1e-9;

	for (uint32_t g = 0; g < level->n_groups; g++) {
		struct value t = interval_time(&sums->times[g]);
		struct profile_group *out = &level->out[g];

		out->samples = sums->times[g].real;
		out->time_s = (struct value){ t.v * s, t.lo * s, t.hi * s };
		out->khz = interval_mean(&sums->sums[g].mean);
		out->count = sums->times[g];
		out->ticks_s = sums->sums[g].ticks_s;
		out->other_s = sums->sums[g].other_s;
		out->exposed_s = sums->sums[g].exposed_s;
		out->varied_s2 = sums->sums[g].varied_s2;
		out->shifted_s = sums->sums[g].shifted_s;
		out->idle_ticks = sums->sums[g].idle_ticks;
		out->idle_ticks_s = sums->sums[g].idle_ticks_s;
		out->off_s = group_time_error(in, out);
		out->net_s = profile_uncertain(profile_sampled_time(out), out->off_s);
	}
}

static int profile_levels_sum(const struct profile *p, const struct presence *present,
		      const struct profile_level *levels, size_t n)
{
	struct summing *sums = calloc(n + 1, sizeof(*sums));
	struct reading *r = malloc(sizeof(*r));
	int ret = sums && r ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret; i++) {
		memset(levels[i].out, 0, levels[i].n_groups * sizeof(*levels[i].out));
		sums[i].times = calloc(levels[i].n_groups + 1, sizeof(*sums[i].times));
		sums[i].sums = calloc(levels[i].n_groups + 1, sizeof(*sums[i].sums));
		ret = sums[i].times && sums[i].sums ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < n && !ret; i++)
		for (uint32_t b = 0; b < p->in->n_blocks; b++)
			if (levels[i].group_of[b] != UINT32_MAX)
				sums[i].sums[levels[i].group_of[b]].mean.n += present[b].values;
	if (!ret)
		levels_sum_streams(p, levels, sums, n, r);
	for (size_t i = 0; i < n && !ret; i++)
		level_set_times(p->in, &levels[i], &sums[i]);
	for (size_t i = 0; sums && i < n; i++) {
		free(sums[i].times);
		free(sums[i].sums);
	}
	free(sums);
	free(r);
	return ret ? ret : profile_energies(p, levels, n);
}

/*
 * A group of @of with exactly the present blocks of the only group of @level: often a process is
 * all there is, and its figures are the total's. Return: UINT32_MAX if there is none
 */
static uint32_t group_find_same(const struct profile_input *in, const struct presence *present,
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
		    (here != there ||
		     (present[b].where == PRESENT && !there && of->group_of[b] != UINT32_MAX)))
			same = UINT32_MAX;
	}
	return same;
}

int profile_levels(const struct profile *p, const struct profile_level *levels, size_t n)
{
	struct profile_level *others = calloc(n + 1, sizeof(*others));
	struct presence *present = presence_find(p->in);
	size_t like = n, first = n, n_others = 0;
	uint32_t group = UINT32_MAX;
	int ret = others && present ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret && group == UINT32_MAX; i++) {
		for (size_t k = 0; k < n && group == UINT32_MAX; k++) {
			if (k == i)
				continue;
			group = group_find_same(p->in, present, &levels[i], &levels[k]);
			first = i;
			like = k;
		}
	}
	for (size_t i = 0; i < n && !ret; i++)
		if (i != first || group == UINT32_MAX)
			others[n_others++] = levels[i];
	if (!ret)
		ret = profile_levels_sum(p, present, others, n_others);
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
