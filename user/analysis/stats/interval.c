// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 95 % intervals, see interval.h. Used by analysis/profile/profile.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_cdf.h>
#include "analysis/stats/interval.h"

#define FEW_SAMPLES	100
#define NO_GROUP	UINT32_MAX

double interval_t(double dof)
{
	return gsl_cdf_tdist_Pinv(0.975, dof);
}

/*
 * Can ticks resolve the ends of a run, or of a gap? A shorter one of several ticks between long
 * ones is a piece all the same: what is hit by chance now and then is not hit twice in a row.
 */
static bool run_is_resolved(uint64_t len, uint64_t before, uint64_t after)
{
	return len >= INTERVAL_RESOLVED ||
	       (len >= INTERVAL_PIECE && before >= INTERVAL_RESOLVED && after >= INTERVAL_RESOLVED);
}

static void time_add_edge(const struct interval_stream *l, struct time_sum *t, bool coarse)
{
	t->variance += coarse ? l->coarse_variance : 0.5;
	t->coarse += coarse;
	t->fine += !coarse;
}

/* Count both edges of a group's last run, after the next gap and run (0: none) are known. */
static void time_add_edges(const struct interval_stream *l, struct time_sum *t, uint64_t gap,
			   uint64_t after)
{
	const struct interval_past *p = &t->past;
	bool resolved = run_is_resolved(p->ran, p->gap, gap);

	if (p->gap)
		time_add_edge(l, t, resolved && run_is_resolved(p->gap, p->before, p->ran));
	if (gap)
		time_add_edge(l, t, resolved && run_is_resolved(gap, p->ran, after));
}

/* A run ended before the tick @end. */
static void run_complete(const struct interval_stream *l, uint64_t end)
{
	struct interval_past *p;
	uint64_t gap;

	if (l->now.group == NO_GROUP || !l->now.len)
		return;
	p = &l->sums[l->now.group].past;
	gap = end - l->now.len - p->end;
	if (p->ran)
		time_add_edges(l, &l->sums[l->now.group], gap, l->now.len);
	*p = (struct interval_past){ .before = p->ran, .gap = gap, .ran = l->now.len, .end = end };
}

/* Ticks from @from on. */
static void run_extend(struct interval_stream *l, uint32_t group, uint64_t from, uint64_t len)
{
	if (group == l->now.group) {
		l->now.len += len;
		return;
	}
	run_complete(l, from);
	l->now = (struct interval_run){ group, len };
}

static void interpolated_end(struct interval_stream *t, uint32_t last_group)
{
	double n = t->interpolated;

	if (t->interpolated_changed) {
		if (t->interpolated_group != NO_GROUP)
			t->sums[t->interpolated_group].variance += n * n / 12;
		if (last_group != NO_GROUP)
			t->sums[last_group].variance += n * n / 12;
	}
	t->interpolated = 0;
	t->interpolated_changed = false;
}

void interval_stream_begin(struct interval_stream *l, struct time_sum *sums, uint32_t n_groups,
			   double jitter)
{
	*l = (struct interval_stream){ .sums = sums, .n_groups = n_groups,
				       .coarse_variance = (1 + jitter * jitter) / 12,
				       .now.group = NO_GROUP, .last = NO_GROUP };
}

static void stream_add_entry(struct interval_stream *l, const struct cpm_tick *tick, uint32_t group)
{
	uint64_t n = tick->more + 1ull;

	if (tick->tick < l->next)
		return;
	if (l->interpolated && (tick->tick > l->next || !tick->interpolated))
		interpolated_end(l, l->last);
	if (tick->tick > l->next)
		run_extend(l, NO_GROUP, l->next, tick->tick - l->next);
	run_extend(l, group, tick->tick, n);
	if (tick->interpolated) {
		if (!l->interpolated)
			l->interpolated_group = group;
		l->interpolated += n;
		l->interpolated_changed |= group != l->interpolated_group;
	}
	if (group != NO_GROUP) {
		l->sums[group].ticks += n;
		l->sums[group].real += tick->interpolated || tick->skipped ? 0 : n;
	}
	l->last = group;
	l->next = tick->tick + n;
}

