/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arithmetic of the calibration, apart from the loop that measures, so that
 * it can be tested on made-up phases.
 */
#ifndef KJOULE_CALIBRATE_H
#define KJOULE_CALIBRATE_H

#include "lib/control/calibration.h"
#include "lib/control/control.h"

#define CALIBRATE_MOST_ROUNDS	12
#define CALIBRATE_SLOT_NS	500000	/* short against the scheduler's tick of 1 to 10 ms */

/**
 * struct kjoule_slot - what the loop saw in some half of a millisecond
 * @ns:		how long it was; longer where something took the CPU beyond its end
 * @rate:	how fast the loop turned, in turns a nanosecond
 * @ticks:	ticks in it
 * @seen_ns:	the time that they saw themselves
 */
struct kjoule_slot {
	double ns;
	double rate;
	double ticks;
	double seen_ns;
};

/**
 * struct kjoule_phase - what a busy loop saw for a while
 * @interval_ns: between ticks; 0: there were none
 * @slots:	one after the other; the loop of an idle phase does not turn
 * @n:		how many
 * @irq_hz:	interrupts a second meanwhile, counted by the kernel; NAN: not known
 * @ticks:	ticks taken meanwhile
 * @handler_ns:	mean of the time that they saw themselves, with what a host took of it
 * @n_domains:	of all energy sources of the phase's session
 * @source,@domain: which these are, see struct kjoule_calibration
 * @uw:		mean power, NAN: not known
 */
struct kjoule_phase {
	double interval_ns;
	struct kjoule_slot *slots;
	size_t n;
	double irq_hz;
	uint64_t ticks;
	double handler_ns;
	unsigned int n_domains;
	uint32_t source[KJOULE_MAX_DOMAINS];
	uint32_t domain[KJOULE_MAX_DOMAINS];
	double uw[KJOULE_MAX_DOMAINS];
};

/**
 * struct kjoule_round - phases side by side
 * @quiet:	turning, without ticks
 * @slow,@fast:	turning, with few ticks and with many
 * @doze,@nap:	asleep, with few and with many; not in every round
 */
struct kjoule_round {
	struct kjoule_phase quiet, slow, fast, doze, nap;
};

/**
 * kjoule_calibration_solve() - the cost of a tick
 * @rounds:	at most CALIBRATE_MOST_ROUNDS
 * @cal:	out: all but cpu and freq_khz
 *
 * Return: 0, or -EAGAIN when the rounds are too few or do not differ as they should.
 */
int kjoule_calibration_solve(const struct kjoule_round *rounds, size_t n,
			     struct kjoule_calibration *cal);

#endif /* KJOULE_CALIBRATE_H */
