// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See recorder_wakeups.h.
 */
#include <errno.h>
#include <stdlib.h>
#include "attribute/missed_ticks.h"
#include "attribute/recorder_wakeups.h"

static int wakeup_by_begin(const void *a, const void *b)
{
	const struct awake_time *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

int awake_find(const struct kjoule_recording *rec, struct awake *a)
{
	size_t n = 0;

	*a = (struct awake){ .times = calloc(rec->n_awake + 1, sizeof(*a->times)) };
	if (!a->times)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_awake; i++)
		if (missed_ticks_awake_is_sound(&rec->awake[i]))
			a->times[n++] = (struct awake_time){ rec->awake[i].begin_ns, rec->awake[i].end_ns };
	qsort(a->times, n, sizeof(*a->times), wakeup_by_begin);
	/* a file may say anything: what lies over each other is one */
	for (size_t i = 0; i < n; i++) {
		struct awake_time *last = a->n ? &a->times[a->n - 1] : NULL;

		if (!last || a->times[i].begin_ns > last->end_ns)
			a->times[a->n++] = a->times[i];
		else if (a->times[i].end_ns > last->end_ns)
			last->end_ns = a->times[i].end_ns;
	}
	return 0;
}

bool awake_within(const struct awake *a, uint64_t begin_ns, uint64_t end_ns)
{
	size_t low = 0, high = a->n;

	/* the first one that ends behind the beginning */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (a->times[mid].end_ns > begin_ns)
			high = mid;
		else
			low = mid + 1;
	}
	return low < a->n && a->times[low].begin_ns < end_ns;
}

void awake_free(struct awake *a)
{
	free(a->times);
	*a = (struct awake){ 0 };
}
