// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 95 % intervals, see interval.h. Used by profile.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_cdf.h>
#include "interval.h"

#define FEW_SAMPLES	100
#define BATCHES		32
#define NO_GROUP	UINT32_MAX

double interval_t(double dof)
{
	return gsl_cdf_tdist_Pinv(0.975, dof);
}

/* A stretch of ticks of one group on one CPU. */
struct run {
	uint32_t group;
	uint64_t len;
};

struct timing {
	struct time_sum *out;
	double coarse_variance;		/* of an edge, in squared ticks */
	struct run before, now;
	uint64_t made_up;		/* made up ticks in a row, up to now */
	uint32_t made_up_group;		/* whose the first of them was */
	bool made_up_changed;
};

/* Both runs are complete: book the edge between them. */
static void edge(struct timing *t)
{
	bool coarse = t->before.len >= INTERVAL_RESOLVED && t->now.len >= INTERVAL_RESOLVED;

	if (!t->before.len || !t->now.len)
		return;
	for (int i = 0; i < 2; i++) {
		uint32_t group = i ? t->now.group : t->before.group;

		if (group == NO_GROUP)
			continue;
		t->out[group].variance += coarse ? t->coarse_variance : 0.5;
		if (coarse)
			t->out[group].coarse++;
		else
			t->out[group].fine++;
	}
}

static void add_run(struct timing *t, uint32_t group, uint64_t len)
{
	if (!len)
		return;
	if (group == t->now.group) {
		t->now.len += len;
		return;
	}
	edge(t);
	t->before = t->now;
	t->now = (struct run){ group, len };
}

static void end_made_up(struct timing *t, uint32_t last_group)
{
	double n = t->made_up;

	if (t->made_up_changed) {
		if (t->made_up_group != NO_GROUP)
			t->out[t->made_up_group].variance += n * n / 12;
		if (last_group != NO_GROUP)
			t->out[last_group].variance += n * n / 12;
	}
	t->made_up = 0;
	t->made_up_changed = false;
}

static void time_lane(const struct cpm_lane *lane, uint64_t end_tick, double jitter,
		      const uint32_t *group_of, struct time_sum *out)
{
	struct timing t = { .out = out, .coarse_variance = (1 + jitter * jitter) / 12, .before.group = NO_GROUP, .now.group = NO_GROUP };
	uint32_t last = NO_GROUP;
	struct lane_cursor c;
	uint64_t next = 0;

	lane_begin(&c, lane, NULL);
	while (lane_next(&c)) {
		const struct cpm_tick *tick = &c.t;
		uint32_t group = group_of[tick->block], n = tick->more + 1;

		if (tick->tick < next)
			continue;
		if (tick->tick > next || !tick->made_up)
			end_made_up(&t, last);
		if (tick->tick > next)
			add_run(&t, NO_GROUP, tick->tick - next);
		add_run(&t, group, n);
		if (tick->made_up) {
			if (!t.made_up)
				t.made_up_group = group;
			t.made_up += n;
			t.made_up_changed |= group != t.made_up_group;
		}
		if (group != NO_GROUP) {
			out[group].ticks += n;
			out[group].real += tick->made_up || tick->parked ? 0 : n;
		}
		last = group;
		next = tick->tick + n;
	}
	end_made_up(&t, last);
	if (end_tick > next)
		add_run(&t, NO_GROUP, end_tick - next);
	edge(&t);
}

int interval_times(const struct cpm_lane *lanes, size_t n_lanes, uint64_t end_tick, double jitter,
		   const uint32_t *group_of, uint32_t n_groups, struct time_sum *out)
{
	memset(out, 0, n_groups * sizeof(*out));
	for (size_t i = 0; i < n_lanes; i++)
		time_lane(&lanes[i], end_tick, jitter, group_of, out);
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

/* A sample that was taken has some part of its interval to stand for. */
#define LEAST_OWN	0.05

struct mean {
	uint64_t n, seen;
	double sum, weight;
	double batch[BATCHES];
	double batch_weight[BATCHES];
};

static struct value conclude(const struct mean *m)
{
	uint64_t batches = m->n < BATCHES ? m->n : BATCHES;
	double mean = m->n ? m->sum / m->weight : NAN, squares = 0, half;

	if (batches < 2)
		return (struct value){ mean, NAN, NAN };
	for (uint64_t i = 0; i < batches; i++)
		squares += pow(m->batch[i] - mean * m->batch_weight[i], 2);
	half = interval_t(batches - 1) * sqrt(squares * batches / (batches - 1)) / m->weight;
	return (struct value){ mean, mean - half, mean + half };
}

/* First pass: the sum. Second: batches. */
static void add_value(struct mean *m, double value, double lost, bool second)
{
	double weight = fmax(1 - lost / value, LEAST_OWN);
	uint64_t b;

	if (!second) {
		m->n++;
		m->sum += weight * value;
		m->weight += weight;
		return;
	}
	b = m->seen++ * (m->n < BATCHES ? m->n : BATCHES) / m->n;
	m->batch[b] += weight * value;
	m->batch_weight[b] += weight;
}

int interval_means(const struct cpm_lane *lanes, size_t n_lanes, const uint32_t *const *values,
		   const double *lost, const uint32_t *group_of, uint32_t n_groups, struct value *out)
{
	struct mean *means = calloc(n_groups + 1, sizeof(*means));

	if (!means)
		return -ENOMEM;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t l = 0; l < n_lanes; l++) {
			struct lane_cursor c;

			lane_begin(&c, &lanes[l], values[l]);
			while (lane_next(&c)) {
				uint32_t group = group_of[c.t.block];

				/* a value is a sample's: there are as many as it has ticks */
				for (uint32_t n = 0; n <= c.t.more && group != NO_GROUP && c.value; n++)
					add_value(&means[group], c.value, lost[l], pass);
			}
		}
	}
	for (uint32_t g = 0; g < n_groups; g++)
		out[g] = conclude(&means[g]);
	free(means);
	return 0;
}
