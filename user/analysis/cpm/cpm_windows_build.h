/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows while they are made from events: internal to cpm.h, for vectors.c. See cpm_windows.c. */
#ifndef KJOULE_CPM_WINDOWS_BUILD_H
#define KJOULE_CPM_WINDOWS_BUILD_H

#include "analysis/cpm/cpm.h"

/* Units of a tick that counts are kept in: an edge has mostly a sixth. */
#define CPM_UNITS	96

/*
 * Windows from the readings; those at both ends are known only in part. Readings without a tick
 * between them are one, whose energy belongs to the ticks before. State of their making:
 */
struct cpm_whole {
	uint32_t vector;
	uint64_t count;
};

/* Vectors of the ticks before and after a reading. */
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
	size_t before, next;		/* readings around the window, see window_begin_next() */
	bool initial, only;		/* the first update of the counter */
	struct cpm_window w;		/* current window; from == to: no more */
	uint64_t unsampled;		/* its ticks without any block */
	size_t untaken;
	struct cpm_whole *parts;	/* of the current window */
	size_t n_parts, room;
	unsigned int first, last;	/* of the edges, in CPM_UNITS of a tick; 0: none */
	struct cpm_change change;	/* at the window's beginning */
	uint32_t latest;		/* the last vector, whose ticks end at @latest_end */
	uint64_t latest_end;
};

/**
 * cpm_making_put() - inline fast path of cpm_making_event(): an event inside of the current window
 */
static inline int cpm_making_put(struct cpm_making *m, uint64_t tick, uint64_t count,
				 uint32_t vector)
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
