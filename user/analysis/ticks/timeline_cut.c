// SPDX-License-Identifier: GPL-2.0-or-later
/* Cuts a timeline to a part of its time; see timeline.h. */
#include <string.h>
#include "analysis/ticks/timeline.h"
#include "lib/control/control.h"

static uint64_t tick_clip(uint64_t tick, uint64_t from, uint64_t to)
{
	return tick < from ? 0 : tick > to ? to - from : tick - from;
}

static void samples_cut(struct timeline_cpu *c, uint64_t from, uint64_t to)
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

/* Ticks without samples across an end keep what is inside. */
static void gaps_cut(struct timeline_cpu *c, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_gaps; i++) {
		struct timeline_gap g = c->gaps[i];
		uint64_t first = tick_clip(g.first, from, to);

		g.count = tick_clip(g.first + g.count, from, to) - first;
		g.first = first;
		if (g.count)
			c->gaps[n++] = g;
	}
	c->n_gaps = n;
	n = 0;
	for (size_t i = 0; i < c->n_skipped; i++) {
		struct timeline_skipped p = c->skipped[i];
		uint64_t first = tick_clip(p.first, from, to);

		p.count = tick_clip(p.first + p.count, from, to) - first;
		p.first = first;
		if (p.count)
			c->skipped[n++] = p;
	}
	c->n_skipped = n;
}

/* It is unknown on which side of an end records were lost. */
static void holes_cut(struct timeline_cpu *c, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_holes; i++) {
		struct timeline_hole h = c->holes[i];

		if (h.to < from || h.from >= to)
			continue;
		h.known &= h.from >= from && h.to < to;
		h.from = tick_clip(h.from, from, to);
		h.to = tick_clip(h.to, from, to);
		c->holes[n++] = h;
	}
	c->n_holes = n;
}

static void windows_cut(struct timeline_cpu *c, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_windows; i++)
		if (c->windows[i].a_ns >= from_ns && c->windows[i].c_ns < to_ns)
			c->windows[n++] = c->windows[i];
	c->n_windows = n;
}

static void block_readings_cut(struct timeline_cpu *c, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_readings; i++)
		if (c->readings[i].hit_ns >= from_ns && c->readings[i].ready_ns < to_ns)
			c->readings[n++] = c->readings[i];
	c->n_readings = n;
}

/* The last reading before, and the first after, are the ends of windows. */
static void readings_cut(struct timeline_series *s, uint64_t from, uint64_t to)
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

void timeline_cut(struct timeline *tl, struct kjoule_session_info *session, uint64_t from,
		  uint64_t to)
{
	uint64_t from_ns = timeline_due(session, from), to_ns = timeline_due(session, to);

	for (size_t i = 0; i < tl->n_cpus; i++) {
		struct timeline_cpu *c = &tl->cpus[i];

		samples_cut(c, from, to);
		gaps_cut(c, from, to);
		holes_cut(c, from, to);
		windows_cut(c, from_ns, to_ns);
		block_readings_cut(c, from_ns, to_ns);
		c->next_tick = tick_clip(c->next_tick, from, to);
	}
	for (size_t i = 0; i < tl->n_series; i++)
		readings_cut(&tl->series[i], from, to);
	tl->end_tick = tick_clip(tl->end_tick, from, to);
	session->first_tick += from;
	session->t0_ns += from * session->interval_ns;
}
