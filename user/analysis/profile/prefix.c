// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See prefix.h. Used by report/convergence.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/profile/prefix.h"
#include "lib/base/search.h"

/* A reading at the end itself is for what is before it. */
static size_t readings_until(const struct cpm_reading *r, size_t n, uint64_t end_tick)
{
	return kjoule_count_members(r, n, tick, end_tick);
}

/* The ticks of a stream before @end_tick. */
static struct cpm_stream stream_cut(const struct cpm_stream *stream, uint64_t end_tick)
{
	struct cpm_stream first = *stream;

	if (!end_tick)
		return (struct cpm_stream){ 0 };
	if (!first.end || first.end > end_tick)
		first.end = end_tick;
	return first;
}

int prefix_new(const struct profile_input *in, uint64_t end_tick, struct prefix *p)
{
	int ret = 0;

	memset(p, 0, sizeof(*p));
	p->in = *in;
	p->streams = calloc(in->n_streams + 1, sizeof(*p->streams));
	p->packages = calloc(in->n_packages + 1, sizeof(*p->packages));
	if (!p->streams || !p->packages)
		ret = -ENOMEM;
	for (size_t i = 0; i < in->n_streams && !ret; i++) {
		p->streams[i] = in->streams[i];
		p->streams[i].stream = stream_cut(&in->streams[i].stream, end_tick);
	}
	for (size_t i = 0; i < in->n_packages && !ret; i++) {
		p->packages[i] = in->packages[i];
		for (unsigned int d = 0; d < in->n_domains; d++)
			p->packages[i].n_readings[d] = readings_until(in->packages[i].readings[d],
								      in->packages[i].n_readings[d],
								      end_tick);
	}
	p->in.streams = p->streams;
	p->in.packages = p->packages;
	if (end_tick < in->end_tick)
		p->in.end_tick = end_tick;
	if (ret)
		prefix_free(p);
	return ret;
}

void prefix_free(struct prefix *p)
{
	free(p->streams);
	free(p->packages);
	memset(p, 0, sizeof(*p));
}

uint64_t prefix_samples(const struct profile_input *in, uint64_t end_tick)
{
	uint64_t n = 0;

	for (size_t i = 0; i < in->n_streams; i++) {
		struct cpm_stream stream = stream_cut(&in->streams[i].stream, end_tick);
		struct tick_stream_cursor c;

		tick_stream_begin(&c, &stream, NULL);
		while (!in->streams[i].shadow && tick_stream_next(&c))
			n += !c.t.interpolated && !c.t.skipped ? c.t.more + 1ull : 0;
	}
	return n;
}

uint64_t prefix_tick(const struct profile_input *in, uint64_t samples)
{
	uint64_t low = 0, high = in->end_tick;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (prefix_samples(in, mid) < samples)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
