// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A try that is measured while the one before it is looked at, by a thread that waits for the next
 * one to be asked for: one that is made for each try would have to wait until who looks gives up
 * the CPU. See latency.h.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include "latency/latency.h"

struct latency_ahead {
	struct latency *l;
	pthread_t thread;
	sem_t asked, done;
	const struct latency_ask *ask;	/* NULL: no more of them */
	struct latency_loops loops;
	struct kjoule_error err;
	int ret;
};

static void ahead_wait_semaphore(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void *ahead_thread_run(void *arg)
{
	struct latency_ahead *a = arg;

	for (;;) {
		ahead_wait_semaphore(&a->asked);
		if (!a->ask)
			return NULL;
		a->ret = a->l->engine->attempt(a->l, a->ask, &a->loops, &a->err);
		sem_post(&a->done);
	}
}

struct latency_ahead *latency_ahead_new(struct latency *l)
{
	struct latency_ahead *a = l->engine->concurrent ? calloc(1, sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	a->l = l;
	sem_init(&a->asked, 0, 0);
	sem_init(&a->done, 0, 0);
	if (!pthread_create(&a->thread, NULL, ahead_thread_run, a))
		return a;
	sem_destroy(&a->asked);
	sem_destroy(&a->done);
	free(a);
	return NULL;
}

void latency_ahead_begin(struct latency_ahead *a, const struct latency_ask *ask)
{
	a->ask = ask;
	a->loops = (struct latency_loops){ 0 };
	sem_post(&a->asked);
}

int latency_ahead_end(struct latency_ahead *a, struct latency_loops *loops,
		      struct kjoule_error *err)
{
	ahead_wait_semaphore(&a->done);
	*loops = a->loops;
	return a->ret ? kjoule_fail(err, -a->ret, "%s", a->err.text) : 0;
}

void latency_ahead_free(struct latency_ahead *a)
{
	if (!a)
		return;
	a->ask = NULL;
	sem_post(&a->asked);
	pthread_join(a->thread, NULL);
	sem_destroy(&a->asked);
	sem_destroy(&a->done);
	free(a);
}
