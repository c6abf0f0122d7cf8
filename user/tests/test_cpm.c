// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The constant power model on made-up runs whose truth is known.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "profile.h"
#include "synthetic.h"

#define BLOCKS	8
#define IDLE	(BLOCKS - 1)

/*
 * A program on one CPU: calls of random blocks, each @lo to @hi seconds long,
 * seen by a tick every @T seconds and a counter that moves every @U. With
 * @cost, every tick takes so many seconds from the program, at no energy of its own.
 */
struct run {
	double T, U, lo, hi, total;
	double jitter;		/* ticks are late at random by up to this part of T */
	double period;		/* of the counter, as far as that is known */
	double cost, irq_w;	/* of a tick: seconds, watts */
	const float *longer;	/* of each block how many times that; NULL: all alike */
	float shifted, variance;	/* of a tick's cost, as in struct profile_cost */
	unsigned int n_blocks;
	double power[BLOCKS];
	double calibration_error;
	/* out */
	double time[BLOCKS], joules[BLOCKS];
	struct cpm_tick *ticks;
	uint32_t *freq;
	size_t n_ticks;
	struct cpm_reading *readings;
	size_t n_readings;
};

static void simulate(struct run *r, uint64_t seed)
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
			next_tick = r->jitter > 0 ? fmax(grid + r->jitter * r->T * rnd_unit(&seed), t) : grid;
			/* the tick itself: time and energy go to nobody */
			dt = r->cost * (r->longer ? r->longer[block] : 1);
			t += dt;
			e += dt * r->irq_w;
			call_end += dt;
		}
	}
}

static void run_free(struct run *r)
{
	free(r->ticks);
	free(r->freq);
	free(r->readings);
}

/* A tick at which something ran. */
#define RAN(at, what)	((struct cpm_tick){ .tick = (at), .block = (what) })

static const uint8_t kinds[BLOCKS] = { [IDLE] = CPM_IDLE };

static void solve(const struct run *r, unsigned int steps, double tick_s, struct profile_group *out)
{
	struct profile_cost costs[BLOCKS];
	struct profile_lane lane = { .lane = { .ticks = r->ticks, .n = r->n_ticks }, .freq_khz = r->freq,
				     .tick_ns = tick_s * 1e9 };
	struct profile_package package = { .readings = { r->readings },
					   .n_readings = { r->n_readings }, .periods_ns = { r->period * 1e9 } };
	struct profile_input in = {
		.interval_ns = r->T * 1e9, .jitter = r->jitter, .end_tick = r->n_ticks, .n_lanes = 1, .lanes = &lane,
		.n_packages = 1, .packages = &package, .n_domains = 1, .n_blocks = BLOCKS,
		.kinds = kinds, .costs = r->longer ? costs : NULL, .silent_block = IDLE, .steps = steps, .irq_w = { r->irq_w },
		.calibration_error = r->calibration_error };
	uint32_t group_of[BLOCKS];
	struct profile *p;
	double inverse = 0;

	for (uint32_t i = 0; i < BLOCKS; i++) {
		group_of[i] = i;
		costs[i] = (struct profile_cost){ .longer = r->longer ? r->longer[i] : 1, .interrupted = 1,
						 .shifted = r->shifted, .variance = r->variance };
	}
	for (size_t i = 0; i < r->n_ticks; i++)
		inverse += r->freq[i] ? 1.0 / r->freq[i] : 0;
	lane.usual_khz = inverse > 0 ? r->n_ticks / inverse : 0;
	assert_int_equal(profile_new(&in, &p), 0);
	assert_int_equal(profile_groups(p, group_of, BLOCKS, out), 0);
	profile_free(p);
}

static struct run coarse(void)
{
	/* calls of 10 to 30 update periods, powers spread 2.5 times */
	return (struct run){ .T = 1e-3, .U = 10e-3, .lo = 0.1, .hi = 0.3, .total = 30, .n_blocks = 5,
			     .power = { 1.0, 1.3, 1.7, 2.1, 2.5 } };
}

/* The worst error of a block's energy in runs of some seeds. */
static double worst_of(struct run r)
{
	double worst = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct profile_group g[BLOCKS];

		simulate(&r, seed);
		solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++)
			worst = fmax(worst, fabs(g[i].energy[0].j.v / r.joules[i] - 1));
		run_free(&r);
	}
	return worst;
}

/*
 * A counter that moves once between two ticks, as those of processors do at 1 kHz, and one that moves more often: where what
 * ran changes in the same interval, part of its energy is in the window next to its own.
 */
static void a_window_has_some_of_the_next_block(void **state)
{
	static const double ratios[] = { 0.1, 0.5, 0.99, 3 };	/* of periods to ticks */

	(void)state;
	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		struct run r = coarse();
		double with, without;

		r.U = ratios[i] * r.T;
		r.lo = 10e-3;
		r.hi = 30e-3;
		without = worst_of(r);
		r.period = r.U;
		with = worst_of(r);
		print_message("%.2f ticks: off by %.2f %%, %.2f %% with whole ticks\n", ratios[i], 100 * with, 100 * without);
		assert_true(with < 0.007 && with < 0.8 * without);
	}
}

