// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See alternating.h.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/support/alternating.h"
#include "tests/support/calls.h"
#include "tests/support/synthetic.h"

static double normal(uint64_t *dice)
{
	double u = rnd_unit(dice) + 1e-300, v = rnd_unit(dice);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static double length_of(const struct alternating *a, unsigned int block, uint64_t *dice)
{
	double l = a->length[block] * a->period_s;

	l *= a->order == ALTERNATING_MEMORYLESS ? -log(rnd_unit(dice) + 1e-300) : 1 +
	     a->varies * normal(dice);
	return fmax(l, 1e-9);
}

static unsigned int next_block(const struct alternating *a, unsigned int block, uint64_t *dice)
{
	unsigned int next = block;

	if (a->order == ALTERNATING_CYCLE)
		return (block + 1) % a->n_blocks;
	while (next == block)
		next = rnd(dice) % a->n_blocks;
	return next;
}

void alternating_run(struct alternating *a, uint64_t seed)
{
	double interval = a->period_s / a->ticks * (1 + 1 / 127.);
	double now = 0, end = 0, e = 0, phase, move, tick, shown = 0;
	size_t room = a->total_s / interval + 100;
	unsigned int block = a->n_blocks - 1;
	uint64_t k = 0;

	a->interval_s = interval;
	a->n_ticks = a->n_readings = 0;
	memset(a->true_j, 0, sizeof(a->true_j));
	memset(a->true_s, 0, sizeof(a->true_s));
	a->stream = calloc(room, sizeof(*a->stream));
	a->readings = calloc(room, sizeof(*a->readings));
	assert(a->stream && a->readings);
	phase = interval * rnd_unit(&seed);
	move = a->period_s * rnd_unit(&seed);
	tick = phase + a->jitter * interval * rnd_unit(&seed);
	while (now < a->total_s) {
		double until;

		if (now >= end) {
			block = next_block(a, block, &seed);
			end = now + length_of(a, block, &seed);
		}
		until = fmin(end, fmin(move, tick));
		a->true_s[block] += until - now;
		a->true_j[block] += (until - now) * a->power_w[block];
		e += (until - now) * a->power_w[block];
		now = until;
		if (now >= move) {
			shown = floor(e * 1e6 / 15.26) * 15.26;
			move += a->period_s * (1 + 0.02 * normal(&seed));
		}
		if (now < tick)
			continue;
		if (!a->n_readings || a->readings[a->n_readings - 1].uj != (uint64_t)shown)
			a->readings[a->n_readings++] = (struct cpm_reading){ k, shown };
		a->stream[a->n_ticks++] = (struct cpm_tick){ .tick = k++, .block = block };
		tick = phase + (k + a->jitter * rnd_unit(&seed)) * interval;
	}
}

void alternating_free(struct alternating *a)
{
	free(a->stream);
	free(a->readings);
}

void alternating_input(const struct alternating *a, enum profile_model model,
		       struct alternating_input *in)
{
	memset(in, 0, sizeof(*in));
	in->stream = (struct profile_stream){ .stream = { .ticks = a->stream, .n = a->n_ticks } };
	in->stream.freq_khz = calloc(a->n_ticks + 1, sizeof(uint32_t));
	in->package.readings[0] = a->readings;
	in->package.n_readings[0] = a->n_readings;
	in->kinds[a->n_blocks] = CPM_IDLE;
	in->in = (struct profile_input){
		.interval_ns = a->interval_s * 1e9, .jitter = a->jitter, .end_tick = a->n_ticks,
		.n_streams = 1,
		.streams = &in->stream, .n_packages = 1, .packages = &in->package, .n_domains = 1,
		.n_blocks = a->n_blocks + 1, .kinds = in->kinds, .unsampled_block = a->n_blocks,
		.steps = CPM_STEPS,
		.model = model };
}

void alternating_solve(const struct alternating *a, enum profile_model model,
		       struct profile_group *g)
{
	struct alternating_input in;

	alternating_input(a, model, &in);
	blocks_solve(&in.in, g);
	free((void *)in.stream.freq_khz);
}
