// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A fixed amount of work: each of N threads, on a CPU of its own, adds a multiple of one short vector to another PASSES times,
 * as the saxpy of `kjoule boost` does.
 *
 *	work PASSES [THREADS]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define VECTORS	256
#define MOST	64

typedef float v4 __attribute__((vector_size(16)));

static unsigned long passes;

static void *work(void *arg)
{
	static __thread v4 x[VECTORS], y[VECTORS];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned long)arg, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (unsigned int i = 0; i < VECTORS; i++)
		x[i] = y[i] = (v4){ i, i, i, i };
	for (unsigned long n = 0; n < passes; n++) {
		const float f = n & 1 ? 0.5f : -0.5f;
		const v4 a = { f, f, f, f };

		for (unsigned int i = 0; i < VECTORS; i++)
			y[i] = a * x[i] + y[i];
		__asm__ volatile("" : : "r" (y) : "memory");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	pthread_t thread[MOST];

	passes = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	if (!passes || !threads || threads > MOST) {
		fprintf(stderr, "usage: work PASSES [THREADS]\n");
		return 2;
	}
	for (unsigned long i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 1;
	work(NULL);
	for (unsigned long i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
