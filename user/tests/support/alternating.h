/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated runs of blocks shorter than the update period of the counter, of known powers; for
 * tests of the mixture model.
 */
#ifndef KJOULE_TEST_ALTERNATING_H
#define KJOULE_TEST_ALTERNATING_H

#include "analysis/profile/profile.h"

#define ALTERNATING_BLOCKS	8

enum alternating_order {
	ALTERNATING_CYCLE,	/* 0, 1, 2, 0, 1, 2 */
	ALTERNATING_RANDOM,	/* any but the one before */
	ALTERNATING_MEMORYLESS,	/* the same, of exponential lengths */
};

/**
 * struct alternating - one CPU
 * @period_s: of the counter, give or take 2 %
 * @ticks: to a period, less one part in 127
 * @jitter: most random delay of ticks, in intervals
 * @length: of each block, in periods
 * @varies: relative standard deviation of a length
 * @power_w: of each block
 * @true_j,@true_s: out: energy and time of each block
 */
struct alternating {
	double period_s, ticks, jitter, total_s;
	unsigned int n_blocks;
	enum alternating_order order;
	double length[ALTERNATING_BLOCKS], varies, power_w[ALTERNATING_BLOCKS];
	/* out */
	double true_j[ALTERNATING_BLOCKS], true_s[ALTERNATING_BLOCKS];
	double interval_s;
	struct cpm_tick *stream;
	size_t n_ticks, n_readings;
	struct cpm_reading *readings;
};

void alternating_run(struct alternating *a, uint64_t seed);
void alternating_free(struct alternating *a);

/* The run as a recording: blocks 0 to n_blocks - 1, and one more for idle time. */
struct alternating_input {
	struct profile_input in;
	struct profile_stream stream;
	struct profile_package package;
	uint8_t kinds[ALTERNATING_BLOCKS + 1];
};

void alternating_input(const struct alternating *a, enum profile_model model,
		       struct alternating_input *in);
/* Figures of each block. */
void alternating_solve(const struct alternating *a, enum profile_model model,
		       struct profile_group *g);

#endif /* KJOULE_TEST_ALTERNATING_H */
