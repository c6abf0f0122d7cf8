// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The mixture model on simulated runs of known truth. With KJOULE_MIXTURE_TABLE=RUNS in the
 * environment the table of Documentation/accuracy.rst is printed instead, of so many runs for each
 * line.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/mixture/mixture_runs.h"
#include "analysis/profile/model.h"
#include "analysis/profile/separability.h"
#include "tests/support/alternating.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define TRIES	40000

/*
 * The programs that the model is for: blocks of 0.3 to 0.5 of the update period, powers as in the
 * paper.
 */
static const struct alternating programs[] = {
	{ .n_blocks = 2, .length = { 0.4, 0.4 }, .varies = 0.02, .power_w = { 1.68, 2.54 } },
	{ .n_blocks = 2, .length = { 0.43, 0.37 }, .varies = 0.02, .power_w = { 1.68, 2.54 } },
	{ .n_blocks = 2, .length = { 0.4, 0.4 }, .varies = 0.1, .power_w = { 1.68, 2.54 } },
	{ .n_blocks = 3, .length = { 0.3, 0.4, 0.5 }, .varies = 0.02,
	  .power_w = { 1.68, 2.54, 2.0 } },
	{ .n_blocks = 3, .length = { 0.3, 0.4, 0.5 }, .varies = 0.02,
	  .power_w = { 1.68, 2.54, 2.0 }, .order = ALTERNATING_RANDOM },
	{ .n_blocks = 3, .length = { 0.3, 0.4, 0.5 }, .power_w = { 1.68, 2.54, 2.0 },
	  .order = ALTERNATING_MEMORYLESS },
};

#define PROGRAMS	(sizeof(programs) / sizeof(programs[0]))

static struct alternating program(size_t i, double ticks, double jitter, double total_s)
{
	struct alternating a = programs[i];

	a.period_s = 10e-3;
	a.ticks = ticks;
	a.jitter = jitter;
	a.total_s = total_s;
	return a;
}

/* What is wrong with several runs of a program. */
struct errors {
	double worst, cpm;			/* of any energy, both models */
	double mean[ALTERNATING_BLOCKS];	/* of each block's energy */
	double squares, half;			/* of the errors and of the intervals, means */
	unsigned int n, inside;
	bool cpm_too;
};

static void add_run(const struct alternating *a, struct errors *e, unsigned int runs)
{
	struct profile_group g[ALTERNATING_BLOCKS + 1];

	alternating_solve(a, PROFILE_MIXTURE, g);
	for (unsigned int b = 0; b < a->n_blocks; b++) {
		double off = g[b].energy[0].j.v / a->true_j[b] - 1;

		e->worst = fmax(e->worst, fabs(off));
		e->mean[b] += off / runs;
		e->squares += off * off;
		e->half += (g[b].energy[0].j.hi - g[b].energy[0].j.lo) / 2 / a->true_j[b];
		e->inside += g[b].energy[0].j.lo <= a->true_j[b] &&
			     a->true_j[b] <= g[b].energy[0].j.hi;
		e->n++;
	}
	if (!e->cpm_too)
		return;
	alternating_solve(a, PROFILE_CPM, g);
	for (unsigned int b = 0; b < a->n_blocks; b++)
		e->cpm = fmax(e->cpm, fabs(g[b].energy[0].j.v / a->true_j[b] - 1));
}

static struct errors runs_of(struct alternating a, unsigned int runs, uint64_t seed, bool cpm_too)
{
	struct errors e = { .cpm_too = cpm_too };

	for (unsigned int i = 0; i < runs; i++) {
		alternating_run(&a, seed + i);
		add_run(&a, &e, runs);
		alternating_free(&a);
	}
	return e;
}

static bool quick(void)
{
	return getenv("KJOULE_TEST_QUICK");
}

TEST(alternating_blocks_are_right_within_5_percent)
{
	double worst = 0, cpm = 1, by_chance = 0;

	for (size_t i = 0; i < PROGRAMS; i++) {
		for (int jitter = 0; jitter <= 1; jitter++) {
			struct errors e = runs_of(program(i, 10, jitter, 60), quick() ? 1 : 20,
						  1 + 1000 * i, true);

			worst = fmax(worst, e.worst);
			/* a run of a whole period by chance shows its power there */
			if (programs[i].order == ALTERNATING_MEMORYLESS)
				by_chance = fmax(by_chance, e.cpm);
			else
				cpm = fmin(cpm, e.cpm);
		}
	}
	print_message("worst of all %.2f %%, by constant power at least %.1f %%, of exponential lengths %.1f %% at most\n",
		      100 * worst, 100 * cpm, 100 * by_chance);
	assert_true(worst < 0.04);
	assert_true(cpm > (quick() ? 0.06 : 0.15));
	assert_true(by_chance < 0.05);
}

