/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a chip ends its boost: its power history, its temperature, or a time limit? From boosts under different conditions, what was
 * the same at the end of all of them (Emurian et al., Pitfalls of Accurately Benchmarking Thermally Adaptive Chips, section 2 and
 * figure 2: three fan speeds, three temperatures, one time). Pure functions.
 */
#ifndef KJOULE_BOOST_WHY_H
#define KJOULE_BOOST_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include "boost.h"

/* What may end a boost when it gets to a limit. */
enum boost_quantity { BOOST_POWER, BOOST_TEMPERATURE, BOOST_TIME, BOOST_QUANTITIES };

const char *boost_quantity_name(enum boost_quantity quantity);

/**
 * struct boost_end - a boost, as it ended
 * @condition:	under which
 * @at:		by quantity: weighted mean of the power, W; temperature, degree Celsius; time since the load began, s; NAN: not known
 */
struct boost_end {
	size_t condition;
	double at[BOOST_QUANTITIES];
};

enum boost_cause {
	BOOST_BY_POWER,
	BOOST_BY_TEMPERATURE,
	BOOST_BY_TIME,
	BOOST_BY_BOTH,		/* power or temperature, whichever comes first */
	BOOST_BY_ONE_OF,	/* several explain all boosts: conditions have to differ more */
	BOOST_BY_OTHER,		/* nothing that was looked at does */
	BOOST_CAUSES
};

const char *boost_cause_name(enum boost_cause cause);

/* A boost is explained by a quantity that is nearer to the limit than this part of what lies between idleness and the limit. */
#define BOOST_WHY_NEAR		0.03

/* And temperatures are known to so much, degree Celsius. */
#define BOOST_WHY_CELSIUS	1.0

/**
 * struct boost_why - of a quantity
 * @limit:	the most that it had at the end of any boost
 * @near:	how far from that still is at the limit
 * @explained:	boosts that ended there, of all
 * @f,@p:	of the hypothesis that it was the same at the end under all conditions: F of a one-way analysis of variance, and
 *		how likely one so large is by chance; NAN with one boost a condition
 */
struct boost_why {
	double limit, near;
	size_t explained, known;
	double f, p;
};

/**
 * boost_cause_of() - what it was
 * @idle:	by quantity: what it is when the chip has been idle for long; 0 for the time
 * @why:	out: by quantity
 *
 * A quantity alone is the cause if it explains every boost and no other does. Power and temperature are together if each explains
 * some, none explains all, and every boost is explained by one of them.
 */
enum boost_cause boost_cause_of(const struct boost_end *ends, size_t n, const double idle[BOOST_QUANTITIES],
				struct boost_why why[BOOST_QUANTITIES]);

/**
 * boost_weighted() - the weighted mean of the power at @at_s, which was @w at the first slice
 *
 *	m += (P - m) (1 - exp(-dt / tau)),	slice by slice
 */
double boost_weighted(const struct boost_slice *slices, size_t n, double tau, double w, double at_s);

/**
 * boost_tau() - the time constant with which the weighted means at the ends of boosts differ least, where nobody tells one
 * @until_s:	when each of @n_ends boosts ended
 * @longest_s:	it is at most ten times that, and at least a twentieth
 */
double boost_tau(const struct boost_slice *slices, size_t n, double idle_w, const double *until_s, size_t n_ends, double longest_s);

#endif /* KJOULE_BOOST_WHY_H */
