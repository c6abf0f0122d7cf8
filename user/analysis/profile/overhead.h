/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of sampling, and the tick interval that keeps it below a bound. Pure functions.
 *
 * ALEA measures its sampling phases, reports the overhead of each run, and leaves the choice of an
 * interval to the user (Mukhanov et al., ACM TACO 14(1), 2017, section 4.3). Here the overhead is
 *
 *	overhead = c n / (B - c n)
 *
 * for n ticks of c nanoseconds each, entry and exit of the interrupt included, on a CPU that was
 * busy for B: the slowdown of its work. An idle CPU is not slowed down. With an interval T on a
 * busy CPU it is c / (T - c), so that T = c (1 + p) / p keeps it at p.
 *
 * The recorder needs a CPU as well, and takes it from the program if all are busy (ALEA's shared
 * core). Running for a on a CPU on which others ran for b of the time T, it is taken to have
 * displaced them for a b / (T - a): not at all if they did not run, wholly if they would always
 * have run; and only as far as none of the other CPUs was idle.
 */
#ifndef KJOULE_OVERHEAD_H
#define KJOULE_OVERHEAD_H

#include <stddef.h>
#include <stdint.h>
#include "lib/control/calibration.h"

/* The largest part that may be requested. */
#define OVERHEAD_MOST	0.25

/**
 * struct overhead_cpu - use of one CPU, seconds
 * @ticks: taken
 * @time_s: recorded
 * @idle_s: of these, idle
 * @taken_s: of the rest, by ticks
 * @awake_s: of the rest, by the recorder
 */
struct overhead_cpu {
	uint32_t cpu;
	uint64_t ticks;
	double time_s, idle_s, taken_s, awake_s;
};

/** overhead_part() - slowdown by ticks on it: 0.01 is 1 %; NAN on a CPU that did nothing else */
double overhead_part(const struct overhead_cpu *cpu);
/** overhead_ticks() - slowdown by ticks alone, over all CPUs */
double overhead_ticks(const struct overhead_cpu *cpus, size_t n);
/** overhead_all() - slowdown over all CPUs: the mean, weighted by how busy each was */
double overhead_all(const struct overhead_cpu *cpus, size_t n);
/** overhead_most() - the CPU of the largest slowdown, if busy for a thousandth; or NULL */
const struct overhead_cpu *overhead_most(const struct overhead_cpu *cpus, size_t n);
/**
 * overhead_tick_ns() - allowance for a tick, nanoseconds: its calibrated cost, twice its standard
 * error and spread between rounds, and a quarter more, because a program's ticks cost more than a
 * short loop's
 */
double overhead_tick_ns(const struct kjoule_calibration *cal);
/**
 * overhead_interval() - the shortest interval between ticks, nanoseconds
 * @tick_ns: cost of a tick
 * @part: limit, 0 to OVERHEAD_MOST
 * Return: 0; -EINVAL: invalid @tick_ns or @part; -ERANGE: it would be longer than @longest_ns
 */
int overhead_interval(double tick_ns, double part, uint64_t shortest_ns, uint64_t longest_ns,
		      uint64_t *interval_ns);

#endif /* KJOULE_OVERHEAD_H */
