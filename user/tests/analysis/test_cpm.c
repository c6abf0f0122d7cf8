// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The constant power model on simulated runs of known truth; its intervals are in
 * test_cpm_intervals.c.
 */
#include <math.h>
#include <string.h>
#include "tests/support/calls.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

/* The worst error of a block's energy in runs of some seeds. */
static double worst_of(struct calls r)
{
	double worst = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct profile_group g[CALLS_BLOCKS];

		calls_run(&r, seed);
		calls_solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++)
			worst = fmax(worst, fabs(g[i].energy[0].j.v / r.joules[i] - 1));
		calls_free(&r);
	}
	return worst;
}

/*
 * A counter that is updated once between two ticks, as those of processors are at 1 kHz, and one
 * that is updated more often: where the code changes in the same interval, part of its energy is in
 * the next window.
 */
TEST(a_window_has_some_of_the_next_block)
{
	static const double ratios[] = { 0.1, 0.3, 0.5, 0.99, 3 };	/* of periods to ticks */

	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		struct calls r = calls_coarse();
		double with, without;

		r.U = ratios[i] * r.T;
		r.lo = 5e-3;
		r.hi = 15e-3;
		without = worst_of(r);
		r.period = r.U;
		with = worst_of(r);
		print_message("%.2f ticks: off by %.2f %%, %.2f %% with whole ticks\n", ratios[i],
			      100 * with, 100 * without);
		assert_true(with < (ratios[i] < 0.5 ? 0.005 : 0.007) && with < 0.8 * without);
	}
}

TEST(coarse_blocks_are_right_within_half_a_percent)
{
	double worst = 0, worst_total = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct calls r = calls_coarse();
		struct profile_group g[CALLS_BLOCKS];
		double sum = 0, truth = 0;

		calls_run(&r, seed);
		calls_solve(&r, CPM_STEPS, 0, g);
		for (unsigned int i = 0; i < r.n_blocks; i++) {
			worst = fmax(worst, fabs(g[i].energy[0].j.v / r.joules[i] - 1));
			sum += g[i].energy[0].j.v;
			truth += r.joules[i];
		}
		worst_total = fmax(worst_total, fabs(sum / truth - 1));
		calls_free(&r);
	}
	print_message("worst block %.2f %%, worst program %.3f %%\n", 100 * worst,
		      100 * worst_total);
	assert_true(worst < 0.005);
	assert_true(worst_total < 0.002);
}

TEST(refinement_takes_the_bias_out)
{
	double plain[2] = { 0 }, refined[2] = { 0 };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		/* calls of 4 periods: the plain model is off by about U / 3L of the difference */
		struct calls r = { .T = 1e-3, .U = 10e-3, .lo = 0.03, .hi = 0.05, .total = 20,
				 .n_blocks = 2, .power = { 1.0, 2.0 } };
		struct profile_group g[CALLS_BLOCKS];

		calls_run(&r, seed);
		calls_solve(&r, 1, 0, g);
		for (int i = 0; i < 2; i++)
			plain[i] += (g[i].energy[0].w.v / r.power[i] - 1) / 20;
		calls_solve(&r, CPM_STEPS, 0, g);
		for (int i = 0; i < 2; i++)
			refined[i] += (g[i].energy[0].w.v / r.power[i] - 1) / 20;
		calls_free(&r);
	}
	print_message("bias %+.2f and %+.2f %%, refined %+.2f and %+.2f %%\n", 100 * plain[0],
		      100 * plain[1], 100 * refined[0], 100 * refined[1]);
	assert_true(plain[0] > 0.01 && plain[1] < -0.005);
	assert_true(fabs(refined[0]) < 0.2 * fabs(plain[0]));
	assert_true(fabs(refined[1]) < 0.2 * fabs(plain[1]));
}

/*
 * Lines of one loop, inseparable in windows, have the loop's power: that of code in another loop,
 * never alone either, is not theirs.
 */
