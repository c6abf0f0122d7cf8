// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of ticks without a sample; conventions are in blocks_streams.c. */
#include <errno.h>
#include <stdlib.h>
#include "attribute/missed_ticks.h"

int missed_ticks_put(struct missed_ticks_stream *l, const struct cpm_tick *tick, uint32_t freq)
{
	if (!l->apart)
		return tick_stream_put(&l->packed, tick, freq);
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 4096;
		void *ticks = realloc(l->ticks, room * sizeof(*l->ticks)), *f;

		if (!ticks)
			return -ENOMEM;
		l->ticks = ticks;
		f = realloc(l->freq, room * sizeof(*l->freq));
		if (!f)
			return -ENOMEM;
		l->freq = f;
		l->room = room;
	}
	l->ticks[l->n] = *tick;
	l->freq[l->n++] = freq;
	return 0;
}

int missed_ticks_seal(struct missed_ticks_stream *l)
{
	return l->apart ? 0 : tick_stream_seal(&l->packed);
}

struct cpm_stream missed_ticks_stream(const struct missed_ticks_stream *l)
{
	return l->apart ? (struct cpm_stream){ .ticks = l->ticks, .n = l->n } :
	       (struct cpm_stream){ .packed = &l->packed };
}

int missed_ticks_rename(struct missed_ticks_stream *l, const uint32_t *to, size_t n)
{
	for (size_t i = 0; i < l->n; i++)
		l->ticks[i].block = to[l->ticks[i].block];
	return l->apart ? 0 : tick_stream_rename(&l->packed, to, n);
}

void missed_ticks_free(struct missed_ticks_stream *l)
{
	free(l->ticks);
	free(l->freq);
	tick_stream_free(&l->packed);
}

int missed_ticks_put_run(struct missed_ticks_stream *l, uint64_t from, uint64_t to,
			 struct cpm_tick tick)
{
	int ret = 0;

	while (from < to && !ret) {
		uint64_t n = to - from <= CPM_MORE_MOST ? to - from : CPM_MORE_MOST;

		tick.tick = from;
		tick.more = n - 1;
		ret = missed_ticks_put(l, &tick, 0);
		from += n;
	}
	return ret;
}

bool missed_ticks_is_paused(struct missed_ticks *f, uint64_t tick)
{
	return f->pauses->n && edge_windows_is_paused(f->pauses, timeline_due(f->session, tick),
						      &f->pause);
}

int missed_ticks_put_paused(struct missed_ticks *f, struct missed_ticks_stream *l, uint64_t from,
			    uint64_t to)
{
	f->let_go = to;
	return missed_ticks_put_run(l, from, to,
				    (struct cpm_tick){ .block = f->paused, .interpolated = true });
}

/* Missed ticks [from, to): half of them to the sample @before, half to the one @after. */
static int missed_ticks_put_gap(struct missed_ticks *f, struct missed_ticks_stream *l,
				const struct timeline_gap *g, uint64_t from, uint64_t to,
				uint32_t before, uint32_t after)
{
	struct cpm_tick tick = { .interpolated = true };
	uint64_t half = from + (to - from + f->later) / 2;
	uint32_t nobody = g->suspended ? f->suspended : g->offline ? f->offline : f->missed;
	int ret;

	/* a CPU that was offline, a suspended or stopped machine: unknown */
	if (g->offline || g->suspended || g->count > MISSED_TICKS_INTERPOLATED_MOST) {
		f->unattributed += g->offline || g->suspended ? 0 : to - from;
		tick.block = f->system ? nobody : f->other;
		return missed_ticks_put_run(l, from, to, tick);
	}
	f->later ^= (to - from) & 1;
	if (f->system && before == UINT32_MAX)
		before = f->idle;
	if (f->system && after == UINT32_MAX)
		after = before;
	tick.block = before;
	ret = before == UINT32_MAX ? 0 : missed_ticks_put_run(l, from, half, tick);
	f->interpolated += before == UINT32_MAX ? 0 : half - from;
	tick.block = after;
	if (!ret && after != UINT32_MAX)
		ret = missed_ticks_put_run(l, half, to, tick);
	f->interpolated += after == UINT32_MAX ? 0 : to - half;
	return ret;
}

/* The recorder's next wakeup on this CPU; ticks come in order. NULL: no more */
static const struct kjoule_wakeup *missed_ticks_next_wakeup(struct missed_ticks *f, uint64_t due)
{
	for (; f->next_wakeup < f->n_wakeups; f->next_wakeup++) {
		const struct kjoule_wakeup *w = &f->wakeups[f->next_wakeup];

		if (w->cpu == f->cpu->cpu && w->end_ns > due && missed_ticks_wakeup_is_sound(w))
			return w;
	}
	return NULL;
}

