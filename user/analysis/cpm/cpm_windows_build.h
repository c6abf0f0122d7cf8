/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows being made out of what ran: the inside of cpm.h, for vectors.c, which knows what did. See cpm_windows.c.
 */
#ifndef KJOULE_CPM_WINDOWS_BUILD_H
#define KJOULE_CPM_WINDOWS_BUILD_H

#include "analysis/cpm/cpm.h"

/* Parts of a tick that counts are kept in: an edge has a sixth of one mostly. */
#define CPM_UNITS	96

/*
 * Windows from the readings; those at both ends are known only in part. Readings without
 * a tick between them are one: what was spent between them belongs to the ticks before,
 * because none of its own was seen. While they are made:
 */
struct cpm_whole {
	uint32_t vector;
	uint64_t count;
};

/* What ran at the ticks before and after a reading. */
struct cpm_change {
	uint32_t last, first;
};

struct cpm_making {
	const struct cpm_vectors *v;
	struct cpm_irq irq;
	bool has_irq;
	struct cpm_domain *d;
	const struct cpm_reading *readings;
	size_t n;
	uint64_t end_tick;
	size_t before, next;		/* the readings that the window is between; see window_begin_next() */
	bool initial, only;		/* the first move of the counter; it moves once */
	struct cpm_window w;		/* the window at hand; from == to: there is none any more */
	uint64_t unsampled;		/* its ticks at which nothing ran */
	size_t untaken;
	struct cpm_whole *parts;	/* of the window at hand */
	size_t n_parts, room;
	unsigned int first, last;	/* of the edges, in CPM_UNITS of a tick; 0: none */
	struct cpm_change change;	/* at the window's beginning */
	uint32_t latest;		/* the last vector, whose ticks end at @latest_end */
	uint64_t latest_end;
};

/** cpm_making_put() - cpm_making_event(), most of which are all inside of the window at hand */
static inline int cpm_making_put(struct cpm_making *m, uint64_t tick, uint64_t count, uint32_t vector)
{
	size_t n = m->n_parts;

	if (tick < m->w.from || tick + count >= m->w.to || n == m->room)
		return cpm_making_event(m, tick, count, vector);
	m->unsampled -= count;
	if (n && m->parts[n - 1].vector == vector)
		m->parts[n - 1].count += count;
	else
		m->parts[m->n_parts++] = (struct cpm_whole){ vector, count };
	m->latest = vector;
	m->latest_end = tick + count;
	return 0;
}

#endif /* KJOULE_CPM_WINDOWS_BUILD_H */
