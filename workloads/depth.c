// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same work below few frames and below many, in turns of some milliseconds, so that who follows
 * callers has ticks of different lengths. Built with frame pointers. Used by selftests/cli.
 *
 * usage: depth SECONDS [SEED]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "pace.h"

#define FRAMES	40
#define TURN_S	0.02
#define SPREAD	0.3	/* of the turns' lengths, up and down */

#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE void spin_shallow(uint64_t n)
{
	for (; n; n--)
		asm volatile("add $1, %%eax; xor %%edx, %%eax; add $3, %%edx; lea 1(%%rax), %%ecx" :::
			     "rax", "rcx", "rdx", "cc");
}

/* One other number, or the two would be made one. */
static NOINLINE void spin_deep(uint64_t n)
{
	for (; n; n--)
		asm volatile("add $1, %%eax; xor %%edx, %%eax; add $3, %%edx; lea 2(%%rax), %%ecx" :::
			     "rax", "rcx", "rdx", "cc");
}

static NOINLINE void go_down(unsigned int frames, uint64_t n)
{
	if (frames)
		go_down(frames - 1, n);
	else
		spin_deep(n);
	/* behind the call, so that it is one and not a jump */
	asm volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	double end = argc > 1 ? now() + atof(argv[1]) : 0, unit;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: depth SECONDS [SEED]\n");
		return 2;
	}
	srand(argc > 2 ? (unsigned int)atoi(argv[2]) : 1);
	unit = unit_seconds(spin_shallow, 10000, 5);
	while (now() < end) {
		spin_shallow(TURN_S / unit * (1 + SPREAD * (2 * uniform() - 1)));
		go_down(FRAMES, TURN_S / unit * (1 + SPREAD * (2 * uniform() - 1)));
	}
	return 0;
}
