// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differences of CPUs' delays at one tick; see timeline.h. Called by timeline.c for stored samples,
 * and by recording/view_samples.c while it reads those of a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/ticks/timeline.h"
#include "lib/base/array.h"
#include "lib/base/min_heap.h"

static int delay_by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Differences with a counter each; there are few larger ones. */
#define COUNTED		(1u << 16)

struct timeline_skew {
	uint64_t from;			/* of the current ticks */
	uint32_t lo[TIMELINE_SLICE], hi[TIMELINE_SLICE], cpus[TIMELINE_SLICE];
	uint64_t counts[COUNTED];
	uint32_t *large;
	size_t n_large;
};

struct timeline_skew *timeline_skew_new(void)
{
	return calloc(1, sizeof(struct timeline_skew));
}

void timeline_skew_slice(struct timeline_skew *s, uint64_t from)
{
	s->from = from;
	memset(s->cpus, 0, sizeof(s->cpus));
}

void timeline_skew_put(struct timeline_skew *s, uint64_t tick, uint32_t late_ns)
{
	size_t i = tick - s->from;

	if (!s->cpus[i]++) {
		s->lo[i] = s->hi[i] = late_ns;
		return;
	}
	if (late_ns < s->lo[i])
		s->lo[i] = late_ns;
	if (late_ns > s->hi[i])
		s->hi[i] = late_ns;
}

void timeline_skew_samples(struct timeline_skew *s, const struct timeline_sample *samples, size_t n,
			   uint64_t *next)
{
	for (size_t i = 0; i < n; i++) {
		/* a tick that a CPU has twice is damage */
		if (samples[i].tick + 1 != *next)
			timeline_skew_put(s, samples[i].tick, samples[i].late_ns);
		*next = samples[i].tick + 1;
	}
}

int timeline_skew_count(struct timeline_skew *s, struct timeline *tl)
{
	for (size_t i = 0; i < TIMELINE_SLICE; i++) {
		uint32_t skew = s->hi[i] - s->lo[i], *large;

		if (s->cpus[i] < 2)
			continue;
		tl->skew_ticks++;
		if (skew > tl->max_skew_ns)
			tl->max_skew_ns = skew;
		if (skew < COUNTED) {
			s->counts[skew]++;
			continue;
		}
		large = kjoule_array_grow(&s->large, &s->n_large, sizeof(*large));
		if (!large)
			return -ENOMEM;
		*large = skew;
	}
	return 0;
}

/* The 99th percentile. */
void timeline_skew_end(struct timeline_skew *s, struct timeline *tl)
{
	uint64_t n = tl->skew_ticks, wanted = n ? n - 1 - n / 100 : 0, seen = 0;

	if (!s)
		return;
	tl->p99_skew_ns = 0;
	for (uint32_t i = 0; i < COUNTED && n && seen <= wanted; i++) {
		seen += s->counts[i];
		tl->p99_skew_ns = i;
	}
	if (n && seen <= wanted) {
		qsort(s->large, s->n_large, sizeof(*s->large), delay_by_size);
		tl->p99_skew_ns = s->large[wanted - seen];
	}
	free(s->large);
	free(s);
}

/* A CPU's samples of the slice that begins at @from. Return: the next one's number */
static size_t skew_put_slice(struct timeline_skew *s, const struct timeline_cpu *cpu, size_t at,
			     uint64_t from)
{
	for (; at < cpu->n_samples && cpu->samples[at].tick - from < TIMELINE_SLICE; at++)
		if (!at || cpu->samples[at - 1].tick != cpu->samples[at].tick)
			timeline_skew_put(s, cpu->samples[at].tick, cpu->samples[at].late_ns);
	return at;
}

void timeline_skew_find(struct timeline *tl)
{
	size_t *at = calloc(tl->n_cpus + 1, sizeof(*at));
	struct timeline_skew *s = timeline_skew_new();
	const struct kjoule_min_heap_entry *first;
	struct kjoule_min_heap turns;
	int ret = kjoule_min_heap_init(&turns, tl->n_cpus);

	ret = at && s ? ret : -ENOMEM;
	for (size_t c = 0; c < tl->n_cpus && !ret; c++)
		if (tl->cpus[c].n_samples)
			kjoule_min_heap_push(&turns, tl->cpus[c].samples[0].tick, c);
	while (!ret && (first = kjoule_min_heap_first(&turns))) {
		const uint64_t from = first->when;

		timeline_skew_slice(s, from);
		while ((first = kjoule_min_heap_first(&turns)) &&
		       first->when - from < TIMELINE_SLICE) {
			size_t c = kjoule_min_heap_pop(&turns);

			at[c] = skew_put_slice(s, &tl->cpus[c], at[c], from);
			if (at[c] < tl->cpus[c].n_samples)
				kjoule_min_heap_push(&turns, tl->cpus[c].samples[at[c]].tick, c);
		}
		ret = timeline_skew_count(s, tl);
	}
	timeline_skew_end(s, tl);
	kjoule_min_heap_exit(&turns);
	free(at);
}