/* How far off what interrupts took of a block may be is in its interval, whatever its frequency. */
static void unsure_costs_widen_intervals(void **state)
{
	static const float longer[BLOCKS] = { 1, 1, 1, 1, 1 };
	struct profile_group sure[BLOCKS], unsure[BLOCKS];
	struct run r = coarse();

	(void)state;
	r.longer = longer;
	simulate(&r, 3);
	solve(&r, CPM_STEPS, 1e-5, sure);
	r.shifted = 0.02f;
	solve(&r, CPM_STEPS, 1e-5, unsure);
	for (unsigned int i = 0; i < r.n_blocks; i++)
		assert_true(fabs(unsure[i].off_s - hypot(sure[i].off_s, 0.02 * sure[i].samples * r.T)) < 1e-6);
	r.shifted = 0;
	r.variance = 0.01f;
	solve(&r, CPM_STEPS, 1e-5, unsure);
	for (unsigned int i = 0; i < r.n_blocks; i++)
		assert_true(fabs(unsure[i].off_s - hypot(sure[i].off_s, sqrt(0.01 * sure[i].samples) * r.T)) < 1e-6);
	run_free(&r);
}

static void coarse_blocks_are_right_within_half_a_percent(void **state)
{
	double worst = 0, worst_total = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct run r = coarse();
		struct profile_group g[BLOCKS];
		double sum = 0, truth = 0;

		simulate(&r, seed);
		solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++) {
			worst = fmax(worst, fabs(g[i].energy[0].j.v / r.joules[i] - 1));
			sum += g[i].energy[0].j.v;
			truth += r.joules[i];
		}
		worst_total = fmax(worst_total, fabs(sum / truth - 1));
		run_free(&r);
	}
	print_message("worst block %.2f %%, worst program %.3f %%\n", 100 * worst,
		      100 * worst_total);
	assert_true(worst < 0.005);
	assert_true(worst_total < 0.002);
}

static void refinement_takes_the_bias_out(void **state)
{
	double plain[2] = { 0 }, refined[2] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		/* calls of 4 periods: the plain model is off by about U / 3L of the difference */
		struct run r = { .T = 1e-3, .U = 10e-3, .lo = 0.03, .hi = 0.05, .total = 20,
				 .n_blocks = 2, .power = { 1.0, 2.0 } };
		struct profile_group g[BLOCKS];

		simulate(&r, seed);
		solve(&r, 1, 0, g);
		for (int i = 0; i < 2; i++)
			plain[i] += (g[i].energy[0].w.v / r.power[i] - 1) / 20;
		solve(&r, CPM_STEPS, 0, g);
		for (int i = 0; i < 2; i++)
			refined[i] += (g[i].energy[0].w.v / r.power[i] - 1) / 20;
		run_free(&r);
	}
	print_message("bias %+.2f and %+.2f %%, refined %+.2f and %+.2f %%\n", 100 * plain[0],
		      100 * plain[1], 100 * refined[0], 100 * refined[1]);
	assert_true(plain[0] > 0.01 && plain[1] < -0.005);
	assert_true(fabs(refined[0]) < 0.2 * fabs(plain[0]));
	assert_true(fabs(refined[1]) < 0.2 * fabs(plain[1]));
}

/*
 * Lines of one loop, which no window tells apart, have the loop's power: that of what else was never alone, in another
 * loop of other power, is not theirs.
 */
static void lines_of_a_loop_have_its_power(void **state)
{
	struct run r = { .T = 1e-3, .U = 10e-3, .lo = 0.1, .hi = 0.3, .total = 30, .n_blocks = 2, .power = { 4.2, 1.4 } };
	struct profile_group g[BLOCKS];
	uint64_t seed = 1;

	(void)state;
	simulate(&r, seed);
	for (size_t i = 0; i < r.n_ticks; i++)
		if (rnd_unit(&seed) < 0.1)
			r.ticks[i].block += 2;
	solve(&r, CPM_STEPS, 0, g);
	print_message("%.3f and %.3f W, %.3f and %.3f W\n", g[0].energy[0].w.v, g[2].energy[0].w.v, g[1].energy[0].w.v,
		      g[3].energy[0].w.v);
	assert_true(g[0].energy[0].purity > 0.8 && g[2].energy[0].purity < 0.2);
	for (int i = 0; i < 2; i++)
		for (int line = i; line < 4; line += 2)
			assert_true(fabs(g[line].energy[0].w.v / r.power[i] - 1) < 0.025);
	run_free(&r);
}

static void short_blocks_are_told_to_be_mixed(void **state)
{
	struct run r = { .T = 1e-3, .U = 10e-3, .lo = 2e-3, .hi = 4e-3, .total = 20, .n_blocks = 2,
			 .power = { 1.0, 2.0 } };
	struct run c = coarse();
	struct profile_group g[BLOCKS];

	(void)state;
	simulate(&r, 1);
	solve(&r, CPM_STEPS, 0, g);
	assert_true(g[0].energy[0].purity < 0.8);
	/* the mean of both, not an invention outside of them */
	assert_true(g[0].energy[0].w.v > 0.95 && g[1].energy[0].w.v < 2.05);
	run_free(&r);
	simulate(&c, 1);
	solve(&c, CPM_STEPS, 0, g);
	assert_true(g[0].energy[0].purity > 0.9);
	run_free(&c);
}

