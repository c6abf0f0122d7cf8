// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The energy of ticks that have a label, whatever it stands for (here: who called).
 * The same shares as those of groups (cpm.c), so labels of a block's ticks add up to
 * the block. Pure.
 */
#include <errno.h>
#include <stdlib.h>
#include "cpm_divide.h"

/* Where the walk is in each lane. */
struct walk {
	const struct cpm_labelled *lanes;
	size_t n_lanes;
	size_t *at;
};

/* The lane's entry at a tick, or NULL: the first that has it, as in cpm_vectors_new(). */
static const struct cpm_tick *entry_at(struct walk *w, size_t lane, uint64_t tick)
{
	const struct cpm_lane *l = &w->lanes[lane].lane;
	const struct cpm_tick *t;

	for (; w->at[lane] < l->n; w->at[lane]++) {
		t = &l->ticks[w->at[lane]];
		if (t->tick + t->more + 1 > tick)
			return t->tick <= tick ? t : NULL;
	}
	return NULL;
}

/* What the lanes' blocks get of @n ticks from @tick on, with a vector, of @uj each. */
static void add_ticks(const struct cpm_vectors *v, const struct cpm_domain *d, struct walk *w,
		      uint64_t tick, uint64_t n, uint32_t vector, double uj, uint32_t silent_label,
		      double *out)
{
	struct cpm_sharing s = cpm_share(v, d, vector, uj);

	if (!s.others)
		out[silent_label] += s.part * uj * n;
	for (size_t i = 0; i < w->n_lanes; i++) {
		const struct cpm_tick *t = entry_at(w, i, tick);

		if (t && v->kinds[t->block] != CPM_IDLE)
			out[w->lanes[i].labels[w->at[i]]] +=
				uj * n * cpm_share_of(v, d, &s, t->block);
	}
}

/* The energy of a window to labels. @e: the next event; one may go on in the next window. */
static void add_window(const struct cpm_vectors *v, const struct cpm_domain *d, size_t window,
		       struct walk *w, size_t *e, uint32_t silent_label, double *out)
{
	const struct cpm_window *win = &d->windows[window];
	struct cpm_division div = cpm_divide(d, window, d->weights[d->steps - 1]);
	uint64_t silent = win->to - win->from;

	for (; *e < v->n_events && v->events[*e].tick < win->to; ++*e) {
		const struct cpm_event *event = &v->events[*e];
		uint64_t end = event->tick + event->more + 1;
		uint64_t from = event->tick > win->from ? event->tick : win->from;
		uint64_t to = end < win->to ? end : win->to;
		double uj = win->known ? win->uj * cpm_tick_share(&div, event->vector) :
			    d->uj_per_tick[event->vector];

		if (to > from) {
			add_ticks(v, d, w, from, to - from, event->vector, uj, silent_label, out);
			silent -= to - from;
		}
		if (end > win->to)
			break;
	}
	out[silent_label] += silent * (win->known ? win->uj * cpm_tick_share(&div, CPM_SILENT) :
				       d->uj_per_tick[CPM_SILENT]);
}

int cpm_labels(const struct cpm_vectors *v, const struct cpm_domain *d,
	       const struct cpm_labelled *lanes, size_t n_lanes, uint32_t silent_label, double *out)
{
	struct walk w = { lanes, n_lanes, calloc(n_lanes + 1, sizeof(*w.at)) };
	size_t e = 0;

	if (!w.at)
		return -ENOMEM;
	for (size_t window = 0; window < d->n_windows; window++)
		add_window(v, d, window, &w, &e, silent_label, out);
	free(w.at);
	return 0;
}
