/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A series of values that changes between levels: the places and the levels. Pure. */
#ifndef KJOULE_CHANGE_POINTS_H
#define KJOULE_CHANGE_POINTS_H

#include <stddef.h>

/**
 * struct step - a level
 * @begin,@end: values [begin, end)
 * @mean: of medians of CHANGE_POINTS_SMOOTH known values
 */
struct step {
	size_t begin, end;
	double mean;
};

/* Values in a row that are smoothed by their median: one or two outliers make no level. */
#define CHANGE_POINTS_SMOOTH	5

/**
 * change_points_find() - divide a series into levels
 * @v: values; NAN: unknown, as the one before
 * @least: levels with a smaller relative difference are merged
 * @steps: out: in order and without holes, the caller's to free
 *
 * Minimises the sum of squared distances from the levels plus 3 ln(n) variances of a single value
 * for each change (half more than the Schwarz criterion): optimal partitioning with the pruning of
 * Killick, Fearnhead and Eckley (Optimal Detection of Changepoints With a Linear Computational
 * Cost, J. Am. Stat. Assoc. 107, 2012). The variance is that of differences of neighbours, by their
 * median. A value between its neighbours' is at a change, and counts as the nearer of both.
 *
 * Return: 0; -ENODATA: no known value; -ENOMEM
 */
int change_points_find(const double *v, size_t n, double least, struct step **steps,
		       size_t *n_steps);

#endif /* KJOULE_CHANGE_POINTS_H */
