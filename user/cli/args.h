/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values that users write on a command line: durations, rates, sizes.
 */
#ifndef KJOULE_ARGS_H
#define KJOULE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * args_duration() - "500us", "1.5ms", "2s", "10m", "1h" to nanoseconds
 * @bare:	nanoseconds that a number without a unit counts, 0: refuse it
 * Return: 0, -EINVAL (syntax), -ERANGE (negative, or past 2^63 ns)
 */
int args_duration(const char *text, uint64_t bare, uint64_t *ns);

/**
 * args_rate() - "1000", "4kHz", "2.5k" to the interval in nanoseconds
 * Return: 0, -EINVAL (syntax), -ERANGE (0 or above 1 GHz)
 */
int args_rate(const char *text, uint64_t *interval_ns);

/** args_bytes() - "65536", "64K", "1M". Return: 0, -EINVAL, -ERANGE (past 32 bits) */
int args_bytes(const char *text, uint32_t *bytes);

/** args_number() - a whole number from @least to @most. Return: 0, -EINVAL (syntax), -ERANGE */
int args_number(const char *text, uint32_t least, uint32_t most, uint32_t *value);

/** args_pid() - a positive process id. Return: 0 or -EINVAL */
int args_pid(const char *text, uint32_t *pid);

/**
 * args_power() - "2", "2W", "500mW" to watt. Return: 0, -EINVAL (syntax), -ERANGE (0 or above 1 MW)
 */
int args_power(const char *text, double *watt);

/** args_percent() - a number from 0 to 100, as "1" or "1%". Return: 0 or -EINVAL */
int args_percent(const char *text, double *percent);

/**
 * args_frequency() - "800MHz", "1.2GHz", a number without a unit counts kHz as cpufreq does; "min"
 * and "max"
 * @low,@high:	what these two are, kHz; 0: they are not understood
 * Return: 0, -EINVAL (syntax), -ERANGE (0, or past 32 bits)
 */
int args_frequency(const char *text, uint32_t low, uint32_t high, uint32_t *khz);

/**
 * args_list() - numbers with commas between, "1,2,4" or "1-4"
 * @list:	out: ascending, each once; the caller's to free
 * Return: 0, -EINVAL, -ERANGE (0, or more than @most), -ENOMEM
 */
int args_list(const char *text, uint32_t most, uint32_t **list, size_t *n);
/** args_frequencies() - the same of frequencies, as args_frequency() has them */
int args_frequencies(const char *text, uint32_t low, uint32_t high, uint32_t **list, size_t *n);

/** args_sources() - names with commas between, none of them empty. Return: 0 or -EINVAL */
int args_sources(const char *text);

#endif /* KJOULE_ARGS_H */
