// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose blocks of different power are each shorter than the energy counter's update
 * period: two or three loops of given lengths, in random order, each once in a round. On the
 * virtual chip they draw about as much as the loops of the ALEA paper's section 5.2.1. The order
 * is not known to who measures it. Used by scripts/bench and selftests/cli.
 *
 * With TIMED other than 0 it looks at the clock before and after each loop, and tells in the end
 * how many microseconds each kind took, the median, and how many passes of the loop those were: how
 * long a pass takes is found out anew by each run, as the shortest of some attempts.
 *
 * usage: alternate SECONDS LOW_US HIGH_US [MIDDLE_US [SEED [TIMED]]]
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "pace.h"

#define KINDS 3
#define SPREAD 0.02	/* of the lengths, up and down */
#define TIMED 4096	/* executions of a kind, at most */

static uint64_t buffer[256];

/* Each on a page of its own: QEMU runs the page of a breakpoint one instruction at a time. */
#define NOINLINE __attribute__((noinline, noclone, aligned(4096)))
#define INT4 "add %%rcx, %%rax; xor %%rax, %%rdx; lea 3(%%rdx), %%rcx; sub $7, %%rax;"
#define LOAD "mov (%0), %%rax;"
#define LOAD4 LOAD LOAD LOAD LOAD

static NOINLINE void block_low(uint64_t n)
{
	for (; n; n--)
		asm volatile(INT4 INT4 INT4 LOAD LOAD :: "r"(buffer) : "rax", "rcx", "rdx", "cc");
}

static NOINLINE void block_high(uint64_t n)
{
	for (; n; n--)
		asm volatile(INT4 "xor %%eax, %%edx;" LOAD4 LOAD4 LOAD4 LOAD4 LOAD
			     :: "r"(buffer) : "rax", "rcx", "rdx", "cc");
}

static NOINLINE void block_middle(uint64_t n)
{
	for (; n; n--)
		asm volatile(INT4 INT4 INT4 "xor %%eax, %%edx;" LOAD4 LOAD LOAD
			     :: "r"(buffer) : "rax", "rcx", "rdx", "cc");
}

static void (*const block[KINDS])(uint64_t n) = { block_low, block_high, block_middle };

static const char *const name[KINDS] = { "low", "high", "middle" };

static struct timed {
	double us[TIMED], passes[TIMED];
	unsigned int n;
} timed[KINDS];

static void run_timed(unsigned int k, uint64_t n)
{
	struct timed *t = &timed[k];
	double begin = now();

	block[k](n);
	if (t->n < TIMED) {
		t->us[t->n] = 1e6 * (now() - begin);
		t->passes[t->n++] = n;
	}
}

static int by_length(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(v[0]), by_length);
	return v[n / 2];
}

static void tell_timed(void)
{
	for (unsigned int k = 0; k < KINDS; k++) {
		struct timed *t = &timed[k];

		if (t->n)
			printf("%s %.1f %.0f\n", name[k], median(t->us, t->n),
			       median(t->passes, t->n));
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0, pass[KINDS], length[KINDS], end;
	unsigned int kinds = argc > 4 && atof(argv[4]) > 0 ? 3 : 2;
	bool is_timed = argc > 6 && atoi(argv[6]);

	if (argc < 4 || seconds <= 0) {
		fprintf(stderr, "usage: alternate SECONDS LOW_US HIGH_US [MIDDLE_US [SEED [TIMED]]]\n");
		return 2;
	}
	srand(argc > 5 ? strtoul(argv[5], NULL, 0) : (unsigned int)time(NULL));
	for (unsigned int k = 0; k < kinds; k++) {
		pass[k] = unit_seconds(block[k], 5000, 9);
		length[k] = atof(argv[2 + k]) * 1e-6;
	}
	for (end = now() + seconds; now() < end;) {
		/* many rounds between two looks at the clock, which would be a block of its own */
		for (int round = 0; round < 50; round++) {
			unsigned int first = kinds * uniform(), step = 1 + (kinds - 1) * uniform();

			for (unsigned int i = 0; i < kinds; i++) {
				unsigned int k = (first + i * step) % kinds;

				uint64_t n = length[k] * (1 + SPREAD * (2 * uniform() - 1)) /
					     pass[k] + 0.5;

				if (is_timed)
					run_timed(k, n);
				else
					block[k](n);
			}
		}
	}
	tell_timed();
	return 0;
}
