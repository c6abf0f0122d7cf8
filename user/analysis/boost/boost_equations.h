/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a chip that boosts for a while and then slows down does to whoever benchmarks on it: Emurian, Raghavan, Shao,
 * Rosen, Papaefthymiou, Pipe, Wenisch, Martin: Pitfalls of Accurately Benchmarking Thermally Adaptive Chips, section 3.
 * A chip is two figures here: @r, the boosted frequency over the sustained one (above 1), and @tb, for how long it
 * boosts after it has been idle. Times are in any one unit. Pure functions.
 *
 * Errors are parts, not percent, and positive where a figure flatters. What cannot be (r < 1, a time that is negative)
 * is NAN.
 */
#ifndef KJOULE_BOOST_EQUATIONS_H
#define KJOULE_BOOST_EQUATIONS_H

#include <stddef.h>

/**
 * boost_equations_speedup() - the error of a speed-up of which the better program just fits into the boost (equation 3)
 * @s:	the speed-up as observed, t_t / t_b
 *
 *	S r / (r + S - 1) - 1
 *
 * The equation is of the observed ratio: the paper's "nominal 2x" is observed, and is 1.889x in truth at r = 1.125.
 */
double boost_equations_speedup(double s, double r);

/**
 * boost_equations_steady() - by how much a run of length @t from a clean history is faster than one that never boosts
 *
 *	(r min(t, tb) + max(t - tb, 0)) / t - 1,	(r - 1) tb / t behind the boost
 *
 * The paper's figure 5, and its equation without a number in section 3.2.
 */
double boost_equations_steady(double r, double tb, double t);

/** boost_equations_slowdown() - by how much it is slower than one that boosts to its end: the paper's figure 4 */
double boost_equations_slowdown(double r, double tb, double t);

/**
 * boost_equations_length() - how long a run must be for boost_equations_steady() to be at most @bound
 * Return: 0 where it is so for every length; INFINITY for a bound of 0
 */
double boost_equations_length(double r, double tb, double bound);

/** boost_equations_work() - what is done in a run of length @t from a clean history, in the sustained frequency's time */
double boost_equations_work(double r, double tb, double t);
/** boost_equations_time() - how long it takes to do that: its inverse */
double boost_equations_time(double r, double tb, double work);

/**
 * boost_equations_observed() - what a true speed-up looks like, both programs from a clean history
 * @work:	of the slower program, in the sustained frequency's time
 * @s:		how many times less the faster one has to do
 */
double boost_equations_observed(double r, double tb, double work, double s);

/**
 * boost_equations_runs() - the slowdown of each of @n runs of length @t, one right after the other
 * @left:	of the boost when the first begins, tb from a clean history
 * @slower:	out: @n of them, against one that boosts to its end: the paper's figure 6
 *
 * Nothing comes back meanwhile: the chip is never idle.
 */
void boost_equations_runs(double r, double left, double t, double *slower, size_t n);

#endif /* KJOULE_BOOST_EQUATIONS_H */