TEST(lines_of_a_loop_have_its_power)
{
	struct calls r = { .T = 1e-3, .U = 10e-3, .lo = 0.1, .hi = 0.3, .total = 30,
			   .n_blocks = 2, .power = { 4.2, 1.4 } };
	struct profile_group g[CALLS_BLOCKS];
	uint64_t seed = 1;

	calls_run(&r, seed);
	for (size_t i = 0; i < r.n_ticks; i++)
		if (rnd_unit(&seed) < 0.1)
			r.ticks[i].block += 2;
	calls_solve(&r, CPM_STEPS, 0, g);
	print_message("%.3f and %.3f W, %.3f and %.3f W\n", g[0].energy[0].w.v, g[2].energy[0].w.v,
		      g[1].energy[0].w.v, g[3].energy[0].w.v);
	assert_true(g[0].energy[0].share > 0.8 && g[2].energy[0].share < 0.2);
	for (int i = 0; i < 2; i++)
		for (int line = i; line < 4; line += 2)
			assert_true(fabs(g[line].energy[0].w.v / r.power[i] - 1) < 0.025);
	calls_free(&r);
}

TEST(short_blocks_are_marked_as_mixed)
{
	struct calls r = { .T = 1e-3, .U = 10e-3, .lo = 2e-3, .hi = 4e-3, .total = 20,
			   .n_blocks = 2, .power = { 1.0, 2.0 } };
	struct calls c = calls_coarse();
	struct profile_group g[CALLS_BLOCKS];

	calls_run(&r, 1);
	calls_solve(&r, CPM_STEPS, 0, g);
	assert_true(g[0].energy[0].share < 0.8);
	/* the mean of both, not an invention outside of them */
	assert_true(g[0].energy[0].w.v > 0.95 && g[1].energy[0].w.v < 2.05);
	calls_free(&r);
	calls_run(&c, 1);
	calls_solve(&c, CPM_STEPS, 0, g);
	assert_true(g[0].energy[0].share > 0.9);
	calls_free(&c);
}

TEST(the_cost_of_ticks_is_taken_out)
{
	struct calls r = calls_coarse();
	struct profile_group g[CALLS_BLOCKS];
	double gross = 0, worst = 0;

	r.T = 1e-3;
	r.cost = 30e-6;		/* 3 % */
	calls_run(&r, 5);
	for (size_t i = 0; i < r.n_ticks; i++)
		r.freq[i] = 1000000;	/* or slow blocks would pay more */
	calls_solve(&r, CPM_STEPS, r.cost, g);
	for (unsigned int i = 0; i < r.n_blocks; i++) {
		struct profile_group net = g[i];

		assert_true(fabs(g[i].ticks_s - g[i].samples * r.cost) < 1e-9);
		profile_net(&net, 1);
		gross = fmax(gross, fabs(g[i].time_s.v / r.time[i] - 1));
		worst = fmax(worst, fabs(net.time_s.v / r.time[i] - 1));
		/* ticks spend nothing here: irq_w is 0 */
		assert_true(fabs(net.energy[0].w.v / r.power[i] - 1) < 0.005);
	}
	print_message("time off by %.2f %%, with the cost taken out %.2f %%\n", 100 * gross,
		      100 * worst);
	assert_true(gross > 0.02);
	assert_true(worst < 0.004);
	calls_free(&r);
}

/*
 * Where ticks follow more callers they take longer: of each block what its own took is taken out.
 */
TEST(ticks_that_take_longer_are_taken_out_where_they_fell)
{
	static const float longer[CALLS_BLOCKS] = { 0.4, 1.6, 0.7, 1.3, 1 };
	struct calls r = calls_coarse();
	struct profile_group g[CALLS_BLOCKS], alike[CALLS_BLOCKS];
	double worst = 0, without = 0;

	r.cost = 60e-6;
	r.irq_w = 4;
	r.longer = longer;
	calls_run(&r, 5);
	for (size_t i = 0; i < r.n_ticks; i++)
		r.freq[i] = 1000000;
	calls_solve(&r, CPM_STEPS, r.cost, g);
	r.longer = NULL;
	calls_solve(&r, CPM_STEPS, r.cost, alike);
	for (unsigned int i = 0; i < r.n_blocks; i++) {
		assert_true(fabs(g[i].ticks_s - g[i].samples * r.cost * longer[i]) < 1e-6);
		profile_net(&g[i], 1);
		profile_net(&alike[i], 1);
		worst = fmax(worst,
			     fmax(fabs(g[i].time_s.v / r.time[i] - 1),
				  fabs(g[i].energy[0].j.v / r.joules[i] - 1)));
		without = fmax(without, fabs(alike[i].energy[0].j.v / r.joules[i] - 1));
	}
	print_message("off by at most %.2f %%, %.2f %% if all were alike\n", 100 * worst,
		      100 * without);
	assert_true(without > 0.05);
	assert_true(worst < 0.01);
	calls_free(&r);
}