/* Least squares without the correction is off by 4 to 40 % here. */
TEST(sampling_does_not_pull_powers_together)
{
	double worst = 0;

	for (size_t i = 0; i < PROGRAMS && !quick(); i++) {
		for (int jitter = 0; jitter <= 1; jitter++) {
			struct errors e = runs_of(program(i, 10, jitter, 60), 30,
						  5000 + 1000 * i, false);

			for (unsigned int b = 0; b < programs[i].n_blocks; b++)
				worst = fmax(worst, fabs(e.mean[b]));
		}
	}
	print_message("mean of 30 recordings at most %.2f %% off\n", 100 * worst);
	assert_true(worst < 0.008);
}

/*
 * 2,016 recordings of 30 s: how often the truth lies inside, and how wide intervals are against
 * energies' spread.
 */
TEST(intervals_cover_and_are_not_too_wide)
{
	unsigned int n = 0, inside = 0, recordings = 0, runs = quick() ? 1 : 84;
	double width = 0, widest = 0;

	for (size_t i = 0; i < PROGRAMS; i++) {
		for (int k = 0; k < 4; k++) {
			struct errors e = runs_of(program(i, k & 1 ? 20 : 10, k / 2, 30), runs,
						  100000 + 1000 * (4 * i + k), false);
			double ratio = e.half / e.n / (1.96 * sqrt(e.squares / e.n));

			n += e.n;
			inside += e.inside;
			recordings += runs;
			width += ratio / (4 * PROGRAMS);
			widest = fmax(widest, ratio);
			/*
			 * of some 200 truths: what 93 % of them would not fall below but once in a
			 * thousand
			 */
			assert_true(e.inside >= (quick() ? 0 : 0.88 * e.n));
		}
	}
	print_message("%u recordings: %u of %u truths inside; %.2f times as wide as energies spread, at most %.2f times\n",
		      recordings, inside, n, width, widest);
	if (quick())
		return;
	assert_true(inside >= 0.93 * n);
	assert_true(width < 1.5);
}

/* The energies of all blocks add up to the counter's. */
TEST(energies_add_up_to_what_was_measured)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		struct alternating a = program(i, 10, 0, 10);
		struct profile_group g[2][ALTERNATING_BLOCKS + 1];
		double sum[2] = { 0 }, half = 0;
		struct alternating_input in;
		unsigned int one;
		struct profile *p;

		alternating_run(&a, i);
		alternating_input(&a, PROFILE_MIXTURE, &in);
		assert_int_equal(profile_new(&in.in, &p), 0);
		alternating_solve(&a, PROFILE_CPM, g[0]);
		alternating_solve(&a, PROFILE_MIXTURE, g[1]);
		for (unsigned int b = 0; b < a.n_blocks; b++) {
			sum[0] += g[0][b].energy[0].j.v;
			sum[1] += g[1][b].energy[0].j.v;
			half += g[1][b].energy[0].j.hi - g[1][b].energy[0].j.v;
			assert_true(isnan(g[1][b].energy[0].share));
			/* and a block's is its power times its time */
			one = 0;
			for (uint32_t c = 0; c < profile_mixture(p, 0, 0)->n_classes; c++)
				one += fabs(profile_mixture(p, 0, 0)->uj_per_tick[c] * 1e-6 /
					    a.interval_s / g[1][b].energy[0].w.v - 1) < 1e-6;
			assert_int_equal(one, 1);
		}
		profile_free(p);
		free((void *)in.stream.freq_khz);
		/* but for the first and the last window, which are not known */
		assert_true(fabs(sum[1] / sum[0] - 1) < 0.002);
		assert_true(half > 0);
		alternating_free(&a);
	}
}

/*
 * Counts of ticks in runs of one length, and in two that follow each other: the formula against
 * dice.
 */
