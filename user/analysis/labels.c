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
	struct place {
		struct lane_cursor c;
		size_t entry;	/* before it */
		bool ended;
	} *at;
};

/* The lane's entry at a tick, or NULL: the first that has it, as in cpm_vectors_new(). */
static const struct cpm_tick *entry_at(struct walk *w, size_t lane, uint64_t tick)
{
	struct place *p = &w->at[lane];

	while (!p->ended && p->c.t.tick + p->c.t.more + 1 <= tick) {
		p->ended = !lane_next(&p->c);
		p->entry++;
	}
	return !p->ended && p->c.t.tick <= tick ? &p->c.t : NULL;
}

static bool has_bystanders(const struct cpm_vectors *v, const struct cpm_events *e)
{
	for (size_t m = 0; m < e->n; m++)
		if (v->kinds[e->walk.blocks[m]] == CPM_BYSTANDER)
			return true;
	return false;
}

/* What the lanes' blocks get of @n ticks of an event, from @tick on, of @uj each. */
static void add_ticks(const struct cpm_vectors *v, const struct cpm_domain *d, struct walk *w,
		      uint64_t tick, uint64_t n, const struct cpm_events *e, double uj, uint32_t silent_label,
		      double *out)
{
	struct cpm_sharing s = cpm_share_among(v, d, e->vector, e->walk.blocks, e->n, uj);
	bool bystanders = has_bystanders(v, e);

	if (!s.others)
		out[silent_label] += s.part * uj * n;
	for (size_t i = 0; i < w->n_lanes; i++) {
		const struct cpm_tick *t = entry_at(w, i, tick);

		if (!t || v->kinds[t->block] == CPM_IDLE)
			continue;
		/* of an event they are one, however many CPUs they have */
		if (v->kinds[t->block] == CPM_BYSTANDER) {
			if (!bystanders)
				continue;
			bystanders = false;
		}
		out[w->lanes[i].labels[w->at[i].entry]] += uj * n * cpm_share_of(v, d, &s, t->block);
	}
}

/* The energy of a window to labels. @e: the next event, if there is @more; one may go on in the next window. */
static void add_window(const struct cpm_vectors *v, const struct cpm_domain *d, const struct cpm_window *win,
		       struct walk *w, struct cpm_events *e, bool *more, uint32_t silent_label, double *out)
{
	unsigned int last = d->steps - 1;
	struct cpm_division div = cpm_divide(d, win, last);
	uint64_t silent = win->to - win->from;

	for (; *more && e->tick < win->to; *more = cpm_events_next(e)) {
		uint64_t end = e->tick + e->count;
		uint64_t from = e->tick > win->from ? e->tick : win->from;
		uint64_t to = end < win->to ? end : win->to;
		double uj = win->known ? win->uj * cpm_tick_share(d, &div, last, e->vector) : d->uj_per_tick[e->vector];

		if (to > from) {
			add_ticks(v, d, w, from, to - from, e, uj, silent_label, out);
			silent -= to - from;
		}
		if (end > win->to)
			break;
	}
	out[silent_label] += silent * (win->known ? win->uj * cpm_tick_share(d, &div, last, CPM_SILENT) :
				       d->uj_per_tick[CPM_SILENT]);
}

int cpm_labels(const struct cpm_vectors *v, const struct cpm_domain *d,
	       const struct cpm_labelled *lanes, size_t n_lanes, uint32_t silent_label, double *out)
{
	struct walk w = { lanes, n_lanes, calloc(n_lanes + 1, sizeof(*w.at)) };
	struct cpm_windows windows = { .d = d };
	struct cpm_events e;
	int ret = cpm_events_begin(v, &e);
	bool more = !ret && cpm_events_next(&e);

	if (!ret)
		ret = cpm_windows_begin(d, &windows);
	if (!w.at)
		ret = -ENOMEM;
	for (size_t i = 0; i < n_lanes && !ret; i++) {
		lane_begin(&w.at[i].c, &lanes[i].lane, NULL);
		w.at[i].ended = !lane_next(&w.at[i].c);
	}
	while (!ret && cpm_windows_next(&windows))
		add_window(v, d, &windows.w, &w, &e, &more, silent_label, out);
	cpm_windows_end(&windows);
	cpm_events_end(&e);
	free(w.at);
	return ret;
}
