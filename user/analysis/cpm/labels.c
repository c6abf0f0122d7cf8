// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The energy of ticks by label (here: call chain). The shares are those of groups (cpm.c), so
 * labels of a block's ticks add up to the block. Pure.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/cpm/cpm_divide.h"

/* Position in each stream. */
struct walk {
	const struct cpm_labelled *streams;
	size_t n_streams;
	struct place {
		struct tick_stream_cursor c;
		size_t entry;	/* before it */
		bool ended;
	} *at;
};

/* The stream's entry at a tick, or NULL; of several the first, as in cpm_vectors_new(). */
static const struct cpm_tick *stream_entry_at(struct walk *w, size_t stream, uint64_t tick)
{
	struct place *p = &w->at[stream];

	while (!p->ended && p->c.t.tick + p->c.t.more + 1 <= tick) {
		p->ended = !tick_stream_next(&p->c);
		p->entry++;
	}
	return !p->ended && p->c.t.tick <= tick ? &p->c.t : NULL;
}

static bool event_has_bystanders(const struct cpm_vectors *v, const struct cpm_events *e)
{
	for (size_t m = 0; m < e->n; m++)
		if (v->kinds[e->walk.blocks[m]] == CPM_BYSTANDER)
			return true;
	return false;
}

/* The blocks of a tick with their labels. */
struct labelled {
	uint32_t vector;
	size_t n;
	struct {
		uint32_t label, block;
	} *of;
};

static void event_find_labels(const struct cpm_vectors *v, struct walk *w, uint64_t tick,
			      const struct cpm_events *e, struct labelled *out)
{
	bool bystanders = event_has_bystanders(v, e);

	out->vector = e->vector;
	out->n = 0;
	for (size_t i = 0; i < w->n_streams; i++) {
		const struct cpm_tick *t = stream_entry_at(w, i, tick);

		if (!t || v->kinds[t->block] == CPM_IDLE)
			continue;
		/* in an event they are one, however many CPUs run them */
		if (v->kinds[t->block] == CPM_BYSTANDER) {
			if (!bystanders)
				continue;
			bystanders = false;
		}
		out->of[out->n].label = w->streams[i].labels[w->at[i].entry];
		out->of[out->n++].block = t->block;
	}
}

/* Sums of energies by label. */
struct labelling {
	const struct cpm_vectors *v;
	const struct cpm_domain *d;
	uint32_t unsampled_label;
	double *out;
};

/* @n ticks of @uj each; @s: how blocks share one. */
static void labels_add_shared(const struct labelling *l, const struct labelled *what,
			      const struct cpm_sharing *s, double uj, double n)
{
	if (!s->others)
		l->out[l->unsampled_label] += s->part * uj * n;
	for (size_t i = 0; i < what->n; i++)
		l->out[what->of[i].label] += uj * n * cpm_share_of(l->v, l->d, s,
								   what->of[i].block);
}

/* The same for a vector with members. */
static void labels_add_ticks(const struct labelling *l, const struct labelled *what, double uj,
			     double n)
{
	struct cpm_sharing s;

	if (what->vector == CPM_UNSAMPLED) {
		l->out[l->unsampled_label] += uj * n;
		return;
	}
	s = cpm_share(l->v, l->d, what->vector, uj);
	labels_add_shared(l, what, &s, uj, n);
}

static void labelled_swap(struct labelled *a, struct labelled *b)
{
	struct labelled was = *a;

	*a = *b;
	*b = was;
}

static bool labelled_is_change(const struct cpm_vectors *v, const struct labelled *last,
			       const struct labelled *first)
{
	return last->vector != first->vector && !cpm_is_other_set(v, last->vector) &&
	       !cpm_is_other_set(v, first->vector);
}

/* A window with its division. */
struct divided {
	const struct cpm_window *win;
	struct cpm_division div;
};

