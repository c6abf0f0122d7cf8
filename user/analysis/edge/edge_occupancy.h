/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to the edge-synchronised model, see edge.h: the recording on the program's own clock,
 * which stops while the CPUs are paused, and the times of vectors in each window. Called by edge.c
 * and edge_fit.c.
 */
#ifndef KJOULE_EDGE_OCCUPANCY_H
#define KJOULE_EDGE_OCCUPANCY_H

#include "analysis/edge/edge.h"
#include "analysis/stats/changes.h"

#define EDGE_NO_COLUMN	UINT32_MAX

/* What is known of a vector before its power is. */
struct edge_vector {
	uint64_t ticks, runs;
	double ns;		/* in windows */
	uint32_t windows;	/* that it ran in */
	uint32_t column;	/* of the equations; EDGE_NO_COLUMN: the common one */
	bool major;		/* long enough runs for ticks to place their edges */
};

/* A tick at which the program was not paused. */
struct edge_seen {
	double at;		/* on the program's own clock */
	uint32_t vector;
};

/* The recording on the program's own clock, in nanoseconds. */
struct edge_occupancy {
	struct edge_seen *seen;
	size_t n_seen;
	struct change *changes;	/* of the vectors that ticks follow */
	size_t n_changes;
	uint32_t first;		/* the vector before the first change */
	double *from;		/* of each window: its begin */
	bool *wild;		/* of each window: an outlier */
};

/* Iterates over windows. */
struct edge_walk {
	size_t change, seen;
};

/**
 * edge_occupancy_tell() - ticks from the first window to the last without pauses
 * @st: out: edge_occupancy_free(), also after a failure
 * Return: 0; -EFBIG: too many ticks; -ENOMEM
 */
int edge_occupancy_tell(const struct edge_input *in, struct edge_occupancy *st);
void edge_occupancy_free(struct edge_occupancy *st);
/** edge_occupancy_count() - lengths of runs: ticks of a vector in a row */
void edge_occupancy_count(const struct edge_occupancy *st, struct edge_vector *v);
/**
 * edge_occupancy_changes() - when one major vector followed another
 *
 * Short visits, as to the kernel, do not end a run: they get the time of their ticks, and what is
 * before and after them is one run, or has its change somewhere in there.
 *
 * Return: 0 or -ENOMEM
 */
int edge_occupancy_changes(struct edge_occupancy *st, const struct edge_vector *v,
			   uint32_t n_vectors);
/** edge_occupancy_uses() - is the window usable? */
bool edge_occupancy_uses(const struct edge_input *in, const struct edge_occupancy *st, size_t j);
/** edge_occupancy_run() - the vector before change @i, and after the one before */
uint32_t edge_occupancy_run(const struct edge_occupancy *st, size_t i);
/**
 * edge_occupancy_window() - call @each with the nanoseconds of each vector in a window
 * @k: position, as the window before left it
 * One vector may come several times, and with negative parts.
 */
void edge_occupancy_window(const struct edge_input *in, const struct edge_occupancy *st,
			   const struct edge_vector *v, struct edge_walk *k, size_t j,
			   void (*each)(void *to, uint32_t vector, double ns), void *to);

#endif /* KJOULE_EDGE_OCCUPANCY_H */