static void intervals_hold_the_truth_often_enough(void **state)
{
	unsigned int in_time = 0, in_energy = 0, in_power = 0, in_freq = 0, n = 0;
	bool quick = getenv("KJOULE_TEST_QUICK");
	double least = quick ? 0.75 : 0.92;	/* of 50 or of 500 */

	(void)state;
	for (uint64_t seed = 100; seed < (quick ? 110 : 200); seed++) {
		struct run r = coarse();
		struct profile_group g[BLOCKS];

		r.total = 20;
		simulate(&r, seed);
		solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++, n++) {
			in_time += r.time[i] >= g[i].time_s.lo && r.time[i] <= g[i].time_s.hi;
			in_energy += r.joules[i] >= g[i].energy[0].j.lo &&
				     r.joules[i] <= g[i].energy[0].j.hi;
			in_power += r.power[i] >= g[i].energy[0].w.lo &&
				    r.power[i] <= g[i].energy[0].w.hi;
			in_freq += 1000 + i >= g[i].khz.lo && 1000 + i <= g[i].khz.hi;
		}
		run_free(&r);
	}
	print_message("of %u: time %u, energy %u, power %u, frequency %u\n", n, in_time, in_energy,
		      in_power, in_freq);
	assert_true(in_time > least * n);
	assert_true(in_energy > least * n);
	assert_true(in_power > least * n);
	assert_true(in_freq == n);
}

/* How often intervals have the truth, and how wide they are against the spread of the errors. */
struct coverage {
	unsigned int n, inside;
	double half, sum, squares;
};

static void cover(struct coverage *c, const struct value *v, double truth)
{
	double off = v->v / truth - 1;

	if (isnan(v->lo) || isnan(v->hi))
		return;
	c->n++;
	c->inside += v->lo <= truth && truth <= v->hi;
	c->half += (v->hi - v->lo) / 2 / truth;
	c->sum += off;
	c->squares += off * off;
}

static double widths(const struct coverage *c)
{
	double mean = c->sum / c->n;

	return c->half / c->n / (1.959964 * sqrt(c->squares / c->n - mean * mean));
}

/* A counter that moves every 2 ms, two ticks to that: what scripts/bench coverage measures on the chip. */
static void check_short(double seconds, unsigned int n_blocks, double period, unsigned int runs, double widest)
{
	struct coverage time = { 0 }, power = { 0 }, energy = { 0 };

	for (uint64_t seed = 1; seed <= runs; seed++) {
		struct run r = { .T = 1e-3, .U = 2e-3, .lo = 0.02, .hi = 0.06, .total = seconds, .jitter = 0.7,
				 .period = period, .n_blocks = n_blocks, .power = { 4.1, 1.4, 3.2, 4.2, 3.4, 2.4 } };
		struct profile_group g[BLOCKS];

		simulate(&r, seed);
		solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++) {
			const struct profile_energy *e = &g[i].energy[0];

			if (r.time[i] < 0.05 * r.total)
				continue;
			cover(&time, &g[i].net_s, r.time[i]);
			cover(&power, &e->net_w, r.power[i]);
			cover(&energy, &e->net_j, r.joules[i]);
		}
		run_free(&r);
	}
	print_message("%g s, %u blocks, a period of %g s: time %.1f %% inside, %.2f spreads wide; power %.1f %%, %.2f; energy %.1f %%, %.2f\n", seconds, n_blocks, period,
		      100. * time.inside / time.n, widths(&time), 100. * power.inside / power.n, widths(&power),
		      100. * energy.inside / energy.n, widths(&energy));
	assert_true(time.n > 0.66 * n_blocks * runs && time.inside >= 0.93 * time.n && widths(&time) < 1.5);
	assert_true(power.n > 0.66 * n_blocks * runs && power.inside >= 0.93 * power.n && widths(&power) < widest);
	assert_true(energy.n > 0.66 * n_blocks * runs && energy.inside >= 0.93 * energy.n && widths(&energy) < widest);
}

/* In half a second a block of six has some forty windows: batches of them are few, and short enough to have what cancels out. */
static void intervals_of_short_recordings_hold_and_are_not_too_wide(void **state)
{
	(void)state;
	check_short(0.5, 6, 0, 2000, 2);
	check_short(1, 3, 0, 1000, 1.5);
	check_short(4, 6, 0, 500, 1.5);
	check_short(1, 3, 2e-3, 1000, 1.6);
	check_short(4, 6, 2e-3, 500, 1.3);
}

/* A block whose power is that of its neighbours moves little at first, and no less then: that is no bias. */
static void no_block_has_a_bias_by_chance(void **state)
{
	double most = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct run r = { .T = 2e-3, .U = 10e-3, .lo = 0.1, .hi = 0.3, .total = 10, .n_blocks = 6,
				 .power = { 4.1, 1.4, 3.2, 4.2, 3.4, 2.4 } };
		struct profile_group g[BLOCKS];

		simulate(&r, seed);
		solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++)
			if (r.time[i] > 0.05 * r.total)
				most = fmax(most, g[i].energy[0].bias_j / r.joules[i]);
		run_free(&r);
	}
	print_message("%.2f %% at most\n", 100 * most);
	assert_true(most < 0.002);
}

