/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a chip ends its boost: power history, temperature or a time limit? The cause is the quantity
 * that was the same at the end of all boosts under different conditions (Emurian et al., Pitfalls
 * of Accurately Benchmarking Thermally Adaptive Chips, section 2 and figure 2: three fan speeds,
 * three temperatures, one time). Pure functions.
 */
#ifndef KJOULE_BOOST_CAUSE_H
#define KJOULE_BOOST_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include "analysis/boost/boost.h"

/* Quantities that may have a limit. */
enum boost_quantity { BOOST_POWER, BOOST_TEMPERATURE, BOOST_TIME, BOOST_QUANTITIES };

const char *boost_quantity_name(enum boost_quantity quantity);

/**
 * struct boost_end - how one boost ended
 * @condition: under which it ran
 * @ended: false: the observation ended first; @at is then a lower bound of a limit
 * @at: by quantity: weighted mean power, W; temperature, degree Celsius; time since the load began,
 *   s; NAN: unknown
 */
struct boost_end {
	size_t condition;
	bool ended;
	double at[BOOST_QUANTITIES];
};

enum boost_cause {
	BOOST_BY_POWER,
	BOOST_BY_TEMPERATURE,
	BOOST_BY_TIME,
	BOOST_BY_BOTH,		/* power or temperature, whichever comes first */
	/* several may explain all boosts: more or different conditions are needed */
	BOOST_BY_ONE_OF,
	BOOST_BY_OTHER,		/* none of the quantities */
	BOOST_CAUSES
};

const char *boost_cause_name(enum boost_cause cause);

/*
 * At its limit is what is nearer to it than this part of the distance between idle and the limit.
 */
#define BOOST_WHY_NEAR		0.03

/* Accuracy of temperatures, degree Celsius. */
#define BOOST_WHY_CELSIUS	1.0

/**
 * struct boost_why - one quantity as a cause
 * @limit: the most that it had at the end of any boost; NAN: unknown for all that ended
 * @near: distance from the limit that counts as at the limit
 * @explained: boosts that do not contradict it: ended at the limit, did not end and stayed below
 *   it, or unknown here while known for others; 0 without a limit
 * @known: boosts that ended with a known value
 * @f,@p: F and probability of a one-way analysis of variance over conditions (hypothesis: same
 *   value at every end). NAN with one boost a condition, and for the power if its time constant was
 *   fitted to these boosts
 */
struct boost_why {
	double limit, near;
	size_t explained, known;
	double f, p;
};

/**
 * boost_cause_of() - the cause of the ends
 * @idle: by quantity: its value after long idleness; 0 for the time
 * @fitted: the power's time constant is boost_tau()'s for these boosts
 * @why: out: by quantity
 *
 * A quantity is the cause if it explains every boost and each other one is known and does not. One
 * that is unknown throughout may be the cause as well as the one that explains them. With a single
 * condition there is no cause, as everything is the same at the end. Power and temperature are a
 * joint cause if each explains some boosts, none all, and every boost is explained by one of them
 * (one that did not end: by both).
 */
enum boost_cause boost_cause_of(const struct boost_end *ends, size_t n,
				const double idle[BOOST_QUANTITIES], bool fitted,
				struct boost_why why[BOOST_QUANTITIES]);

/**
 * boost_weighted() - the weighted mean of the power at @at_s, starting at the first slice's @w
 *
 *	m += (P - m) (1 - exp(-dt / tau)),	slice by slice
 */
double boost_weighted(const struct boost_slice *slices, size_t n, double tau, double w,
		      double at_s);

/**
 * boost_tau() - the time constant with which the weighted means at the ends differ least
 * @until_s: when each of @n_ends boosts ended
 * @longest_s: bounds it: at most ten times that, at least a twentieth
 */
double boost_tau(const struct boost_slice *slices, size_t n, double idle_w, const double *until_s,
		 size_t n_ends, double longest_s);

#endif /* KJOULE_BOOST_CAUSE_H */
