// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See model.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "analysis/profile/model.h"

/* Ticks of a block, and the number of its runs. */
struct presence {
	double ticks, runs;
};

static void presence_add_stream(const struct cpm_stream *stream, const uint8_t *kinds,
				struct presence *of)
{
	uint32_t last = UINT32_MAX;
	struct tick_stream_cursor c;
	uint64_t next = 0;

	tick_stream_begin(&c, stream, NULL);
	while (tick_stream_next(&c)) {
		const struct cpm_tick *t = &c.t;

		if (kinds[t->block] == CPM_BUSY) {
			of[t->block].ticks += t->more + 1.0;
			of[t->block].runs += t->block != last || t->tick != next;
		}
		last = t->block;
		next = t->tick + t->more + 1;
	}
}

/* The block with the shortest runs of those with enough time. Return: false if there is none */
static bool block_find_shortest(const struct profile_input *in, const struct presence *of,
				struct model_choice *c)
{
	double all = 0;
	bool found = false;

	for (uint32_t b = 0; b < in->n_blocks; b++)
		all += of[b].ticks;
	for (uint32_t b = 0; b < in->n_blocks; b++) {
		if (!(of[b].ticks > 0) || of[b].ticks < MODEL_PART * all)
			continue;
		if (!found || of[b].ticks / of[b].runs < c->run_ticks) {
			c->run_ticks = of[b].ticks / of[b].runs;
			c->block = b;
		}
		found = true;
	}
	return found;
}

static int window_by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int windows_find_period(const struct cpm_domain *d, struct model_choice *c)
{
	uint64_t *lengths = calloc(d->n_windows + 1, sizeof(*lengths));
	struct cpm_windows w;
	size_t n = 0;
	int ret = cpm_windows_begin(d, &w);

	if (!lengths)
		ret = -ENOMEM;
	while (!ret && cpm_windows_next(&w))
		if (w.w.known)
			lengths[n++] = w.w.to - w.w.from;
	cpm_windows_end(&w);
	if (n) {
		qsort(lengths, n, sizeof(*lengths), window_by_length);
		c->period_ticks = lengths[n / 2];
	}
	c->windows = n;
	free(lengths);
	return ret;
}

int model_choose(const struct profile *p, const struct profile_input *in, struct model_choice *c)
{
	struct presence *of = calloc(in->n_blocks + 1ul, sizeof(*of));
	const struct cpm_domain *d = NULL;
	size_t counters = 0;
	bool found;
	int ret = of ? 0 : -ENOMEM;

	*c = (struct model_choice){ .model = PROFILE_CPM, .period_ticks = NAN, .run_ticks = NAN,
				    .block = UINT32_MAX };
	for (size_t i = 0; i < in->n_packages && in->n_domains && !ret; i++) {
		if (!profile_domain(p, i, 0))
			continue;
		d = profile_domain(p, i, 0);
		counters++;
	}
	if (!ret && d)
		ret = windows_find_period(d, c);
	for (size_t i = 0; i < in->n_streams && !ret; i++)
		if (!in->streams[i].shadow)
			presence_add_stream(&in->streams[i].stream, in->kinds, of);
	if (ret) {
		free(of);
		return ret;
	}
	found = block_find_shortest(in, of, c);
	free(of);
	if (!d)
		c->reason = MODEL_NO_ENERGY;
	else if (!found)
		c->reason = MODEL_NOTHING_RAN;
	else if (c->run_ticks >= MODEL_COARSE * c->period_ticks)
		c->reason = MODEL_ALL_COARSE;
	else if (counters > 1)
		c->reason = MODEL_PACKAGES;
	else if (c->period_ticks < MODEL_TICKS)
		c->reason = MODEL_SLOW_TICKS;
	else if (c->windows < MIXTURE_WINDOWS)
		c->reason = MODEL_FEW_WINDOWS;
	else
		c->reason = MODEL_FINE;
	if (c->reason == MODEL_FINE)
		c->model = PROFILE_MIXTURE;
	return 0;
}
