// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The edge-synchronised model on simulated windows whose truth is known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/edge/edge.h"
#include "analysis/edge/edge_groups.h"
#include "analysis/ticks/timeline.h"
#include "lib/control/control.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define BLOCKS	3
#define UPDATE	1e-3
#define QUANTUM	15.3		/* microjoule */

/*
 * A program of blocks of @length seconds each, in random order, under a counter updated each
 * UPDATE. It runs for a random part of each window and is paused then. With @cost, each tick takes
 * so much of it, at @irq_w. In a part of the windows, @disturbed, something else has the CPUs for a
 * while.
 */
struct run {
	unsigned int n_blocks;
	double length[BLOCKS], power[BLOCKS];
	double T, jitter, spin_w, cost, irq_w, irq_error, disturbed;
	size_t n_windows;
	/* what became of it */
	struct edge_window *windows;
	struct cpm_tick *ticks;
	size_t n_ticks;
	struct kjoule_session_info session;
};

/* The program's state, which pauses do not change. */
struct program {
	unsigned int now;
	double left;
	uint64_t seed;
};

/* Let it run for so long. Return: microjoule */
static double advance(const struct run *r, struct program *p, double seconds)
{
	double uj = 0;

	while (seconds > 0) {
		double dt = fmin(seconds, p->left);

		uj += 1e6 * r->power[p->now] * dt;
		seconds -= dt;
		p->left -= dt;
		if (p->left <= 1e-12) {
			p->now = (p->now + 1 + (rnd_unit(&p->seed) < 0.5 && r->n_blocks > 2)) %
				 r->n_blocks;
			p->left = r->length[p->now] * (1 + 0.02 * (2 * rnd_unit(&p->seed) - 1));
		}
	}
	return uj;
}

static void simulate(struct run *r, uint64_t seed)
{
	struct program p = { .left = r->length[0], .seed = seed };
	double t = r->T * rnd_unit(&p.seed), shown = 0, e = 0;
	uint64_t tick = 0;

	r->session = (struct kjoule_session_info){ .interval_ns = r->T * 1e9, .seed = seed,
						   .jitter_ns = r->jitter * r->T * 1e9 };

	r->windows = calloc(r->n_windows, sizeof(*r->windows));
	r->ticks = calloc(r->n_windows * UPDATE / r->T * 1.1 + 10, sizeof(*r->ticks));
	r->n_ticks = 0;
	for (size_t j = 0; j < r->n_windows; j++) {
		bool spin = j % 16 == 15;
		double update = UPDATE * (1 + 0.005 * (2 * rnd_unit(&p.seed) - 1));
		double until = spin ? t : t + UPDATE * (0.1 + 0.85 * rnd_unit(&p.seed));
		double at = t, c = t + update, now;

		while (at < until) {
			double due = 1e-9 * timeline_due(&r->session, tick),
				dt = fmin(due, until) - at;

			if (dt > 0) {
				e += advance(r, &p, dt);
				at += dt;
			}
			if (due < until) {
				r->ticks[r->n_ticks++] =
					(struct cpm_tick){ .tick = tick, .block = p.now };
				tick++;
				dt = fmin(r->cost, until - at);
				e += 1e6 * r->irq_w * dt;
				at += dt;
			}
		}
		while (1e-9 * timeline_due(&r->session, tick) < c)
			tick++;
		e += 1e6 * r->spin_w * (c - until);
		now = floor(e / QUANTUM) * QUANTUM;
		r->windows[j] = (struct edge_window){
			.seek_ns = t * 1e9, .from_ns = t * 1e9, .b_ns = until * 1e9,
			.paused_ns = (c - until) * 1e9,
			.uj = now - shown, .spin = spin };
		if (r->disturbed > 0 && rnd_unit(&p.seed) < r->disturbed)
			r->windows[j].uj *= 1 - 0.2 * rnd_unit(&p.seed);
		shown = now;
		t = c;
	}
}

static const uint8_t kinds[BLOCKS];

/* The sets and the powers that were found last. */
static struct cpm_vectors v;
static struct edge_result result;

