// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calibration's arithmetic on made-up phases.
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
	p->n = 400;
	p->rates = calloc(p->n, sizeof(*p->rates));
	assert_non_null(p->rates);
	for (size_t i = 0; i < p->n; i++) {
		double lost = i % 8 ? 0 : other;

		if (interval_ns > 0)
			lost += tick * floor(slot / interval_ns + rnd_unit(&seed));
		if (i % 50 == 7)
			lost += 300e3;
		p->rates[i] = 0.004 * (1 - lost / slot) * (1 + 0.004 * (rnd_unit(&seed) - 0.5));
	}
	if (interval_ns > 0) {
		p->ticks = p->n * slot / interval_ns;
		p->handler_ns = 6000;
		p->n_domains = 2;
		p->uw[0] = 1.5e6 * (1 - tick / interval_ns) + 3e6 * tick / interval_ns;
		p->uw[1] = NAN;
	}
}

static void phases_free(struct kjoule_phase *p, int n)
{
	while (n--)
		free(p[n].rates);
}

static void cost_of_a_tick_comes_from_three_phases(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct kjoule_calibration cal = { 0 };
		struct kjoule_phase p[3];

		phase(&p[0], 0, seed);
		phase(&p[1], 2e6, seed + 100);
		phase(&p[2], 250e3, seed + 200);
		assert_int_equal(kjoule_calibration_solve(&p[0], &p[1], &p[2], &cal), 0);
		assert_true(fabs(cal.tick_ns - 22000) < 300);
		assert_true(cal.handler_ns == 6000);
		assert_true(fabs(cal.entry_ns - 16000) < 300);
		assert_true(fabs(cal.other_part - 0.01) < 0.001);
		assert_int_equal(cal.n_domains, 2);
		assert_true(fabs(cal.irq_uw[0] / 3e6 - 1) < 0.02);
		assert_true(fabs(cal.loop_uw[0] / 1.5e6 - 1) < 0.01);
		/* a counter that did not tell its power tells none of the ticks' either */
		assert_true(isnan(cal.irq_uw[1]));
		phases_free(p, 3);
	}
}

static void what_makes_no_sense_is_no_calibration(void **state)
{
	struct kjoule_calibration cal = { 0 };
	struct kjoule_phase p[3];

	(void)state;
	phase(&p[0], 0, 1);
	phase(&p[1], 2e6, 2);
	phase(&p[2], 250e3, 3);
	p[2].n = 19;
	assert_int_equal(kjoule_calibration_solve(&p[0], &p[1], &p[2], &cal), -EAGAIN);
	p[2].n = 400;
	p[2].ticks = 0;
	assert_int_equal(kjoule_calibration_solve(&p[0], &p[1], &p[2], &cal), -EAGAIN);
	p[2].ticks = 800;
	p[2].handler_ns = 30000;	/* more than a tick takes in all */
	assert_int_equal(kjoule_calibration_solve(&p[0], &p[1], &p[2], &cal), -EAGAIN);
	p[2].handler_ns = 6000;
	p[2].uw[0] = 1e5;		/* power that sinks with more ticks below nothing */
	assert_int_equal(kjoule_calibration_solve(&p[0], &p[1], &p[2], &cal), 0);
	assert_true(isnan(cal.irq_uw[0]));
	phases_free(p, 3);
}

static void ticks_of_an_idle_cpu_have_their_energy(void **state)
{
	struct kjoule_calibration cal = { .n_domains = 3 };
	struct kjoule_phase slow = { .interval_ns = 2e6, .uw = { 100e3 + 500 * 120, 5, NAN } };
	struct kjoule_phase fast = { .interval_ns = 250e3, .uw = { 100e3 + 4000 * 120, 4, 7 } };

	(void)state;
	kjoule_calibration_solve_idle(&slow, &fast, &cal);
	assert_true(fabs(cal.idle_uj[0] - 120) < 1e-9);
	assert_true(isnan(cal.idle_uj[1]));	/* less with more ticks: noise */
	assert_true(isnan(cal.idle_uj[2]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_of_an_idle_cpu_have_their_energy),
		cmocka_unit_test(cost_of_a_tick_comes_from_three_phases),
		cmocka_unit_test(what_makes_no_sense_is_no_calibration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
