// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See course.h. Used by merge.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "course.h"

/* Of the lanes the one whose next entry comes first; NULL: all are through. */
static const struct cpm_tick *next(const struct cpm_lane *lanes, size_t n_lanes, size_t *at)
{
	size_t first = n_lanes;

	for (size_t i = 0; i < n_lanes; i++)
		if (at[i] < lanes[i].n &&
		    (first == n_lanes || lanes[i].ticks[at[i]].tick < lanes[first].ticks[at[first]].tick))
			first = i;
	return first < n_lanes ? &lanes[first].ticks[at[first]++] : NULL;
}

int course_elapsed(const struct cpm_lane *lanes, size_t n_lanes, const uint32_t *group_of, uint32_t n_groups,
		   double *ticks)
{
	uint64_t *until = calloc(n_groups + 1, sizeof(*until));
	size_t *at = calloc(n_lanes + 1, sizeof(*at));
	int ret = until && at ? 0 : -ENOMEM;
	const struct cpm_tick *t;

	for (uint32_t g = 0; g < n_groups; g++)
		ticks[g] = 0;
	while (!ret && (t = next(lanes, n_lanes, at))) {
		uint32_t g = group_of[t->block];
		uint64_t from = t->tick, to = t->tick + 1 + t->more;

		if (g == COURSE_NONE)
			continue;
		/* entries come by where they begin: what is before @until is counted */
		if (from < until[g])
			from = until[g];
		if (to <= from)
			continue;
		ticks[g] += to - from;
		until[g] = to;
	}
	free(at);
	free(until);
	return ret;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int course_steps(const struct cpm_lane *lanes, size_t n_lanes, const uint32_t *group_of, struct course_step **steps,
		 size_t *n)
{
	uint64_t *keys;
	size_t most = 0, m = 0;

	*steps = NULL;
	*n = 0;
	for (size_t i = 0; i < n_lanes; i++)
		most += lanes[i].n;
	keys = calloc(most + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n_lanes; i++) {
		uint32_t last = COURSE_NONE;

		for (size_t k = 0; k < lanes[i].n; k++) {
			uint32_t g = group_of[lanes[i].ticks[k].block];

			if (g == COURSE_NONE)
				continue;
			if (last != COURSE_NONE && last != g)
				keys[m++] = (uint64_t)last << 32 | g;
			last = g;
		}
	}
	qsort(keys, m, sizeof(*keys), by_key);
	*steps = calloc(m + 1, sizeof(**steps));
	for (size_t i = 0; i < m && *steps; i++) {
		if (!i || keys[i] != keys[i - 1])
			(*steps)[(*n)++] = (struct course_step){ keys[i] >> 32, (uint32_t)keys[i], 0 };
		(*steps)[*n - 1].n++;
	}
	free(keys);
	return *steps ? 0 : -ENOMEM;
}