static int solve(struct run *r)
{
	struct cpm_stream stream = { .ticks = r->ticks, .n = r->n_ticks };
	struct edge_input in = { .vectors = &v, .windows = r->windows, .n_windows = r->n_windows,
				 .session = &r->session, .tick = r->cost / r->T,
				 .irq_w = r->cost > 0 ? r->irq_w : NAN };

	assert_int_equal(cpm_vectors_new(&stream, 1, kinds, &v), 0);
	return edge_solve(&in, &result);
}

/* The vector of a block that runs alone. */
static uint32_t vector_of(uint32_t block)
{
	for (uint32_t i = 1; i < v.n_vectors; i++)
		if (v.first[i + 1] - v.first[i] == 1 && v.members[v.first[i]] == block)
			return i;
	fail_msg("block %u never ran", block);
	return 0;
}

static void run_free(struct run *r)
{
	free(r->windows);
	free(r->ticks);
	edge_free(&result);
	cpm_vectors_free(&v);
}

/*
 * Error of each block's power over @runs recordings: rms, and how many of the intervals hold the
 * truth.
 */
static void repeat(struct run r, unsigned int runs, double *rms, unsigned int *inside,
		   double *width)
{
	*inside = 0;
	*width = 0;
	memset(rms, 0, BLOCKS * sizeof(*rms));
	for (unsigned int i = 0; i < runs; i++) {

		simulate(&r, 1000 + i);
		assert_int_equal(solve(&r), 0);
		for (unsigned int b = 0; b < r.n_blocks; b++) {
			struct value w = result.w[vector_of(b)];
			double off = w.v / r.power[b] - 1;

			rms[b] += off * off / runs;
			*inside += w.lo <= r.power[b] && r.power[b] <= w.hi;
			*width += (w.hi - w.lo) / 2 / r.power[b] / runs / r.n_blocks;
		}
		run_free(&r);
	}
	for (unsigned int b = 0; b < r.n_blocks; b++)
		rms[b] = sqrt(rms[b]);
}

#define RUNS 60

/* @most: rms; @wider: the intervals against what is seen, at most */
static void check(const char *name, struct run r, double most, double wider)
{
	double rms[BLOCKS], width, worst = 0;
	unsigned int inside;

	repeat(r, RUNS, rms, &inside, &width);
	for (unsigned int b = 0; b < r.n_blocks; b++)
		worst = fmax(worst, rms[b]);
	print_message("%s: rms %.2f %%, half width %.2f %%, %u of %u inside\n", name, 100 * worst,
		      100 * width, inside, RUNS * r.n_blocks);
	if (worst > most)
		fail_msg("%s: off by %.2f %%, allowed %.2f %%", name, 100 * worst, 100 * most);
	/* 95 % of 120 and more, less three standard errors */
	assert_true(inside >= 0.89 * RUNS * r.n_blocks);
	/* and not because they say nothing */
	assert_true(width < 1.96 * wider * worst);
}

/* The paper's loops, 1.68 and 2.54 W, at parts of the update period. */
static const struct run alternating = {
	.n_blocks = 2, .power = { 1.68, 2.54 }, .T = UPDATE / 50, .jitter = 0.6,
	.spin_w = 1.2, .n_windows = 3000 };

static struct run of_lengths(struct run r, double a, double b, double c)
{
	r.length[0] = a * UPDATE;
	r.length[1] = b * UPDATE;
	r.length[2] = c * UPDATE;
	return r;
}

TEST(alternating_blocks)
{
	check("0.4", of_lengths(alternating, 0.4, 0.4, 0), 0.002, 1.5);
	/* under valgrind one is enough: the code is the same */
	if (getenv("KJOULE_TEST_QUICK"))
		return;
	check("0.2", of_lengths(alternating, 0.2, 0.2, 0), 0.003, 1.5);
	check("0.1", of_lengths(alternating, 0.1, 0.1, 0), 0.005, 1.5);
}

TEST(unequal_blocks)
{
	struct run r = alternating;

	r.n_blocks = 3;
	r.power[2] = 2.0;
	if (!getenv("KJOULE_TEST_QUICK"))
		check("0.15, 0.3, 0.45", of_lengths(r, 0.15, 0.3, 0.45), 0.002, 1.5);
	check("0.4, 0.2, 0.1", of_lengths(r, 0.4, 0.2, 0.1), 0.002, 1.5);
}

