/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path of a series of loop times through levels, and the uncertainty of its corners: internal
 * to transition_try.c, see transition.h. Pure.
 */
#ifndef KJOULE_TRANSITION_PATH_H
#define KJOULE_TRANSITION_PATH_H

#include "analysis/transition/transition.h"

/* Gain in log likelihood that a change needs: loops that agree on it have 10 or so each. */
#define PATH_CHANGE	25.0

/* ln(1000): less likely places of a change are excluded. */
#define PATH_SURE	6.9

enum path_kind {
	PATH_FROM,
	PATH_TO,
	PATH_OTHER,
};

/*
 * Loops [begin, end) at a level, with the standard deviation @sd of each. Those further off than
 * @reach_ns are outliers.
 */
struct path_piece {
	size_t begin, end;
	enum path_kind kind;
	double ns, sd, reach_ns;
};

struct path {
	struct path_piece *pieces;
	size_t n;
	double floor;		/* log likelihood of an outlier */
};

/**
 * path_find() - the best path
 * @loops: all after the request
 *
 * It begins at @from, in a piece that is empty if the first loop is not there. Call path_free() in
 * any case. Return: 0 or -ENOMEM
 */
int path_find(const struct transition_loop *loops, size_t n, const struct transition_level *from,
	      const struct transition_level *to, struct path *p);
void path_free(struct path *p);

/** path_fits() - does a loop of that length belong to the piece? */
bool path_fits(const struct path_piece *piece, double ns);

/**
 * path_corner() - between piece @i and the next: the first and the last loop that the latter may
 * begin with, so that the likelihood is at least exp(-PATH_SURE) of the best
 */
void path_corner(const struct path *p, size_t i, const struct transition_loop *loops, size_t *first,
		 size_t *last);

#endif /* KJOULE_TRANSITION_PATH_H */
