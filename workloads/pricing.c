// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that is idle for most of the time: requests come at random moments, as to a server, and
 * each has an option priced with a binomial tree (Cox, Ross and Rubinstein), which takes a part of
 * the energy counter's update period. The work of the ALEA paper's section 7.1, with a kernel of
 * our own. Used by scripts/bench.
 *
 * usage: pricing SECONDS NODES MEAN_WAIT_MS [SEED]
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NODES_MOST 1024
/* Each on a page of its own: QEMU runs the page of a breakpoint one instruction at a time. */
#define NOINLINE __attribute__((noinline, noclone, aligned(4096)))

static double value[NODES_MOST + 1];

/* A European put; a request waits for its answer. */
static NOINLINE double price(double spot, double strike, double volatility, unsigned int nodes)
{
	double step = 1.0 / nodes, up = exp(volatility * sqrt(step)), down = 1 / up;
	double discount = exp(-0.02 * step), p = (exp(0.02 * step) - down) / (up - down);
	double s = spot * pow(down, nodes), ratio = up / down;

	for (unsigned int i = 0; i <= nodes; i++, s *= ratio)
		value[i] = strike > s ? strike - s : 0;
	for (unsigned int n = nodes; n; n--)
		for (unsigned int i = 0; i < n; i++)
			value[i] = discount * (p * value[i + 1] + (1 - p) * value[i]);
	return value[0];
}

static NOINLINE double uniform(void)
{
	return (rand() + 0.5) / (RAND_MAX + 1.0);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0, wait_s = argc > 3 ? 1e-3 * atof(argv[3]) : 0;
	double sum = 0, end;
	unsigned int nodes = argc > 2 ? atoi(argv[2]) : 0, requests = 0;

	if (seconds <= 0 || !nodes || nodes > NODES_MOST || wait_s <= 0) {
		fprintf(stderr, "usage: pricing SECONDS NODES MEAN_WAIT_MS [SEED]\n");
		return 2;
	}
	srand(argc > 4 ? strtoul(argv[4], NULL, 0) : (unsigned int)time(NULL));
	for (end = now() + seconds; now() < end; requests++) {
		double next = -wait_s * log(uniform());
		struct timespec t = { (time_t)next, (long)(1e9 * (next - (time_t)next)) };

		nanosleep(&t, NULL);
		sum += price(100 + 10 * uniform(), 105, 0.2 + 0.1 * uniform(), nodes);
	}
	printf("%u requests, mean price %.4f\n", requests, sum / requests);
	return 0;
}
