// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts that delayed ticks, by simulated samples: their part of the time, and of which blocks.
 */
#include <math.h>
#include <stdlib.h>
#include "attribute/blocks_costs.h"
#include "attribute/blocks_interrupts.h"
#include "tests/support/unit.h"

#define KHZ		100000
#define USUAL_NS	13000
#define LONG_NS		60000	/* an interrupt */
#define INTERVAL_NS	1000000

enum { OFTEN, SELDOM, KERNEL, N };

struct made {
	struct blocks b;
	struct view v;
	struct blocks_function functions[N];
	struct blocks_process process;
	struct profile_stream stream;
	uint64_t seed;
};

static double random_part(struct made *m)
{
	m->seed = m->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (m->seed >> 11) * 0x1p-53;
}

/* @calibrated: part of the time in other interrupts in the calibration; 0: unknown */
static struct made *make(double calibrated, uint64_t seed)
{
	struct made *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->seed = seed;
	m->process.kind = CPM_BUSY;
	m->stream.tick_ns = 30000;
	m->functions[KERNEL].kernel = true;
	m->b.functions = m->functions;
	m->b.n_functions = N;
	m->b.processes = &m->process;
	m->b.n_processes = 1;
	m->b.streams = &m->stream;
	m->b.input.n_streams = 1;
	m->b.input.interval_ns = INTERVAL_NS;
	m->v.rec.cal = (struct kjoule_calibration){ .ticks = 1000, .other_part = calibrated,
						    .other_error = 0.0005 };
	return m;
}

/* Samples of a block of which a part meets an interrupt of LONG_NS, at any of its moments. */
static void sample(struct made *m, uint32_t block, unsigned int n, double part, uint32_t khz)
{
	for (unsigned int i = 0; i < n; i++) {
		struct timeline_sample s = { .freq_khz = khz, .flags = block == KERNEL ?
					     KJOULE_SAMPLE_KERNEL : 0 };
		double late = USUAL_NS + 200 * random_part(m);

		if (random_part(m) < part)
			late = (LONG_NS + USUAL_NS) * random_part(m);
		s.late_ns = late * KHZ / khz;
		m->functions[block].samples++;
		assert_int_equal(blocks_delay_add(&m->b, block, &s), 0);
	}
}

static void seal(struct made *m)
{
	blocks_delay_end(&m->b);
	blocks_interrupts_find(&m->b, &m->v);
	assert_int_equal(blocks_costs_compare(&m->b), 0);
}

static void unmake(struct made *m)
{
	free(m->b.costs);
	free(m);
}

/* The calibration is off by as much as it may be. */
TEST(what_a_run_has_counts_more_than_the_calibration)
{
	unsigned int paused = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct made *m = make(0.026, seed);

		for (unsigned int i = 0; i < 30; i++) {
			sample(m, OFTEN, 600, 0.03, KHZ);
			sample(m, SELDOM, 400, 0.03, KHZ);
			sample(m, KERNEL, 50, 0.3, KHZ);
		}
		seal(m);
		assert_true(fabs(m->b.input.other - 0.03) < 0.004);
		paused += fabs(m->b.input.other - 0.03) < m->b.input.other_error;
		/* one in some seems to differ by chance */
		assert_true(!m->b.costs || fabs(m->b.costs[OFTEN].interrupted - 1) < 0.2);
		unmake(m);
	}
	print_message("held in %u of 100\n", paused);
	assert_true(paused >= 90);
}

TEST(interrupts_are_those_that_they_fall_on)
{
	struct made *m = make(0.015, 7);
	const struct profile_cost *c;
	double often, seldom;

	for (unsigned int i = 0; i < 300; i++) {
		sample(m, OFTEN, 15, 0.07, KHZ);
		sample(m, SELDOM, 5, 0.01, KHZ);
		sample(m, KERNEL, 2, 0.3, KHZ);
	}
	seal(m);
	c = m->b.costs;
	assert_non_null(c);
	often = m->b.input.other * c[OFTEN].interrupted;
	seldom = m->b.input.other * c[SELDOM].interrupted;
	print_message("%.4f and %.4f of the time, 0.07 and 0.01 are true\n", often, seldom);
	assert_true(fabs(often - 0.07) < 0.01 && fabs(seldom - 0.01) < 0.007);
	assert_true(fabs(often - 0.07) < sqrt(c[OFTEN].variance / 4500) + m->b.input.other_error);
	/* where none was counted it is as in the calibration */
	assert_true(fabs(m->b.input.other * c[KERNEL].interrupted - 0.015) < 0.001);
	/* all ticks' time is attributed still, and more of it to the interrupted one */
	assert_true(c[OFTEN].longer > 1.2 && c[SELDOM].longer < 0.3);
	assert_true(fabs(4500 * c[OFTEN].longer + 1500 * c[SELDOM].longer + 600 * c[KERNEL].longer -
			 6600) < 1);
	assert_true(fabs(4500 * c[OFTEN].shifted + 1500 * c[SELDOM].shifted +
			 600 * c[KERNEL].shifted) < 1e-3);
	unmake(m);
}

