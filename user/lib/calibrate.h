/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arithmetic of the calibration, apart from the loop that measures, so that
 * it can be tested on made-up phases.
 */
#ifndef KJOULE_CALIBRATE_H
#define KJOULE_CALIBRATE_H

#include "kjoule.h"

/**
 * struct kjoule_phase - what a busy loop saw for a while
 * @interval_ns: between ticks; 0: there were none
 * @rates:	how fast the loop turned, in turns a nanosecond, slot after slot
 * @n:		slots
 * @ticks:	ticks taken meanwhile
 * @handler_ns:	mean of the time that they saw themselves
 * @n_domains:	of the energy source
 * @uw:		mean power, NAN: not known
 */
struct kjoule_phase {
	double interval_ns;
	double *rates;
	size_t n;
	uint64_t ticks;
	double handler_ns;
	unsigned int n_domains;
	double uw[KJOULE_MAX_DOMAINS];
};

/**
 * kjoule_calibration_solve_idle() - what a tick costs where the CPU sleeps
 * @slow,@fast:	with few ticks and with many; only their power and interval count
 * @cal:	out: idle_uj, for its n_domains
 */
void kjoule_calibration_solve_idle(const struct kjoule_phase *slow, const struct kjoule_phase *fast,
				   struct kjoule_calibration *cal);

/**
 * kjoule_calibration_solve() - the cost of a tick from three phases
 * @quiet:	without ticks
 * @slow,@fast:	with few and with many
 * @cal:	out: all but cpu and freq_khz
 * The phases' rates are sorted.
 *
 * Return: 0, or -EAGAIN when the phases are too short or do not differ as they should.
 */
int kjoule_calibration_solve(struct kjoule_phase *quiet, struct kjoule_phase *slow,
			     struct kjoule_phase *fast, struct kjoule_calibration *cal);

#endif /* KJOULE_CALIBRATE_H */
