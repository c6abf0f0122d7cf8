// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline cut to a part of its time, as if nothing had been recorded before and after; see timeline.h.
 */
#include <string.h>
#include "analysis/ticks/timeline.h"
#include "lib/kjoule.h"

static uint64_t clip(uint64_t tick, uint64_t from, uint64_t to)
{
	return tick < from ? 0 : tick > to ? to - from : tick - from;
}

static void cut_samples(struct timeline_cpu *c, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_samples; i++) {
		if (c->samples[i].tick < from || c->samples[i].tick >= to)
			continue;
		c->samples[n] = c->samples[i];
		c->samples[n++].tick -= from;
	}
	c->n_samples = n;
}

/* Ticks without samples that reach over an end keep what is inside. */
static void cut_gaps(struct timeline_cpu *c, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_gaps; i++) {
		struct timeline_gap g = c->gaps[i];
		uint64_t first = clip(g.first, from, to);

		g.count = clip(g.first + g.count, from, to) - first;
		g.first = first;
		if (g.count)
			c->gaps[n++] = g;
	}
	c->n_gaps = n;
	n = 0;
	for (size_t i = 0; i < c->n_parked; i++) {
		struct timeline_parked p = c->parked[i];
		uint64_t first = clip(p.first, from, to);

		p.count = clip(p.first + p.count, from, to) - first;
		p.first = first;
		if (p.count)
			c->parked[n++] = p;
	}
	c->n_parked = n;
}

/* Of what was lost around an end nobody knows on which side it was. */
static void cut_holes(struct timeline_cpu *c, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_holes; i++) {
		struct timeline_hole h = c->holes[i];

		if (h.to < from || h.from >= to)
			continue;
		h.known &= h.from >= from && h.to < to;
		h.from = clip(h.from, from, to);
		h.to = clip(h.to, from, to);
		c->holes[n++] = h;
	}
	c->n_holes = n;
}

static void cut_windows(struct timeline_cpu *c, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_windows; i++)
		if (c->windows[i].a_ns >= from_ns && c->windows[i].c_ns < to_ns)
			c->windows[n++] = c->windows[i];
	c->n_windows = n;
}

static void cut_block_readings(struct timeline_cpu *c, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_readings; i++)
		if (c->readings[i].hit_ns >= from_ns && c->readings[i].ready_ns < to_ns)
			c->readings[n++] = c->readings[i];
	c->n_readings = n;
}

/* A reading before the first tick that is left, and one after the last, are the ends of windows. */
static void cut_readings(struct timeline_series *s, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->readings[i].tick < from || s->readings[i].tick > to)
			continue;
		s->readings[n] = s->readings[i];
		s->readings[n++].tick -= from;
	}
	s->n = n;
}

void timeline_cut(struct timeline *tl, struct kjoule_session_info *session, uint64_t from, uint64_t to)
{
	uint64_t from_ns = timeline_due(session, from), to_ns = timeline_due(session, to);

	for (size_t i = 0; i < tl->n_cpus; i++) {
		struct timeline_cpu *c = &tl->cpus[i];

		cut_samples(c, from, to);
		cut_gaps(c, from, to);
		cut_holes(c, from, to);
		cut_windows(c, from_ns, to_ns);
		cut_block_readings(c, from_ns, to_ns);
		c->next_tick = clip(c->next_tick, from, to);
	}
	for (size_t i = 0; i < tl->n_series; i++)
		cut_readings(&tl->series[i], from, to);
	tl->end_tick = clip(tl->end_tick, from, to);
	session->first_tick += from;
	session->t0_ns += from * session->interval_ns;
}
