/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a chip that boosts and then slows down does to benchmark results: Emurian, Raghavan, Shao,
 * Rosen, Papaefthymiou, Pipe, Wenisch, Martin: Pitfalls of Accurately Benchmarking Thermally
 * Adaptive Chips, section 3. A chip is two figures: @r, the boosted frequency over the sustained
 * one (above 1), and @tb, how long it boosts after idleness. Times are in any one unit. Pure
 * functions.
 *
 * Errors are fractions, not percent, and positive where a figure flatters. Impossible input (r < 1,
 * a negative time) gives NAN.
 */
#ifndef KJOULE_BOOST_EQUATIONS_H
#define KJOULE_BOOST_EQUATIONS_H

#include <stddef.h>

/**
 * boost_equations_speedup() - error of a speed-up whose faster program just fits into the boost
 * (equation 3)
 * @s: the observed speed-up, t_t / t_b
 *
 *	S r / (r + S - 1) - 1
 *
 * The equation is of the observed ratio: the paper's "nominal 2x" is observed, and is truly 1.889x
 * at r = 1.125.
 */
double boost_equations_speedup(double s, double r);

/**
 * boost_equations_steady() - how much faster a run of length @t after idleness is than one that
 * never boosts
 *
 *	(r min(t, tb) + max(t - tb, 0)) / t - 1,	(r - 1) tb / t behind the boost
 *
 * The paper's figure 5, and its equation without a number in section 3.2.
 */
double boost_equations_steady(double r, double tb, double t);

/** boost_equations_slowdown() - how much slower it is than one that boosts to its end (figure 4) */
double boost_equations_slowdown(double r, double tb, double t);

/**
 * boost_equations_length() - shortest run for which boost_equations_steady() is at most @bound
 * Return: 0 where every length will do; INFINITY for a bound of 0
 */
double boost_equations_length(double r, double tb, double bound);

/**
 * boost_equations_work() - work of a run of length @t after idleness, in time at the sustained
 * frequency
 */
double boost_equations_work(double r, double tb, double t);
/** boost_equations_time() - how long that work takes: the inverse */
double boost_equations_time(double r, double tb, double work);

/**
 * boost_equations_observed() - how a true speed-up is observed, both programs after idleness
 * @work: of the slower program, in time at the sustained frequency
 * @s: factor by which the faster one has less to do
 */
double boost_equations_observed(double r, double tb, double work, double s);

/**
 * boost_equations_runs() - the slowdown of each of @n runs of length @t, one right after the other
 * @left: of the boost when the first begins, tb after idleness
 * @slower: out: @n of them, against one that boosts to its end (figure 6)
 *
 * The chip is never idle in between.
 */
void boost_equations_runs(double r, double left, double t, double *slower, size_t n);

#endif /* KJOULE_BOOST_EQUATIONS_H */