/*
 * Half of the ticks at 25 MHz, half at 100. A tick takes 50 us at their harmonic mean of
 * 40 MHz, so 80 and 20 us: what is left of each millisecond is 0.92 and 0.98 of it.
 */
TEST(mean_frequency_is_over_the_time_that_is_left)
{
	struct cpm_tick ticks[1000];
	uint32_t freq[1000];
	struct calls r = { .T = 1e-3, .ticks = ticks, .freq = freq, .n_ticks = 1000 };
	struct cpm_reading readings[] = { { 0, 0 }, { 500, 1000 }, { 1000, 2000 } };
	struct profile_group g[CALLS_BLOCKS];

	for (uint32_t i = 0; i < 1000; i++) {
		ticks[i] = (struct cpm_tick){ .tick = i };
		freq[i] = i % 2 ? 25000 : 100000;
	}
	r.readings = readings;
	r.n_readings = 3;
	calls_solve(&r, CPM_STEPS, 50e-6, g);
	assert_true(fabs(g[0].khz.v - (25000 * 0.92 + 100000 * 0.98) / 1.9) < 1);
	assert_true(fabs(g[0].ticks_s - 0.05) < 1e-9);
}

static struct profile_group streams_of_two(const struct cpm_tick *a, size_t na,
					 const struct cpm_tick *b, size_t nb,
					 const struct cpm_reading *readings, size_t n,
					 uint64_t end, uint32_t block)
{
	static const uint32_t none[1000];
	struct profile_stream streams[2] =
		{ { .stream = { .ticks = a, .n = na }, .freq_khz = none },
		  { .stream = { .ticks = b, .n = nb }, .freq_khz = none } };
	struct profile_package package = { .readings = { readings }, .n_readings = { n } };
	struct profile_input in = {
		.interval_ns = 1e9, .end_tick = end, .n_streams = 2, .streams = streams,
		.n_packages = 1,
		.packages = &package, .n_domains = 1, .n_blocks = CALLS_BLOCKS,
		.kinds = calls_kinds,
		.unsampled_block = CALLS_IDLE, .steps = 1, .other = 0.01 };
	struct profile_group g[CALLS_BLOCKS];

	blocks_solve(&in, g);
	return g[block];
}

TEST(busy_cpus_share_and_idle_ones_pay_nothing)
{
	/* ticks:   0    1    2    3    4    5    6    7
	 * CPU 0:   A    A    A    A    i    i    A    A
	 * CPU 1:   i    i    B    B    i    i    -    -
	 * energy:  |----2 J--|----6 J--|-1 J----|---3 J--|
	 */
	static const struct cpm_tick a[] = { RAN(0, 0), RAN(1, 0), RAN(2, 0), RAN(3, 0),
		RAN(4, CALLS_IDLE), RAN(5, CALLS_IDLE), RAN(6, 0), RAN(7, 0) };
	static const struct cpm_tick b[] = { RAN(0, CALLS_IDLE), RAN(1, CALLS_IDLE), RAN(2, 1),
		RAN(3, 1), RAN(4, CALLS_IDLE), RAN(5, CALLS_IDLE) };
	/* a window more in front: the first one is never believed */
	struct cpm_tick shifted[2][16];
	static const struct cpm_reading readings[] = { { 0, 0 }, { 4, 9000000 }, { 6, 11000000 },
		{ 8, 17000000 }, { 10, 18000000 }, { 12, 21000000 } };
	double sum = 0;

	for (int i = 0; i < 8; i++)
		shifted[0][i] = RAN(a[i].tick + 4, a[i].block);
	for (int i = 0; i < 6; i++)
		shifted[1][i] = RAN(b[i].tick + 4, b[i].block);
	assert_true(fabs(streams_of_two(shifted[0], 8, shifted[1], 6, readings, 6, 12, 0)
			 .energy[0].j.v - (2 + 3 + 3)) < 1e-9);
	assert_true(fabs(streams_of_two(shifted[0], 8, shifted[1], 6, readings, 6, 12, 1)
			 .energy[0].j.v - 3) < 1e-9);
	/* 1 J, and the first window at the mean power of what was idle: 4 ticks of 0.5 J */
	assert_true(fabs(streams_of_two(shifted[0], 8, shifted[1], 6, readings, 6, 12, CALLS_IDLE)
			 .energy[0].j.v - (1 + 2)) < 1e-9);
	for (uint32_t i = 0; i < CALLS_BLOCKS; i++)
		sum += streams_of_two(shifted[0], 8, shifted[1], 6, readings, 6, 12, i)
		       .energy[0].j.v;
	assert_true(fabs(sum - 14) < 1e-9);
}