void interval_stream_add(struct interval_stream *l, const uint32_t *group_of,
			 const struct interval_entry *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		stream_add_entry(l, &e[i].t, group_of[e[i].t.block]);
}

void interval_stream_end(struct interval_stream *l, uint64_t end_tick)
{
	uint64_t end = end_tick > l->next ? end_tick : l->next;

	interpolated_end(l, l->last);
	run_complete(l, l->next);
	for (uint32_t g = 0; g < l->n_groups; g++) {
		if (l->sums[g].past.ran)
			time_add_edges(l, &l->sums[g], end - l->sums[g].past.end, 0);
		l->sums[g].past = (struct interval_past){ 0 };
	}
}

int interval_times(const struct cpm_stream *streams, size_t n_streams, uint64_t end_tick,
		   double jitter, const uint32_t *group_of, uint32_t n_groups, struct time_sum *out)
{
	memset(out, 0, n_groups * sizeof(*out));
	for (size_t i = 0; i < n_streams; i++) {
		struct interval_stream l;
		struct tick_stream_cursor c;

		interval_stream_begin(&l, out, n_groups, jitter);
		tick_stream_begin(&c, &streams[i], NULL);
		while (tick_stream_next(&c))
			stream_add_entry(&l, &c.t, group_of[c.t.block]);
		interval_stream_end(&l, end_tick);
	}
	return 0;
}

struct value interval_time(const struct time_sum *t)
{
	double half = 1.959964 * sqrt(t->variance);
	struct value v = { t->ticks, fmax(t->ticks - half, 0), t->ticks + half };

	if (!t->coarse && t->ticks > 0 && t->ticks < FEW_SAMPLES) {
		v.lo = fmin(v.lo, gsl_cdf_chisq_Pinv(0.025, 2 * t->ticks) / 2);
		v.hi = fmax(v.hi, gsl_cdf_chisq_Pinv(0.975, 2 * t->ticks + 2) / 2);
	}
	return v;
}

/* A taken sample stands for some part of its interval. */
#define LEAST_OWN	0.05

double interval_weight(double value, double lost)
{
	return fmax(1 - lost / value, LEAST_OWN);
}

/* Next batch: equally many values each, the first ones one more if it does not divide. */
static void mean_next_batch(struct interval_mean *m)
{
	uint64_t batches = m->n < INTERVAL_BATCHES ? m->n : INTERVAL_BATCHES;

	if (m->seen > 0) {
		m->batches[m->at].sum = m->batch;
		m->batches[m->at++].weight = m->batch_weight;
		m->batch = m->batch_weight = 0;
	}
	m->until = ((m->at + 1) * m->n + batches - 1) / batches;
}

void interval_mean_add(struct interval_mean *m, const struct interval_entry *e, uint64_t left)
{
	if (!(e->weight > 0))
		return;
	while (left) {
		double sum = m->sum, weight = m->weight, batch = m->batch,
			batch_weight = m->batch_weight;
		uint64_t n = m->until - m->seen < left ? m->until - m->seen : left;

		if (!n) {
			mean_next_batch(m);
			continue;
		}
		for (uint64_t i = 0; i < n; i++) {
			sum += e->weighted;
			weight += e->weight;
			batch += e->weighted;
			batch_weight += e->weight;
		}
		m->sum = sum;
		m->weight = weight;
		m->batch = batch;
		m->batch_weight = batch_weight;
		m->seen += n;
		left -= n;
	}
}

struct value interval_mean(const struct interval_mean *m)
{
	uint64_t batches = m->n < INTERVAL_BATCHES ? m->n : INTERVAL_BATCHES;
	double mean = m->n ? m->sum / m->weight : NAN, squares = 0, half;

	if (batches < 2)
		return (struct value){ mean, NAN, NAN };
	for (uint64_t i = 0; i < batches; i++)
		squares += i == m->at ? pow(m->batch - mean * m->batch_weight, 2) :
			   pow(m->batches[i].sum - mean * m->batches[i].weight, 2);
	half = interval_t(batches - 1) * sqrt(squares * batches / (batches - 1)) / m->weight;
	return (struct value){ mean, mean - half, mean + half };
}
