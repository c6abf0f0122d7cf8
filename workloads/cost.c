// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a loop of a known number of instructions on one CPU of the virtual chip
 * and tells how many instructions that CPU retired meanwhile, kernel and user
 * together, as the chip counts them. What is more than the loop is what others
 * did on the CPU: scripts/bench gets the cost of a sample from that. The loop
 * runs at a real-time priority, so that whoever consumes samples waits for its end.
 *
 * usage: cost CPU LOOP_INSTRUCTIONS
 * prints: instructions, nanoseconds
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PMU "/sys/bus/event_source/devices/vchip/"

/* The chip's counter of instructions on one CPU, kernel and user; -1 if there is none. */
static int open_counter(int cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	unsigned int type, config;
	FILE *f = fopen(PMU "type", "r");

	if (!f || fscanf(f, "%u", &type) != 1)
		return -1;
	fclose(f);
	f = fopen(PMU "events/instructions", "r");
	if (!f || fscanf(f, "event=%x", &config) != 1)
		return -1;
	fclose(f);
	attr.type = type;
	attr.config = config;
	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
}

static uint64_t retired(int counter)
{
	uint64_t value = 0;

	if (read(counter, &value, sizeof(value)) != sizeof(value))
		exit(1);
	return value;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	int cpu = argc > 1 ? atoi(argv[1]) : 0;
	uint64_t loop = argc > 2 ? strtoull(argv[2], NULL, 0) : 0, n, begin, instructions;
	int counter;
	const struct sched_param priority = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!loop || sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "usage: cost CPU LOOP_INSTRUCTIONS\n");
		return 2;
	}
	counter = open_counter(cpu);
	if (counter < 0) {
		fprintf(stderr, "cost: the virtual chip's PMU cannot be used\n");
		return 1;
	}
	if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
		perror("cost: SCHED_FIFO");
		return 1;
	}
	n = loop / 10;
	begin = now_ns();
	instructions = retired(counter);
	asm volatile("1: add $1, %%rax; add $1, %%rdx; add $1, %%rcx; add $1, %%rax; add $1, %%rdx;"
		     "add $1, %%rcx; add $1, %%rax; add $1, %%rdx; dec %0; jnz 1b"
		     : "+r"(n) :: "rax", "rcx", "rdx", "cc");
	instructions = retired(counter) - instructions;
	printf("%" PRIu64 " %" PRIu64 "\n", instructions, now_ns() - begin);
	return 0;
}
