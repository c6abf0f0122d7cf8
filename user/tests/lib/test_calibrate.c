// SPDX-License-Identifier: GPL-2.0-or-later
/* The calibration's arithmetic on simulated rounds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/control/calibrate.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

/*
 * A loop of 4 turns a microsecond at 1.5 W. Ticks take 3 W. Events fall anywhere in the slots of a
 * phase, as on a machine: ticks, other interrupts, and a host that takes the CPU away, during which
 * no tick comes and the machine draws less.
 */
#define LOOP_UW		1.5e6
#define TICK_UW		3e6
#define AWAY_UW		0.4e6
#define PHASE_NS	120e6

struct interpolated {
	double entry_ns, seen_ns;	/* of a tick; one of eight sees @long_ns more */
	double long_ns;
	double irq_hz, irq_ns;
	double away_hz, away_ns;	/* how often, and up to how long */
	double noise;			/* of the loop's speed, a part */
};

static const struct interpolated quiet_host = { 16e3, 6e3, 0, 250, 40e3, 10, 400e3, 0.001 };

/* By how much the loop is kept in [@from, @to): @s has the ticks of it. */
static double interrupted(const struct interpolated *m, double interval_ns, double phase,
			  double from, double to, struct kjoule_slot *s, uint64_t *seed)
{
	double lost = 0, irq_ns = 1e9 / m->irq_hz;

	for (double k = ceil((from - phase) / irq_ns); phase + k * irq_ns < to; k++)
		lost += m->irq_ns * (1 + 0.3 * (rnd_unit(seed) - 0.5));
	if (!(interval_ns > 0))
		return lost;
	for (double k = ceil(from / interval_ns); k * interval_ns < to; k++) {
		double seen = m->seen_ns * (1 + 0.02 * (rnd_unit(seed) - 0.5)) +
			      ((uint64_t)k % 8 ? 0 : m->long_ns);

		s->ticks++;
		s->seen_ns += seen;
		lost += seen + m->entry_ns * (1 + 0.02 * (rnd_unit(seed) - 0.5));
	}
	return lost;
}

static void phase(struct kjoule_phase *p, const struct interpolated *m, double interval_ns,
		  uint64_t seed)
{
	double phase = rnd_unit(&seed) * 1e9 / m->irq_hz, now = 0, away = 0, seen = 0;

	memset(p, 0, sizeof(*p));
	p->interval_ns = interval_ns;
	p->irq_hz = m->irq_hz;
	p->slots = calloc(PHASE_NS / CALIBRATE_SLOT_NS + 1, sizeof(*p->slots));
	assert_non_null(p->slots);
	while (now < PHASE_NS) {
		struct kjoule_slot *s = &p->slots[p->n++];
		double lost, gone = 0;

		s->ns = CALIBRATE_SLOT_NS;
		lost = interrupted(m, interval_ns, phase, now, now + s->ns, s, &seed);
		if (rnd_unit(&seed) < m->away_hz * s->ns * 1e-9)
			gone = m->away_ns * rnd_unit(&seed);
		/*
		 * what does not fit into the slot makes it longer, and ticks meanwhile are missed
		 */
		if (lost + gone > 0.99 * s->ns)
			s->ns = lost + gone + 0.01 * s->ns;
		/* now and then it is a tick that the host interrupts */
		if (gone > 0 && s->ticks && rnd_unit(&seed) < 0.1)
			s->seen_ns += gone;
		s->rate = 0.004 * (1 - (lost + gone) / s->ns) *
			  (1 + m->noise * (rnd_unit(&seed) - 0.5));
		now += s->ns;
		away += gone;
		p->ticks += s->ticks;
		seen += s->seen_ns;
	}
	if (interval_ns > 0) {
		double tick = (m->entry_ns + m->seen_ns + m->long_ns / 8) * p->ticks / now;

		p->handler_ns = seen / p->ticks;
		p->n_domains = 2;
		p->uw[0] = (LOOP_UW + (TICK_UW - LOOP_UW) * tick + (AWAY_UW - LOOP_UW) * away /
			    now) *
			   (1 + 0.002 * (rnd_unit(&seed) - 0.5));
		p->uw[1] = NAN;
	}
}

