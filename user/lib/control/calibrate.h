/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arithmetic of the calibration without the measuring loop, for tests. */
#ifndef KJOULE_CALIBRATE_H
#define KJOULE_CALIBRATE_H

#include "lib/control/calibration.h"
#include "lib/control/control.h"

#define CALIBRATE_MOST_ROUNDS	12
#define CALIBRATE_SLOT_NS	500000	/* short against the scheduler's tick of 1 to 10 ms */

/**
 * struct kjoule_slot - the loop in about half a millisecond
 * @ns: its length; longer if something took the CPU beyond its end
 * @rate: turns a nanosecond
 * @ticks: ticks in it
 * @seen_ns: the time that they saw themselves
 */
struct kjoule_slot {
	double ns;
	double rate;
	double ticks;
	double seen_ns;
};

/**
 * struct kjoule_phase - measurements of a busy loop
 * @interval_ns: between ticks; 0: there were none
 * @slots: in order; the loop of an idle phase does not run
 * @n: how many
 * @irq_hz: interrupts a second, counted by the kernel; NAN: unknown
 * @ticks: ticks taken
 * @handler_ns: mean of the time that they saw themselves, including a host's
 * @n_domains: of all energy sources of the phase's session
 * @source,@domain: see struct kjoule_calibration
 * @uw: mean power, NAN: unknown
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
 * struct kjoule_round - successive phases
 * @quiet: running, without ticks
 * @slow,@fast: running, with few ticks and with many
 * @doze,@nap: idle, with few and with many; not in every round
 */
struct kjoule_round {
	struct kjoule_phase quiet, slow, fast, doze, nap;
};

/**
 * kjoule_calibration_solve() - the cost of a tick
 * @rounds: at most CALIBRATE_MOST_ROUNDS
 * @cal: out: all but cpu and freq_khz
 *
 * Return: 0, or -EAGAIN if there are too few rounds or they do not differ as they should.
 */
int kjoule_calibration_solve(const struct kjoule_round *rounds, size_t n,
			     struct kjoule_calibration *cal);

#endif /* KJOULE_CALIBRATE_H */
