// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose call structure is known: two callers, each with hot code of its
 * own and with a part of the hot code that both call, one of them through a
 * recursion. At the end it tells how many units of the common code each has had
 * done. Built without frame pointers, and as callers_fp with them. Used by
 * selftests/cli.
 *
 *	main - light - spin_light
 *	             - spin_common
 *	main - heavy - deep (six times) - spin_heavy
 *	                                - spin_common
 *
 * usage: callers SECONDS [SEED]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "pace.h"

#define BLOCK	1000
#define WORDS	1024
#define DEPTH	5

#define NOINLINE __attribute__((noinline, noclone))
#define X4(a) a a a a
/* GCC gives a frame only to who keeps something on the stack, whatever it is asked. */
#define HAS_A_FRAME volatile char kept = 0; (void)kept
/* Behind a call, so that it is one and not a jump. */
#define RETURNS_HERE asm volatile("" ::: "memory")

static uint64_t buffer[WORDS];
static uint64_t units_light, units_heavy;	/* of the common code */

static NOINLINE void spin_light(uint64_t units)
{
	HAS_A_FRAME;

	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("add %%rcx, %%rax; xor %%rax, %%rdx; lea 3(%%rdx), %%rcx; sub $7, %%rax;")
			     ::: "rax", "rcx", "rdx", "cc");
}

static NOINLINE void spin_heavy(uint64_t units)
{
	HAS_A_FRAME;

	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mov %%rax, (%0); mov %%rax, 64(%0); mov %%rax, 128(%0);")
			     :: "r"(&buffer[n % (WORDS / 2)]) : "memory");
}

static NOINLINE void spin_common(uint64_t units)
{
	HAS_A_FRAME;

	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("imul $3, %%rax, %%rax; imul $5, %%rdx, %%rdx;")
			     ::: "rax", "rdx", "cc");
}

static NOINLINE void light(uint64_t units)
{
	spin_light(units);
	spin_common(units / 2);
	units_light += units / 2;
	RETURNS_HERE;
}

static NOINLINE void deep(uint64_t units, unsigned int more)
{
	volatile char room[64] = { more };

	if (more) {
		deep(units, more - 1);
	} else {
		spin_heavy(units);
		spin_common(units);
		units_heavy += units;
	}
	(void)room[more];
	RETURNS_HERE;
}

static NOINLINE void heavy(uint64_t units)
{
	deep(units, DEPTH);
	RETURNS_HERE;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0, begin, end;
	uint64_t x = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL), units = 4;

	if (seconds <= 0) {
		fprintf(stderr, "usage: callers SECONDS [SEED]\n");
		return 2;
	}
	/* how many units last about a tenth of a second here and now */
	for (;;) {
		begin = now();
		light(units);
		if (now() - begin > 0.05)
			break;
		units *= 2;
	}
	x = x * 2654435769u + 88172645463325252u;
	for (end = now() + seconds; now() < end;) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		/* in random order, and of random length: out of step with everything */
		if (x & 1 << 20)
			light(units + x % units);
		else
			heavy(units / 2 + x % units);
	}
	printf("%llu %llu\n", (unsigned long long)units_light, (unsigned long long)units_heavy);
	return 0;
}
