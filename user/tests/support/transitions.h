/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated CPU that changes its frequency, and a loop timed on it: series of known truth for the
 * tests of transition*.c.
 */
#ifndef KJOULE_TEST_TRANSITIONS_H
#define KJOULE_TEST_TRANSITIONS_H

#include "analysis/transition/transition.h"

#define MADE_STEPS	4

/**
 * struct made_change - the simulated events, times in nanoseconds
 * @from,@to: time of a loop before and after
 * @noise: relative standard deviation of a loop
 * @resolution: of the clock
 * @gap: between two loops, always
 * @request: length of the request's call
 * @latency: from the request to the change, spread evenly by @spread on either side
 * @pause: the CPU stops so long from then on
 * @n_steps: after that change, others: @step_after the one before, to @step each; the last is to
 *   @to
 * @slice,@irq: each @slice interrupts are on for up to @irq; 0: never
 * @stray,@stray_ns: in so many of the loops something else runs, for up to so long
 * @at_change,@at_change_ns: in so many of the series something else runs around the change, from up
 *   to two loops before it
 * @dither: the first loop after the request begins up to a loop later
 * @timeout: the series ends then; 0: none
 * @after: loops after the last change
 */
struct made_change {
	double from, to, noise, resolution, gap;
	double request, latency, spread, pause;
	size_t n_steps;
	double step[MADE_STEPS], step_after;
	double slice, irq;
	double stray, stray_ns, at_change, at_change_ns;
	bool dither;
	double timeout;
	size_t after;
};

/**
 * struct made_series - a series and its truth
 * @disturbed: something else ran around the change, or interrupts did
 */
struct made_series {
	struct transition_loop *loops;
	struct transition_series s;
	double first, last, settled, latency;
	bool disturbed;
};

#define MADE_MOST	20000

/*
 * Large and fast loops as those of an emulated and of a real CPU: 47 and 100 MHz, 1.6 and 3.4 GHz.
 */
extern const struct made_change made_slow, made_fast;

double made_normal(uint64_t *seed);
/* A series; made_free() at the end. */
void made_new(const struct made_change *c, uint64_t *seed, struct made_series *m);
void made_free(struct made_series *m);
/* Calibration of a loop that takes @ns. */
void made_level(const struct made_change *c, double ns, uint64_t *seed, struct transition_level *l);
/* Its @n loops. */
void made_loops(const struct made_change *c, double ns, uint64_t *seed, double *out, size_t n);
/* A try of each of @n series; @made of them, may be NULL, is freed but for its truth. */
void made_tries(const struct made_change *c, const struct transition_level *from,
		const struct transition_level *to, uint64_t *seed, struct transition_try *tries,
		struct made_series *made, size_t n);

#endif /* KJOULE_TEST_TRANSITIONS_H */