/* Ticks that take a sixth of the time, at another power than the blocks. */
TEST(costly_ticks)
{
	struct run r = of_lengths(alternating, 0.4, 0.4, 0);

	r.cost = r.T / 6;
	r.irq_w = 3;
	check("costly ticks", r, 0.002, 1.5);
}

/* Disturbed windows would bias the power of paused CPUs and of all other code. */
TEST(disturbed_windows)
{
	struct run r = of_lengths(alternating, 0.2, 0.2, 0);
	double rms[BLOCKS], width;
	unsigned int inside;

	r.disturbed = 0.1;
	/* 2 % with all of them; the smallest disturbances stay, and all are of one sign */
	repeat(r, RUNS, rms, &inside, &width);
	print_message("a tenth of the windows disturbed: rms %.2f and %.2f %%, half width %.2f %%, %u of %u inside\n",
		      100 * rms[0], 100 * rms[1], 100 * width, inside, 2 * RUNS);
	assert_true(fmax(rms[0], rms[1]) < 0.0025);
	assert_true(inside >= 0.75 * 2 * RUNS);
	simulate(&r, 7);
	assert_int_equal(solve(&r), 0);
	/* small disturbances are like others */
	assert_true(result.wild > 0.05 * r.n_windows && result.wild < 0.1 * r.n_windows);
	assert_true(result.wild_spins > 0 && result.wild_spins < 40);
	assert_int_equal(result.windows + result.wild + result.spins + result.wild_spins,
			 r.n_windows);
	run_free(&r);
}

/* By the middles between ticks this is off by 10 %, and its interval says that it is hard. */
TEST(coarse_ticks)
{
	struct run r = of_lengths(alternating, 0.2, 0.2, 0);

	r.T = UPDATE / 18;
	check("3.6 ticks a block", r, 0.005, 6);
}

TEST(short_blocks_are_refused)
{
	struct run r = of_lengths(alternating, 0.1, 0.1, 0);

	r.T = UPDATE / 15;
	simulate(&r, 5);
	assert_int_equal(solve(&r), 0);
	for (uint32_t b = 0; b < 2; b++) {
		assert_int_equal(result.why[vector_of(b)], EDGE_SHORT);
		assert_true(isnan(result.w[vector_of(b)].v));
	}
	run_free(&r);
}

TEST(too_few_windows)
{
	struct run r = of_lengths(alternating, 0.4, 0.4, 0);

	r.n_windows = 24;
	simulate(&r, 5);
	assert_int_equal(solve(&r), -ENODATA);
	run_free(&r);
	/* and none in which all are paused */
	r.n_windows = 300;
	simulate(&r, 5);
	for (size_t i = 0; i < r.n_windows; i++)
		r.windows[i].spin = false;
	assert_int_equal(solve(&r), -ENODATA);
	run_free(&r);
}

/* What is beyond the bound is not looked at, and that is no lack of windows. */
TEST(too_many_ticks)
{
	struct run r = of_lengths(alternating, 0.4, 0.4, 0);
	struct cpm_stream stream;
	struct edge_input in;

	simulate(&r, 5);
	stream = (struct cpm_stream){ .ticks = r.ticks, .n = r.n_ticks };
	in = (struct edge_input){ .vectors = &v, .windows = r.windows, .n_windows = r.n_windows,
				  .session = &r.session, .irq_w = NAN,
				  .ticks_most = r.n_ticks / 2 };
	assert_int_equal(cpm_vectors_new(&stream, 1, kinds, &v), 0);
	assert_int_equal(edge_solve(&in, &result), -EFBIG);
	in.ticks_most = 0;
	assert_int_equal(edge_solve(&in, &result), 0);
	run_free(&r);
}

#define PAUSED	(BLOCKS - 1)	/* the block of ticks at which a program of two blocks was paused */

/*
 * What the windows say of groups of blocks, of which the last is that of nothing, if spinning is
 * known to @spin_off.
 */
