// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What ran in edge windows, and when; see edge_occupancy.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/edge/edge_occupancy.h"
#include "analysis/ticks/timeline.h"
#include "lib/control/control.h"

/* @more: there is an event. Ticks are requested in order. */
static uint32_t event_vector_at(struct cpm_events *event, bool *more, uint64_t tick)
{
	while (*more && event->tick + event->count <= tick)
		*more = cpm_events_next(event);
	return *more && event->tick <= tick ? event->vector : CPM_UNSAMPLED;
}

static int occupancy_add_tick(const struct edge_input *in, struct edge_occupancy *st, double at,
			      uint32_t vector, size_t *room)
{
	if (st->n_seen == (in->ticks_most ? in->ticks_most : EDGE_TICKS_MOST))
		return -EFBIG;
	if (st->n_seen == *room) {
		size_t more = *room ? 2 * *room : 4096;
		struct edge_seen *seen = realloc(st->seen, more * sizeof(*seen));

		if (!seen)
			return -ENOMEM;
		st->seen = seen;
		*room = more;
	}
	st->seen[st->n_seen++] = (struct edge_seen){ at, vector };
	return 0;
}

int edge_occupancy_tell(const struct edge_input *in, struct edge_occupancy *st)
{
	const struct kjoule_session_info *s = in->session;
	struct cpm_events event;
	size_t room = 0;
	uint64_t tick, paused = 0;
	int ret = cpm_events_begin(in->vectors, &event);
	bool more = !ret && cpm_events_next(&event);

	st->from = calloc(in->n_windows + 1, sizeof(*st->from));
	st->wild = calloc(in->n_windows + 1, sizeof(*st->wild));
	if (!st->from || !st->wild)
		ret = -ENOMEM;
	tick = in->n_windows ? timeline_first(s, in->windows[0].from_ns) : 0;
	for (size_t j = 0; j < in->n_windows && !ret; j++) {
		const struct edge_window *w = &in->windows[j];
		uint64_t due;

		/* up to the search for the update, and after it */
		for (; (due = timeline_due(s, tick)) < w->seek_ns && !ret; tick++)
			ret = occupancy_add_tick(in, st,
						 (double)(due - in->windows[0].from_ns - paused),
						 event_vector_at(&event, &more, tick), &room);
		if (timeline_due(s, tick) < w->from_ns)
			tick = timeline_first(s, w->from_ns);
		paused += j ? w->from_ns - w->seek_ns : 0;
		st->from[j] = (double)(w->from_ns - in->windows[0].from_ns - paused);
		for (; (due = timeline_due(s, tick)) < w->b_ns && !ret; tick++)
			ret = occupancy_add_tick(in, st,
						 (double)(due - in->windows[0].from_ns - paused),
						 event_vector_at(&event, &more, tick), &room);
		if (timeline_due(s, tick) < w->b_ns + w->paused_ns)
			tick = timeline_first(s, w->b_ns + w->paused_ns);
		paused += w->paused_ns;
	}
	cpm_events_end(&event);
	return ret;
}

void edge_occupancy_count(const struct edge_occupancy *st, struct edge_vector *v)
{
	for (size_t i = 0; i < st->n_seen; i++) {
		v[st->seen[i].vector].ticks++;
		v[st->seen[i].vector].runs += !i || st->seen[i].vector != st->seen[i - 1].vector;
	}
}

int edge_occupancy_changes(struct edge_occupancy *st, const struct edge_vector *v,
			   uint32_t n_vectors)
{
	const struct edge_seen *before = NULL;
	size_t n = 0;

	/* there are far fewer than ticks */
	for (size_t i = 0; i < st->n_seen; i++) {
		if (!v[st->seen[i].vector].major)
			continue;
		n += before && before->vector != st->seen[i].vector;
		before = &st->seen[i];
	}
	before = NULL;
	st->changes = calloc(n + 1, sizeof(*st->changes));
	if (!st->changes)
		return -ENOMEM;
	for (size_t i = 0; i < st->n_seen; i++) {
		const struct edge_seen *now = &st->seen[i];

		if (!v[now->vector].major)
			continue;
		if (!before)
			st->first = now->vector;
		else if (before->vector != now->vector)
			st->changes[st->n_changes++] = (struct change){
				.after = now->vector, .from = before->at, .to = now->at };
		before = now;
	}
	return changes_smooth(st->changes, st->n_changes, n_vectors);
}

