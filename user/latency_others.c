// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other CPUs while the frequency of one of them changes: kept busy, or held at a frequency of which a clock that they
 * have in common takes no notice; and the limits of sysfs, given back whatever comes. See latency.h.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "latency.h"

/**
 * struct latency_load - threads that only compute
 * @end:	they are to end
 * @threads:	@n of them
 */
struct latency_load {
	atomic_bool end;
	size_t n;
	pthread_t threads[];
};

static void *compute(void *arg)
{
	struct latency_load *load = arg;
	unsigned long x = 1;

	while (!atomic_load_explicit(&load->end, memory_order_relaxed))
		for (int i = 0; i < 10000; i++)
			__asm__ volatile("imul $3, %0, %0" : "+r" (x) : : "cc");
	return NULL;
}

static int start_on(struct latency_load *load, int cpu)
{
	pthread_attr_t attr;
	cpu_set_t one;
	int ret;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	ret = pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	if (!ret)
		ret = pthread_create(&load->threads[load->n], &attr, compute, load);
	pthread_attr_destroy(&attr);
	if (ret)
		return -ret;
	load->n++;
	return 0;
}

int latency_load_start(struct latency *l, struct kjoule_error *err)
{
	struct kjoule_cpus online;
	int ret = kjoule_cpus_online(&online);

	if (ret)
		return kjoule_fail(err, -ret, "asking for the CPUs that are online: %s", strerror(-ret));
	l->load = calloc(1, sizeof(*l->load) + kjoule_cpus_count(&online) * sizeof(l->load->threads[0]));
	if (!l->load)
		return kjoule_fail(err, ENOMEM, "no memory");
	for (int cpu = kjoule_cpus_next(&online, 0); cpu >= 0 && !ret; cpu = kjoule_cpus_next(&online, cpu + 1))
		if ((unsigned int)cpu != l->opt->cpu && cpu < CPU_SETSIZE)
			ret = start_on(l->load, cpu);
	if (!ret && !l->load->n)
		return kjoule_fail(err, ENODEV, "--at load: there is no other CPU to be kept busy");
	return ret ? kjoule_fail(err, -ret, "--at load: starting a thread on each other CPU: %s", strerror(-ret)) : 0;
}

void latency_load_end(struct latency *l)
{
	if (!l->load)
		return;
	atomic_store(&l->load->end, true);
	for (size_t i = 0; i < l->load->n; i++)
		pthread_join(l->load->threads[i], NULL);
	free(l->load);
	l->load = NULL;
}

void latency_keep_away(const struct latency *l)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) || l->opt->cpu >= CPU_SETSIZE)
		return;
	CPU_CLR(l->opt->cpu, &cpus);
	if (CPU_COUNT(&cpus))
		sched_setaffinity(0, sizeof(cpus), &cpus);
}

int latency_hold_begin(struct latency *l, struct kjoule_error *err)
{
	return l->guard.fd >= 0 ? 0 : frequency_guard_start(&l->guard, l->frequency, err);
}

int latency_hold_end(struct latency *l, struct kjoule_error *err)
{
	int ret;

	if (l->guard.fd < 0)
		return 0;
	err->text[0] = '\0';
	ret = kjoule_frequency_restore(l->frequency, err);
	if (!ret && err->text[0])
		cmd_warn("%s", err->text);
	frequency_guard_end(&l->guard);
	return ret;
}

int latency_others_at(struct latency *l, uint32_t khz, struct kjoule_error *err)
{
	size_t n;
	const struct kjoule_policy *p = kjoule_frequency_policies(l->frequency, &n);
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		if (p[i].number != l->policy->number)
			ret = kjoule_frequency_hold_one(l->frequency, p[i].number, khz, err);
	return ret;
}