static void groups_of(struct run *r, const uint32_t *group_of, double spin_off,
		      struct cpm_group groups[4])
{
	uint64_t last = r->ticks[r->n_ticks - 1].tick;
	struct cpm_reading readings[2] = { { 0, 0 }, { last, 1000000 } };
	struct cpm_tick *ticks = calloc(last + 1, sizeof(*ticks));
	struct cpm_stream stream = { .ticks = ticks, .n = last + 1 };
	struct edge_input in;
	struct cpm_domain d;

	in = (struct edge_input){ .vectors = &v, .windows = r->windows, .n_windows = r->n_windows,
				  .session = &r->session, .tick = r->cost / r->T,
				  .irq_w = r->cost > 0 ? r->irq_w : NAN,
				  .irq_error = r->irq_error };
	for (uint64_t k = 0, i = 0; k <= last; k++)
		ticks[k] = k == r->ticks[i].tick ? r->ticks[i++] :
			   (struct cpm_tick){ .tick = k, .block = PAUSED };
	assert_int_equal(cpm_vectors_new(&stream, 1, kinds, &v), 0);
	assert_int_equal(edge_solve(&in, &result), 0);
	for (uint32_t i = 0; i < v.n_vectors && spin_off > 0; i++)
		result.w[i].hi = result.w[i].v + hypot(result.w[i].hi - result.w[i].v, spin_off);
	result.spin_w.hi += spin_off;
	assert_int_equal(cpm_solve(&v, readings, 2, last + 1, 1, NULL, NULL, NAN, &d), 0);
	edge_apply(&in, &result, PAUSED, &d);
	assert_int_equal(cpm_groups(&v, &d, group_of, 3, 4, groups), 0);
	assert_int_equal(edge_groups(&in, &result, &d, group_of, 3, PAUSED, 4, groups), 0);
	cpm_domain_free(&d);
	edge_free(&result);
	cpm_vectors_free(&v);
	free(ticks);
}

/* Of two blocks of 1.5 ticks, one slightly longer, only the joint power is known. */
TEST(short_blocks_have_no_energy_each)
{
	static const uint32_t each[BLOCKS] = { 0, 1, 2 }, both[BLOCKS] = { 0, 0, 2 };
	struct run r = of_lengths(alternating, 0.104, 0.096, 0);
	struct cpm_group groups[4];

	r.T = UPDATE / 15;
	simulate(&r, 5);
	groups_of(&r, each, 0, groups);
	assert_true(isnan(groups[0].uj) && isnan(groups[1].uj));
	groups_of(&r, both, 0, groups);
	assert_true(fabs(groups[0].uj / (r.n_ticks * r.T * 1e6 * (0.104 * 1.68 + 0.096 * 2.54) /
					 0.2) - 1) < 0.02);
	assert_true(sqrt(groups[0].variance) < 0.02 * groups[0].uj);
	run_free(&r);
	/* nor has a single one, for all that it has all such ticks; both together have */
	r = of_lengths(r, 0.4, 0.15, 0);
	simulate(&r, 5);
	groups_of(&r, each, 0, groups);
	assert_true(fabs(groups[0].uj / (r.n_ticks * r.T * 1e6 * 0.4 * 1.68 / 0.55) - 1) < 0.05);
	assert_true(isnan(groups[1].uj));
	groups_of(&r, both, 0, groups);
	assert_true(fabs(groups[0].uj /
			 (r.n_ticks * r.T * 1e6 * (0.4 * 1.68 + 0.15 * 2.54) / 0.55) - 1) < 0.02);
	run_free(&r);
}

