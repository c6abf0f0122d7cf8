/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path of a series of loop times through levels, and how sure each of its corners is: the inside of
 * transition_try.c, see transition.h. Pure.
 */
#ifndef KJOULE_TRANSITION_PATH_H
#define KJOULE_TRANSITION_PATH_H

#include "analysis/transition/transition.h"

/* What a change must gain in log likelihood: loops that agree on it are worth 10 or so each. */
#define PATH_CHANGE	25.0

/* ln(1000): places of a change that are so much less likely are none. */
#define PATH_SURE	6.9

enum path_kind {
	PATH_FROM,
	PATH_TO,
	PATH_OTHER,
};

/*
 * Loops from @begin to before @end at a level, with the standard deviation @sd of each. Those further off than @reach_ns have
 * nothing to do with it.
 */
struct path_piece {
	size_t begin, end;
	enum path_kind kind;
	double ns, sd, reach_ns;
};

struct path {
	struct path_piece *pieces;
	size_t n;
	double floor;		/* log likelihood of a loop that has nothing to do with any level */
};

/**
 * path_find() - the best path
 * @loops:	all after the request
 *
 * It begins at @from, in a piece that is empty if the first loop is not. Return: 0 or -ENOMEM; path_free() either way
 */
int path_find(const struct transition_loop *loops, size_t n, const struct transition_level *from,
	      const struct transition_level *to, struct path *p);
void path_free(struct path *p);

/** path_fits() - is a loop that long one of the piece, and not a stray one? */
bool path_fits(const struct path_piece *piece, double ns);

/**
 * path_corner() - between piece @i and the next: the first and the last loop that the latter may begin with, so that the
 * likelihood is at least exp(-PATH_SURE) of the best
 */
void path_corner(const struct path *p, size_t i, const struct transition_loop *loops, size_t *first, size_t *last);

#endif /* KJOULE_TRANSITION_PATH_H */
