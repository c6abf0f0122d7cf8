// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that marks its phases, and an example of how one does (kjoule_region(3)): three phases
 * of different work in random order and of random length, one of them with another inside, work in
 * no region, and a thread with a region of its own. Each has a function that runs nowhere else, so
 * that what these have spent is the truth about the regions. Used by selftests/cli.
 *
 *	prepare			spin_prepare
 *	compute			spin_compute
 *	compute/inner		spin_inner
 *	output			spin_output
 *	worker			spin_worker, in threads that are made one after another
 *	no region		spin_outside
 *
 * usage: regions SECONDS [SEED]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <kjoule/region.h>
#include "pace.h"

#define BLOCK	1000
#define WORDS	1024

#define NOINLINE __attribute__((noinline, noclone))
#define X4(a) a a a a

static uint64_t buffer[WORDS];

static NOINLINE void spin_prepare(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mov (%0), %%rax; mov 64(%0), %%rdx; mov 128(%0), %%rcx;")
			     :: "r"(&buffer[n % (WORDS / 2)]) : "rax", "rcx", "rdx", "memory");
}

static NOINLINE void spin_compute(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("imul $3, %%rax, %%rax; imul $5, %%rdx, %%rdx;")
			     ::: "rax", "rdx", "cc");
}

static NOINLINE void spin_inner(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mulsd %%xmm0, %%xmm1; addsd %%xmm2, %%xmm3;") ::: "xmm1", "xmm3");
}

static NOINLINE void spin_output(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mov %%rax, (%0); mov %%rax, 64(%0); mov %%rax, 128(%0);")
			     :: "r"(&buffer[n % (WORDS / 2)]) : "memory");
}

static NOINLINE void spin_worker(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("mov (%0), %%rax; imul $3, %%rax, %%rax; add $1, %%rax; mov %%rax, (%0);")
			     :: "r"(&buffer[n % WORDS]) : "rax", "cc", "memory");
}

static NOINLINE void spin_outside(uint64_t units)
{
	for (uint64_t n = units * BLOCK; n; n--)
		asm volatile(X4("add %%rcx, %%rax; xor %%rax, %%rdx; lea 3(%%rdx), %%rcx; sub $7, %%rax;")
			     ::: "rax", "rcx", "rdx", "cc");
}

static void prepare(uint64_t units)
{
	kjoule_region_begin("prepare");
	spin_prepare(units);
	kjoule_region_end();
}

static void compute(uint64_t units)
{
	kjoule_region_begin("compute");
	spin_compute(units);
	kjoule_region_begin("inner");
	spin_inner(units);
	kjoule_region_end();
	kjoule_region_end();
}

static void output(uint64_t units)
{
	kjoule_region_begin("output");
	spin_output(units);
	kjoule_region_end();
}

static void *worker(void *units)
{
	/* regions are a thread's own: this is not "output/worker" */
	kjoule_region_begin("worker");
	spin_worker(*(const uint64_t *)units);
	kjoule_region_end();
	return NULL;
}

static void work_in_a_thread(uint64_t units)
{
	pthread_t thread;

	kjoule_region_begin("output");
	if (pthread_create(&thread, NULL, worker, &units))
		exit(1);
	pthread_join(thread, NULL);
	kjoule_region_end();
}

int main(int argc, char **argv)
{
	static void (*const phases[])(uint64_t units) =
		{ prepare, compute, output, work_in_a_thread, spin_outside };
	double seconds = argc > 1 ? atof(argv[1]) : 0, begin, end;
	uint64_t x = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL), units = 4;

	if (seconds <= 0) {
		fprintf(stderr, "usage: regions SECONDS [SEED]\n");
		return 2;
	}
	/* how many units last a tenth of a second here and now */
	for (;;) {
		begin = now();
		spin_outside(units);
		if (now() - begin > 0.1)
			break;
		units *= 2;
	}
	x = x * 2654435769u + 88172645463325252u;
	for (end = now() + seconds; now() < end;) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		phases[(x >> 20) % (sizeof(phases) / sizeof(phases[0]))](units + x % units);
	}
	return 0;
}
