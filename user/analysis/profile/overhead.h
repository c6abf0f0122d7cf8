/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sampling takes of the CPUs, and the interval between ticks that keeps it below a bound. Pure functions.
 *
 * ALEA measures how long its sampling phases last, tells the overhead of each run, and leaves it to the user to choose
 * an interval by that (Mukhanov et al., ACM TACO 14(1), 2017, section 4.3). Here the overhead is
 *
 *	overhead = c n / (B - c n)
 *
 * for n ticks of c nanoseconds each, entry and exit of the interrupt included, on a CPU that was busy for B: by how
 * much longer the same work took. A CPU that is idle is not held up by anything. With an interval T on a busy CPU
 * it is c / (T - c), so that T = c (1 + p) / p keeps it at p.
 *
 * Who records needs a CPU as well, and where all are busy he takes it from the program (ALEA's shared core). Awake for
 * a on a CPU on which others ran for b of the time T, he is taken to have kept them from it for a b / (T - a): for
 * nothing where they did not run, for all of it where they would have run always; and that only as far as none of the
 * other CPUs was idle, where one of the two could have gone.
 */
#ifndef KJOULE_OVERHEAD_H
#define KJOULE_OVERHEAD_H

#include <stddef.h>
#include <stdint.h>
#include "lib/control/calibration.h"

/* The largest part that may be asked for: what is more would be the measurement rather than the program. */
#define OVERHEAD_MOST	0.25

/**
 * struct overhead_cpu - what ticks took of one CPU, seconds
 * @ticks:	that were taken
 * @time_s:	for which it was recorded
 * @idle_s:	of these, idle
 * @taken_s:	of the rest, by ticks
 * @awake_s:	of the rest, by the recorder
 */
struct overhead_cpu {
	uint32_t cpu;
	uint64_t ticks;
	double time_s, idle_s, taken_s, awake_s;
};

/** overhead_part() - by how much longer work took on it because of ticks: 0.01 is 1 %; NAN on a CPU that did nothing else */
double overhead_part(const struct overhead_cpu *cpu);
/** overhead_ticks() - what ticks alone are of it, of all CPUs together */
double overhead_ticks(const struct overhead_cpu *cpus, size_t n);
/** overhead_all() - of all CPUs together: the mean, weighted by how busy each was */
double overhead_all(const struct overhead_cpu *cpus, size_t n);
/** overhead_most() - the one on which it was most, of those busy for a thousandth of the time; NULL: none was */
const struct overhead_cpu *overhead_most(const struct overhead_cpu *cpus, size_t n);
/**
 * overhead_tick_ns() - what a tick is counted on to take, nanoseconds: what was calibrated, twice its standard error
 *			and what ticks differed by from round to round, and a quarter more, because a program's ticks are
 *			dearer than those of a short loop
 */
double overhead_tick_ns(const struct kjoule_calibration *cal);
/**
 * overhead_interval() - the shortest interval between ticks, nanoseconds
 * @tick_ns:	that a tick takes
 * @part:	that they may take, 0 to OVERHEAD_MOST
 * Return: 0; -EINVAL: @tick_ns or @part is none; -ERANGE: it would be longer than @longest_ns
 */
int overhead_interval(double tick_ns, double part, uint64_t shortest_ns, uint64_t longest_ns, uint64_t *interval_ns);

#endif /* KJOULE_OVERHEAD_H */
