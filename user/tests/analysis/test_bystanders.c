// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose CPU is taken by others now and then, and which is idle for moments: its energy by
 * the constant power model, on simulated recordings of known truth.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/profile/profile.h"
#include "tests/support/calls.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

#define SETS		30		/* for the mean of what is off */
#define LENGTH_S	20.0
#define TICK_S		2.0157e-3
#define PERIOD_S	10e-3

enum { LOW, HIGH, OTHERS, IDLE, RECORDER, BLOCKS };

/* Under valgrind it is memory that is looked at. */
static bool quick(void)
{
	return getenv("KJOULE_TEST_QUICK");
}

static uint64_t sets(void)
{
	return quick() ? 2 : SETS;
}

static const double watts[] = { [LOW] = 1.4, [HIGH] = 4.2 };

/* Other load: how often a second, for how long, and at how many watts. */
struct visit {
	uint32_t block;
	double hz, s, w;
};

struct made {
	struct cpm_tick *ticks, *recorders;
	size_t n, n_recorders;
	struct cpm_reading *readings;
	size_t n_readings;
	double joules[BLOCKS], seconds[BLOCKS];
};

/* Visits begin at random; the program goes on with its blocks, each for 100 to 300 ms at a time. */
static void make(const struct visit *visits, size_t n_visits, uint64_t seed, struct made *m)
{
	double t = 0, e = 0, tick = TICK_S * rnd_unit(&seed), move = PERIOD_S * rnd_unit(&seed),
		run_end = 0, visit_end = -1;
	uint64_t shown = 0, k = 0;
	const struct visit *visit = NULL;
	double next = 0, all_hz = 0;
	uint32_t run = LOW;

	memset(m, 0, sizeof(*m));
	m->ticks = calloc(LENGTH_S / TICK_S + 10, sizeof(*m->ticks));
	m->recorders = calloc(LENGTH_S / TICK_S + 10, sizeof(*m->recorders));
	m->readings = calloc(LENGTH_S / TICK_S + 10, sizeof(*m->readings));
	for (size_t i = 0; i < n_visits; i++)
		all_hz += visits[i].hz;
	next = -log(1 - rnd_unit(&seed)) / all_hz;
	while (t < LENGTH_S) {
		uint32_t block;
		double w, until;

		if (visit && t >= visit_end) {
			visit = NULL;
			next = t - log(1 - rnd_unit(&seed)) / all_hz;
		}
		if (!visit && t >= next) {
			double which = rnd_unit(&seed) * all_hz;

			visit = visits;
			while (which >= visit->hz)
				which -= visit++->hz;
			visit_end = t + visit->s * (0.5 + rnd_unit(&seed));
			run_end += visit_end - t;
		}
		if (!visit && t >= run_end) {
			run = rnd_unit(&seed) < 0.5 ? LOW : HIGH;
			run_end = t + 0.1 + 0.2 * rnd_unit(&seed);
		}
		block = visit ? visit->block : run;
		w = visit ? visit->w : watts[run];
		until = fmin(fmin(visit ? visit_end : fmin(next, run_end), LENGTH_S),
			     fmin(tick, move));
		m->joules[block] += (until - t) * w;
		m->seconds[block] += until - t;
		e += (until - t) * w;
		t = until;
		if (t >= move) {
			shown = e * 1e6;
			move += PERIOD_S;
		}
		if (t < tick)
			continue;
		if (!m->n_readings || m->readings[m->n_readings - 1].uj != shown)
			m->readings[m->n_readings++] = (struct cpm_reading){ k, shown };
		if (block == RECORDER)
			m->recorders[m->n_recorders++] =
				(struct cpm_tick){ .tick = k, .block = RECORDER,
						   .interpolated = true };
		else
			m->ticks[m->n++] = (struct cpm_tick){ .tick = k, .block = block,
							      .skipped = block == IDLE };
		k++;
		tick += TICK_S;
	}
	m->ticks[m->n] = (struct cpm_tick){ .tick = k };
}

static void unmake(struct made *m)
{
	free(m->ticks);
	free(m->recorders);
	free(m->readings);
}

/* @kinds: of the blocks; @out: of each block, unattributed energy in IDLE */
static void solve(const struct made *m, const uint8_t *kinds, double idle_w,
		  struct profile_group *out)
{
	struct profile_stream streams[2] = { { .stream = { .ticks = m->ticks, .n = m->n } },
					 { .stream = { .ticks = m->recorders, .n = m->n_recorders },
					   .shadow = true } };
	struct profile_package package = { .readings = { m->readings },
					   .n_readings = { m->n_readings } };
	struct profile_input in = {
		.interval_ns = TICK_S * 1e9, .end_tick = m->ticks[m->n].tick, .n_streams = 2,
		.streams = streams, .n_packages = 1,
		.packages = &package, .n_domains = 1, .n_blocks = BLOCKS, .kinds = kinds,
		.unsampled_block = IDLE,
		.steps = CPM_STEPS, .irq_w = { NAN }, .idle_w = { idle_w } };

	blocks_solve(&in, out);
}

