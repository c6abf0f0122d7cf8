// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast could the emulation go? Runs each instruction class on every CPU at once,
 * in a guest whose chip charges but never waits (scripts/vm --plugin-arg mode=free), and
 * prints cycles per microsecond of real time: the clock in MHz that the class
 * could follow. A profile's top clock must be at most half of the smallest.
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "registers.h"
#include "work.h"

static double seconds = 0.15;
static pthread_barrier_t barrier;
static double mhz[VCHIP_MAX_CPUS][WORKS];
static double mips[VCHIP_MAX_CPUS][WORKS];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void *run(void *data)
{
	unsigned int cpu = (unsigned int)(uintptr_t)data;
	volatile struct vchip_cpu *regs = registers_cpu(cpu);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (unsigned int w = 0; w < WORKS; w++) {
		uint64_t cycles, instr;
		double start;

		work_table[w].run(1000);
		pthread_barrier_wait(&barrier);
		cycles = regs->cycles_user;
		instr = regs->instr_user;
		start = now();
		while (now() - start < seconds)
			work_table[w].run(2000);
		mhz[cpu][w] = (double)(regs->cycles_user - cycles) / (now() - start) / 1e6;
		mips[cpu][w] = (double)(regs->instr_user - instr) / (now() - start) / 1e6;
	}
	return NULL;
}

int main(void)
{
	unsigned int cpus;
	pthread_t thread[VCHIP_MAX_CPUS];

	registers_map();
	cpus = registers_head()->cpus;
	pthread_barrier_init(&barrier, NULL, cpus);
	for (unsigned int i = 1; i < cpus; i++)
		pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)i);
	run(NULL);
	for (unsigned int i = 1; i < cpus; i++)
		pthread_join(thread[i], NULL);
	for (unsigned int w = 0; w < WORKS; w++) {
		printf("%-10s", work_table[w].name);
		for (unsigned int i = 0; i < cpus; i++)
			printf("  %7.1f MHz %7.1f MIPS", mhz[i][w], mips[i][w]);
		printf("\n");
	}
	return 0;
}
