/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a program's work takes here and now, and chance: for the programs whose blocks have
 * given lengths.
 */
#ifndef KJOULE_PROGRAM_PACE_H
#define KJOULE_PROGRAM_PACE_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* From 0 to 1, by rand(). */
static inline double uniform(void)
{
	return rand() / (RAND_MAX + 1.0);
}

/* Seconds that one of @n units of work takes: the shortest of some attempts. */
static inline double unit_seconds(void (*work)(uint64_t n), uint64_t n, int attempts)
{
	double best = 1;

	for (int i = 0; i < attempts; i++) {
		double begin = now();

		work(n);
		begin = (now() - begin) / n;
		if (begin < best)
			best = begin;
	}
	return best;
}

#endif /* KJOULE_PROGRAM_PACE_H */