bool edge_occupancy_uses(const struct edge_input *in, const struct edge_occupancy *st, size_t j)
{
	const struct edge_window *w = &in->windows[j];

	return !w->spin && !w->failed && w->b_ns > w->from_ns && !st->wild[j];
}

/* Part of [@from, @to] that is in [@low, @high]. */
static double range_overlap_ns(double from, double to, double low, double high)
{
	return fmax(fmin(to, high) - fmax(from, low), 0);
}

/* A tick stands for the time from halfway to the one before to halfway to the one after. */
static void tick_range(const struct edge_occupancy *st, size_t i, double *low, double *high)
{
	*low = i ? (st->seen[i - 1].at + st->seen[i].at) / 2 : st->seen[i].at;
	*high = i + 1 < st->n_seen ? (st->seen[i].at + st->seen[i + 1].at) / 2 : st->seen[i].at;
}

/* Part of a time in major runs in which the vector before change @i ran. */
static double run_overlap_ns(const struct edge_occupancy *st, size_t i, double low, double high)
{
	double from = i ? st->changes[i - 1].at : -INFINITY;
	double to = i < st->n_changes ? st->changes[i].at : INFINITY;

	return range_overlap_ns(from, to, low, high);
}

uint32_t edge_occupancy_run(const struct edge_occupancy *st, size_t i)
{
	return i ? st->changes[i - 1].after : st->first;
}

/*
 * Call @each with the nanoseconds of each vector in a time; one vector may come several times, and
 * with negative parts.
 */
static void parts_for_each(const struct edge_occupancy *st, const struct edge_vector *v,
			   struct edge_walk *k, double low, double high,
			   void (*each)(void *to, uint32_t vector, double ns), void *to)
{
	while (k->change < st->n_changes && st->changes[k->change].at <= low)
		k->change++;
	for (size_t i = k->change; !i || i == k->change || st->changes[i - 1].at < high; i++) {
		each(to, edge_occupancy_run(st, i), run_overlap_ns(st, i, low, high));
		if (i == st->n_changes)
			break;
	}
	while (k->seen + 1 < st->n_seen && st->seen[k->seen + 1].at < low)
		k->seen++;
	for (size_t i = k->seen; i < st->n_seen; i++) {
		double begin, end, ns;

		tick_range(st, i, &begin, &end);
		if (begin >= high)
			break;
		ns = range_overlap_ns(begin, end, low, high);
		if (v[st->seen[i].vector].major || ns <= 0)
			continue;
		each(to, st->seen[i].vector, ns);
		/* taken from the major ones */
		for (size_t c = k->change; c <= st->n_changes; c++) {
			double part = run_overlap_ns(st, c, fmax(begin, low), fmin(end, high));

			if (part > 0)
				each(to, edge_occupancy_run(st, c), -part);
			if (c < st->n_changes && st->changes[c].at > end)
				break;
		}
	}
}

void edge_occupancy_window(const struct edge_input *in, const struct edge_occupancy *st,
			   const struct edge_vector *v, struct edge_walk *k, size_t j,
			   void (*each)(void *to, uint32_t vector, double ns), void *to)
{
	const struct edge_window *w = &in->windows[j];

	parts_for_each(st, v, k, st->from[j], st->from[j] + (w->b_ns - w->from_ns), each, to);
}

void edge_occupancy_free(struct edge_occupancy *st)
{
	free(st->seen);
	free(st->changes);
	free(st->from);
	free(st->wild);
	memset(st, 0, sizeof(*st));
}