#define TIMES	400

/* How many of TIMES intervals have the true time of two blocks, and how wide that of the first is, in spreads of its error. */
struct held {
	unsigned int first, second;
	double width;
};

/* Samples of block 0 for two seconds, a part of them, or pieces of so many ticks on the mean, of block 1. */
static struct held interrupt_now_and_then(double part, double piece)
{
	static const uint32_t blocks[] = { 0, 1 };
	struct cpm_tick ticks[2000];
	struct cpm_lane lane = { .ticks = ticks, .n = 2000 };
	uint64_t state_of_dice = 5;
	double squares = 0, half = 0;
	struct held held = { 0 };

	for (unsigned int i = 0; i < TIMES; i++) {
		double begin = 1900, end = 0, true_ticks = piece > 0 ? 0 : part * 2000, first;
		struct time_sum sums[2];
		struct value v[2];

		for (unsigned int k = 0; k < 2000; k++) {
			bool hit = rnd_unit(&state_of_dice) < part;

			if (piece > 0) {
				if (k > end) {
					begin = k + 10 + 40 * rnd_unit(&state_of_dice);
					end = begin + piece * (0.7 + 0.6 * rnd_unit(&state_of_dice));
					true_ticks += end < 2000 ? end - begin : 0;
				}
				hit = k >= begin && k < end && end < 2000;
			}
			ticks[k] = (struct cpm_tick){ .tick = k, .block = hit };
		}
		assert_int_equal(interval_times(&lane, 1, 2000, 0, blocks, 2, sums), 0);
		for (unsigned int b = 0; b < 2; b++)
			v[b] = interval_time(&sums[b]);
		first = 2000 - true_ticks;
		held.first += v[0].lo <= first && first <= v[0].hi;
		held.second += v[1].lo <= true_ticks && true_ticks <= v[1].hi;
		squares += (v[0].v - first) * (v[0].v - first) / TIMES;
		half += (v[0].hi - v[0].lo) / 2 / TIMES;
	}
	held.width = half / 1.96 / sqrt(squares);
	return held;
}

/* What is met by chance is binomial, however rare; pieces of a few ticks have edges. */
static void short_gaps_are_pieces_or_chance(void **state)
{
	static const double rare[] = { 0.003, 0.01, 0.03, 0.1, 0.3 };
	struct held held;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		held = interrupt_now_and_then(rare[i], 0);
		print_message("%g of the ticks: %u and %u, %.2f spreads wide\n", rare[i], held.first, held.second, held.width);
		assert_true(held.first >= 0.92 * TIMES && held.second >= 0.92 * TIMES);
	}
	held = interrupt_now_and_then(0, 3);
	print_message("pieces of 3 ticks: %u and %u, %.2f spreads wide\n", held.first, held.second, held.width);
	assert_true(held.first >= 0.92 * TIMES && held.second >= 0.92 * TIMES);
	assert_true(held.width < 1.3);
}

static void fine_blocks_have_binomial_times(void **state)
{
	unsigned int in_time = 0, n = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct run r = { .T = 1e-3, .U = 10e-3, .lo = 1e-5, .hi = 1e-4, .total = 2,
				 .n_blocks = 3, .power = { 1, 2, 3 } };
		struct profile_group g[BLOCKS];

		simulate(&r, seed);
		solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++, n++)
			in_time += r.time[i] >= g[i].time_s.lo && r.time[i] <= g[i].time_s.hi;
		run_free(&r);
	}
	print_message("%u of %u\n", in_time, n);
	assert_true(in_time > 0.9 * n);
}

static void the_cost_of_ticks_is_taken_out(void **state)
{
	struct run r = coarse();
	struct profile_group g[BLOCKS];
	double gross = 0, worst = 0;

	(void)state;
	r.T = 1e-3;
	r.cost = 30e-6;		/* 3 % */
	simulate(&r, 5);
	for (size_t i = 0; i < r.n_ticks; i++)
		r.freq[i] = 1000000;	/* or slow blocks would pay more */
	solve(&r, CPM_STEPS, r.cost, g);
	for (unsigned int i = 0; i < r.n_blocks; i++) {
		struct profile_group net = g[i];

		assert_true(fabs(g[i].ticks_s - g[i].samples * r.cost) < 1e-9);
		profile_net(&net, 1);
		gross = fmax(gross, fabs(g[i].time_s.v / r.time[i] - 1));
		worst = fmax(worst, fabs(net.time_s.v / r.time[i] - 1));
		/* the ticks spent nothing here, which is told by an irq_w of 0 */
		assert_true(fabs(net.energy[0].w.v / r.power[i] - 1) < 0.005);
	}
	print_message("time off by %.2f %%, with the cost taken out %.2f %%\n", 100 * gross,
		      100 * worst);
	assert_true(gross > 0.02);
	assert_true(worst < 0.004);
	run_free(&r);
}

