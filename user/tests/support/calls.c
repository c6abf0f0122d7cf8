// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See calls.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/support/calls.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

const uint8_t calls_kinds[CALLS_BLOCKS] = { [CALLS_IDLE] = CPM_IDLE };

struct calls calls_coarse(void)
{
	return (struct calls){ .T = 1e-3, .U = 10e-3, .lo = 0.1, .hi = 0.3, .total = 30,
			       .n_blocks = 5, .power = { 1.0, 1.3, 1.7, 2.1, 2.5 } };
}

void calls_run(struct calls *r, uint64_t seed)
{
	double t = 0, e = 0, next_tick = r->T * rnd_unit(&seed), next_move = r->U * rnd_unit(&seed);
	double call_end = 0, shown = 0, grid = next_tick;
	uint32_t block = 0, k = 0;

	memset(r->time, 0, sizeof(r->time));
	memset(r->joules, 0, sizeof(r->joules));
	r->n_ticks = r->n_readings = 0;
	r->ticks = calloc(r->total / r->T + 10, sizeof(*r->ticks));
	r->freq = calloc(r->total / r->T + 10, sizeof(*r->freq));
	r->readings = calloc(r->total / r->T + 10, sizeof(*r->readings));
	while (t < r->total) {
		double until, dt;

		if (t >= call_end) {
			block = rnd(&seed) % r->n_blocks;
			call_end = t + r->lo + (r->hi - r->lo) * rnd_unit(&seed);
		}
		until = fmin(fmin(call_end, r->total), fmin(next_tick, next_move));
		dt = until - t;
		r->time[block] += dt;
		r->joules[block] += dt * r->power[block];
		e += dt * r->power[block];
		t = until;
		if (t >= next_move) {
			shown = floor(e * 1e6 / 15.26) * 15.26;
			next_move += r->U * (0.98 + 0.04 * rnd_unit(&seed));
		}
		if (t >= next_tick) {
			uint64_t uj = shown;

			if (!r->n_readings || r->readings[r->n_readings - 1].uj != uj)
				r->readings[r->n_readings++] = (struct cpm_reading){ k, uj };
			r->freq[r->n_ticks] = 1000 + block;
			r->ticks[r->n_ticks++] = (struct cpm_tick){ .tick = k++, .block = block };
			grid += r->T;
			next_tick = r->jitter > 0 ? fmax(grid + r->jitter * r->T * rnd_unit(&seed),
							 t) : grid;
			/* the tick itself: time and energy are not attributed */
			dt = r->cost * (r->longer ? r->longer[block] : 1);
			t += dt;
			e += dt * r->irq_w;
			call_end += dt;
		}
	}
}

void calls_free(struct calls *r)
{
	free(r->ticks);
	free(r->freq);
	free(r->readings);
}

void calls_solve(const struct calls *r, unsigned int steps, double tick_s,
		 struct profile_group *out)
{
	struct profile_cost costs[CALLS_BLOCKS];
	struct profile_stream stream = { .stream = { .ticks = r->ticks, .n = r->n_ticks },
					 .freq_khz = r->freq, .tick_ns = tick_s * 1e9 };
	struct profile_package package = { .readings = { r->readings },
					   .n_readings = { r->n_readings },
					   .periods_ns = { r->period * 1e9 } };
	struct profile_input in = {
		.interval_ns = r->T * 1e9, .jitter = r->jitter, .end_tick = r->n_ticks,
		.n_streams = 1, .streams = &stream,
		.n_packages = 1, .packages = &package, .n_domains = 1, .n_blocks = CALLS_BLOCKS,
		.kinds = calls_kinds, .costs = r->longer ? costs : NULL,
		.unsampled_block = CALLS_IDLE,
		.steps = steps, .irq_w = { r->irq_w },
		.calibration_error = r->calibration_error };
	double inverse = 0;

	for (uint32_t i = 0; i < CALLS_BLOCKS; i++)
		costs[i] = (struct profile_cost){ .longer = r->longer ? r->longer[i] : 1,
						  .interrupted = 1, .shifted = r->shifted,
						  .variance = r->variance };
	for (size_t i = 0; i < r->n_ticks; i++)
		inverse += r->freq[i] ? 1.0 / r->freq[i] : 0;
	stream.usual_khz = inverse > 0 ? r->n_ticks / inverse : 0;
	blocks_solve(&in, out);
}

void blocks_solve(const struct profile_input *in, struct profile_group *out)
{
	uint32_t *group_of = calloc(in->n_blocks, sizeof(*group_of));
	struct profile *p;

	assert_non_null(group_of);
	for (uint32_t i = 0; i < in->n_blocks; i++)
		group_of[i] = i;
	assert_int_equal(profile_new(in, &p), 0);
	assert_int_equal(profile_groups(p, group_of, in->n_blocks, out), 0);
	profile_free(p);
	free(group_of);
}
