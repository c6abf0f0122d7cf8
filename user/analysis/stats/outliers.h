/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of several measurements of the same thing differ too much from the rest. Pure functions.
 *
 * The modified z-score (Iglewicz and Hoaglin, How to Detect and Handle Outliers, ASQC, 1993):
 * distance from the median, in units of 1.4826 times the median of all such distances, which a few
 * outliers do not change. Their bound of 3.5 is for many values; of five good normal ones it would
 * name one in every fifth set. So the bound depends on the number of values: it names a good one in
 * 1.7 % of all sets, 5 % for three figures together. Of three values only the wildest can be named.
 *
 * And the value must exceed its own uncertainty: in sets that agree by chance the smallest
 * difference would count.
 */
#ifndef KJOULE_OUTLIERS_H
#define KJOULE_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>

/* Of fewer none can be named. */
#define OUTLIERS_LEAST	3

/**
 * struct outlier - a measurement
 * @difference: from the median
 * @score: @difference in units of the others' spread; INFINITY if there is none
 */
struct outlier {
	bool differs;
	double difference, score;
};

/** outliers_bound() - the score above which one of so many is an outlier, or INFINITY */
double outliers_bound(size_t n);
/**
 * outliers_find() - score @n values
 * @sd: standard deviation of each value; NAN: unknown, taken as 0
 * @median: out, may be NULL
 * Return: 0 or -ENOMEM
 */
int outliers_find(const double *values, const double *sd, size_t n, struct outlier *out,
		  double *median);

#endif /* KJOULE_OUTLIERS_H */
