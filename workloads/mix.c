// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with six functions of different power: integer, multiply, load,
 * store, mixed and floating point work, called in random order, each call
 * lasting 10 to 30 times the energy counter's update period. The order and the
 * lengths are not known to who measures it. Used by scripts/demo and scripts/bench. With MARK_MS
 * it has the chip's oracle note what all has cost, so often, at moments that have nothing to do
 * with its calls. With FUNCTIONS it calls so many of them only, which ones depends on the seed.
 *
 * usage: mix SECONDS [UPDATE_PERIOD_MS [SEED [MARK_MS [FUNCTIONS]]]]
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "pace.h"

#define BLOCK 1000	/* rounds between two looks at nothing: the length of a call's unit */
#define WORDS 1024

static uint64_t buffer[WORDS];

#define NOINLINE __attribute__((noinline, noclone))
#define X4(a) a a a a

static NOINLINE void work_integer(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("add %%rcx, %%rax; xor %%rax, %%rdx; lea 3(%%rdx), %%rcx; sub $7, %%rax;")
			     ::: "rax", "rcx", "rdx", "cc");
}

static NOINLINE void work_multiply(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("imul $3, %%rax, %%rax; imul $5, %%rdx, %%rdx;")
			     ::: "rax", "rdx", "cc");
}

static NOINLINE void work_load(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mov (%0), %%rax; mov 64(%0), %%rdx; mov 128(%0), %%rcx;")
			     :: "r"(&buffer[n % (WORDS / 2)]) : "rax", "rcx", "rdx", "memory");
}

static NOINLINE void work_store(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mov %%rax, (%0); mov %%rax, 64(%0); mov %%rax, 128(%0);")
			     :: "r"(&buffer[n % (WORDS / 2)]) : "memory");
}

static NOINLINE void work_mixed(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mov (%0), %%rax; imul $3, %%rax, %%rax; add $1, %%rax; mov %%rax, (%0);")
			     :: "r"(&buffer[n % WORDS]) : "rax", "cc", "memory");
}

static NOINLINE void work_float(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mulpd %%xmm1, %%xmm0; addpd %%xmm1, %%xmm2;")
			     ::: "xmm0", "xmm2");
}

static void (*const work[])(uint64_t) = {
	work_integer, work_multiply, work_load, work_store, work_mixed, work_float,
};
#define WORKS (sizeof(work) / sizeof(work[0]))

static uint64_t random_state;
static size_t order[WORKS];	/* a permutation of all */

static double fraction(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) * 0x1p-53;
}

/* The first @n of them in random order. */
static void shuffle(size_t n)
{
	for (size_t i = n - 1; i; i--) {
		size_t j = (i + 1) * fraction(), other = order[i];

		order[i] = order[j];
		order[j] = other;
	}
}

static double mark_seconds, mark_due;	/* 0: no marks */
static int mark_file = -1;
static unsigned int marks;

static void mark(void)
{
	char label[32];
	int n = snprintf(label, sizeof(label), "part-%u\n", marks++);

	if (write(mark_file, label, n) != n) {
		perror("mix: mark");
		exit(1);
	}
	mark_due += mark_seconds;
}

/* A call of so many seconds, in parts where a mark is due in it. */
static void call(size_t which, double length, double unit)
{
	while (mark_seconds > 0 && now() + length >= mark_due) {
		double first = mark_due - now();

		if (first > 0) {
			work[which]((uint64_t)(first / unit) + 1);
			length -= first;
		}
		mark();
	}
	if (length > 0)
		work[which]((uint64_t)(length / unit) + 1);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	double period = 1e-3 * (argc > 2 ? atof(argv[2]) : 10);
	double unit[WORKS], end;
	size_t functions = argc > 5 ? strtoull(argv[5], NULL, 0) : WORKS;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : (uint64_t)time(NULL);

	if (seconds <= 0 || period <= 0 || !functions || functions > WORKS) {
		fprintf(stderr, "usage: mix SECONDS [UPDATE_PERIOD_MS [SEED [MARK_MS [FUNCTIONS]]]]\n");
		return 2;
	}
	random_state = seed * 2654435769u + 88172645463325252u;

	/* how long a unit of each takes here and now: the fastest of five */
	for (size_t i = 0; i < WORKS; i++)
		unit[i] = unit_seconds(work[i], 4, 5);
	if (argc > 4) {
		mark_seconds = 1e-3 * atof(argv[4]);
		mark_due = now();
		mark_file = open("/sys/kernel/debug/vchip/mark", O_WRONLY);
		if (mark_file < 0) {
			perror("mix: /sys/kernel/debug/vchip/mark");
			return 1;
		}
	}
	for (size_t i = 0; i < WORKS; i++)
		order[i] = i;
	shuffle(WORKS);
	for (end = now() + seconds; now() < end;) {
		/* each once in a round, in random order, so that each gets its share */
		shuffle(functions);
		for (size_t i = 0; i < functions && now() < end; i++) {
			double length = period * (10 + 20 * fraction());

			call(order[i], length, unit[order[i]]);
		}
	}
	return 0;
}
