// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A loop of a known number of instructions in as many threads as are asked for, each bound to a CPU
 * of its own, and what these CPUs of the virtual chip did meanwhile: cycles and instructions,
 * kernel and user together. What is more than without a measurement is what the measurement costs:
 * scripts/bench overhead.
 *
 * usage: spread THREADS LOOP_INSTRUCTIONS
 * prints: cycles, instructions, nanoseconds from the first thread's beginning to the last one's end
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PMU	"/sys/bus/event_source/devices/vchip/"
#define MOST	64

static const char *const events[] = { PMU "events/cycles", PMU "events/instructions" };
static pthread_barrier_t begin, end;
static uint64_t loops;

static int number(const char *path, const char *format, unsigned int *value)
{
	FILE *f = fopen(path, "r");
	int n = f ? fscanf(f, format, value) : 0;

	if (f)
		fclose(f);
	return n == 1 ? 0 : -1;
}

static int open_counter(int cpu, const char *event)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	unsigned int type, config;

	if (number(PMU "type", "%u", &type) || number(event, "event=%x", &config))
		return -1;
	attr.type = type;
	attr.config = config;
	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
}

static uint64_t value_of(int counter)
{
	uint64_t value = 0;

	if (read(counter, &value, sizeof(value)) != sizeof(value))
		exit(1);
	return value;
}

static void *work(void *arg)
{
	uint64_t n = loops;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((uintptr_t)arg, &set);
	sched_setaffinity(0, sizeof(set), &set);
	pthread_barrier_wait(&begin);
	asm volatile("1: add $1, %%rax; add $1, %%rdx; add $1, %%rcx; add $1, %%rax; add $1, %%rdx;"
		     "add $1, %%rcx; add $1, %%rax; add $1, %%rdx; dec %0; jnz 1b"
		     : "+r"(n) :: "rax", "rcx", "rdx", "cc");
	pthread_barrier_wait(&end);
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t sums[2] = { 0 }, first[MOST][2], from;
	int counters[MOST][2];

	loops = argc > 2 ? strtoull(argv[2], NULL, 10) / 10 : 0;
	if (!threads || threads > MOST || !loops) {
		fprintf(stderr, "usage: spread THREADS LOOP_INSTRUCTIONS\n");
		return 2;
	}
	for (unsigned int i = 0; i < threads; i++) {
		for (int e = 0; e < 2; e++) {
			counters[i][e] = open_counter(i, events[e]);
			if (counters[i][e] < 0) {
				fprintf(stderr, "spread: the virtual chip's PMU cannot be used\n");
				return 1;
			}
		}
	}
	pthread_barrier_init(&begin, NULL, threads + 1);
	pthread_barrier_init(&end, NULL, threads + 1);
	for (uintptr_t i = 0; i < threads; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, work, (void *)i)) {
			perror("spread");
			return 1;
		}
		pthread_detach(t);
	}
	for (unsigned int i = 0; i < threads; i++)
		for (int e = 0; e < 2; e++)
			first[i][e] = value_of(counters[i][e]);
	from = now_ns();
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	from = now_ns() - from;
	for (unsigned int i = 0; i < threads; i++)
		for (int e = 0; e < 2; e++)
			sums[e] += value_of(counters[i][e]) - first[i][e];
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sums[0], sums[1], from);
	return 0;
}
