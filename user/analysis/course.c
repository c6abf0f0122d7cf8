// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See course.h. Used by merge.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "course.h"
#include "grow.h"
#include "lane.h"

/* A lane, and whether it has an entry that is not taken yet. */
struct head {
	struct lane_cursor c;
	bool waits;
};

/* Of the lanes the one whose next entry comes first; NULL: all are through. */
static struct head *first_of(struct head *heads, size_t n)
{
	struct head *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (heads[i].waits && (!first || heads[i].c.t.tick < first->c.t.tick))
			first = &heads[i];
	return first;
}

int course_elapsed(const struct cpm_lane *lanes, size_t n_lanes, const uint32_t *group_of, uint32_t n_groups,
		   double *ticks)
{
	uint64_t *until = calloc(n_groups + 1, sizeof(*until));
	struct head *heads = calloc(n_lanes + 1, sizeof(*heads)), *h;
	int ret = until && heads ? 0 : -ENOMEM;

	for (uint32_t g = 0; g < n_groups; g++)
		ticks[g] = 0;
	for (size_t i = 0; i < n_lanes && !ret; i++) {
		lane_begin(&heads[i].c, &lanes[i], NULL);
		heads[i].waits = lane_next(&heads[i].c);
	}
	for (; !ret && (h = first_of(heads, n_lanes)); h->waits = lane_next(&h->c)) {
		const struct cpm_tick *t = &h->c.t;
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
	free(heads);
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
	uint64_t *keys = NULL;
	size_t m = 0;

	*steps = NULL;
	*n = 0;
	for (size_t i = 0; i < n_lanes; i++) {
		uint32_t last = COURSE_NONE;
		struct lane_cursor c;

		lane_begin(&c, &lanes[i], NULL);
		while (lane_next(&c)) {
			uint32_t g = group_of[c.t.block];

			if (g == COURSE_NONE)
				continue;
			if (last != COURSE_NONE && last != g) {
				uint64_t *key = kjoule_grow(&keys, &m, sizeof(*keys));

				if (!key) {
					free(keys);
					return -ENOMEM;
				}
				*key = (uint64_t)last << 32 | g;
			}
			last = g;
		}
	}
	if (m)
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