/* What is off the same way for all of them does not average out. */
TEST(common_errors_add_up)
{
	static const uint32_t each[BLOCKS] = { 0, 1, 2 }, both[BLOCKS] = { 0, 0, 2 };
	struct run r = of_lengths(alternating, 0.4, 0.4, 0);
	double off[3];

	/* neither, spinning, interrupts */
	for (int what = 0; what < 3; what++) {
		struct cpm_group one[4], all[4];

		if (what == 2) {
			r.cost = r.T / 6;
			r.irq_w = 4;
			r.irq_error = 0.15;
		}
		simulate(&r, 5);
		groups_of(&r, each, what == 1 ? 0.1 : 0, one);
		groups_of(&r, both, what == 1 ? 0.1 : 0, all);
		off[what] = sqrt(all[0].variance) / (sqrt(one[0].variance) + sqrt(one[1].variance));
		run_free(&r);
	}
	print_message("both together are off by %.2f, %.2f and %.2f of what each is off by\n",
		      off[0], off[1], off[2]);
	assert_true(off[0] < 0.95);
	assert_true(off[1] > 0.99 && off[1] < 1.001);
	assert_true(off[2] > 0.98 && off[2] < 1.001);
}

#define NEIGHBOURS	1000	/* blocks of another CPU */

/*
 * One of two blocks runs with another one each time. No such set is frequent enough for a power,
 * and there is room for none: all other sets have one power, and both CPUs' blocks their part of
 * it.
 */
TEST(all_other_sets_have_a_power)
{
	static const uint8_t all_busy[2 + NEIGHBOURS + 1];
	struct run r = of_lengths(alternating, 0.4, 0.4, 0);
	uint32_t group_of[2 + NEIGHBOURS + 1];
	struct cpm_reading readings[2] = { { 0, 0 } };
	struct cpm_group groups[4];
	struct cpm_stream streams[2];
	struct edge_input in;
	struct cpm_domain d;
	uint32_t other_set = UINT32_MAX;
	uint64_t seed = 5, n = 0;
	struct cpm_tick *beside;

	simulate(&r, 3);
	beside = calloc(r.n_ticks, sizeof(*beside));
	for (size_t i = 0; i < r.n_ticks; i++)
		if (r.ticks[i].block)
			beside[n++] = (struct cpm_tick){ .tick = r.ticks[i].tick,
							 .block = 2 + rnd(&seed) % NEIGHBOURS };
	streams[0] = (struct cpm_stream){ .ticks = r.ticks, .n = r.n_ticks };
	streams[1] = (struct cpm_stream){ .ticks = beside, .n = n };
	in = (struct edge_input){ .vectors = &v, .windows = r.windows, .n_windows = r.n_windows,
				  .session = &r.session, .irq_w = NAN };
	assert_int_equal(cpm_vectors_collect(streams, 2, all_busy, 1, &v, NULL, 0), 0);
	assert_int_equal(v.other_set_ticks, n);
	assert_int_equal(edge_solve(&in, &result), 0);
	for (uint32_t i = v.first_other_set; i < v.n_vectors; i++)
		if (cpm_other_set_size(&v, i) == 2 && v.base[i] == i)
			other_set = i;
	assert_int_equal(result.why[other_set], EDGE_KNOWN);
	assert_true(fabs(result.w[other_set].v / r.power[1] - 1) < 0.02);
	for (uint32_t b = 0; b < 2 + NEIGHBOURS + 1; b++)
		group_of[b] = b < 2 ? b : 2;
	readings[1] = (struct cpm_reading){ r.ticks[r.n_ticks - 1].tick, 1000000 };
	assert_int_equal(cpm_solve(&v, readings, 2, readings[1].tick + 1, 1, NULL, NULL, NAN, &d),
			 0);
	edge_apply(&in, &result, 2 + NEIGHBOURS, &d);
	assert_int_equal(cpm_groups(&v, &d, group_of, 3, 4, groups), 0);
	assert_int_equal(edge_groups(&in, &result, &d, group_of, 3, 2 + NEIGHBOURS, 4, groups), 0);
	for (unsigned int g = 1; g <= 2; g++) {
		double uj = n * 1e6 * result.w[other_set].v * r.T / 2;
		double half = n * 1e6 * (result.w[other_set].hi - result.w[other_set].v) * r.T / 2;

		assert_true(fabs(groups[g].uj / uj - 1) < 1e-9);
		assert_true(fabs(sqrt(groups[g].variance) * 1.96 / half - 1) < 1e-6);
	}
	cpm_domain_free(&d);
	free(beside);
	run_free(&r);
}