/* Where ticks follow more callers they take longer: of each block what its own took is taken out. */
static void ticks_that_take_longer_are_taken_out_where_they_fell(void **state)
{
	static const float longer[BLOCKS] = { 0.4, 1.6, 0.7, 1.3, 1 };
	struct run r = coarse();
	struct profile_group g[BLOCKS], alike[BLOCKS];
	double worst = 0, without = 0;

	(void)state;
	r.cost = 60e-6;
	r.irq_w = 4;
	r.longer = longer;
	simulate(&r, 5);
	for (size_t i = 0; i < r.n_ticks; i++)
		r.freq[i] = 1000000;
	solve(&r, CPM_STEPS, r.cost, g);
	r.longer = NULL;
	solve(&r, CPM_STEPS, r.cost, alike);
	for (unsigned int i = 0; i < r.n_blocks; i++) {
		assert_true(fabs(g[i].ticks_s - g[i].samples * r.cost * longer[i]) < 1e-6);
		profile_net(&g[i], 1);
		profile_net(&alike[i], 1);
		worst = fmax(worst, fmax(fabs(g[i].time_s.v / r.time[i] - 1), fabs(g[i].energy[0].j.v / r.joules[i] - 1)));
		without = fmax(without, fabs(alike[i].energy[0].j.v / r.joules[i] - 1));
	}
	print_message("off by at most %.2f %%, %.2f %% if all were alike\n", 100 * worst, 100 * without);
	assert_true(without > 0.05);
	assert_true(worst < 0.01);
	run_free(&r);
}

/*
 * A tick costs 3 % of the time at twice to four times the blocks' power. The calibrated cost is off
 * by up to @most, as the calibration says; 0: it does not say so.
 */
static void solve_with_calibration_off(double said, double most)
{
	unsigned int n = 0, energy = 0, power = 0, time = 0;
	uint64_t state_of_dice = 11;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct run r = coarse();
		struct profile_group g[BLOCKS];
		double cost = 30e-6, irq_w = 4, off = 1 + most * (2 * rnd_unit(&state_of_dice) - 1);

		r.cost = cost;
		r.irq_w = irq_w;
		r.calibration_error = said;
		simulate(&r, seed);
		for (size_t i = 0; i < r.n_ticks; i++)
			r.freq[i] = 1000000;
		solve(&r, CPM_STEPS, cost * off, g);
		for (unsigned int i = 0; i < r.n_blocks; i++, n++) {
			profile_net(&g[i], 1);
			time += g[i].time_s.lo <= r.time[i] && r.time[i] <= g[i].time_s.hi;
			energy += g[i].energy[0].j.lo <= r.joules[i] && r.joules[i] <= g[i].energy[0].j.hi;
			power += g[i].energy[0].w.lo <= r.power[i] && r.power[i] <= g[i].energy[0].w.hi;
		}
		run_free(&r);
	}
	print_message("of %u truths inside: time %u, energy %u, power %u\n", n, time, energy, power);
	assert_true(time >= 0.93 * n && energy >= 0.93 * n && power >= 0.93 * n);
}

static void intervals_hold_with_a_calibration_that_is_off(void **state)
{
	(void)state;
	solve_with_calibration_off(0.15, 0.14);
	solve_with_calibration_off(0, 0.93 * PROFILE_CALIBRATION_ERROR);
}

/*
 * Half of the ticks at 25 MHz, half at 100. A tick takes 50 us at their harmonic mean of
 * 40 MHz, so 80 and 20 us: what is left of each millisecond is 0.92 and 0.98 of it.
 */
static void mean_frequency_is_over_the_time_that_is_left(void **state)
{
	struct cpm_tick ticks[1000];
	uint32_t freq[1000];
	struct run r = { .T = 1e-3, .ticks = ticks, .freq = freq, .n_ticks = 1000 };
	struct cpm_reading readings[] = { { 0, 0 }, { 500, 1000 }, { 1000, 2000 } };
	struct profile_group g[BLOCKS];

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		ticks[i] = (struct cpm_tick){ .tick = i };
		freq[i] = i % 2 ? 25000 : 100000;
	}
	r.readings = readings;
	r.n_readings = 3;
	solve(&r, CPM_STEPS, 50e-6, g);
	assert_true(fabs(g[0].khz.v - (25000 * 0.92 + 100000 * 0.98) / 1.9) < 1);
	assert_true(fabs(g[0].ticks_s - 0.05) < 1e-9);
}

static struct profile_group lanes_of_two(const struct cpm_tick *a, size_t na,
					 const struct cpm_tick *b, size_t nb,
					 const struct cpm_reading *readings, size_t n,
					 uint64_t end, uint32_t block)
{
	static const uint32_t none[1000];
	struct profile_lane lanes[2] = { { .lane = { .ticks = a, .n = na }, .freq_khz = none },
					 { .lane = { .ticks = b, .n = nb }, .freq_khz = none } };
	struct profile_package package = { .readings = { readings }, .n_readings = { n } };
	struct profile_input in = {
		.interval_ns = 1e9, .end_tick = end, .n_lanes = 2, .lanes = lanes, .n_packages = 1,
		.packages = &package, .n_domains = 1, .n_blocks = BLOCKS, .kinds = kinds,
		.silent_block = IDLE, .steps = 1, .other = 0.01 };
	struct profile_group g[BLOCKS];
	uint32_t group_of[BLOCKS];
	struct profile *p;

	for (uint32_t i = 0; i < BLOCKS; i++)
		group_of[i] = i;
	assert_int_equal(profile_new(&in, &p), 0);
	assert_int_equal(profile_groups(p, group_of, BLOCKS, g), 0);
	profile_free(p);
	return g[block];
}

