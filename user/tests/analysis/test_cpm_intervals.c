// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals of the constant power model, on simulated runs of known truth: coverage and width. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/support/calls.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

/* How far off what interrupts took of a block may be is in its interval, whatever its frequency. */
TEST(unsure_costs_widen_intervals)
{
	static const float longer[CALLS_BLOCKS] = { 1, 1, 1, 1, 1 };
	struct profile_group sure[CALLS_BLOCKS], unsure[CALLS_BLOCKS];
	struct calls r = calls_coarse();

	r.longer = longer;
	calls_run(&r, 3);
	calls_solve(&r, CPM_STEPS, 1e-5, sure);
	r.shifted = 0.02f;
	calls_solve(&r, CPM_STEPS, 1e-5, unsure);
	for (unsigned int i = 0; i < r.n_blocks; i++)
		assert_true(fabs(unsure[i].off_s -
				 hypot(sure[i].off_s, 0.02 * sure[i].samples * r.T)) < 1e-6);
	r.shifted = 0;
	r.variance = 0.01f;
	calls_solve(&r, CPM_STEPS, 1e-5, unsure);
	for (unsigned int i = 0; i < r.n_blocks; i++)
		assert_true(fabs(unsure[i].off_s -
				 hypot(sure[i].off_s, sqrt(0.01 * sure[i].samples) * r.T)) < 1e-6);
	calls_free(&r);
}

TEST(intervals_cover_the_truth_often_enough)
{
	unsigned int in_time = 0, in_energy = 0, in_power = 0, in_freq = 0, n = 0;
	bool quick = getenv("KJOULE_TEST_QUICK");
	double least = quick ? 0.75 : 0.92;	/* of 50 or of 500 */

	for (uint64_t seed = 100; seed < (quick ? 110 : 200); seed++) {
		struct calls r = calls_coarse();
		struct profile_group g[CALLS_BLOCKS];

		r.total = 20;
		calls_run(&r, seed);
		calls_solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++, n++) {
			in_time += r.time[i] >= g[i].time_s.lo && r.time[i] <= g[i].time_s.hi;
			in_energy += r.joules[i] >= g[i].energy[0].j.lo &&
				     r.joules[i] <= g[i].energy[0].j.hi;
			in_power += r.power[i] >= g[i].energy[0].w.lo &&
				    r.power[i] <= g[i].energy[0].w.hi;
			in_freq += 1000 + i >= g[i].khz.lo && 1000 + i <= g[i].khz.hi;
		}
		calls_free(&r);
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

static void check_coverage(const char *what, const struct coverage *c, double least, double widest)
{
	print_message("  %s: %.1f %% inside, %.2f spreads wide\n", what, 100. * c->inside / c->n,
		      widths(c));
	assert_true(c->n > least && c->inside >= 0.93 * c->n && widths(c) < widest);
}

/*
 * A counter updated every 2 ms, two ticks to that: what scripts/bench coverage measures on the
 * chip.
 */
static void check_short(double seconds, unsigned int n_blocks, double period, unsigned int runs,
			double widest)
{
	struct coverage time = { 0 }, power = { 0 }, energy = { 0 };
	double least = 0.66 * n_blocks * runs;

	for (uint64_t seed = 1; seed <= runs; seed++) {
		struct calls r = { .T = 1e-3, .U = 2e-3, .lo = 0.02, .hi = 0.06, .total = seconds,
				   .jitter = 0.7, .period = period, .n_blocks = n_blocks,
				   .power = { 4.1, 1.4, 3.2, 4.2, 3.4, 2.4 } };
		struct profile_group g[CALLS_BLOCKS];

		calls_run(&r, seed);
		calls_solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++) {
			const struct profile_energy *e = &g[i].energy[0];

			if (r.time[i] < 0.05 * r.total)
				continue;
			cover(&time, &g[i].net_s, r.time[i]);
			cover(&power, &e->net_w, r.power[i]);
			cover(&energy, &e->net_j, r.joules[i]);
		}
		calls_free(&r);
	}
	print_message("%g s, %u blocks, a period of %g s:\n", seconds, n_blocks, period);
	check_coverage("time", &time, least, 1.5);
	check_coverage("power", &power, least, widest);
	check_coverage("energy", &energy, least, widest);
}

