// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A fixed amount of work: each of N threads, on a CPU of its own, does PASSES of what the saxpy of
 * `kjoule boost` does.
 *
 *	work PASSES [THREADS]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include "../user/machine/saxpy.h"

#define MOST	64

static unsigned long passes;

static void *work(void *arg)
{
	static __thread struct saxpy s;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned long)arg, &one);
	sched_setaffinity(0, sizeof(one), &one);
	saxpy_start(&s);
	for (unsigned long n = 0; n < passes; n++)
		saxpy_pass(&s, n);
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