/* A block's figures must not depend on whether ticks come one by one or as runs. */
TEST(skipped_ticks_count_as_idle_samples)
{
	enum { LONG = 1000 };
	static struct cpm_tick one[LONG], single[LONG], run[3];
	struct cpm_reading readings[12];
	size_t n_one = 0;

	/* CPU 0 is busy now and then, CPU 1 idle for 600 ticks, busy for 100, idle again */
	for (uint32_t i = 0; i < LONG; i++) {
		if (i % 50 < 20)
			one[n_one++] = RAN(i, i % 3);
		single[i] = RAN(i, i >= 600 && i < 700 ? 3 : CALLS_IDLE);
		/* as samples these would cost a tick each */
		single[i].interpolated = true;
	}
	run[0] = (struct cpm_tick){ .tick = 0, .block = CALLS_IDLE, .skipped = true, .more = 599 };
	run[1] = (struct cpm_tick){ .tick = 600, .block = 3, .interpolated = true, .more = 99 };
	run[2] = (struct cpm_tick){ .tick = 700, .block = CALLS_IDLE, .skipped = true,
				    .more = LONG - 701 };
	for (int i = 0; i < 12; i++)
		readings[i] = (struct cpm_reading){ 50 + i * LONG / 12, i * i * 1000000ull };
	for (uint32_t block = 0; block < CALLS_BLOCKS; block++) {
		struct profile_group a = streams_of_two(one, n_one, single, LONG, readings, 12,
							LONG, block);
		struct profile_group b = streams_of_two(one, n_one, run, 3, readings, 12,
							LONG, block);

		assert_true(fabs(a.time_s.v - b.time_s.v) < 1e-9);
		assert_true(fabs(a.energy[0].j.v - b.energy[0].j.v) < 1e-9);
		assert_true(fabs(a.energy[0].share - b.energy[0].share) < 1e-9);
		assert_int_equal(a.samples, b.samples);
		assert_true(fabs(a.other_s - b.other_s) < 1e-9);
		if (block == CALLS_IDLE)
			assert_true(b.time_s.v == LONG - 100);
	}
}

/* 1 W while idle, 1000 ticks of 1 ms; a tick costs 100 us at 10 W: 1 uJ a nanosecond too much. */
static struct profile_group idle_second(bool skipped, double *left_out)
{
	static struct cpm_tick ticks[1000];
	struct cpm_reading readings[11];
	struct profile_stream stream = { .stream = { .ticks = ticks, .n = 1000 },
					 .freq_khz = (uint32_t[1000]){ 0 }, .tick_ns = 100000,
					 .idle_tick_ns = 100000 };
	struct profile_package package = { .readings = { readings }, .n_readings = { 11 } };
	struct profile_input in = {
		.interval_ns = 1e6, .end_tick = 1000, .n_streams = 1, .streams = &stream,
		.n_packages = 1, .packages = &package, .n_domains = 1, .n_blocks = CALLS_BLOCKS,
		.kinds = calls_kinds, .unsampled_block = CALLS_IDLE, .steps = 1, .irq_w = { 10 },
		.idle_uj = { NAN } };
	struct profile_group g[CALLS_BLOCKS];

	for (uint32_t i = 0; i < 1000; i++)
		ticks[i] = RAN(i, CALLS_IDLE);
	if (skipped) {
		ticks[0] = (struct cpm_tick){ .block = CALLS_IDLE, .skipped = true, .more = 999 };
		stream.stream.n = 1;
	}
	for (int i = 0; i < 11; i++)
		readings[i] = (struct cpm_reading){ 100 * i, 200000 * i };
	blocks_solve(&in, g);
	*left_out = g[CALLS_IDLE].ticks_s;
	profile_net(&g[CALLS_IDLE], 1);
	return g[CALLS_IDLE];
}