/* In the first @spoilt rounds the host took half of what the fast phase would have done. */
static void rounds_new(struct kjoule_round *r, size_t n, size_t spoilt,
		       const struct interpolated *m, uint64_t seed)
{
	memset(r, 0, n * sizeof(*r));
	for (size_t i = 0; i < n; i++) {
		phase(&r[i].quiet, m, 0, seed + i);
		phase(&r[i].slow, m, 1007874, seed + 100 + i);
		phase(&r[i].fast, m, 251969, seed + 200 + i);
		if (i >= spoilt)
			continue;
		for (size_t j = 0; j < r[i].fast.n; j++)
			r[i].fast.slots[j].rate *= 0.5;
		r[i].fast.uw[0] += 0.5 * (AWAY_UW - LOOP_UW);
	}
}

static void rounds_free(struct kjoule_round *r, size_t n)
{
	while (n--) {
		free(r[n].quiet.slots);
		free(r[n].slow.slots);
		free(r[n].fast.slots);
	}
}

TEST(cost_of_a_tick_comes_from_rounds)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct kjoule_calibration cal = { 0 };
		struct kjoule_round r[5];

		rounds_new(r, 5, 0, &quiet_host, seed);
		assert_int_equal(kjoule_calibration_solve(r, 5, &cal), 0);
		assert_true(fabs(cal.tick_ns - 22000) < 500);
		assert_true(cal.tick_error_ns > 0 && cal.tick_error_ns < 400);
		assert_true(fabs(cal.handler_ns - 6000) < 60);
		assert_true(fabs(cal.entry_ns - (cal.tick_ns - cal.handler_ns)) < 1e-6);
		assert_in_range(cal.ticks, 5 * 470, 5 * 480);
		assert_true(fabs(cal.other_part - 0.01) < 0.001);
		assert_true(cal.other_error > 0 && cal.other_error < 0.001);
		assert_true(cal.other_hz == quiet_host.irq_hz);
		assert_int_equal(cal.n_domains, 2);
		assert_true(fabs(cal.irq_uw[0] / TICK_UW - 1) < 0.03);
		assert_true(fabs(cal.loop_uw[0] / LOOP_UW - 1) < 0.01);
		/* a counter without a power has none of the ticks' either */
		assert_true(isnan(cal.irq_uw[1]));
		rounds_free(r, 5);
	}
}

/*
 * A host that takes the CPU away in every second slot for up to half of it; a scheduler's tick in
 * every second one, with that host as well; slices of milliseconds; ticks of current processors,
 * where other interrupts are too short to be seen; deep stacks.
 */
TEST(a_busy_host_does_not_count)
{
	static const struct interpolated busy[] = {
		{ 16e3, 6e3, 0, 250, 40e3, 1000, 250e3, 0.001 },
		{ 16e3, 6e3, 0, 1000, 40e3, 20, 400e3, 0.001 },
		{ 16e3, 6e3, 0, 1000, 40e3, 300, 250e3, 0.001 },
		{ 16e3, 6e3, 2e3, 250, 40e3, 50, 8e6, 0.001 },
		{ 1e3, 1e3, 0, 250, 4e3, 200, 500e3, 0.002 },
		{ 1.5e3, 97e3, 24e3, 100, 5e3, 100, 500e3, 0.002 },
	};

	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		const struct interpolated *m = &busy[i];
		double handler = m->seen_ns + m->long_ns / 8, tick = m->entry_ns + handler;
		double others = m->irq_hz * m->irq_ns * 1e-9;
		int inside = 0;

		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct kjoule_calibration cal = { 0 };
			struct kjoule_round r[8];

			rounds_new(r, 8, 0, m, seed);
			assert_int_equal(kjoule_calibration_solve(r, 8, &cal), 0);
			assert_true(fabs(cal.tick_ns / tick - 1) < 0.03);
			assert_true(fabs(cal.handler_ns / handler - 1) < 0.05);
			assert_true(cal.tick_error_ns > 0 && cal.tick_error_ns < 0.03 * tick);
			assert_true(fabs(cal.other_part - others) < fmax(0.1 * others, 0.002));
			inside += fabs(cal.other_part - others) <= 2 * cal.other_error +
				  0.15 * others;
			/* ticks so short that their power is lost in the noise say so */
			assert_true(fabs(cal.irq_uw[0] - TICK_UW) < 0.06 * TICK_UW +
				    4 * cal.irq_error_uw[0]);
			rounds_free(r, 8);
		}
		assert_in_range(inside, 19, 20);
	}
}