TEST(errors_of_edges_have_the_reported_covariance)
{
	static const double lengths[] = { 3, 3.25, 4.5, 7.9 };
	static const double jitters[] = { 0, 0.5, 1 };
	uint64_t dice = 7;

	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		for (size_t j = 0; j < sizeof(jitters) / sizeof(jitters[0]); j++) {
			double sum = 0, squares = 0, variance, told;

			for (int i = 0; i < TRIES; i++) {
				double begin = 10 + rnd_unit(&dice), end = begin + lengths[l],
				n = 0;

				for (int k = 8; k < 22; k++) {
					double at = k + jitters[j] * rnd_unit(&dice);

					n += at >= begin && at < end;
				}
				sum += n;
				squares += n * n;
			}
			variance = squares / TRIES - sum / TRIES * sum / TRIES;
			told = 2 *
			       ((1 + jitters[j] * jitters[j]) / 12 -
				mixture_covariance(lengths[l], 0, jitters[j]));
			if (fabs(sum / TRIES - lengths[l]) > 0.01 || fabs(variance - told) > 0.012)
				print_message("length %g, jitter %g: mean %g, variance %g, reported %g\n",
					      lengths[l], jitters[j], sum / TRIES, variance, told);
			assert_true(fabs(sum / TRIES - lengths[l]) < 0.01);
			assert_true(fabs(variance - told) < 0.012);
		}
	}
	assert_true(fabs(mixture_covariance(4.3, 1, 0)) < 1e-9);
}

static struct separation separate(const struct alternating *a)
{
	struct alternating_input in;
	uint32_t pools[ALTERNATING_BLOCKS + 1] = { 0 };
	struct separation s;
	struct profile *p;

	alternating_input(a, PROFILE_CPM, &in);
	assert_int_equal(profile_new(&in.in, &p), 0);
	assert_int_equal(separability_new(p, &in.in, pools, &s), 0);
	profile_free(p);
	free((void *)in.stream.freq_khz);
	return s;
}

TEST(separable_blocks_are_separated)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		struct alternating a = program(i, 10, 1, 60);
		struct separation s;

		alternating_run(&a, 3 + i);
		s = separate(&a);
		assert_int_equal(s.why, SEPARABILITY_DONE);
		for (unsigned int b = 0; b < a.n_blocks; b++) {
			assert_int_equal(s.unit_of[b], b);
			assert_int_equal(s.fate[b], SEPARABILITY_ALONE);
		}
		separability_free(&s);
		alternating_free(&a);
	}
}

/* 0 and 1 run for little more than a tick, one after the other, 2 is long: 0 and 1 are one. */
TEST(blocks_too_short_for_the_ticks_are_merged_by_name)
{
	struct alternating a = { .n_blocks = 3, .length = { 0.11, 0.12, 0.5 }, .varies = 0.3,
				 .power_w = { 1, 4, 2 }, .period_s = 10e-3, .ticks = 10,
				 .jitter = 1, .total_s = 60 };
	struct separation s;

	alternating_run(&a, 5);
	s = separate(&a);
	assert_int_equal(s.why, SEPARABILITY_DONE);
	assert_int_equal(s.unit_of[0], s.unit_of[1]);
	assert_true(s.fate[0] == SEPARABILITY_BRIEF && s.fate[1] == SEPARABILITY_BRIEF);
	assert_true(s.unit_of[2] == 2 && s.fate[2] == SEPARABILITY_ALONE);
	separability_free(&s);
	alternating_free(&a);
}

/*
 * Blocks of up to a tick and a half, ticks delayed at random: what is seen of them is half dice,
 * and never believed.
 */
TEST(runs_of_about_a_tick_are_never_separated)
{
	static const double lengths[] = { 0.05, 0.08, 0.1, 0.12, 0.2, 0.3 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (uint64_t seed = 1; seed <= (quick() ? 1 : 5); seed++) {
			struct alternating a =
			{ .n_blocks = 2, .length = { lengths[i], lengths[i] }, .varies = 0.02,
			  .power_w = { 1.68, 2.54 }, .period_s = 10e-3, .ticks = i < 4 ? 10 : 5,
			  .jitter = 1, .total_s = 30 };
			struct separation s;

			alternating_run(&a, seed);
			s = separate(&a);
			assert_true(s.why || s.unit_of[0] == s.unit_of[1]);
			separability_free(&s);
			alternating_free(&a);
		}
	}
}

/*
 * The pattern comes ten times in each window: each has as much of both blocks, which are
 * inseparable.
 */