/* By how much the power of the program as a whole is off, in percent: the mean of all sets. */
static double program_off(const struct visit *visits, size_t n_visits, const uint8_t *kinds,
			  double idle_w)
{
	double sum = 0;

	for (uint64_t seed = 1; seed <= sets(); seed++) {
		struct profile_group g[BLOCKS];
		struct made m;

		make(visits, n_visits, seed, &m);
		solve(&m, kinds, idle_w, g);
		sum += 100 *
		       ((g[LOW].energy[0].j.v + g[HIGH].energy[0].j.v) /
			(g[LOW].time_s.v + g[HIGH].time_s.v) /
			((m.joules[LOW] + m.joules[HIGH]) / (m.seconds[LOW] + m.seconds[HIGH])) -
			1) / sets();
		unmake(&m);
	}
	return sum;
}

static const uint8_t kinds[] = { [OTHERS] = CPM_BYSTANDER, [IDLE] = CPM_IDLE,
				 [RECORDER] = CPM_MARGINAL };
/* as if other load were unknown */
static const uint8_t ignorant[] = { [OTHERS] = CPM_IDLE, [IDLE] = CPM_IDLE,
				    [RECORDER] = CPM_MARGINAL };

/*
 * What bystanders draw when they have a window for themselves says nothing of what they draw for a
 * moment.
 */
TEST(long_visits_do_not_explain_short_ones)
{
	static const struct visit visits[] = { { OTHERS, 15, 1.5e-3, 2.7 },
					       { OTHERS, 0.5, 60e-3, 4.0 } };
	double off = program_off(visits, 2, kinds, NAN),
		before = program_off(visits, 2, ignorant, NAN);

	print_message("%+.3f %%, as silence %+.3f %%\n", off, before);
	assert_true(quick() || fabs(off) < 0.15);
	assert_true(quick() || fabs(before) > 2 * fabs(off));
}

/*
 * No window has only an idle moment: its power is known from elsewhere, or the program pays for it.
 */
TEST(idle_moments_are_at_the_power_of_sleep)
{
	static const struct visit visits[] = { { OTHERS, 10, 1.5e-3, 2.5 },
					       { IDLE, 30, 0.3e-3, 0.5 } };
	double off = program_off(visits, 2, kinds, 0.5),
		unknown = program_off(visits, 2, kinds, NAN);

	print_message("%+.3f %%, not known %+.3f %%\n", off, unknown);
	assert_true(quick() || fabs(off) < 0.15);
	assert_true(quick() || fabs(unknown) > 2 * fabs(off));
}

/*
 * The recorder has the program's CPU: all but what an idle machine draws is because of it, whatever
 * bystanders do.
 */
TEST(the_recorder_pays_for_its_moments)
{
	static const struct visit visits[] = { { RECORDER, 10, 3e-3, 2.4 },
					       { OTHERS, 2, 20e-3, 3.0 }, { IDLE, 2, 20e-3, 0.5 } };
	double worst = 0, paid = 0;

	for (uint64_t seed = 1; seed <= sets(); seed++) {
		struct profile_group g[BLOCKS];
		struct made m;

		make(visits, 3, seed, &m);
		solve(&m, kinds, 0.5, g);
		paid += g[RECORDER].energy[0].j.v /
			(m.joules[RECORDER] - 0.5 * m.seconds[RECORDER]) / sets();
		for (int b = LOW; b <= HIGH; b++)
			worst = fmax(worst,
				     fabs(g[b].energy[0].j.v / g[b].time_s.v / watts[b] - 1));
		unmake(&m);
	}
	print_message("the recorder's %.3f of the truth, blocks' power %.2f %% off at most\n", paid,
		      100 * worst);
	assert_true(paid > 0.85 && paid < 1.15);
	assert_true(worst < 0.015);
}

/* On two CPUs at once they are one, and none while the program runs. */
TEST(bystanders_count_only_when_no_target_runs)
{
	static const struct cpm_tick one[] = { { .tick = 0, .more = 9, .block = LOW },
					       { .tick = 10, .more = 9, .block = OTHERS },
					       { .tick = 20, .more = 9, .block = OTHERS },
					       { .tick = 30, .more = 9, .block = IDLE,
						 .skipped = true } };
	static const struct cpm_tick two[] = { { .tick = 0, .more = 9, .block = OTHERS },
					       { .tick = 10, .more = 9, .block = OTHERS },
					       { .tick = 20, .more = 9, .block = HIGH },
					       { .tick = 30, .more = 9, .block = IDLE,
						 .skipped = true } };
	static const struct cpm_stream streams[] =
		{ { .ticks = one, .n = 4 }, { .ticks = two, .n = 4 } };
	static const uint32_t ran[] = { LOW, OTHERS, HIGH };
	struct cpm_vectors v;
	struct cpm_events e;
	size_t n = 0;

	assert_int_equal(cpm_vectors_new(streams, 2, kinds, &v), 0);
	assert_int_equal(v.ticks, 20);
	assert_int_equal(v.bystanders, 10);
	assert_int_equal(v.multi, 0);
	assert_int_equal(cpm_events_begin(&v, &e), 0);
	for (; cpm_events_next(&e); n++) {
		assert_true(n < 3);
		assert_int_equal(e.tick, 10 * n);
		assert_int_equal(e.count, 10);
		assert_int_equal(v.first[e.vector + 1] - v.first[e.vector], 1);
		assert_int_equal(v.members[v.first[e.vector]], ran[n]);
	}
	assert_int_equal(n, 3);
	cpm_events_end(&e);
	cpm_vectors_free(&v);
}
