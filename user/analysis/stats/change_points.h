/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A series that stays at a level for a while and then goes to another: where, and what the levels are. Pure.
 */
#ifndef KJOULE_CHANGE_POINTS_H
#define KJOULE_CHANGE_POINTS_H

#include <stddef.h>

/**
 * struct step - a level
 * @begin,@end:	of the series: from the one up to before the other
 * @mean:	of what is there, medians of CHANGE_POINTS_SMOOTH
 */
struct step {
	size_t begin, end;
	double mean;
};

/* Of so many values in a row the median counts: one that is far off, or two of them, is no level. */
#define CHANGE_POINTS_SMOOTH	5

/**
 * change_points_find() - divide a series into levels
 * @v:		values that are far apart in time as well as near; NAN: not known, as the one before
 * @least:	levels that differ by less, as a part of the larger one, are one
 * @steps:	out: in order and without holes, the caller's to free
 *
 * The division with the least sum of squared distances from the levels and a price for each change, of
 * 3 ln(n) variances of a single value (as the Schwarz criterion has it, a half more): optimal partitioning
 * with the pruning of Killick, Fearnhead and Eckley (Optimal Detection of Changepoints With a Linear Computational
 * Cost, J. Am. Stat. Assoc. 107, 2012). The variance is that of differences of neighbours, by their median.
 *
 * A value between its neighbours' is one in which a change falls, and counts as the nearer of both.
 *
 * Return: 0; -ENODATA: no value is known; -ENOMEM
 */
int change_points_find(const double *v, size_t n, double least, struct step **steps, size_t *n_steps);

#endif /* KJOULE_CHANGE_POINTS_H */