static void busy_cpus_share_and_idle_ones_pay_nothing(void **state)
{
	/* ticks:   0    1    2    3    4    5    6    7
	 * CPU 0:   A    A    A    A    i    i    A    A
	 * CPU 1:   i    i    B    B    i    i    -    -
	 * energy:  |----2 J--|----6 J--|-1 J----|---3 J--|
	 */
	static const struct cpm_tick a[] = { RAN(0, 0), RAN(1, 0), RAN(2, 0), RAN(3, 0),
		RAN(4, IDLE), RAN(5, IDLE), RAN(6, 0), RAN(7, 0) };
	static const struct cpm_tick b[] = { RAN(0, IDLE), RAN(1, IDLE), RAN(2, 1),
		RAN(3, 1), RAN(4, IDLE), RAN(5, IDLE) };
	/* a window more in front: the first one is never believed */
	struct cpm_tick shifted[2][16];
	static const struct cpm_reading readings[] = { { 0, 0 }, { 4, 9000000 }, { 6, 11000000 },
		{ 8, 17000000 }, { 10, 18000000 }, { 12, 21000000 } };
	double sum = 0;

	(void)state;
	for (int i = 0; i < 8; i++)
		shifted[0][i] = RAN(a[i].tick + 4, a[i].block);
	for (int i = 0; i < 6; i++)
		shifted[1][i] = RAN(b[i].tick + 4, b[i].block);
	assert_true(fabs(lanes_of_two(shifted[0], 8, shifted[1], 6, readings, 6, 12, 0)
			 .energy[0].j.v - (2 + 3 + 3)) < 1e-9);
	assert_true(fabs(lanes_of_two(shifted[0], 8, shifted[1], 6, readings, 6, 12, 1)
			 .energy[0].j.v - 3) < 1e-9);
	/* 1 J, and the first window at the mean power of what was idle: 4 ticks of 0.5 J */
	assert_true(fabs(lanes_of_two(shifted[0], 8, shifted[1], 6, readings, 6, 12, IDLE)
			 .energy[0].j.v - (1 + 2)) < 1e-9);
	for (uint32_t i = 0; i < BLOCKS; i++)
		sum += lanes_of_two(shifted[0], 8, shifted[1], 6, readings, 6, 12, i)
		       .energy[0].j.v;
	assert_true(fabs(sum - 14) < 1e-9);
}

/* What is told of each block must not depend on whether ticks come one by one or as runs. */
static void runs_of_parked_ticks_are_as_good_as_idle_samples(void **state)
{
	enum { LONG = 1000 };
	static struct cpm_tick one[LONG], single[LONG], run[3];
	struct cpm_reading readings[12];
	size_t n_one = 0;

	(void)state;
	/* CPU 0 is busy now and then, CPU 1 idle for 600 ticks, busy for 100, idle again */
	for (uint32_t i = 0; i < LONG; i++) {
		if (i % 50 < 20)
			one[n_one++] = RAN(i, i % 3);
		single[i] = RAN(i, i >= 600 && i < 700 ? 3 : IDLE);
		/* as samples these would cost a tick each */
		single[i].made_up = true;
	}
	run[0] = (struct cpm_tick){ .tick = 0, .block = IDLE, .parked = true, .more = 599 };
	run[1] = (struct cpm_tick){ .tick = 600, .block = 3, .made_up = true, .more = 99 };
	run[2] = (struct cpm_tick){ .tick = 700, .block = IDLE, .parked = true, .more = LONG - 701 };
	for (int i = 0; i < 12; i++)
		readings[i] = (struct cpm_reading){ 50 + i * LONG / 12, i * i * 1000000ull };
	for (uint32_t block = 0; block < BLOCKS; block++) {
		struct profile_group a = lanes_of_two(one, n_one, single, LONG, readings, 12, LONG, block);
		struct profile_group b = lanes_of_two(one, n_one, run, 3, readings, 12, LONG, block);

		assert_true(fabs(a.time_s.v - b.time_s.v) < 1e-9);
		assert_true(fabs(a.energy[0].j.v - b.energy[0].j.v) < 1e-9);
		assert_true(fabs(a.energy[0].purity - b.energy[0].purity) < 1e-9);
		assert_int_equal(a.samples, b.samples);
		assert_true(fabs(a.other_s - b.other_s) < 1e-9);
		if (block == IDLE)
			assert_true(b.time_s.v == LONG - 100);
	}
}