TEST(blocks_with_equal_shares_of_windows_are_merged_by_name)
{
	struct alternating a = { .n_blocks = 2, .length = { 0.06, 0.04 }, .varies = 0.01,
				 .power_w = { 1, 3 }, .period_s = 10e-3, .ticks = 50, .jitter = 1,
				 .total_s = 20 };
	struct separation s;

	alternating_run(&a, 5);
	s = separate(&a);
	assert_int_equal(s.why, SEPARABILITY_DONE);
	assert_int_equal(s.unit_of[0], s.unit_of[1]);
	assert_int_equal(s.fate[0], SEPARABILITY_ALIKE);
	separability_free(&s);
	alternating_free(&a);
}

TEST(blocks_of_little_time_are_others)
{
	struct alternating a = program(3, 10, 1, 60);
	struct separation s;

	alternating_run(&a, 5);
	/* one tick in two hundred is another block's, and one in a thousand a fourth's */
	a.n_blocks = 5;
	for (size_t i = 0; i < a.n_ticks; i++)
		if (i % 200 == 77)
			a.stream[i].block = i % 1000 == 77 ? 4 : 3;
	s = separate(&a);
	assert_int_equal(s.why, SEPARABILITY_DONE);
	assert_int_equal(s.unit_of[3], s.unit_of[4]);
	assert_true(s.loose[s.unit_of[3]] && !s.loose[0]);
	assert_int_equal(s.fate[3], SEPARABILITY_LITTLE);
	for (unsigned int b = 0; b < 3; b++)
		assert_int_equal(s.unit_of[b], b);
	separability_free(&s);
	alternating_free(&a);
}

TEST(unusable_windows_are_reported)
{
	static const struct mixture_range everywhere = { 0, UINT64_MAX };
	struct alternating a = program(0, 10, 0, 1.5), b = program(0, 2, 0, 60);
	uint32_t pools[ALTERNATING_BLOCKS + 1] = { 0 };
	struct profile_package two[2];
	struct alternating_input in;
	struct separation s;
	struct profile *p;

	/* 150 windows */
	alternating_run(&a, 1);
	s = separate(&a);
	assert_int_equal(s.why, SEPARABILITY_FEW);
	separability_free(&s);
	alternating_free(&a);
	/* 2 ticks to each */
	alternating_run(&b, 1);
	s = separate(&b);
	assert_int_equal(s.why, SEPARABILITY_COARSE);
	separability_free(&s);
	alternating_free(&b);
	/* unknown code */
	a = program(0, 10, 0, 10);
	alternating_run(&a, 1);
	alternating_input(&a, PROFILE_CPM, &in);
	in.in.unknown = &everywhere;
	in.in.n_unknown = 1;
	assert_int_equal(profile_new(&in.in, &p), 0);
	assert_int_equal(separability_new(p, &in.in, pools, &s), 0);
	assert_int_equal(s.why, SEPARABILITY_FEW);
	assert_true(s.windows == 0 && s.left_out > 900);
	separability_free(&s);
	profile_free(p);
	/* a stuck counter: one reading */
	in.in.n_unknown = 0;
	in.package.n_readings[0] = 1;
	assert_int_equal(profile_new(&in.in, &p), 0);
	assert_int_equal(separability_new(p, &in.in, pools, &s), 0);
	assert_int_equal(s.why, SEPARABILITY_NO_ENERGY);
	separability_free(&s);
	profile_free(p);
	/* a counter more */
	in.package.n_readings[0] = a.n_readings;
	two[0] = two[1] = in.package;
	in.in.packages = two;
	in.in.n_packages = 2;
	assert_int_equal(profile_new(&in.in, &p), 0);
	assert_int_equal(separability_new(p, &in.in, pools, &s), 0);
	assert_int_equal(s.why, SEPARABILITY_PACKAGES);
	separability_free(&s);
	profile_free(p);
	free((void *)in.stream.freq_khz);
	alternating_free(&a);
}

