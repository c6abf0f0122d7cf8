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
 * A loop of 4 turns a microsecond at 1.5 W; every tick takes 22 us at 3 W, and each eighth slot
 * has a scheduler's tick of 40 us in it. Some slots lose half and more to a host.
 */
static void phase(struct kjoule_phase *p, double interval_ns, uint64_t seed)
{
	const double slot = 500e3, tick = 22e3, other = 40e3;

	memset(p, 0, sizeof(*p));
	p->interval_ns = interval_ns;
	p->n = 240;
	p->batch = CALIBRATE_BATCH;
	p->irq_hz = 250;
	p->rates = calloc(p->n, sizeof(*p->rates));
	assert_non_null(p->rates);
	for (size_t i = 0; i < p->n; i++) {
		double lost = i % 8 ? 0 : other;

		if (interval_ns > 0)
			lost += tick * floor(slot / interval_ns + rnd_unit(&seed));
		if (i % 50 == 7)
			lost += 300e3 - 0.6 * lost;	/* no ticks meanwhile */
		p->rates[i] = 0.004 * (1 - lost / slot) * (1 + 0.004 * (rnd_unit(&seed) - 0.5));
	}
	if (interval_ns > 0) {
		p->ticks = p->n * slot / interval_ns;
		p->handler_ns = 6000;
		p->n_domains = 2;
		p->uw[0] = (1.5e6 * (1 - tick / interval_ns) + 3e6 * tick / interval_ns) *
			   (1 + 0.002 * (rnd_unit(&seed) - 0.5));
		p->uw[1] = NAN;
	}
}

/* In the first @spoilt rounds the host took half of what the fast phase would have done. */
static void rounds_new(struct kjoule_round *r, size_t n, size_t spoilt, uint64_t seed)
{
	memset(r, 0, n * sizeof(*r));
	for (size_t i = 0; i < n; i++) {
		phase(&r[i].quiet, 0, seed + i);
		phase(&r[i].slow, 1e6, seed + 100 + i);
		phase(&r[i].fast, 250e3, seed + 200 + i);
		for (size_t j = 0; i < spoilt && j < r[i].fast.n; j++)
			r[i].fast.rates[j] *= 0.5;
	}
}

static void rounds_free(struct kjoule_round *r, size_t n)
{
	while (n--) {
		free(r[n].quiet.rates);
		free(r[n].slow.rates);
		free(r[n].fast.rates);
	}
}

static void cost_of_a_tick_comes_from_rounds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct kjoule_calibration cal = { 0 };
		struct kjoule_round r[5];

		rounds_new(r, 5, 0, seed);
		assert_int_equal(kjoule_calibration_solve(r, 5, &cal), 0);
		assert_true(fabs(cal.tick_ns - 22000) < 500);
		assert_true(cal.tick_error_ns > 0 && cal.tick_error_ns < 400);
		assert_true(cal.handler_ns == 6000);
		assert_true(cal.entry_ns == cal.tick_ns - 6000);
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

static void a_spoilt_round_does_not_count(void **state)
{
	struct kjoule_calibration cal = { 0 };
	struct kjoule_round r[5];

	(void)state;
	rounds_new(r, 5, 2, 1);
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
	rounds_new(r, 4, 0, 1);
	assert_int_equal(kjoule_calibration_solve(r, 0, &cal), -EAGAIN);
	for (int i = 0; i < 4; i++)
		r[i].fast.n = CALIBRATE_BATCH - 1;
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), -EAGAIN);
	for (int i = 0; i < 4; i++) {
		r[i].fast.n = 240;
		r[i].fast.ticks = 0;
	}
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), -EAGAIN);
	for (int i = 0; i < 4; i++) {
		r[i].fast.ticks = 480;
		r[i].fast.handler_ns = 30000;	/* more than a tick takes in all */
	}
	assert_int_equal(kjoule_calibration_solve(r, 4, &cal), -EAGAIN);
	for (int i = 0; i < 4; i++) {
		r[i].fast.handler_ns = 6000;
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
	rounds_new(r, 4, 0, 1);
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
		cmocka_unit_test(a_spoilt_round_does_not_count),
		cmocka_unit_test(what_makes_no_sense_is_no_calibration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
