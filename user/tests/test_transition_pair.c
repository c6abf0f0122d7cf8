// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repeats of a change put together, on made-up series whose truth is known: that medians hold it, intervals cover it, and what
 * ran at a change does not pass; beside it, how far off the paper's own ways are on the same series.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <cmocka.h>
#include "synthetic.h"
#include "transitions.h"

#define N	TRANSITION_REPEATS

static size_t pairs_of(size_t n)
{
	return getenv("KJOULE_TEST_QUICK") ? 5 : n;
}

static struct made_change varied(const struct made_change *of, double latency, double noise, double resolution, bool up)
{
	struct made_change c = *of;

	c.latency = latency;
	c.noise = noise;
	c.resolution = resolution;
	if (!up) {
		c.from = of->to;
		c.to = of->from;
	}
	return c;
}

/* A pair of as many tries as it takes. */
static void measure(const struct made_change *c, const struct transition_level *from, const struct transition_level *to,
		    uint64_t *seed, struct transition_pair *p)
{
	struct transition_try tries[TRANSITION_TRIES_MOST];
	size_t n = 0;

	do {
		assert_true(n < TRANSITION_TRIES_MOST);
		made_tries(c, from, to, seed, tries + n, NULL, 1);
		n++;
		if (n >= N || n == TRANSITION_HOPELESS)
			assert_int_equal(transition_pair(tries, n, 0, NULL, p), 0);
	} while (n < N || p->state == TRANSITION_MORE);
}

static bool covers(const struct value *v, double truth)
{
	return v->lo <= truth && truth <= v->hi;
}

static void check_pairs(const struct made_change *c, size_t pairs, const char *what)
{
	size_t verdicts[TRANSITION_VERDICTS] = { 0 };
	double loop = fmax(c->from, c->to), most = fmax(loop, 0.02 * c->latency), off = 0, off_pause = 0, tries = 0, half = 0;
	size_t inside[3] = { 0 }, within = 0;
	struct transition_level from, to;
	uint64_t seed = 4711;

	made_level(c, c->from, &seed, &from);
	made_level(c, c->to, &seed, &to);
	for (size_t i = 0; i < pairs; i++) {
		struct transition_pair p;

		measure(c, &from, &to, &seed, &p);
		assert_int_equal(p.state, TRANSITION_KNOWN);
		off = fmax(off, fabs(p.first_ns.v - c->latency));
		off_pause = fmax(off_pause, fabs(p.pause_ns.v - c->pause));
		within += fabs(p.first_ns.v - c->latency) <= most;
		tries += (double)p.tries / pairs;
		half += (p.first_ns.hi - p.first_ns.lo) / 2 / loop / pairs;
		for (enum transition_verdict v = 1; v < TRANSITION_VERDICTS; v++)
			verdicts[v] += p.verdicts[v];
		inside[0] += covers(&p.first_ns, c->latency);
		inside[1] += covers(&p.settled_ns, c->latency + c->pause);
		inside[2] += covers(&p.pause_ns, c->pause);
	}
	printf("%s: off by %.2f loops at most (pause by %.1f %%), half an interval %.2f, %zu, %zu, %zu of %zu inside, %.1f tries\n",
	       what, off / loop, c->pause > 0 ? 100 * off_pause / c->pause : 0, half, inside[0], inside[1], inside[2], pairs, tries);
	for (enum transition_verdict v = 1; v < TRANSITION_VERDICTS; v++)
		if (verdicts[v])
			printf("   %zu tries of them: %s\n", verdicts[v], transition_verdict_name(v));
	assert_int_equal(within, pairs);
	assert_true(c->pause <= 0 || off_pause <= 0.2 * c->pause);
	for (int k = 0; k < 3; k++)
		assert_true(inside[k] >= 0.93 * pairs);
	assert_true(tries <= N / 0.9);
}

static void test_emulated(void **state)
{
	static const double latencies[] = { 680e3, 884e3, 1496e3, 2108e3 };
	static const double noises[] = { 0.005, 0.01, 0.02, 0.03 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct made_change up = varied(&made_slow, latencies[i], noises[i], 100, true);
		struct made_change down = varied(&made_slow, 680e3, noises[i], 100, false);
		char what[80];

		snprintf(what, sizeof(what), "up after %.0f us, %.1f %% noise", latencies[i] / 1e3, 100 * noises[i]);
		check_pairs(&up, pairs_of(i ? 30 : 500), what);
		snprintf(what, sizeof(what), "down after 680 us, %.1f %% noise", 100 * noises[i]);
		check_pairs(&down, pairs_of(30), what);
	}
}

static void test_real(void **state)
{
	static const double latencies[] = { 20e3, 26e3, 44e3, 62e3 };
	static const double resolutions[] = { 1, 10, 20, 30 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct made_change up = varied(&made_fast, latencies[i], 0.005, resolutions[i], true);
		struct made_change down = varied(&made_fast, 20e3, 0.01, resolutions[i], false);
		char what[80];

		snprintf(what, sizeof(what), "up after %.0f us, clock of %.0f ns", latencies[i] / 1e3, resolutions[i]);
		check_pairs(&up, pairs_of(i ? 30 : 500), what);
		snprintf(what, sizeof(what), "down after 20 us, clock of %.0f ns", resolutions[i]);
		check_pairs(&down, pairs_of(30), what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emulated),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
