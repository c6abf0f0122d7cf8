// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calibration's arithmetic on made-up rounds.
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
#include "calibrate.h"
#include "synthetic.h"

/*
 * A loop of 4 turns a microsecond at 1.5 W; every tick takes 22 us at 3 W and sees 6 us of it,
 * and 250 or more times a second there is a scheduler's tick of 40 us. A host takes the CPU
 * away in some of the slots; the machine draws less meanwhile.
 */
#define LOOP_UW		1.5e6
#define AWAY_UW		0.4e6

struct made_up {
	double irq_hz;
	double away;		/* slots of which the host takes up to half, or nearly all */
};

static const struct made_up quiet_host = { 250, 0.02 };

static void phase(struct kjoule_phase *p, const struct made_up *m, double interval_ns, uint64_t seed)
{
	const double slot = CALIBRATE_SLOT_NS, tick = 22e3, seen = 6e3, other = 40e3;
	double ticks_due = 0, others_due = rnd_unit(&seed), away = 0;

	memset(p, 0, sizeof(*p));
	p->interval_ns = interval_ns;
	p->n = 240;
	p->irq_hz = m->irq_hz;
	p->slots = calloc(p->n, sizeof(*p->slots));
	assert_non_null(p->slots);
	for (size_t i = 0; i < p->n; i++) {
		struct kjoule_slot *s = &p->slots[i];
		double lost;

		others_due += m->irq_hz * slot * 1e-9;
		lost = floor(others_due) * other;
		others_due -= floor(others_due);
		ticks_due += interval_ns > 0 ? slot / interval_ns : 0;
		s->ticks = floor(ticks_due);
		ticks_due -= s->ticks;
		s->seen_ns = s->ticks * seen * (1 + 0.02 * (rnd_unit(&seed) - 0.5));
		lost += s->ticks * (tick - seen) * (1 + 0.02 * (rnd_unit(&seed) - 0.5)) + s->seen_ns;
		if (rnd_unit(&seed) < m->away) {
			double more = (rnd_unit(&seed) < 0.5 ? 0.5 : 0.9) * rnd_unit(&seed) * slot;

			more = fmin(more, 0.97 * slot - lost);
			lost += more;
			away += more / slot / p->n;
			/* now and then it is a tick that it interrupts */
			if (s->ticks && rnd_unit(&seed) < 0.1)
				s->seen_ns += more;
		}
		s->ns = slot;
		s->rate = 0.004 * (1 - lost / slot) * (1 + 0.001 * (rnd_unit(&seed) - 0.5));
		p->ticks += s->ticks;
	}
	if (interval_ns > 0) {
		p->handler_ns = seen;
		p->n_domains = 2;
		p->uw[0] = (LOOP_UW * (1 - tick / interval_ns) + 3e6 * tick / interval_ns) *
			   (1 + 0.002 * (rnd_unit(&seed) - 0.5));
		p->uw[0] += away * (AWAY_UW - LOOP_UW);
		p->uw[1] = NAN;
	}
}

/* In the first @spoilt rounds the host took half of what the fast phase would have done. */
static void rounds_new(struct kjoule_round *r, size_t n, size_t spoilt, const struct made_up *m,
		       uint64_t seed)
{
	memset(r, 0, n * sizeof(*r));
	for (size_t i = 0; i < n; i++) {
		phase(&r[i].quiet, m, 0, seed + i);
		phase(&r[i].slow, m, 1e6, seed + 100 + i);
		phase(&r[i].fast, m, 250e3, seed + 200 + i);
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

static void cost_of_a_tick_comes_from_rounds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct kjoule_calibration cal = { 0 };
		struct kjoule_round r[5];

		rounds_new(r, 5, 0, &quiet_host, seed);
		assert_int_equal(kjoule_calibration_solve(r, 5, &cal), 0);
		assert_true(fabs(cal.tick_ns - 22000) < 500);
		assert_true(cal.tick_error_ns > 0 && cal.tick_error_ns < 400);
		assert_true(fabs(cal.handler_ns - 6000) < 20);
		assert_true(fabs(cal.entry_ns - (cal.tick_ns - cal.handler_ns)) < 1e-6);
		assert_int_equal(cal.ticks, 5 * 480);
		assert_true(fabs(cal.other_part - 0.01) < 0.001);
		assert_int_equal(cal.n_domains, 2);
		assert_true(fabs(cal.irq_uw[0] / 3e6 - 1) < 0.03);
		assert_true(fabs(cal.loop_uw[0] / 1.5e6 - 1) < 0.01);
		/* a counter that did not tell its power tells none of the ticks' either */
		assert_true(isnan(cal.irq_uw[1]));
		rounds_free(r, 5);
	}
}

/* A host that takes the CPU away in every second slot, and a scheduler's tick in every second one. */
static void a_busy_host_does_not_count(void **state)
{
	static const struct made_up busy[] = { { 250, 0.5 }, { 1000, 0.02 }, { 1000, 0.2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct kjoule_calibration cal = { 0 };
			struct kjoule_round r[8];

			rounds_new(r, 8, 0, &busy[i], seed);
			assert_int_equal(kjoule_calibration_solve(r, 8, &cal), 0);
			assert_true(fabs(cal.tick_ns - 22000) < 500);
			assert_true(fabs(cal.handler_ns - 6000) < 300);
			assert_true(cal.tick_error_ns > 0 && cal.tick_error_ns < 400);
			assert_true(fabs(cal.irq_uw[0] / 3e6 - 1) < 0.06);
			assert_true(cal.irq_error_uw[0] < 0.04 * cal.irq_uw[0]);
			assert_true(fabs(cal.other_part / (busy[i].irq_hz * 40e-6) - 1) < 0.1);
			rounds_free(r, 8);
		}
	}
}

static void a_spoilt_round_does_not_count(void **state)
{
	struct kjoule_calibration cal = { 0 };
	struct kjoule_round r[5];

	(void)state;
	rounds_new(r, 5, 2, &quiet_host, 1);
	r[4].fast.uw[0] *= 3;
	r[0].slow.uw[0] = NAN;
	assert_int_equal(kjoule_calibration_solve(r, 5, &cal), 0);
	assert_true(fabs(cal.tick_ns - 22000) < 1000);
	assert_true(fabs(cal.irq_uw[0] / 3e6 - 1) < 0.05);
	assert_true(cal.tick_error_ns > 0 && cal.irq_error_uw[0] > 0);
	rounds_free(r, 5);
}

static void what_makes_no_sense_is_no_calibration(void **state)
{
	struct kjoule_calibration cal = { 0 };
	struct kjoule_round r[4];

	(void)state;
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

static void ticks_of_an_idle_cpu_have_their_energy(void **state)
{
	struct kjoule_calibration cal = { 0 };
	struct kjoule_round r[4];

	(void)state;
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
	rounds_free(r, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_of_an_idle_cpu_have_their_energy),
		cmocka_unit_test(cost_of_a_tick_comes_from_rounds),
		cmocka_unit_test(a_busy_host_does_not_count),
		cmocka_unit_test(a_spoilt_round_does_not_count),
		cmocka_unit_test(what_makes_no_sense_is_no_calibration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
