// SPDX-License-Identifier: GPL-2.0-or-later
/* See cpu_load.h. A pass has some ten thousand cycles, for accurate progress. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/cpus.h"
#include "lib/base/error.h"
#include "lib/base/now.h"
#include "machine/cpu_load.h"
#include "machine/saxpy.h"

#define MULTIPLICATIONS	3000
#define READS		1024		/* of a line each */
#define LINE		64
#define MEMORY_MOST	(64u << 20)	/* of a thread */
#define MEMORY_PART	16	/* and of all threads at most such a part of the machine's */

struct worker {
	struct cpu_load *load;
	pthread_t thread;
	struct saxpy saxpy;
	char *memory;
	size_t at;
	unsigned long product;
	_Atomic uint64_t passes;
} __attribute__((aligned(128)));

struct cpu_load {
	enum cpu_load_kind kind;
	size_t memory;			/* bytes of each thread; a power of two */
	unsigned int n;
	struct worker *workers;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	double part;			/* under the lock; 0: rest */
	bool end;
	atomic_uint turn;		/* changes with @part and @end */
};

const char *const cpu_load_names[CPU_LOAD_KINDS] = { "saxpy", "multiply", "memory", "mixed" };

static void load_multiply(struct worker *w)
{
	unsigned long x = w->product;

	for (unsigned int i = 0; i < MULTIPLICATIONS; i++) {
		x *= 3;
		__asm__ volatile("" : "+r" (x));
	}
	w->product = x;
}

static void load_read_memory(struct worker *w)
{
	for (unsigned int i = 0; i < READS; i++) {
		(void)*(volatile char *)(w->memory + w->at);
		w->at = (w->at + LINE) & (w->load->memory - 1);
	}
}

static void load_do_pass(struct worker *w, enum cpu_load_kind kind, uint64_t n)
{
	switch (kind) {
	case CPU_LOAD_SAXPY:
		saxpy_pass(&w->saxpy, n);
		break;
	case CPU_LOAD_MULTIPLY:
		load_multiply(w);
		break;
	case CPU_LOAD_MEMORY:
		load_read_memory(w);
		break;
	default:
		load_do_pass(w, n % CPU_LOAD_MIXED, n / CPU_LOAD_MIXED);
		break;
	}
}

/* Work for the load's turn; for @part of the time only, reading the clock between passes. */
static void load_work_turn(struct worker *w, unsigned int turn, double part)
{
	uint64_t n = atomic_load_explicit(&w->passes, memory_order_relaxed), begin = 0;

	while (atomic_load_explicit(&w->load->turn, memory_order_relaxed) == turn) {
		if (part < 1 && !begin)
			begin = kjoule_now_ns();
		load_do_pass(w, w->load->kind, n++);
		atomic_store_explicit(&w->passes, n, memory_order_relaxed);
		if (part < 1 && kjoule_now_ns() - begin >= part * CPU_LOAD_TURN_NS) {
			clock_nanosleep(CLOCK_MONOTONIC, 0,
					&(struct timespec){ 0, (1 - part) * CPU_LOAD_TURN_NS },
					NULL);
			begin = 0;
		}
	}
}

static void *load_worker_run(void *arg)
{
	struct worker *w = arg;
	struct cpu_load *l = w->load;
	unsigned int turn;
	double part;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		while (!l->end && !(l->part > 0))
			pthread_cond_wait(&l->changed, &l->lock);
		if (l->end)
			break;
		turn = atomic_load(&l->turn);
		part = l->part;
		pthread_mutex_unlock(&l->lock);
		load_work_turn(w, turn, part);
		pthread_mutex_lock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static void load_notify_workers(struct cpu_load *l, double part, bool end)
{
	pthread_mutex_lock(&l->lock);
	l->part = part;
	l->end = end;
	atomic_fetch_add(&l->turn, 1);
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

void cpu_load_go(struct cpu_load *l, double part)
{
	load_notify_workers(l, part, false);
}

uint64_t cpu_load_passes(const struct cpu_load *l)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < l->n; i++)
		n += atomic_load_explicit(&l->workers[i].passes, memory_order_relaxed);
	return n;
}

unsigned int cpu_load_threads(const struct cpu_load *l)
{
	return l->n;
}

static size_t load_memory_of_each(unsigned int threads)
{
	uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) /
			MEMORY_PART / threads;
	size_t bytes = READS * LINE;

	while (2 * bytes <= most && bytes < MEMORY_MOST)
		bytes *= 2;
	return bytes;
}

static int load_worker_start(struct cpu_load *l, struct worker *w, int cpu)
{
	pthread_attr_t attr;
	cpu_set_t one;
	int ret;

	w->load = l;
	w->product = 1;
	saxpy_start(&w->saxpy);
	if (l->kind == CPU_LOAD_MEMORY || l->kind == CPU_LOAD_MIXED) {
		w->memory = malloc(l->memory);
		if (!w->memory)
			return -ENOMEM;
		/* untouched pages would all be the kernel's one page of zeros */
		memset(w->memory, 1, l->memory);
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	ret = pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	if (!ret)
		ret = pthread_create(&w->thread, &attr, load_worker_run, w);
	pthread_attr_destroy(&attr);
	if (!ret)
		l->n++;
	return -ret;
}

int cpu_load_new(enum cpu_load_kind kind, const struct kjoule_cpus *cpus, unsigned int threads,
		 struct cpu_load **out, struct kjoule_error *err)
{
	unsigned int n = threads ? threads : kjoule_cpus_count(cpus);
	struct cpu_load *l = calloc(1, sizeof(*l));
	int cpu = -1, ret = 0;

	*out = NULL;
	if (!l)
		return kjoule_fail(err, ENOMEM, "no memory");
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	l->kind = kind;
	l->memory = load_memory_of_each(n ? n : 1);
	l->workers = aligned_alloc(_Alignof(struct worker), n * sizeof(*l->workers));
	if (!l->workers) {
		cpu_load_free(l);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	memset(l->workers, 0, n * sizeof(*l->workers));
	for (unsigned int i = 0; i < n && !ret; i++) {
		cpu = kjoule_cpus_next(cpus, cpu + 1);
		cpu = cpu < 0 ? kjoule_cpus_next(cpus, 0) : cpu;
		ret = cpu < 0 || cpu >= CPU_SETSIZE ? -ERANGE :
						      load_worker_start(l, &l->workers[i], cpu);
		if (ret) {
			/* its memory is no thread's */
			free(l->workers[i].memory);
			kjoule_fail(err, -ret, "starting the load on CPU %d: %s", cpu,
				    strerror(-ret));
		}
	}
	if (ret) {
		cpu_load_free(l);
		return ret;
	}
	*out = l;
	return 0;
}

void cpu_load_free(struct cpu_load *l)
{
	if (!l)
		return;
	load_notify_workers(l, 0, true);
	for (unsigned int i = 0; i < l->n; i++) {
		pthread_join(l->workers[i].thread, NULL);
		free(l->workers[i].memory);
	}
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l->workers);
	free(l);
}
