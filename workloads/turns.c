// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A fixed piece of work in two parts by turns: one that draws little and that one thread does, and
 * one that draws much and that all threads share, each bound to a CPU of its own. How long it takes
 * is a matter of the clock and of the threads, what is done is not. Used by
 * selftests/cli/test_sweep.py.
 *
 * usage: turns TURNS UNITS [THREADS]
 * a unit is a million instructions, or some; THREADS: 1, or what OMP_NUM_THREADS says
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS	62500		/* of sixteen instructions */
#define MOST	64
#define NOINLINE __attribute__((noinline, noclone))
#define X4(a) a a a a

static uint64_t memory[MOST][64];
static pthread_barrier_t before, after;
static unsigned long turns, units;
static unsigned int threads;

static NOINLINE void work_light(uint64_t n)
{
	for (n *= ROUNDS; n; n--)
		asm volatile(X4("add %%rcx, %%rax; xor %%rax, %%rdx; lea 3(%%rdx), %%rcx; sub $7, %%rax;")
			     ::: "rax", "rcx", "rdx", "cc");
}

static NOINLINE void work_heavy(uint64_t n, uint64_t *where)
{
	for (n *= ROUNDS; n; n--)
		asm volatile(X4("mov %%rax, (%0); mov %%rax, 64(%0); mov %%rax, 128(%0); mov %%rax, 192(%0);")
			     :: "r"(where) : "memory");
}

static void be_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *helper(void *arg)
{
	unsigned int number = (uintptr_t)arg;

	be_on(number);
	for (unsigned long i = 0; i < turns; i++) {
		pthread_barrier_wait(&before);
		work_heavy(units / threads, memory[number]);
		pthread_barrier_wait(&after);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *env = getenv("OMP_NUM_THREADS");

	turns = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	units = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	threads = argc > 3 ? strtoul(argv[3], NULL, 10) : env ? strtoul(env, NULL, 10) : 1;
	if (!turns || !units || !threads || threads > MOST) {
		fprintf(stderr, "usage: turns TURNS UNITS [THREADS]\n");
		return 2;
	}
	pthread_barrier_init(&before, NULL, threads);
	pthread_barrier_init(&after, NULL, threads);
	for (uintptr_t i = 1; i < threads; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, helper, (void *)i)) {
			perror("turns");
			return 1;
		}
		pthread_detach(t);
	}
	be_on(0);
	for (unsigned long i = 0; i < turns; i++) {
		work_light(units);
		pthread_barrier_wait(&before);
		work_heavy(units / threads, memory[0]);
		pthread_barrier_wait(&after);
	}
	printf("%lu turns by %u threads\n", turns, threads);
	return 0;
}
