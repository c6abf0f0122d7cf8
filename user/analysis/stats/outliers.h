/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of several measurements of the same thing differ too much from the rest. Pure functions.
 *
 * The modified z-score (Iglewicz and Hoaglin, How to Detect and Handle Outliers, ASQC, 1993): how far a value is from
 * the median, in units of 1.4826 times the median of all such distances, which a few wild values do not move. Their
 * bound of 3.5 is for many values; of five that are normal and good it would name one in every fifth set. So the bound
 * depends on how many there are: it names a good one in 1.7 % of all sets, 5 % for three figures together. With three
 * values only the wildest can be told.
 *
 * And the value must be off by more than it may be anyway: where measurements agree better by chance than they
 * can, the smallest difference would count.
 */
#ifndef KJOULE_OUTLIERS_H
#define KJOULE_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>

/* Fewer cannot be told apart. */
#define OUTLIERS_LEAST	3

/**
 * struct outlier - a measurement
 * @difference:	from the median
 * @score:	@difference in units of what the others differ by; INFINITY if these do not
 */
struct outlier {
	bool differs;
	double difference, score;
};

/** outliers_bound() - the score from which on one of so many differs too much; INFINITY below OUTLIERS_LEAST */
double outliers_bound(size_t n);
/**
 * outliers_find() - look at @n values
 * @sd:		standard deviation that each has anyway; NAN: not known, taken as 0
 * @median:	out, may be NULL
 * Return: 0 or -ENOMEM
 */
int outliers_find(const double *values, const double *sd, size_t n, struct outlier *out, double *median);

#endif /* KJOULE_OUTLIERS_H */
