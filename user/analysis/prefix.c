// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See prefix.h. Used by convergence.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "prefix.h"

/* Entries of a lane that begin before a tick. */
static size_t entries(const struct cpm_lane *lane, uint64_t end_tick)
{
	size_t low = 0, high = lane->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (lane->ticks[mid].tick < end_tick)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A reading at the end itself still tells of what is before it. */
static size_t readings(const struct cpm_reading *r, size_t n, uint64_t end_tick)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r[mid].tick <= end_tick)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int cut_lane(struct prefix *p, size_t i, uint64_t end_tick)
{
	struct cpm_lane *lane = &p->lanes[i].lane;
	struct cpm_tick *last;

	lane->n = entries(lane, end_tick);
	if (!lane->n || lane->ticks[lane->n - 1].tick + lane->ticks[lane->n - 1].more < end_tick)
		return 0;
	p->cut[i] = malloc(lane->n * sizeof(*p->cut[i]));
	if (!p->cut[i])
		return -ENOMEM;
	memcpy(p->cut[i], lane->ticks, lane->n * sizeof(*p->cut[i]));
	last = &p->cut[i][lane->n - 1];
	last->more = end_tick - last->tick - 1;
	lane->ticks = p->cut[i];
	return 0;
}

int prefix_new(const struct profile_input *in, uint64_t end_tick, struct prefix *p)
{
	int ret = 0;

	memset(p, 0, sizeof(*p));
	p->in = *in;
	p->lanes = calloc(in->n_lanes + 1, sizeof(*p->lanes));
	p->packages = calloc(in->n_packages + 1, sizeof(*p->packages));
	p->cut = calloc(in->n_lanes + 1, sizeof(*p->cut));
	if (!p->lanes || !p->packages || !p->cut)
		ret = -ENOMEM;
	for (size_t i = 0; i < in->n_lanes && !ret; i++) {
		p->lanes[i] = in->lanes[i];
		ret = cut_lane(p, i, end_tick);
	}
	for (size_t i = 0; i < in->n_packages && !ret; i++) {
		p->packages[i] = in->packages[i];
		for (unsigned int d = 0; d < in->n_domains; d++)
			p->packages[i].n_readings[d] = readings(in->packages[i].readings[d],
								in->packages[i].n_readings[d],
								end_tick);
	}
	p->in.lanes = p->lanes;
	p->in.packages = p->packages;
	if (end_tick < in->end_tick)
		p->in.end_tick = end_tick;
	if (ret)
		prefix_free(p);
	return ret;
}

void prefix_free(struct prefix *p)
{
	for (size_t i = 0; p->cut && i < p->in.n_lanes; i++)
		free(p->cut[i]);
	free(p->cut);
	free(p->lanes);
	free(p->packages);
	memset(p, 0, sizeof(*p));
}

uint64_t prefix_samples(const struct profile_input *in, uint64_t end_tick)
{
	uint64_t n = 0;

	for (size_t i = 0; i < in->n_lanes; i++) {
		const struct cpm_lane *lane = &in->lanes[i].lane;
		size_t most = in->lanes[i].shadow ? 0 : entries(lane, end_tick);

		for (size_t k = 0; k < most; k++)
			n += !lane->ticks[k].made_up && !lane->ticks[k].parked;
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