/*
 * Without ticks an interrupt takes eight times as long as with them, and a host takes the CPU away
 * now and then: the result is near what it takes in a recording, and marked as uncertain.
 */
TEST(interrupts_that_are_longer_without_ticks_do_not_count)
{
	static const struct interpolated host = { 16e3, 6e3, 0, 250, 40e3, 100, 400e3, 0.001 };
	struct interpolated cold = host;

	cold.irq_ns = 8 * host.irq_ns;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct kjoule_calibration cal = { 0 };
		struct kjoule_round r[8];

		rounds_new(r, 8, 0, &host, seed);
		for (size_t i = 0; i < 8; i++) {
			free(r[i].quiet.slots);
			phase(&r[i].quiet, &cold, 0, seed + i);
		}
		assert_int_equal(kjoule_calibration_solve(r, 8, &cal), 0);
		assert_true(fabs(cal.tick_ns - 22000) < 500);
		/* 0.08 is what is seen without ticks, and the host takes 0.02 */
		assert_true(cal.other_part > 0.01 - 0.001 && cal.other_part < 0.03);
		assert_true(cal.other_error >= cal.other_part / 4 && cal.other_error < 0.02);
		rounds_free(r, 8);
	}
}

/* A loop whose speed varies by more than an interrupt takes: there is only an upper bound. */
TEST(an_unmeasurable_cost_has_a_bound)
{
	static const struct interpolated uneven = { 16e3, 6e3, 0, 250, 40e3, 10, 400e3, 0.15 };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct kjoule_calibration cal = { 0 };
		struct kjoule_round r[12];

		rounds_new(r, 12, 0, &uneven, seed);
		assert_int_equal(kjoule_calibration_solve(r, 12, &cal), 0);
		assert_true(cal.other_part == 0);
		assert_true(2 * cal.other_error >= 0.01 && 2 * cal.other_error < 0.1);
		/* two of them do not make it surer than it is */
		assert_int_equal(kjoule_calibration_solve(r, 2, &cal), 0);
		assert_true(cal.other_part + 2 * cal.other_error >= 0.01);
		rounds_free(r, 12);
	}
}

/* Where time is counted, not measured, slots are all alike but for those with an interrupt. */
TEST(slots_may_be_alike)
{
	const struct kjoule_slot quiet = { .ns = 500e3, .rate = 0.0041 };
	const struct kjoule_slot fast = { .ns = 500e3, .rate = 0.0041 * (1 - 2 * 22e3 / 500e3),
					  .ticks = 2, .seen_ns = 12e3 };
	struct kjoule_calibration cal = { 0 };
	struct kjoule_round r[4] = { 0 };

	for (int i = 0; i < 4; i++) {
		struct kjoule_phase *phases[] = { &r[i].quiet, &r[i].fast };

		for (int k = 0; k < 2; k++) {
			struct kjoule_phase *p = phases[k];

			p->n = 200;
			p->irq_hz = 250;
			p->slots = calloc(p->n, sizeof(*p->slots));
			assert_non_null(p->slots);
			for (size_t j = 0; j < p->n; j++) {
				p->slots[j] = k ? fast : quiet;
				if (j % 8 == 3)
					p->slots[j].rate *= 1 - 40e3 / 500e3;
				p->ticks += p->slots[j].ticks;
			}
			p->interval_ns = 250e3;
			p->handler_ns = 6e3;
		}
	}
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), 0);
	assert_true(fabs(cal.tick_ns - 22e3) < 1);
	assert_true(fabs(cal.handler_ns - 6e3) < 1);
	assert_true(fabs(cal.other_part - 0.01) < 1e-5);
	rounds_free(r, 4);
}