TEST(skipped_ticks_cost_nothing)
{
	double ticks_s;
	struct profile_group g = idle_second(false, &ticks_s);

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
TEST(counters_charge_only_the_cpus_that_they_count)
{
	static struct cpm_tick a[100], b[100];
	static const struct cpm_reading first[] = { { 0, 0 }, { 50, 5000000 }, { 100, 10000000 } };
	static const struct cpm_reading second[] = { { 0, 0 }, { 50, 1000000 }, { 100, 2000000 } };
	static const struct cpm_reading machine[] = { { 0, 0 }, { 50, 9000000 },
						      { 100, 18000000 } };
	struct profile_stream streams[2] =
		{ { .stream = { .ticks = a, .n = 100 }, .freq_khz = (uint32_t[100]){ 0 } },
		  { .stream = { .ticks = b, .n = 100 }, .freq_khz = (uint32_t[100]){ 0 } } };
	struct profile_package packages[3] = {
		{ .streams = (uint32_t[]){ 0 }, .n_streams = 1, .readings = { first },
		  .n_readings = { 3 } },
		{ .streams = (uint32_t[]){ 1 }, .n_streams = 1, .readings = { second },
		  .n_readings = { 3 } },
		{ .streams = (uint32_t[]){ 0, 1 }, .n_streams = 2, .readings = { NULL, machine },
		  .n_readings = { 0, 3 } } };
	struct profile_input in = {
		.interval_ns = 1e9, .end_tick = 100, .n_streams = 2, .streams = streams,
		.n_packages = 3,
		.packages = packages, .n_domains = 2, .n_blocks = CALLS_BLOCKS,
		.kinds = calls_kinds,
		.unsampled_block = CALLS_IDLE, .steps = CPM_STEPS, .irq_w = { NAN, NAN } };
	uint32_t group_of[CALLS_BLOCKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct profile_group g[CALLS_BLOCKS];
	struct profile *p;

	for (uint32_t i = 0; i < 100; i++) {
		a[i] = RAN(i, 0);
		b[i] = RAN(i, 1);
	}
	assert_int_equal(profile_new(&in, &p), 0);
	assert_int_equal(profile_groups(p, group_of, CALLS_BLOCKS, g), 0);
	assert_true(fabs(g[0].energy[0].j.v - 10) < 1e-6);
	assert_true(fabs(g[1].energy[0].j.v - 2) < 1e-6);
	assert_true(fabs(g[0].energy[1].j.v - 9) < 1e-6);
	assert_true(fabs(g[1].energy[1].j.v - 9) < 1e-6);
	profile_free(p);
}

/* Unseen work between two ticks: its energy is not dropped. */
TEST(readings_without_a_tick_between_lose_no_energy)
{
	static struct cpm_tick a[40];
	static const struct cpm_reading readings[] = { { 0, 0 }, { 10, 1000000 }, { 10, 1500000 },
		{ 10, 2000000 }, { 30, 4000000 }, { 30, 6000000 }, { 40, 7000000 } };
	double sum = 0;

	for (uint32_t i = 0; i < 40; i++)
		a[i] = RAN(i, i < 10 ? 0 : 1);
	for (uint32_t i = 0; i < CALLS_BLOCKS; i++)
		sum += streams_of_two(a, 40, NULL, 0, readings, 7, 40, i).energy[0].j.v;
	/* the first window is never believed: ten ticks at 1's power, 5 J in 30 ticks */
	assert_true(fabs(sum - (5 + 0.5 / 3 * 10)) < 1e-6);
	assert_true(fabs(streams_of_two(a, 40, NULL, 0, readings, 7, 40, 1).energy[0].j.v - 5) <
		    1e-6);
}

TEST(too_few_readings_give_no_figure)
{
	struct calls r = calls_coarse();
	struct profile_group g[CALLS_BLOCKS];

	r.total = 1;
	calls_run(&r, 1);
	r.n_readings = 1;
	calls_solve(&r, CPM_STEPS, 0, g);
	for (unsigned int i = 0; i < r.n_blocks; i++) {
		assert_true(isnan(g[i].energy[0].j.v));
		assert_true(isnan(g[i].energy[0].w.v));
	}
	r.n_readings = 0;
	calls_solve(&r, CPM_STEPS, 0, g);
	assert_true(isnan(g[0].energy[0].j.v));
	calls_free(&r);
}
