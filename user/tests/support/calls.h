/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated runs of a program that calls blocks at random, of known times and energies; for tests
 * of the constant power model.
 */
#ifndef KJOULE_TEST_CALLS_H
#define KJOULE_TEST_CALLS_H

#include "analysis/profile/profile.h"

#define CALLS_BLOCKS	8
#define CALLS_IDLE	(CALLS_BLOCKS - 1)

/* A tick at which something ran. */
#define RAN(at, what)	((struct cpm_tick){ .tick = (at), .block = (what) })

extern const uint8_t calls_kinds[CALLS_BLOCKS];

/*
 * A program on one CPU: calls of random blocks, each @lo to @hi seconds long, seen by a tick every
 * @T seconds and a counter updated every @U. With @cost, every tick takes so many seconds from the
 * program, at no energy of its own.
 */
struct calls {
	double T, U, lo, hi, total;
	double jitter;		/* ticks are late at random by up to this part of T */
	double period;		/* of the counter, as far as that is known */
	double cost, irq_w;	/* of a tick: seconds, watts */
	const float *longer;	/* of each block how many times that; NULL: all alike */
	float shifted, variance;	/* of a tick's cost, as in struct profile_cost */
	unsigned int n_blocks;
	double power[CALLS_BLOCKS];
	double calibration_error;
	/* out */
	double time[CALLS_BLOCKS], joules[CALLS_BLOCKS];
	struct cpm_tick *ticks;
	uint32_t *freq;
	size_t n_ticks;
	struct cpm_reading *readings;
	size_t n_readings;
};

/* Calls of 10 to 30 update periods, powers spread 2.5 times. */
struct calls calls_coarse(void);
void calls_run(struct calls *r, uint64_t seed);
void calls_free(struct calls *r);
/* Figures of each block. @tick_s: what a tick is calibrated to take */
void calls_solve(const struct calls *r, unsigned int steps, double tick_s,
		 struct profile_group *out);
/** blocks_solve() - figures of each block of an input by itself, into as many as it has */
void blocks_solve(const struct profile_input *in, struct profile_group *out);

#endif /* KJOULE_TEST_CALLS_H */
