/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two figures that were measured apart: by how much one is more than the other, how many times the other, and
 * whether that can be told at all. Pure functions.
 */
#ifndef KJOULE_DIFFERENCE_H
#define KJOULE_DIFFERENCE_H

#include <stddef.h>
#include "analysis/stats/interval.h"

/**
 * enum difference_sure - can the two be told apart?
 * DIFFERENCE_YES: the difference's 95 % interval does not contain 0; of many comparisons one in twenty says so by
 *		chance
 * DIFFERENCE_SURELY: the interval that holds for all comparisons together (Bonferroni) does not either
 */
enum difference_sure { DIFFERENCE_UNKNOWN, DIFFERENCE_NO, DIFFERENCE_YES, DIFFERENCE_SURELY };

/**
 * struct difference - of b from a
 * @by:		b - a; the halves of both intervals are added as squares
 * @ratio:	b / a, with Fieller's interval; its ends are NAN where a is not known to be more than 0
 */
struct difference {
	struct value by, ratio;
	enum difference_sure sure;
};

/**
 * difference_of() - compare
 * @a,@b:	with their 95 % intervals; NAN where not known
 * @comparisons: that are made at once, this one included
 * @dof:	degrees of freedom that the intervals have at least: with few of them what holds for many comparisons
 *		has to be wider
 */
struct difference difference_of(const struct value *a, const struct value *b, size_t comparisons, double dof);

#endif /* KJOULE_DIFFERENCE_H */
