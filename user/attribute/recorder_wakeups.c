// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See recorder_wakeups.h.
 */
#include <errno.h>
#include <stdlib.h>
#include "attribute/missed_ticks.h"
#include "attribute/recorder_wakeups.h"
#include "lib/base/search.h"

static int recorder_wakeup_by_begin(const void *a, const void *b)
{
	const struct recorder_wakeup *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

int recorder_wakeups_find(const struct kjoule_recording *rec, struct recorder_wakeups *a)
{
	size_t n = 0;

	*a = (struct recorder_wakeups){ .times = calloc(rec->n_wakeups + 1, sizeof(*a->times)) };
	if (!a->times)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_wakeups; i++)
		if (missed_ticks_wakeup_is_sound(&rec->wakeups[i]))
			a->times[n++] = (struct recorder_wakeup){ rec->wakeups[i].begin_ns,
								  rec->wakeups[i].end_ns };
	qsort(a->times, n, sizeof(*a->times), recorder_wakeup_by_begin);
	/* a file may have overlapping ones: merge them */
	for (size_t i = 0; i < n; i++) {
		struct recorder_wakeup *last = a->n ? &a->times[a->n - 1] : NULL;

		if (!last || a->times[i].begin_ns > last->end_ns)
			a->times[a->n++] = a->times[i];
		else if (a->times[i].end_ns > last->end_ns)
			last->end_ns = a->times[i].end_ns;
	}
	return 0;
}

bool recorder_wakeups_within(const struct recorder_wakeups *a, uint64_t begin_ns, uint64_t end_ns)
{
	/* the first one that ends after the begin */
	size_t n = kjoule_count_members(a->times, a->n, end_ns, begin_ns);

	return n < a->n && a->times[n].begin_ns < end_ns;
}

void recorder_wakeups_free(struct recorder_wakeups *a)
{
	free(a->times);
	*a = (struct recorder_wakeups){ 0 };
}