/* In half a second a block of six has some forty windows: few batches, and short. */
TEST(intervals_of_short_recordings_cover_and_are_not_too_wide)
{
	check_short(0.5, 6, 0, 2000, 2);
	check_short(1, 3, 0, 1000, 1.5);
	check_short(4, 6, 0, 500, 1.5);
	check_short(1, 3, 2e-3, 1000, 1.6);
	check_short(4, 6, 2e-3, 500, 1.3);
}

/*
 * A block that draws as its neighbours moves little at first, and no less later: that is no bias.
 */
TEST(no_block_has_a_bias_by_chance)
{
	double most = 0;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct calls r = { .T = 2e-3, .U = 10e-3, .lo = 0.1, .hi = 0.3, .total = 10,
				   .n_blocks = 6, .power = { 4.1, 1.4, 3.2, 4.2, 3.4, 2.4 } };
		struct profile_group g[CALLS_BLOCKS];

		calls_run(&r, seed);
		calls_solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++)
			if (r.time[i] > 0.05 * r.total)
				most = fmax(most, g[i].energy[0].bias_j / r.joules[i]);
		calls_free(&r);
	}
	print_message("%.2f %% at most\n", 100 * most);
	assert_true(most < 0.002);
}

#define TIMES	400

/*
 * How many of TIMES intervals cover the true time of two blocks, and the first one's width in
 * spreads of its error.
 */
struct paused {
	unsigned int first, second;
	double width;
};

/*
 * Samples of block 0 for two seconds, and of block 1: a part of them, or pieces of so many ticks.
 */
static struct paused interrupt_now_and_then(double part, double piece)
{
	static const uint32_t blocks[] = { 0, 1 };
	struct cpm_tick ticks[2000];
	struct cpm_stream stream = { .ticks = ticks, .n = 2000 };
	uint64_t state_of_dice = 5;
	double squares = 0, half = 0;
	struct paused paused = { 0 };

	for (unsigned int i = 0; i < TIMES; i++) {
		double begin = 1900, end = 0, true_ticks = piece > 0 ? 0 : part * 2000, first;
		struct time_sum sums[2];
		struct value v[2];

		for (unsigned int k = 0; k < 2000; k++) {
			bool hit = rnd_unit(&state_of_dice) < part;

			if (piece > 0) {
				if (k > end) {
					begin = k + 10 + 40 * rnd_unit(&state_of_dice);
					end = begin +
					      piece * (0.7 + 0.6 * rnd_unit(&state_of_dice));
					true_ticks += end < 2000 ? end - begin : 0;
				}
				hit = k >= begin && k < end && end < 2000;
			}
			ticks[k] = (struct cpm_tick){ .tick = k, .block = hit };
		}
		assert_int_equal(interval_times(&stream, 1, 2000, 0, blocks, 2, sums), 0);
		for (unsigned int b = 0; b < 2; b++)
			v[b] = interval_time(&sums[b]);
		first = 2000 - true_ticks;
		paused.first += v[0].lo <= first && first <= v[0].hi;
		paused.second += v[1].lo <= true_ticks && true_ticks <= v[1].hi;
		squares += (v[0].v - first) * (v[0].v - first) / TIMES;
		half += (v[0].hi - v[0].lo) / 2 / TIMES;
	}
	paused.width = half / 1.96 / sqrt(squares);
	return paused;
}

/* What is met by chance is binomial, however rare; pieces of a few ticks have edges. */
TEST(short_gaps_are_pieces_or_chance)
{
	static const double rare[] = { 0.003, 0.01, 0.03, 0.1, 0.3 };
	struct paused paused;

	for (unsigned int i = 0; i < 5; i++) {
		paused = interrupt_now_and_then(rare[i], 0);
		print_message("%g of the ticks: %u and %u, %.2f spreads wide\n", rare[i],
			      paused.first, paused.second, paused.width);
		assert_true(paused.first >= 0.92 * TIMES && paused.second >= 0.92 * TIMES);
	}
	paused = interrupt_now_and_then(0, 3);
	print_message("pieces of 3 ticks: %u and %u, %.2f spreads wide\n", paused.first,
		      paused.second, paused.width);
	assert_true(paused.first >= 0.92 * TIMES && paused.second >= 0.92 * TIMES);
	assert_true(paused.width < 1.3);
}