/* At a quarter of the frequency all takes four times as long, usual and other. */
TEST(delay_is_cycles)
{
	struct made *m = make(0.02, 3);

	for (unsigned int i = 0; i < 300; i++) {
		sample(m, OFTEN, 20, 0.01, KHZ);
		sample(m, SELDOM, 20, 0.04, KHZ / 4);
	}
	seal(m);
	assert_true(fabs(m->b.input.other - 0.025) < 0.004);
	/* that it takes more at the lower frequency is no difference of the blocks */
	assert_null(m->b.costs);
	unmake(m);
}

TEST(a_few_samples_leave_it_to_the_calibration)
{
	struct made *m = make(0.02, 5);

	sample(m, OFTEN, 31, 1, KHZ);
	seal(m);
	assert_true(m->b.input.other == 0.02);
	unmake(m);
	m = make(0.02, 5);
	sample(m, OFTEN, 40, 0, KHZ);
	seal(m);
	assert_true(m->b.input.other > 0.018 && m->b.input.other <= 0.02);
	unmake(m);
	/* uncalibrated, and none was met: that does not prove that there are none */
	m = make(0, 5);
	sample(m, OFTEN, 1000, 0, KHZ);
	seal(m);
	assert_true(m->b.input.other == 0 && m->b.input.other_error >= 0.001);
	unmake(m);
}

#define KERNEL_TICK_NS	4000000

/*
 * Ticks of a session, where the kernel's own tick of LONG_NS comes @phase_ns after the multiples of
 * its period.
 */
static struct made *meet_kernel_ticks(uint64_t interval_ns, uint64_t jitter_ns, uint64_t phase_ns,
				      unsigned int n, double calibrated)
{
	struct made *m = make(calibrated, 1);
	struct kjoule_session_info *s = &m->v.rec.meta.session;

	s->t0_ns = 1000000000;
	s->interval_ns = m->b.input.interval_ns = interval_ns;
	s->jitter_ns = jitter_ns;
	s->seed = 9;
	m->b.input.session = s;
	m->v.tl.end_tick = n;
	for (unsigned int k = 0; k < n; k++) {
		struct timeline_sample t = { .tick = k, .freq_khz = KHZ };
		uint64_t since = (timeline_due(s, k) - phase_ns) % KERNEL_TICK_NS;

		t.late_ns = USUAL_NS + 200 * random_part(m) +
			    (since < LONG_NS ? LONG_NS - since : 0);
		m->functions[k / 50 % 2].samples++;
		assert_int_equal(blocks_delay_add(&m->b, k / 50 % 2, &t), 0);
	}
	seal(m);
	return m;
}

/* However many of the ticks meet it, the kernel's tick takes the same part of the time. */
TEST(ticks_in_step_do_not_count_as_such)
{
	static const struct {
		uint64_t interval_ns, jitter_ns, phase_ns;
		double least, most;	/* part of the ticks that are late, as counted */
	} of[] = {
		{ 1007897, 0, 300000, 0.01, 0.02 },		/* as -F has it */
		/* with the jitter more often than not */
		{ 1000000, 700000, 300000, 0.02, 0.023 },
		{ 1000000, 700000, 800000, 0, 0 },		/* never */
		/* each fourth always, which is no longer unusual */
		{ 1000000, 0, 4000000 - 20000, 0, 0.25 },
		{ 1000000, 0, 300000, 0, 0 },
		{ 1500000, 0, 4000000 - 20000, 0.12, 0.13 },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		for (unsigned int n = 2000; n <= 50000; n *= 25) {
			struct made *m = meet_kernel_ticks(of[i].interval_ns, of[i].jitter_ns,
							   of[i].phase_ns, n, 0.015);
			double late = (double)(m->functions[0].late + m->functions[1].late) / n,
				other = m->b.input.other;

			print_message("%u ticks of %u us: %.4f late, %.4f +- %.4f\n", n,
				      (unsigned int)(of[i].interval_ns / 1000), late, other,
				      m->b.input.other_error);
			if (n > 2000)
				assert_true(late >= of[i].least && late <= of[i].most);
			assert_true(fabs(other - (double)LONG_NS / KERNEL_TICK_NS) <=
				    m->b.input.other_error);
			assert_true(m->b.input.other_error < 0.006);
			assert_null(m->b.costs);
			unmake(m);
		}
	}
}
