// SPDX-License-Identifier: GPL-2.0-or-later
/* Cost of ticks and of the recorder on each CPU of a recording; see overhead_cpus.h. */
#include <stdlib.h>
#include "attribute/overhead_cpus.h"

double overhead_cpus_recorder_s(const struct view *v, uint32_t cpu)
{
	double s = 0;

	for (size_t i = 0; i < v->rec.n_wakeups; i++)
		if (v->rec.wakeups[i].cpu == cpu &&
		    v->rec.wakeups[i].end_ns > v->rec.wakeups[i].begin_ns)
			s += (v->rec.wakeups[i].end_ns - v->rec.wakeups[i].begin_ns) * 1e-9;
	return s;
}

/* The CPUs' counters, with each tick's cost. Return: how many; *cpus is the caller's to free */
size_t overhead_cpus_gather(const struct view *v, const struct blocks *b,
			    struct overhead_cpu **cpus)
{
	size_t n = 0;

	*cpus = calloc(v->rec.n_stats + 1, sizeof(**cpus));
	for (size_t i = 0; *cpus && v->rec.cal.ticks && i < v->rec.n_stats; i++) {
		const struct kjoule_cpu_stats *s = &v->rec.stats[i];

		for (size_t k = 0; k < v->tl.n_cpus; k++) {
			if (v->tl.cpus[k].cpu != s->cpu || !(b->streams[k].tick_ns > 0))
				continue;
			(*cpus)[n++] = (struct overhead_cpu){
				.cpu = s->cpu, .ticks = s->produced, .time_s = view_duration_s(v),
				.idle_s = s->idle_ns * 1e-9,
				.taken_s = s->produced * b->streams[k].tick_ns * 1e-9,
				.awake_s = overhead_cpus_recorder_s(v, s->cpu),
			};
		}
	}
	return n;
}

double overhead_cpus_all(const struct view *v, const struct blocks *b)
{
	struct overhead_cpu *cpus;
	size_t n = overhead_cpus_gather(v, b, &cpus);
	double all = overhead_all(cpus, n);

	free(cpus);
	return all;
}
