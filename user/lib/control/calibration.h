/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibration: the cost of a tick. */
#ifndef KJOULE_CALIBRATION_H
#define KJOULE_CALIBRATION_H

#include <signal.h>
#include <stdint.h>
#include "lib/control/control.h"

/**
 * struct kjoule_calibration - cost of interrupts on a busy CPU; see lib/control/calibrate.c
 * @ticks: ticks measured, 0: there was no calibration
 * @tick_ns: time of a tick, entry and exit of the interrupt included, nanoseconds
 * @tick_error_ns: its standard error
 * @handler_ns: the part of it that the tick itself can see (kjoule_ring_head.tick_ns)
 * @handler_spread_ns: standard deviation of that from round to round of the calibration
 * @entry_ns: the rest
 * @freq_khz: mean frequency of the CPU meanwhile, 0: unknown
 * @other_part: part of the time, 0 to 1, in other interrupts; 0 if it could not be measured
 * @other_error: its standard error, or half of the bound if it could not be measured; NAN in older
 *   files
 * @other_hz: their frequency; 0: unknown, as in older files
 * @n_domains: how many of the following are set, one for each domain of energy that is read in the
 *   tick; a thread reads too seldom
 * @source,@domain: number of the session's source, index of the source's domain
 * @irq_uw: power in a tick, microwatt; NAN: unknown
 * @irq_error_uw: its standard error
 * @loop_uw: power of the measuring loop, for comparison
 * @idle_uj: energy of a tick on an idle CPU, waking and going back to sleep included, microjoule;
 *   NAN: unknown
 * @idle_uw: power while the CPU sleeps without ticks, whatever other CPUs did; NAN: unknown
 */
struct kjoule_calibration {
	uint32_t cpu;
	uint32_t ticks;
	double tick_ns;
	double tick_error_ns;
	double handler_ns;
	double handler_spread_ns;
	double entry_ns;
	double freq_khz;
	double other_part;
	double other_error;
	double other_hz;
	uint32_t n_domains;
	uint32_t source[KJOULE_MAX_DOMAINS];
	uint32_t domain[KJOULE_MAX_DOMAINS];
	double irq_uw[KJOULE_MAX_DOMAINS];
	double irq_error_uw[KJOULE_MAX_DOMAINS];
	double loop_uw[KJOULE_MAX_DOMAINS];
	double idle_uj[KJOULE_MAX_DOMAINS];
	double idle_uw[KJOULE_MAX_DOMAINS];
};

/**
 * kjoule_calibrate() - measure it with private sessions and a busy loop on one CPU
 * @like: has the sources
 * @cpu: where; the calling thread is moved there for the time and back
 * @stop_on: blocked signals that end it early when one of them is pending; NULL: none
 * Takes about two seconds, six on a noisy CPU.
 *
 * Return: 0, -EAGAIN: the cost is below the noise, -EINTR, -errno
 */
int kjoule_calibrate(const struct kjoule_session_params *like, uint32_t cpu,
		     const sigset_t *stop_on, struct kjoule_calibration *cal,
		     struct kjoule_error *err);

#endif /* KJOULE_CALIBRATION_H */
