// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose functions take turns, each for less than the energy counter's update period: 1.7 to 2.5 times the power
 * of the least of them. Lengths are in update periods; neither they nor the order are told to who measures it. Used by
 * scripts/bench mixture.
 *
 * usage: alternate SECONDS UPDATE_PERIOD_MS LENGTH LENGTH [LENGTH]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define X4(a) a a a a
#define MEASURED 2000	/* rounds by which it is found out how long one takes */

static uint64_t buffer[1024];

static NOINLINE void work_integer(uint64_t rounds)
{
	for (; rounds; rounds--)
		asm volatile(X4("add %%rcx, %%rax; xor %%rax, %%rdx; lea 3(%%rdx), %%rcx; sub $7, %%rax;")
			     ::: "rax", "rcx", "rdx", "cc");
}

static NOINLINE void work_load(uint64_t rounds)
{
	for (; rounds; rounds--)
		asm volatile(X4("mov (%0), %%rax; mov 64(%0), %%rdx; mov 128(%0), %%rcx;")
			     :: "r"(&buffer[rounds % 512]) : "rax", "rcx", "rdx", "memory");
}

static NOINLINE void work_multiply(uint64_t rounds)
{
	for (; rounds; rounds--)
		asm volatile(X4("imul $3, %%rax, %%rax; imul $5, %%rdx, %%rdx;") ::: "rax", "rdx", "cc");
}

static void (*const work[])(uint64_t) = { work_integer, work_load, work_multiply };
#define WORKS (sizeof(work) / sizeof(work[0]))

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0, period = argc > 2 ? atof(argv[2]) * 1e-3 : 0, end;
	uint64_t rounds[WORKS];
	size_t n = argc - 3;

	if (argc < 5 || n > WORKS || seconds <= 0 || period <= 0) {
		fprintf(stderr, "usage: alternate SECONDS UPDATE_PERIOD_MS LENGTH LENGTH [LENGTH]\n");
		return 2;
	}
	for (size_t i = 0; i < n; i++) {
		double length = atof(argv[3 + i]) * period, fastest = 1;

		if (length <= 0) {
			fprintf(stderr, "alternate: %s: expected a length in update periods\n", argv[3 + i]);
			return 2;
		}
		/* how long it takes here and now: the fastest of five */
		for (int k = 0; k < 5; k++) {
			double begin = now();

			work[i](MEASURED);
			begin = (now() - begin) / MEASURED;
			if (begin < fastest)
				fastest = begin;
		}
		rounds[i] = length / fastest + 1;
	}
	for (end = now() + seconds; now() < end;)
		for (size_t i = 0; i < n; i++)
			work[i](rounds[i]);
	return 0;
}
