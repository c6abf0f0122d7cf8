// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parallel coarse code around a sequential fine block (ALEA, section 5.2.2): two tasks, each on a
 * CPU of its own, run side by side for ten to twenty update periods of the energy counter, wait for
 * each other, and a third one, the process that was started, runs alone for a part of such a
 * period. Tasks are processes, so that the chip's oracle, which knows what every set of tasks spent
 * together, knows it for the blocks. Used by scripts/bench.
 *
 * usage: together SECONDS UPDATE_PERIOD_MS FINE_MS [SEED]
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "pace.h"

/* Each on a page of its own: QEMU runs the page of a breakpoint one instruction at a time. */
#define NOINLINE __attribute__((noinline, noclone, aligned(4096)))
#define X4(a) a a a a

static uint64_t buffer[256];

static NOINLINE void parallel_store(uint64_t n)
{
	for (n *= 100; n; n--)
		asm volatile(X4("mov %%rax, (%0); add $1, %%rax;") :: "r"(buffer) : "rax", "memory",
			     "cc");
}

static NOINLINE void parallel_multiply(uint64_t n)
{
	for (n *= 100; n; n--)
		asm volatile(X4("imul $3, %%rax, %%rax; imul $5, %%rdx, %%rdx;") ::: "rax", "rdx",
			     "cc");
}

static NOINLINE void sequential(uint64_t n)
{
	for (n *= 100; n; n--)
		asm volatile(X4("add %%rcx, %%rax; xor %%rax, %%rdx; mov (%0), %%rcx;")
			     :: "r"(buffer) : "rax", "rcx", "rdx", "cc");
}

static void (*const work[])(uint64_t) = { parallel_store, parallel_multiply, sequential };
#define TASKS 3

struct shared {
	_Atomic uint32_t turn;		/* even: parallel, odd: sequential */
	_Atomic uint32_t busy;		/* tasks of this turn that are not through */
	uint64_t units[TASKS];		/* of this turn */
};

static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
	while (*word == value)
		syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void next_turn(struct shared *s)
{
	s->turn++;
	syscall(SYS_futex, &s->turn, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void draw(struct shared *s, const double *unit, double period, double fine)
{
	double coarse = period * (10 + 10 * uniform());

	s->units[0] = coarse / unit[0] + 1;
	s->units[1] = coarse / unit[1] + 1;
	s->units[2] = fine * (0.9 + 0.2 * uniform()) / unit[2] + 1;
}

/* The last of a turn begins the next one. */
static NOINLINE void run(struct shared *s, unsigned int task, const double *unit, double end,
			 double period, double fine)
{
	for (;;) {
		uint32_t turn = s->turn;

		if (turn == UINT32_MAX)
			return;
		if ((turn & 1) != (task == 2)) {
			wait_while(&s->turn, turn);
			continue;
		}
		work[task](s->units[task]);
		if (--s->busy) {
			wait_while(&s->turn, turn);
			continue;
		}
		s->busy = turn & 1 ? 2 : 1;
		if (turn & 1)
			draw(s, unit, period, fine);
		if (turn & 1 && now() > end)
			s->turn = UINT32_MAX - 1;
		next_turn(s);
	}
}

static void stay_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("together: sched_setaffinity");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0, period = argc > 2 ? 1e-3 * atof(argv[2]) : 0;
	double fine = argc > 3 ? 1e-3 * atof(argv[3]) : 0, unit[TASKS], end;
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (seconds <= 0 || period <= 0 || fine <= 0 || s == MAP_FAILED) {
		fprintf(stderr, "usage: together SECONDS UPDATE_PERIOD_MS FINE_MS [SEED]\n");
		return 2;
	}
	srand(argc > 4 ? strtoul(argv[4], NULL, 0) : (unsigned int)time(NULL));
	stay_on(0);
	for (unsigned int t = 0; t < TASKS; t++)
		unit[t] = unit_seconds(work[t], 50, 5);
	draw(s, unit, period, fine);
	s->busy = 2;
	end = now() + seconds;
	for (unsigned int t = 0; t < TASKS - 1; t++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("together: fork");
			return 1;
		}
		if (!pid) {
			srand(rand() + t);
			stay_on(t);
			run(s, t, unit, end, period, fine);
			_exit(0);
		}
	}
	/* the sequential block runs where one of the others does */
	run(s, TASKS - 1, unit, end, period, fine);
	while (wait(NULL) > 0)
		;
	return 0;
}