/* Ticks [from, to) of other processes, but for the recorder's own. */
static int missed_ticks_put_bystander(struct missed_ticks *f, struct missed_ticks_stream *l,
				      uint64_t from, uint64_t to)
{
	int ret = 0;

	while (f->bystander != UINT32_MAX && from < to && !ret) {
		uint64_t due = timeline_due(f->session, from), end = to;
		const struct kjoule_wakeup *w = missed_ticks_next_wakeup(f, due);
		bool recorders = w && w->begin_ns <= due;

		if (w)
			end = timeline_first(f->session, recorders ? w->end_ns : w->begin_ns);
		end = end < to ? end : to;
		if (!recorders)
			ret = missed_ticks_put_run(l, from, end,
						   (struct cpm_tick){ .block = f->bystander });
		from = end;
	}
	return ret;
}

/* Ticks [from, to) without any record: @lost samples, then idle or not the target. */
static int missed_ticks_put_unsampled(struct missed_ticks *f, struct missed_ticks_stream *l,
				      uint64_t from, uint64_t to, uint64_t *lost)
{
	uint64_t n = *lost < to - from ? *lost : to - from;
	int ret = missed_ticks_put_run(l, from, from + n,
				       (struct cpm_tick){ .block = f->lost, .interpolated = true });

	*lost -= n;
	if (!ret && f->system)
		ret = missed_ticks_put_run(l, from + n, to,
			      (struct cpm_tick){ .block = f->idle, .interpolated = true });
	else if (!ret)
		ret = missed_ticks_put_bystander(f, l, from + n, to);
	return ret;
}

/*
 * Of missed ticks [from, to), those up to which the CPU was paused: with a few before and after for
 * interrupts. Return: @from if it was not
 */
static uint64_t missed_ticks_paused_until(struct missed_ticks *f, uint64_t from, uint64_t to)
{
	uint64_t due = timeline_due(f->session, from), first, end = from;
	const struct edge_windows_pause *h = edge_windows_next(f->pauses, due, &f->pause);

	if (h) {
		first = h->from_ns <= due ? from : timeline_first(f->session, h->from_ns);
		if (first < to && first - from <= MISSED_TICKS_INTERPOLATED_MOST)
			end = timeline_first(f->session, h->to_ns);
	}
	if (end == from && from != f->let_go)
		return from;
	return to - end <= MISSED_TICKS_INTERPOLATED_MOST || end > to ? to : end;
}

/* Up to where a gap has nothing to do with the next pause. */
static uint64_t missed_ticks_until_pause(struct missed_ticks *f, uint64_t from, uint64_t to)
{
	const struct edge_windows_pause *h = edge_windows_next(f->pauses,
							       timeline_due(f->session, from),
							       &f->pause);
	uint64_t first = h ? timeline_first(f->session, h->from_ns) : to;

	return first < to && first > from + MISSED_TICKS_INTERPOLATED_MOST ?
	       first - MISSED_TICKS_INTERPOLATED_MOST : to;
}

int missed_ticks_attribute(struct missed_ticks *f, struct missed_ticks_stream *l, uint64_t from,
			   uint64_t to, uint32_t before, uint32_t after)
{
	const struct timeline_cpu *cpu = f->cpu;
	uint64_t lost = 0;
	int ret = 0;

	while (f->hole < cpu->n_holes && cpu->holes[f->hole].from < to) {
		const struct timeline_hole *h = &cpu->holes[f->hole++];

		f->lost_samples += h->samples;
		f->lost_unknown |= !h->known;
		lost += f->system && !h->known ? h->to - h->from : h->samples;
	}
	for (uint64_t tick = from; tick < to && !ret;) {
		const struct timeline_gap *g = NULL;
		const struct timeline_skipped *p = NULL;
		uint64_t end = to;

		while (f->gap < cpu->n_gaps &&
		       cpu->gaps[f->gap].first + cpu->gaps[f->gap].count <= tick)
			f->gap++;
		while (f->skipped < cpu->n_skipped &&
		       cpu->skipped[f->skipped].first + cpu->skipped[f->skipped].count <= tick)
			f->skipped++;
		if (f->gap < cpu->n_gaps)
			g = &cpu->gaps[f->gap];
		if (f->skipped < cpu->n_skipped)
			p = &cpu->skipped[f->skipped];
		if (g && g->first <= tick) {
			end = g->first + g->count < to ? g->first + g->count : to;
			uint64_t paused = g->offline || g->suspended || !f->pauses->n ? tick :
					missed_ticks_paused_until(f, tick, end);

			if (paused > tick) {
				end = paused;
				ret = missed_ticks_put_paused(f, l, tick, end);
			} else {
				end = missed_ticks_until_pause(f, tick, end);
				ret = missed_ticks_put_gap(f, l, g, tick, end,
							   tick == from ? before : UINT32_MAX,
							   end == to ? after : UINT32_MAX);
			}
		} else if (p && p->first <= tick) {
			end = p->first + p->count < to ? p->first + p->count : to;
			ret = missed_ticks_put_run(l, tick, end, (struct cpm_tick){
				.block = f->system ? f->idle : f->other, .skipped = true });
		} else {
			if (g && g->first < end)
				end = g->first;
			if (p && p->first < end)
				end = p->first;
			ret = missed_ticks_put_unsampled(f, l, tick, end, &lost);
		}
		tick = end;
	}
	return ret;
}
