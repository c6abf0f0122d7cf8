// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See boost_equations.h.
 */
#include <math.h>
#include "analysis/boost/boost_equations.h"

/* Comparisons that are false for NAN. */
static int chip_is_valid(double r, double tb)
{
	return r >= 1 && tb >= 0;
}

double boost_equations_speedup(double s, double r)
{
	return r >= 1 && s >= 1 ? s * r / (r + s - 1) - 1 : NAN;
}

double boost_equations_work(double r, double tb, double t)
{
	if (!chip_is_valid(r, tb) || !(t >= 0))
		return NAN;
	return r * fmin(t, tb) + fmax(t - tb, 0);
}

double boost_equations_time(double r, double tb, double work)
{
	if (!chip_is_valid(r, tb) || !(work >= 0))
		return NAN;
	return work <= r * tb ? work / r : tb + (work - r * tb);
}

double boost_equations_steady(double r, double tb, double t)
{
	return t > 0 ? boost_equations_work(r, tb, t) / t - 1 : NAN;
}

double boost_equations_slowdown(double r, double tb, double t)
{
	return t > 0 ? 1 - boost_equations_work(r, tb, t) / (r * t) : NAN;
}

double boost_equations_length(double r, double tb, double bound)
{
	if (!chip_is_valid(r, tb) || !(bound >= 0))
		return NAN;
	return r - 1 <= bound ? 0 : (r - 1) * tb / bound;
}

double boost_equations_observed(double r, double tb, double work, double s)
{
	return s >= 1 ? boost_equations_time(r, tb, work) / boost_equations_time(r, tb, work / s) :
	       NAN;
}

void boost_equations_runs(double r, double left, double t, double *slower, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		slower[i] = boost_equations_slowdown(r, left, t);
		left = fmax(left - t, 0);
	}
}
