// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function that a signal of a timer interrupts every millisecond, and what handles it. Used by
 * selftests/cli. The period is not quite a millisecond: it does not keep step with the kernel's
 * tick, which would fall on one of them alone.
 *
 * usage: alarms SECONDS
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "pace.h"

#define PERIOD_NS	1037000
#define HANDLED_S	0.0002

#define NOINLINE __attribute__((noinline, noclone))

static uint64_t handled;

static NOINLINE void spin_between(uint64_t n)
{
	for (; n; n--)
		asm volatile("add $1, %%eax; xor %%edx, %%eax; add $3, %%edx; lea 1(%%rax), %%ecx" :::
			     "rax", "rcx", "rdx", "cc");
}

/* One other number, or the two would be made one. */
static NOINLINE void spin_handler(uint64_t n)
{
	for (; n; n--)
		asm volatile("add $1, %%eax; xor %%edx, %%eax; add $3, %%edx; lea 2(%%rax), %%ecx" :::
			     "rax", "rcx", "rdx", "cc");
}

static void on_alarm(int signal)
{
	(void)signal;
	spin_handler(handled);
}

int main(int argc, char **argv)
{
	struct itimerspec every = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	double end = argc == 2 ? now() + atof(argv[1]) : 0, unit;
	timer_t timer;

	if (argc != 2) {
		fprintf(stderr, "usage: alarms SECONDS\n");
		return 2;
	}
	unit = unit_seconds(spin_between, 10000, 5);
	handled = HANDLED_S / unit;
	if (sigaction(SIGRTMIN, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &every, NULL)) {
		perror("alarms");
		return 1;
	}
	while (now() < end)
		spin_between(0.02 / unit);
	return 0;
}
