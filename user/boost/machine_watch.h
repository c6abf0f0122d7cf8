/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole machine while something is done with it: power, frequencies, temperature and who ran,
 * from a session of the module, as it goes on. Used by the parts of `kjoule boost`.
 */
#ifndef KJOULE_BOOST_WATCH_H
#define KJOULE_BOOST_WATCH_H

#include <sys/types.h>
#include "analysis/boost/boost.h"
#include "lib/base/cpus.h"
#include "lib/base/error.h"

struct boost_watch;

/**
 * struct boost_watch_options - how
 * @slice_ns:	length of a slice, which has BOOST_WATCH_TICKS ticks; it is a little longer, see
 *		boost_watch_slice_s()
 * @per_cpu:	frequencies are kept by CPU as well
 * @source:	of energy, as `record --source` has it; NULL: the default
 * @temperature: a source of it, by name; NULL: the processor's, if one is known
 */
struct boost_watch_options {
	uint64_t slice_ns;
	bool per_cpu;
	const char *source, *temperature;
};

#define BOOST_WATCH_TICKS	5

/**
 * boost_watch_open() - begin to watch all CPUs that are online
 * Return: 0; EXIT_FAILED or EXIT_USAGE after saying why
 */
int boost_watch_open(const struct boost_watch_options *opt, struct boost_watch **w);
/**
 * boost_watch_mine() - whether a process is what is being measured; asked when one of its threads
 * is seen for the first time on a CPU
 */
void boost_watch_mine(struct boost_watch *w, bool (*mine)(pid_t tgid, const void *arg),
		      const void *arg);
/**
 * boost_watch_drain() - take what has come; at least once a second.
 * Return: 0 or -errno with the reason in @err
 */
int boost_watch_drain(struct boost_watch *w, struct kjoule_error *err);
/** boost_watch_now() - seconds since it began, of the same clock as the slices' */
double boost_watch_now(const struct boost_watch *w);
/** boost_watch_ns() - CLOCK_MONOTONIC at such a moment */
uint64_t boost_watch_ns(const struct boost_watch *w, double seconds);
/**
 * boost_watch_work() - tell what the load has done by now, see boost_slice.work
 * Return: 0 or -ENOMEM
 */
int boost_watch_work(struct boost_watch *w, uint64_t passes);
/** boost_watch_slice_s() - how long a slice is */
double boost_watch_slice_s(const struct boost_watch *w);
/**
 * boost_watch_slices() - slices that are over, those that begin at @from_s or later, and before
 * @to_s (INFINITY: all)
 * @slices:	out: until the next call
 * Return: 0 or -ENOMEM
 */
int boost_watch_slices(struct boost_watch *w, double from_s, double to_s,
		       const struct boost_slice **slices, size_t *n);
/**
 * boost_watch_cpu_khz() - mean frequency of a CPU in that time, while it ran; NAN: it never did, or
 * it is not known, or without per_cpu
 */
double boost_watch_cpu_khz(const struct boost_watch *w, int cpu, double from_s, double to_s);
/** boost_watch_lost() - records that were lost so far: what is missing then */
uint64_t boost_watch_lost(const struct boost_watch *w);
/** boost_watch_cpus() - that are watched */
const struct kjoule_cpus *boost_watch_cpus(const struct boost_watch *w);
/* Names of what tells power, frequency and temperature; NULL: nothing does. */
const char *boost_watch_power_source(const struct boost_watch *w);
const char *boost_watch_frequency_source(const struct boost_watch *w);
/* A source that tells only what was asked for: no frequency is taken from it. */
const char *boost_watch_requested_frequency(const struct boost_watch *w);
const char *boost_watch_temperature_source(const struct boost_watch *w);
void boost_watch_close(struct boost_watch *w);

#endif /* KJOULE_BOOST_WATCH_H */
