/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Difference and ratio of two independent figures, and their significance. Pure functions. */
#ifndef KJOULE_DIFFERENCE_H
#define KJOULE_DIFFERENCE_H

#include <stddef.h>
#include "analysis/stats/interval.h"

/**
 * enum difference_sure - do the two differ?
 * DIFFERENCE_YES: the difference's 95 % interval does not contain 0; by chance true for one in
 * twenty comparisons
 * DIFFERENCE_SURELY: nor does the interval that holds for all comparisons together (Bonferroni)
 */
enum difference_sure { DIFFERENCE_UNKNOWN, DIFFERENCE_NO, DIFFERENCE_YES, DIFFERENCE_SURELY };

/**
 * struct difference - of b from a
 * @by: b - a; the halves of both intervals are added as squares
 * @ratio: b / a, with Fieller's interval; its ends are NAN unless a is significantly above 0
 */
struct difference {
	struct value by, ratio;
	enum difference_sure sure;
};

/**
 * difference_of() - compare
 * @a,@b: with their 95 % intervals; NAN: unknown
 * @comparisons: made at once, this one included
 * @dof: least degrees of freedom of the intervals: with few, the interval for many comparisons is
 *   wider
 */
struct difference difference_of(const struct value *a, const struct value *b, size_t comparisons,
				double dof);

#endif /* KJOULE_DIFFERENCE_H */