/* Every tenth tick is said to be known, and is wrong: left out, the answer is right as before. */
TEST(windows_with_unknown_ticks_are_left_out)
{
	struct alternating a = program(0, 10, 1, 60);
	struct mixture_range *unknown;
	struct alternating_input in;
	uint32_t group_of[] = { 0, 1, 2 };
	struct profile_group g[3];
	struct profile *p;
	size_t n = 0;

	alternating_run(&a, 8);
	unknown = calloc(a.n_ticks, sizeof(*unknown));
	for (size_t i = 50; i + 50 < a.n_ticks; i += 50) {
		for (size_t k = i; k < i + 5; k++)
			a.stream[k].block = 0;
		unknown[n++] = (struct mixture_range){ i, i + 5 };
	}
	alternating_input(&a, PROFILE_MIXTURE, &in);
	in.in.unknown = unknown;
	in.in.n_unknown = n;
	assert_int_equal(profile_new(&in.in, &p), 0);
	assert_true(profile_mixture(p, 0, 0)->left_out >= n);
	assert_int_equal(profile_groups(p, group_of, 3, g), 0);
	for (int b = 0; b < 2; b++)
		assert_true(fabs(g[b].energy[0].w.v / a.power_w[b] - 1) < 0.05);
	profile_free(p);
	in.in.n_unknown = 0;
	assert_int_equal(profile_new(&in.in, &p), 0);
	assert_int_equal(profile_groups(p, group_of, 3, g), 0);
	assert_true(fabs(g[0].energy[0].w.v / a.power_w[0] - 1) > 0.05);
	profile_free(p);
	free((void *)in.stream.freq_khz);
	free(unknown);
	alternating_free(&a);
}

/*
 * Two CPUs at once: CPU 1 runs a block of 1 W now and then, which comes on top of what CPU 0 draws.
 */
TEST(other_cpus_do_not_matter)
{
	struct alternating a = program(0, 10, 1, 60);
	struct cpm_tick *other;
	struct profile_stream streams[2];
	uint32_t group_of[] = { 0, 1, 2, 3 };
	struct alternating_input in;
	struct profile_group g[4];
	double extra = 0, per_tick;
	struct profile *p;
	size_t n = 0, at = 0;

	alternating_run(&a, 9);
	per_tick = 1e6 * a.interval_s;
	other = calloc(a.n_ticks, sizeof(*other));
	/* a reading is of the ticks before it: for half of the time, 200 ticks at once */
	for (size_t i = 0; i < a.n_ticks; i++) {
		for (; at < a.n_readings && a.readings[at].tick == i; at++)
			a.readings[at].uj += extra;
		if (i / 200 % 2)
			continue;
		other[n++] = (struct cpm_tick){ .tick = i, .block = 3 };
		extra += per_tick;
	}
	alternating_input(&a, PROFILE_MIXTURE, &in);
	streams[0] = in.stream;
	streams[1] = (struct profile_stream){ .stream = { .ticks = other, .n = n },
					      .freq_khz = calloc(n, sizeof(uint32_t)) };
	in.in.streams = streams;
	in.in.n_streams = 2;
	in.in.n_blocks = 4;
	in.kinds[3] = CPM_BUSY;
	assert_int_equal(profile_new(&in.in, &p), 0);
	assert_int_equal(profile_mixture(p, 0, 0)->n_classes, 4);
	for (uint32_t c = 0; c < 4; c++) {
		double w = profile_mixture(p, 0, 0)->uj_per_tick[c] / per_tick, nearest = INFINITY;

		for (int b = 0; b < 2; b++)
			nearest = fmin(nearest,
				       fmin(fabs(w - a.power_w[b]), fabs(w - a.power_w[b] - 1)));
		assert_true(nearest < 0.1);
	}
	assert_int_equal(profile_groups(p, group_of, 4, g), 0);
	assert_true(fabs(g[0].energy[0].j.v + g[1].energy[0].j.v + g[3].energy[0].j.v -
			 (a.true_j[0] + a.true_j[1] + extra * 1e-6)) < 0.01 * a.true_j[0]);
	profile_free(p);
	free((void *)in.stream.freq_khz);
	free((void *)streams[1].freq_khz);
	free(other);
	alternating_free(&a);
}

static struct model_choice choose(struct alternating a, double ticks, double total_s)
{
	struct alternating_input in;
	struct model_choice c;
	struct profile *p;

	a.period_s = 10e-3;
	a.ticks = ticks;
	a.total_s = total_s;
	alternating_run(&a, 1);
	alternating_input(&a, PROFILE_CPM, &in);
	assert_int_equal(profile_new(&in.in, &p), 0);
	assert_int_equal(model_choose(p, &in.in, &c), 0);
	profile_free(p);
	free((void *)in.stream.freq_khz);
	alternating_free(&a);
	return c;
}

