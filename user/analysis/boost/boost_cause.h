/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a chip ends its boost: its power history, its temperature, or a time limit? From boosts under different conditions, what was
 * the same at the end of all of them (Emurian et al., Pitfalls of Accurately Benchmarking Thermally Adaptive Chips, section 2 and
 * figure 2: three fan speeds, three temperatures, one time). Pure functions.
 */
#ifndef KJOULE_BOOST_CAUSE_H
#define KJOULE_BOOST_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include "analysis/boost/boost.h"

/* What may end a boost when it gets to a limit. */
enum boost_quantity { BOOST_POWER, BOOST_TEMPERATURE, BOOST_TIME, BOOST_QUANTITIES };

const char *boost_quantity_name(enum boost_quantity quantity);

/**
 * struct boost_end - a boost, as it ended
 * @condition:	under which
 * @ended:	false: it was given up; @at is what there was then, which did not end it: a lower bound of a limit
 * @at:		by quantity: weighted mean of the power, W; temperature, degree Celsius; time since the load began, s; NAN: not
 *		known
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
	BOOST_BY_ONE_OF,	/* several explain all boosts, or may: conditions have to differ more, or more has to be known */
	BOOST_BY_OTHER,		/* nothing that was looked at does */
	BOOST_CAUSES
};

const char *boost_cause_name(enum boost_cause cause);

/* A boost's end is explained by a quantity that is nearer to the limit than this part of what lies between idleness and the limit. */
#define BOOST_WHY_NEAR		0.03

/* And temperatures are known to so much, degree Celsius. */
#define BOOST_WHY_CELSIUS	1.0

/**
 * struct boost_why - of a quantity
 * @limit:	the most that it had at the end of any boost; NAN: it is not known for any that ended
 * @near:	how far from that still is at the limit
 * @explained:	boosts that it does not speak against, of all: that ended at the limit, that did not end and were not beyond it, and
 *		for which it is not known while it is for others; 0 where there is no limit
 * @known:	boosts that ended for which it is known
 * @f,@p:	of the hypothesis that it was the same at the end under all conditions: F of a one-way analysis of variance, and
 *		how likely one so large is by chance; of boosts that ended. NAN with one boost a condition, and of the power if its
 *		time constant was fitted to these boosts: they were made alike, which no test may be asked about then
 */
struct boost_why {
	double limit, near;
	size_t explained, known;
	double f, p;
};

/**
 * boost_cause_of() - what it was
 * @idle:	by quantity: what it is when the chip has been idle for long; 0 for the time
 * @fitted:	the power's time constant is of boost_tau() and these boosts
 * @why:	out: by quantity
 *
 * A quantity alone is the cause if it explains every boost and each of the others is known and does not. One that is not known at all
 * may be the cause as well as the one that explains them, so that it is one of the two. With one condition only everything is
 * the same at the end, and nothing is told. Power and temperature are together if each explains some, none explains all, and every
 * boost is explained by one of them; one that did not end, by both.
 */
enum boost_cause boost_cause_of(const struct boost_end *ends, size_t n, const double idle[BOOST_QUANTITIES], bool fitted,
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

#endif /* KJOULE_BOOST_CAUSE_H */