static double window_tick_uj(const struct cpm_domain *d, const struct divided *w, uint32_t vector)
{
	return w->win->known ? w->win->uj * cpm_tick_share(d, &w->div, d->steps - 1, vector) :
	       d->uj_per_tick[vector];
}

/*
 * Add a window's energy to labels. @e: the next event, if there is @more, which may go on in the
 * next window. @last: the tick before the window, at the end its last; @next: room. Changes at its
 * ends are shared as in cpm_windows.c. @ends: no reading is at its end
 */
static void labels_add_window(const struct labelling *l, const struct cpm_window *win,
			      struct walk *w, struct cpm_events *e, bool *more, bool ends,
			      struct labelled *last, struct labelled *next)
{
	const struct cpm_edges *edges = &l->d->edges;
	struct divided divided = { win, cpm_divide(l->d, win, l->d->steps - 1) };
	uint64_t now = win->from, to, end;

	for (; now < win->to; now = to) {
		bool unsampled = !*more || e->tick > now, begins = now == win->from && now;
		struct cpm_sharing s;
		double uj, n;

		end = !unsampled ? e->tick + e->count : *more && e->tick < win->to ? e->tick :
		      win->to;
		to = end < win->to ? end : win->to;
		n = to - now;
		*next = (struct labelled){ .vector = CPM_UNSAMPLED, .of = next->of };
		if (!unsampled)
			event_find_labels(l->v, w, now, e, next);
		uj = window_tick_uj(l->d, &divided, next->vector);
		if (begins && labelled_is_change(l->v, last, next)) {
			labels_add_ticks(l, last, window_tick_uj(l->d, &divided, last->vector),
					 edges->last);
			n -= edges->last;
		}
		if (unsampled) {
			labels_add_ticks(l, next, uj, n);
		} else {
			s = cpm_share_among(l->v, l->d, e->vector, e->walk.blocks, e->n, uj);
			labels_add_shared(l, next, &s, uj, n);
		}
		labelled_swap(last, next);
		if (!unsampled && end <= win->to)
			*more = cpm_events_next(e);
	}
	if (ends)
		return;
	*next = (struct labelled){ .vector = CPM_UNSAMPLED, .of = next->of };
	if (*more && e->tick <= now)
		event_find_labels(l->v, w, now, e, next);
	if (!labelled_is_change(l->v, last, next))
		return;
	labels_add_ticks(l, last, window_tick_uj(l->d, &divided, last->vector), -edges->first);
	labels_add_ticks(l, next, window_tick_uj(l->d, &divided, next->vector), edges->first);
}

int cpm_labels(const struct cpm_vectors *v, const struct cpm_domain *d,
	       const struct cpm_labelled *streams, size_t n_streams, uint32_t unsampled_label,
	       double *out)
{
	struct walk w = { streams, n_streams, calloc(n_streams + 1, sizeof(*w.at)) };
	struct labelled last = { CPM_UNSAMPLED, 0, calloc(n_streams + 1, sizeof(*last.of)) };
	struct labelled next = { CPM_UNSAMPLED, 0, calloc(n_streams + 1, sizeof(*next.of)) };
	const struct labelling l = { v, d, unsampled_label, out };
	struct cpm_windows windows = { .d = d };
	struct cpm_events e;
	int ret = cpm_events_begin(v, &e);
	bool more = !ret && cpm_events_next(&e);

	if (!ret)
		ret = cpm_windows_begin(d, &windows);
	if (!w.at || !last.of || !next.of)
		ret = -ENOMEM;
	for (size_t i = 0; i < n_streams && !ret; i++) {
		tick_stream_begin(&w.at[i].c, &streams[i].stream, NULL);
		w.at[i].ended = !tick_stream_next(&w.at[i].c);
	}
	while (!ret && cpm_windows_next(&windows))
		labels_add_window(&l, &windows.w, &w, &e, &more, windows.w.to >= d->end_tick, &last,
				  &next);
	cpm_windows_end(&windows);
	cpm_events_end(&e);
	free(w.at);
	free(last.of);
	free(next.of);
	return ret;
}