TEST(a_spoilt_round_does_not_count)
{
	struct kjoule_calibration cal = { 0 };
	struct kjoule_round r[5];

	rounds_new(r, 5, 2, &quiet_host, 1);
	r[4].fast.uw[0] *= 3;
	r[0].slow.uw[0] = NAN;
	assert_int_equal(kjoule_calibration_solve(r, 5, &cal), 0);
	assert_true(fabs(cal.tick_ns - 22000) < 1000);
	assert_true(fabs(cal.irq_uw[0] / TICK_UW - 1) < 0.05);
	assert_true(cal.tick_error_ns > 0 && cal.irq_error_uw[0] > 0);
	rounds_free(r, 5);
}

TEST(what_makes_no_sense_is_no_calibration)
{
	struct kjoule_calibration cal = { 0 };
	struct kjoule_round r[4];

	rounds_new(r, 4, 0, &quiet_host, 1);
	assert_int_equal(kjoule_calibration_solve(r, 0, &cal), -EAGAIN);
	for (int i = 0; i < 4; i++)
		r[i].fast.n = 3;
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), -EAGAIN);
	for (int i = 0; i < 4; i++) {
		r[i].fast.n = 240;
		r[i].fast.ticks = 0;
	}
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), -EAGAIN);
	for (int i = 0; i < 4; i++) {
		r[i].fast.ticks = 480;
		for (size_t j = 0; j < r[i].fast.n; j++)
			r[i].fast.slots[j].seen_ns *= 5;	/* more than a tick takes in all */
	}
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), -EAGAIN);
	for (int i = 0; i < 4; i++) {
		for (size_t j = 0; j < r[i].fast.n; j++)
			r[i].fast.slots[j].seen_ns /= 5;
		r[i].fast.uw[0] = 1e5;	/* power that sinks with more ticks below nothing */
	}
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), 0);
	assert_true(isnan(cal.irq_uw[0]));
	rounds_free(r, 4);
}

TEST(ticks_of_an_idle_cpu_have_their_energy)
{
	struct kjoule_calibration cal = { 0 };
	struct kjoule_round r[4];

	rounds_new(r, 4, 0, &quiet_host, 1);
	for (int i = 0; i < 2; i++) {
		r[i].doze = (struct kjoule_phase){ .interval_ns = 1e6, .ticks = 100,
						   .uw = { 100e3 + 1000 * 120, 5 } };
		r[i].nap = (struct kjoule_phase){ .interval_ns = 250e3, .ticks = 400,
						  .uw = { 100e3 + 4000 * 120, 4 } };
	}
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), 0);
	assert_true(fabs(cal.idle_uj[0] - 120) < 1e-9);
	assert_true(isnan(cal.idle_uj[1]));	/* less with more ticks: noise */
	assert_true(fabs(cal.idle_uw[0] - 100e3) < 1e-6);
	assert_true(isnan(cal.idle_uw[1]));	/* what its ticks draw is not known */
	r[1].doze.uw[0] = 90e3 + 1000 * 120;	/* something has woken it in the other round */
	r[1].nap.uw[0] = 90e3 + 4000 * 120;
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), 0);
	assert_true(fabs(cal.idle_uw[0] - 90e3) < 1e-6);
	rounds_free(r, 4);
}