TEST(fine_blocks_have_binomial_times)
{
	unsigned int in_time = 0, n = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct calls r = { .T = 1e-3, .U = 10e-3, .lo = 1e-5, .hi = 1e-4, .total = 2,
				 .n_blocks = 3, .power = { 1, 2, 3 } };
		struct profile_group g[CALLS_BLOCKS];

		calls_run(&r, seed);
		calls_solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++, n++)
			in_time += r.time[i] >= g[i].time_s.lo && r.time[i] <= g[i].time_s.hi;
		calls_free(&r);
	}
	print_message("%u of %u\n", in_time, n);
	assert_true(in_time > 0.9 * n);
}

/*
 * A tick costs 3 % of the time at twice to four times the blocks' power. The calibrated cost is off
 * by up to @most, which the calibration reports; 0: it does not.
 */
static void solve_with_calibration_off(double said, double most)
{
	unsigned int n = 0, energy = 0, power = 0, time = 0;
	uint64_t state_of_dice = 11;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct calls r = calls_coarse();
		struct profile_group g[CALLS_BLOCKS];
		double cost = 30e-6, irq_w = 4, off = 1 + most * (2 * rnd_unit(&state_of_dice) - 1);

		r.cost = cost;
		r.irq_w = irq_w;
		r.calibration_error = said;
		calls_run(&r, seed);
		for (size_t i = 0; i < r.n_ticks; i++)
			r.freq[i] = 1000000;
		calls_solve(&r, CPM_STEPS, cost * off, g);
		for (unsigned int i = 0; i < r.n_blocks; i++, n++) {
			profile_net(&g[i], 1);
			time += g[i].time_s.lo <= r.time[i] && r.time[i] <= g[i].time_s.hi;
			energy += g[i].energy[0].j.lo <= r.joules[i] &&
				  r.joules[i] <= g[i].energy[0].j.hi;
			power += g[i].energy[0].w.lo <= r.power[i] &&
				 r.power[i] <= g[i].energy[0].w.hi;
		}
		calls_free(&r);
	}
	print_message("of %u truths inside: time %u, energy %u, power %u\n", n, time,
		      energy, power);
	assert_true(time >= 0.93 * n && energy >= 0.93 * n && power >= 0.93 * n);
}

TEST(intervals_cover_with_a_wrong_calibration)
{
	solve_with_calibration_off(0.15, 0.14);
	solve_with_calibration_off(0, 0.93 * PROFILE_CALIBRATION_ERROR);
}

TEST(distinct_readings_not_samples_make_the_interval)
{
	struct calls few = calls_coarse(), many;
	struct profile_group g[CALLS_BLOCKS], h[CALLS_BLOCKS];

	few.total = 10;
	calls_run(&few, 9);
	calls_solve(&few, CPM_STEPS, 0, g);
	/* ten times as many samples of the same readings */
	many = few;
	many.T = 1e-4;
	many.total = 10;
	calls_run(&many, 9);
	calls_solve(&many, CPM_STEPS, 0, h);
	for (unsigned int i = 0; i < few.n_blocks; i++)
		assert_true(h[i].energy[0].readings < 1.1 * g[i].energy[0].readings + 5);
	assert_true(h[0].samples > 8 * g[0].samples);
	calls_free(&few);
	calls_free(&many);
}

TEST(interpolated_ticks_widen_and_cost_nothing)
{
	struct cpm_tick t[40], u[40];
	struct cpm_stream stream = { .ticks = t, .n = 40 };
	uint32_t group_of[CALLS_BLOCKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct time_sum sums[CALLS_BLOCKS];
	double before;

	for (int i = 0; i < 40; i++)
		t[i] = RAN(i, i >= 20);
	interval_times(&stream, 1, 40, 0, group_of, CALLS_BLOCKS, sums);
	before = sums[0].variance;
	assert_true(sums[0].ticks == 20 && sums[0].real == 20);
	memcpy(u, t, sizeof(u));
	for (int i = 16; i < 24; i++)
		u[i].interpolated = true;
	stream.ticks = u;
	interval_times(&stream, 1, 40, 0, group_of, CALLS_BLOCKS, sums);
	assert_true(sums[0].ticks == 20 && sums[0].real == 16);
	assert_true(fabs(sums[0].variance - before - 64.0 / 12) < 1e-9);
	/* inside one block nothing is uncertain */
	for (int i = 0; i < 40; i++)
		u[i] = (struct cpm_tick){ .tick = i, .block = i >= 20, .interpolated = i >= 5 &&
					  i < 15 };
	interval_times(&stream, 1, 40, 0, group_of, CALLS_BLOCKS, sums);
	assert_true(fabs(sums[0].variance - before) < 1e-9);
}