TEST(the_model_is_chosen_by_latency_rate_and_counter)
{
	struct alternating coarse = { .n_blocks = 2, .length = { 12, 20 }, .power_w = { 1, 2 } };
	struct model_choice c = choose(programs[0], 10, 20);

	assert_true(c.model == PROFILE_MIXTURE && c.reason == MODEL_FINE);
	assert_true(c.run_ticks > 3.8 && c.run_ticks < 4.1);
	assert_true(c.period_ticks == 10);
	c = choose(coarse, 10, 20);
	assert_true(c.model == PROFILE_CPM && c.reason == MODEL_ALL_COARSE);
	assert_true(c.block == 0 && c.run_ticks > 110 && c.run_ticks < 125);
	c = choose(programs[0], 3, 20);
	assert_true(c.model == PROFILE_CPM && c.reason == MODEL_SLOW_TICKS);
	c = choose(programs[0], 10, 1);
	assert_true(c.model == PROFILE_CPM && c.reason == MODEL_FEW_WINDOWS);
	/* one of a twentieth of the time that is short is enough */
	coarse.n_blocks = 3;
	coarse.length[2] = 3;
	c = choose(coarse, 10, 20);
	assert_true(c.model == PROFILE_MIXTURE && c.block == 2);
	coarse.length[2] = 0.3;
	c = choose(coarse, 10, 20);
	assert_true(c.model == PROFILE_CPM);
}

static void table(unsigned int runs)
{
	static const struct alternating more[] = {
		{ .n_blocks = 2, .length = { 0.2, 0.2 }, .varies = 0.02,
		  .power_w = { 1.68, 2.54 } },
		{ .n_blocks = 3, .length = { 0.15, 0.3, 0.45 }, .varies = 0.02,
		  .power_w = { 1.68, 2.54, 2.0 } },
		{ .n_blocks = 2, .length = { 0.1, 0.1 }, .varies = 0.02,
		  .power_w = { 1.68, 2.54 } },
	};
	static const double ticks[] = { 5, 10, 20, 50 };
	static const char *const orders[] = { "in turn", "random", "memoryless" };

	printf("# lengths / order / varies / ticks / jitter: worst error, its mean by block, half interval, inside; cpm's worst; separate in\n");
	for (size_t i = 0; i < PROGRAMS + sizeof(more) / sizeof(more[0]); i++) {
		for (size_t t = 0; t < sizeof(ticks) / sizeof(ticks[0]); t++) {
			for (int jitter = 0; jitter <= 1; jitter++) {
				struct alternating a = program(i < PROGRAMS ? i : 0, ticks[t],
							       jitter, 60);
				struct errors e = { .cpm_too = true };
				unsigned int apart = 0;

				if (i >= PROGRAMS) {
					memcpy(a.length, more[i - PROGRAMS].length,
					       sizeof(a.length));
					memcpy(a.power_w, more[i - PROGRAMS].power_w,
					       sizeof(a.power_w));
					a.n_blocks = more[i - PROGRAMS].n_blocks;
				}
				for (unsigned int r = 0; r < runs; r++) {
					struct separation s;
					bool all = true;

					alternating_run(&a, 1 + r);
					s = separate(&a);
					for (unsigned int b = 0; b < a.n_blocks; b++)
						all &= !s.why && s.unit_of[b] == b;
					apart += all;
					if (all)
						add_run(&a, &e, runs);
					separability_free(&s);
					alternating_free(&a);
				}
				for (unsigned int b = 0; b < a.n_blocks; b++)
					printf("%s%g", b ? "," : "row ", a.length[b]);
				printf(" %s %g %g %d ", a.order ? orders[a.order] : "in-turn",
				       a.varies, ticks[t], jitter);
				if (apart)
					printf("%.2f %.2f %u/%u %.1f", 100 * e.worst,
					       100 * e.half / e.n, e.inside, e.n, 100 * e.cpm);
				else
					printf("- - - -");
				printf(" %u/%u\n", apart, runs);
				fflush(stdout);
			}
		}
	}
}

int main(void)
{
	if (getenv("KJOULE_MIXTURE_TABLE")) {
		table(atoi(getenv("KJOULE_MIXTURE_TABLE")));
		return 0;
	}
	return tests_run(NULL, NULL);
}
