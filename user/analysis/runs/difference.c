// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See difference.h.
 */
#include <math.h>
#include <gsl/gsl_cdf.h>
#include "analysis/runs/difference.h"

/*
 * Fieller's interval (E. C. Fieller, Some Problems in Interval Estimation, J. R. Stat. Soc. B
 * 16(2), 1954) of b / a, both normal and independent: all ratios r for which b - r a may be 0.
 */
static struct value values_fieller_ratio(const struct value *a, const struct value *b)
{
	double ha = (a->hi - a->lo) / 2, hb = (b->hi - b->lo) / 2,
		rest = a->v * a->v - ha * ha, root;
	struct value r = { a->v > 0 ? b->v / a->v : NAN, NAN, NAN };

	if (isnan(ha) || isnan(hb) || !(a->v > 0) || !(rest > 0))
		return r;
	root = sqrt(fmax(a->v * a->v * b->v * b->v - rest * (b->v * b->v - hb * hb), 0));
	r.lo = fmax((a->v * b->v - root) / rest, 0);
	r.hi = (a->v * b->v + root) / rest;
	return r;
}

struct difference difference_of(const struct value *a, const struct value *b, size_t comparisons,
				double dof)
{
	double below = hypot(b->v - b->lo, a->hi - a->v),
		above = hypot(b->hi - b->v, a->v - a->lo), wider;
	struct difference d = { .by = { b->v - a->v, NAN, NAN },
				.ratio = values_fieller_ratio(a, b), .sure = DIFFERENCE_UNKNOWN };

	if (isnan(below) || isnan(above))
		return d;
	d.by.lo = d.by.v - below;
	d.by.hi = d.by.v + above;
	wider = gsl_cdf_tdist_Pinv(1 - 0.025 / (comparisons ? comparisons : 1), dof) /
		interval_t(dof);
	if (d.by.v - wider * below > 0 || d.by.v + wider * above < 0)
		d.sure = DIFFERENCE_SURELY;
	else if (d.by.lo > 0 || d.by.hi < 0)
		d.sure = DIFFERENCE_YES;
	else
		d.sure = DIFFERENCE_NO;
	return d;
}
