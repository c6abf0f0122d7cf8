// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other CPUs while the frequency of one of them changes: kept busy, or held at a frequency of
 * which a clock that they have in common takes no notice. See latency.h.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include "latency/latency.h"
#include "machine/cpu_load.h"

int latency_load_start(struct latency *l, struct kjoule_error *err)
{
	struct kjoule_cpus others = { 0 }, online;
	int ret = kjoule_cpus_online(&online);

	if (ret)
		return kjoule_fail(err, -ret, "asking for the CPUs that are online: %s",
				   strerror(-ret));
	for (int cpu = kjoule_cpus_next(&online, 0); cpu >= 0;
	     cpu = kjoule_cpus_next(&online, cpu + 1))
		if ((unsigned int)cpu != l->opt->cpu)
			kjoule_cpus_add(&others, cpu);
	if (!kjoule_cpus_count(&others))
		return kjoule_fail(err, ENODEV, "--at load: there is no other CPU to be kept busy");
	ret = cpu_load_new(CPU_LOAD_MULTIPLY, &others, 0, &l->load, err);
	if (!ret)
		cpu_load_go(l->load, 1);
	return ret;
}

void latency_load_end(struct latency *l)
{
	cpu_load_free(l->load);
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