/* 1 W while idle, 1000 ticks of 1 ms; a tick costs 100 us at 10 W: 1 uJ a nanosecond too much. */
static struct profile_group idle_second(bool parked, double *left_out)
{
	static struct cpm_tick ticks[1000];
	struct cpm_reading readings[11];
	struct profile_lane lane = { .lane = { .ticks = ticks, .n = 1000 }, .freq_khz = (uint32_t[1000]){ 0 },
				     .tick_ns = 100000, .idle_tick_ns = 100000 };
	struct profile_package package = { .readings = { readings }, .n_readings = { 11 } };
	struct profile_input in = {
		.interval_ns = 1e6, .end_tick = 1000, .n_lanes = 1, .lanes = &lane,
		.n_packages = 1, .packages = &package, .n_domains = 1, .n_blocks = BLOCKS,
		.kinds = kinds, .silent_block = IDLE, .steps = 1, .irq_w = { 10 },
		.idle_uj = { NAN } };
	uint32_t group_of[BLOCKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct profile_group g[BLOCKS];
	struct profile *p;

	for (uint32_t i = 0; i < 1000; i++)
		ticks[i] = RAN(i, IDLE);
	if (parked) {
		ticks[0] = (struct cpm_tick){ .block = IDLE, .parked = true, .more = 999 };
		lane.lane.n = 1;
	}
	for (int i = 0; i < 11; i++)
		readings[i] = (struct cpm_reading){ 100 * i, 200000 * i };
	assert_int_equal(profile_new(&in, &p), 0);
	assert_int_equal(profile_groups(p, group_of, BLOCKS, g), 0);
	profile_free(p);
	*left_out = g[IDLE].ticks_s;
	profile_net(&g[IDLE], 1);
	return g[IDLE];
}

static void parked_ticks_cost_nothing(void **state)
{
	double ticks_s;
	struct profile_group g = idle_second(false, &ticks_s);

	(void)state;
	/* woken a thousand times: 0.1 s and 1 J of the 2 J are the ticks' */
	assert_true(fabs(ticks_s - 0.1) < 1e-9);
	assert_true(fabs(g.time_s.v - 0.9) < 1e-9);
	assert_true(fabs(g.energy[0].j.v - 1) < 1e-9);
	g = idle_second(true, &ticks_s);
	assert_true(ticks_s == 0);
	assert_true(fabs(g.time_s.v - 1) < 1e-9);
	assert_true(fabs(g.energy[0].j.v - 2) < 1e-9);
}

/* Two packages with a counter each, and one for the whole machine in another domain. */
static void counters_charge_only_the_cpus_that_they_count(void **state)
{
	static struct cpm_tick a[100], b[100];
	static const struct cpm_reading first[] = { { 0, 0 }, { 50, 5000000 }, { 100, 10000000 } };
	static const struct cpm_reading second[] = { { 0, 0 }, { 50, 1000000 }, { 100, 2000000 } };
	static const struct cpm_reading machine[] = { { 0, 0 }, { 50, 9000000 }, { 100, 18000000 } };
	struct profile_lane lanes[2] = { { .lane = { .ticks = a, .n = 100 }, .freq_khz = (uint32_t[100]){ 0 } },
					 { .lane = { .ticks = b, .n = 100 }, .freq_khz = (uint32_t[100]){ 0 } } };
	struct profile_package packages[3] = {
		{ .lanes = (uint32_t[]){ 0 }, .n_lanes = 1, .readings = { first }, .n_readings = { 3 } },
		{ .lanes = (uint32_t[]){ 1 }, .n_lanes = 1, .readings = { second }, .n_readings = { 3 } },
		{ .lanes = (uint32_t[]){ 0, 1 }, .n_lanes = 2, .readings = { NULL, machine },
		  .n_readings = { 0, 3 } } };
	struct profile_input in = {
		.interval_ns = 1e9, .end_tick = 100, .n_lanes = 2, .lanes = lanes, .n_packages = 3,
		.packages = packages, .n_domains = 2, .n_blocks = BLOCKS, .kinds = kinds,
		.silent_block = IDLE, .steps = CPM_STEPS, .irq_w = { NAN, NAN } };
	uint32_t group_of[BLOCKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct profile_group g[BLOCKS];
	struct profile *p;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		a[i] = RAN(i, 0);
		b[i] = RAN(i, 1);
	}
	assert_int_equal(profile_new(&in, &p), 0);
	assert_int_equal(profile_groups(p, group_of, BLOCKS, g), 0);
	assert_true(fabs(g[0].energy[0].j.v - 10) < 1e-6);
	assert_true(fabs(g[1].energy[0].j.v - 2) < 1e-6);
	assert_true(fabs(g[0].energy[1].j.v - 9) < 1e-6);
	assert_true(fabs(g[1].energy[1].j.v - 9) < 1e-6);
	profile_free(p);
}

/* Short work between two ticks: nobody saw it, and its energy is not dropped. */
static void readings_without_a_tick_between_lose_no_energy(void **state)
{
	static struct cpm_tick a[40];
	static const struct cpm_reading readings[] = { { 0, 0 }, { 10, 1000000 }, { 10, 1500000 },
		{ 10, 2000000 }, { 30, 4000000 }, { 30, 6000000 }, { 40, 7000000 } };
	double sum = 0;

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		a[i] = RAN(i, i < 10 ? 0 : 1);
	for (uint32_t i = 0; i < BLOCKS; i++)
		sum += lanes_of_two(a, 40, NULL, 0, readings, 7, 40, i).energy[0].j.v;
	/* the first window is never believed: ten ticks at 1's power, 5 J in 30 ticks */
	assert_true(fabs(sum - (5 + 0.5 / 3 * 10)) < 1e-6);
	assert_true(fabs(lanes_of_two(a, 40, NULL, 0, readings, 7, 40, 1).energy[0].j.v - 5) < 1e-6);
}

static void too_few_readings_tell_nothing(void **state)
{
	struct run r = coarse();
	struct profile_group g[BLOCKS];

	(void)state;
	r.total = 1;
	simulate(&r, 1);
	r.n_readings = 1;
	solve(&r, CPM_STEPS, 0, g);
	for (unsigned int i = 0; i < r.n_blocks; i++) {
		assert_true(isnan(g[i].energy[0].j.v));
		assert_true(isnan(g[i].energy[0].w.v));
	}
	r.n_readings = 0;
	solve(&r, CPM_STEPS, 0, g);
	assert_true(isnan(g[0].energy[0].j.v));
	run_free(&r);
}

static void distinct_readings_not_samples_make_the_interval(void **state)
{
	struct run few = coarse(), many;
	struct profile_group g[BLOCKS], h[BLOCKS];

	(void)state;
	few.total = 10;
	simulate(&few, 9);
	solve(&few, CPM_STEPS, 0, g);
	/* ten times as many samples of the same readings */
	many = few;
	many.T = 1e-4;
	many.total = 10;
	simulate(&many, 9);
	solve(&many, CPM_STEPS, 0, h);
	for (unsigned int i = 0; i < few.n_blocks; i++)
		assert_true(h[i].energy[0].readings < 1.1 * g[i].energy[0].readings + 5);
	assert_true(h[0].samples > 8 * g[0].samples);
	run_free(&few);
	run_free(&many);
}

static void made_up_ticks_widen_and_cost_nothing(void **state)
{
	struct cpm_tick t[40], u[40];
	struct cpm_lane lane = { .ticks = t, .n = 40 };
	uint32_t group_of[BLOCKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct time_sum sums[BLOCKS];
	double before;

	(void)state;
	for (int i = 0; i < 40; i++)
		t[i] = RAN(i, i >= 20);
	interval_times(&lane, 1, 40, 0, group_of, BLOCKS, sums);
	before = sums[0].variance;
	assert_true(sums[0].ticks == 20 && sums[0].real == 20);
	memcpy(u, t, sizeof(u));
	for (int i = 16; i < 24; i++)
		u[i].made_up = true;
	lane.ticks = u;
	interval_times(&lane, 1, 40, 0, group_of, BLOCKS, sums);
	assert_true(sums[0].ticks == 20 && sums[0].real == 16);
	assert_true(fabs(sums[0].variance - before - 64.0 / 12) < 1e-9);
	/* inside one block nothing is uncertain */
	for (int i = 0; i < 40; i++)
		u[i] = (struct cpm_tick){ .tick = i, .block = i >= 20, .made_up = i >= 5 && i < 15 };
	interval_times(&lane, 1, 40, 0, group_of, BLOCKS, sums);
	assert_true(fabs(sums[0].variance - before) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_has_some_of_the_next_block),
		cmocka_unit_test(unsure_costs_widen_intervals),
		cmocka_unit_test(coarse_blocks_are_right_within_half_a_percent),
		cmocka_unit_test(refinement_takes_the_bias_out),
		cmocka_unit_test(lines_of_a_loop_have_its_power),
		cmocka_unit_test(short_blocks_are_told_to_be_mixed),
		cmocka_unit_test(intervals_hold_the_truth_often_enough),
		cmocka_unit_test(intervals_of_short_recordings_hold_and_are_not_too_wide),
		cmocka_unit_test(no_block_has_a_bias_by_chance),
		cmocka_unit_test(fine_blocks_have_binomial_times),
		cmocka_unit_test(short_gaps_are_pieces_or_chance),
		cmocka_unit_test(the_cost_of_ticks_is_taken_out),
		cmocka_unit_test(ticks_that_take_longer_are_taken_out_where_they_fell),
		cmocka_unit_test(intervals_hold_with_a_calibration_that_is_off),
		cmocka_unit_test(mean_frequency_is_over_the_time_that_is_left),
		cmocka_unit_test(busy_cpus_share_and_idle_ones_pay_nothing),
		cmocka_unit_test(runs_of_parked_ticks_are_as_good_as_idle_samples),
		cmocka_unit_test(parked_ticks_cost_nothing),
		cmocka_unit_test(counters_charge_only_the_cpus_that_they_count),
		cmocka_unit_test(readings_without_a_tick_between_lose_no_energy),
		cmocka_unit_test(too_few_readings_tell_nothing),
		cmocka_unit_test(distinct_readings_not_samples_make_the_interval),
		cmocka_unit_test(made_up_ticks_widen_and_cost_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
