// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why a boost ends: on simulated chips whose weighted power, temperature and time are followed in
 * small steps.
 */
#include <math.h>
#include <stdlib.h>
#include "analysis/boost/boost_cause.h"
#include "tests/support/transitions.h"
#include "tests/support/unit.h"

#define TAU	2.83
#define STEP_S	0.001
#define SLICE_S	0.02
#define MOST	8000

enum { STRONG, WEAK, HOT, CONDITIONS };

/* A boost that has not ended is given up by then. */
#define GIVE_UP_S	100

/* What ends a boost; INFINITY: it does not. */
struct chip {
	double power_w, celsius, seconds;
};

static const struct chip by_power = { 15, INFINITY, INFINITY },
	by_temperature = { INFINITY, 66, INFINITY },
			 by_time = { INFINITY, INFINITY, 5.5 }, by_both = { 15, 70, INFINITY };

/* From a clean history to the end of the boost: the fan takes away less when it is slow. */
static struct boost_end end_of(const struct chip *chip, size_t condition, uint64_t *seed)
{
	double p = condition == WEAK ? 16 : 17, resistance = condition == HOT ? 2.67 : 2,
		tau_s = resistance;
	double w = 3, celsius = 35 + 3 * resistance, t = 0;

	for (; w < chip->power_w && celsius < chip->celsius && t < chip->seconds && t < GIVE_UP_S;
	     t += STEP_S) {
		w += (p - w) * -expm1(-STEP_S / TAU);
		celsius += (35 + resistance * p - celsius) * -expm1(-STEP_S / tau_s);
	}
	return (struct boost_end){ condition, t < GIVE_UP_S,
				   { w * (1 + 0.002 * made_normal(seed)),
				     celsius + 0.1 * made_normal(seed),
				     t * (1 + 0.003 * made_normal(seed)) } };
}

static const double idle[BOOST_QUANTITIES] = { 3, 41, 0 },
	no_celsius[BOOST_QUANTITIES] = { 3, NAN, 0 };

/* A boost under each condition. */
static void ends_of(const struct chip *chip, uint64_t seed, struct boost_end *ends)
{
	for (size_t c = 0; c < CONDITIONS; c++)
		ends[c] = end_of(chip, c, &seed);
}

static enum boost_cause judge(const struct chip *chip, size_t conditions, struct boost_why *why)
{
	struct boost_end ends[3 * CONDITIONS];
	uint64_t seed = 3;
	size_t n = 0;

	for (size_t run = 0; run < 3; run++)
		for (size_t c = 0; c < conditions; c++)
			ends[n++] = end_of(chip, c, &seed);
	return boost_cause_of(ends, n, idle, false, why);
}

TEST(each_cause_is_named)
{
	struct boost_why why[BOOST_QUANTITIES];

	assert_int_equal(judge(&by_power, CONDITIONS, why), BOOST_BY_POWER);
	assert_int_equal(why[BOOST_POWER].explained, 9);
	/* the same under all conditions, which the others are not */
	assert_true(why[BOOST_POWER].p > 0.001 && why[BOOST_TIME].p < 1e-6 &&
		    why[BOOST_TEMPERATURE].p < 1e-6);
	assert_int_equal(judge(&by_temperature, CONDITIONS, why), BOOST_BY_TEMPERATURE);
	assert_true(why[BOOST_TEMPERATURE].p > 0.001 && why[BOOST_POWER].p < 1e-6);
	assert_true(fabs(why[BOOST_TEMPERATURE].limit - 66) < 0.5);
	assert_int_equal(judge(&by_time, CONDITIONS, why), BOOST_BY_TIME);
	assert_int_equal(judge(&by_both, CONDITIONS, why), BOOST_BY_BOTH);
	assert_int_equal(why[BOOST_POWER].explained, 6);
	assert_int_equal(why[BOOST_TEMPERATURE].explained, 3);
}

TEST(conditions_that_are_too_alike_name_none)
{
	struct boost_why why[BOOST_QUANTITIES];

	assert_int_equal(judge(&by_power, 1, why), BOOST_BY_ONE_OF);
	assert_true(isnan(why[BOOST_POWER].p));
	assert_int_equal(boost_cause_of(NULL, 0, idle, false, why), BOOST_BY_ONE_OF);
}

TEST(what_is_not_known_is_no_cause)
{
	struct boost_why why[BOOST_QUANTITIES];
	struct boost_end ends[CONDITIONS];

	ends_of(&by_temperature, 9, ends);
	for (size_t c = 0; c < CONDITIONS; c++)
		ends[c].at[BOOST_TEMPERATURE] = NAN;
	assert_int_equal(boost_cause_of(ends, CONDITIONS, no_celsius, false, why), BOOST_BY_OTHER);
	assert_int_equal(why[BOOST_TEMPERATURE].known, 0);
}

TEST(a_rival_that_is_not_known_may_be_the_cause)
{
	struct boost_why why[BOOST_QUANTITIES];
	struct boost_end ends[CONDITIONS];

	ends_of(&by_power, 9, ends);
	for (size_t c = 0; c < CONDITIONS; c++)
		ends[c].at[BOOST_TEMPERATURE] = NAN;
	assert_int_equal(boost_cause_of(ends, CONDITIONS, no_celsius, false, why), BOOST_BY_ONE_OF);
	assert_int_equal(why[BOOST_POWER].explained, 3);
	assert_int_equal(why[BOOST_TEMPERATURE].explained, 0);
	assert_int_equal(why[BOOST_TIME].explained, 1);
}

TEST(what_is_not_known_of_one_boost_is_neutral)
{
	struct boost_why why[BOOST_QUANTITIES];
	struct boost_end ends[CONDITIONS];

	ends_of(&by_power, 9, ends);
	ends[WEAK].at[BOOST_POWER] = NAN;
	assert_int_equal(boost_cause_of(ends, CONDITIONS, idle, false, why), BOOST_BY_POWER);
	assert_int_equal(why[BOOST_POWER].explained, 3);
	assert_int_equal(why[BOOST_POWER].known, 2);
	/* known of no boost that ended: no limit */
	for (size_t c = 0; c < CONDITIONS; c++)
		ends[c].at[BOOST_TEMPERATURE] = NAN;
	ends[WEAK].ended = false;
	ends[WEAK].at[BOOST_TEMPERATURE] = 60;
	assert_int_equal(boost_cause_of(ends, CONDITIONS, idle, false, why), BOOST_BY_ONE_OF);
	assert_int_equal(why[BOOST_TEMPERATURE].known, 0);
	assert_true(isnan(why[BOOST_TEMPERATURE].limit));
}

TEST(a_boost_that_does_not_end_refutes_what_got_beyond)
{
	/* the weaker load never draws as much as that in the mean */
	static const struct chip strong = { 16.5, INFINITY, INFINITY };
	struct boost_why why[BOOST_QUANTITIES];
	struct boost_end ends[CONDITIONS];

	ends_of(&strong, 4, ends);
	assert_false(ends[WEAK].ended);
	assert_int_equal(boost_cause_of(ends, CONDITIONS, idle, false, why), BOOST_BY_POWER);
	/* without it nothing speaks against the time */
	assert_int_equal(why[BOOST_TIME].explained, 2);
	assert_true(why[BOOST_TIME].limit < GIVE_UP_S / 2);
	assert_int_equal(why[BOOST_TIME].known, 2);
	/* given up too early it says nothing of the time */
	ends[WEAK].at[BOOST_TIME] = why[BOOST_TIME].limit;
	assert_int_equal(boost_cause_of(ends, CONDITIONS, idle, false, why), BOOST_BY_ONE_OF);
	/* nor do boosts none of which has ended */
	assert_int_equal(boost_cause_of(&ends[WEAK], 1, idle, false, why), BOOST_BY_ONE_OF);
	ends[STRONG].ended = ends[HOT].ended = false;
	assert_int_equal(boost_cause_of(ends, CONDITIONS, idle, false, why), BOOST_BY_ONE_OF);
}

TEST(power_or_temperature_has_to_let_the_others_go_on)
{
	struct boost_why why[BOOST_QUANTITIES];
	struct boost_end ends[CONDITIONS + 1];

	ends_of(&by_both, 4, ends);
	ends[CONDITIONS] = (struct boost_end){ CONDITIONS, false, { 14, 65, GIVE_UP_S } };
	assert_int_equal(boost_cause_of(ends, CONDITIONS + 1, idle, false, why), BOOST_BY_BOTH);
	ends[CONDITIONS].at[BOOST_TEMPERATURE] = 75;
	assert_int_equal(boost_cause_of(ends, CONDITIONS + 1, idle, false, why), BOOST_BY_OTHER);
}

TEST(one_boost_names_no_cause)
{
	struct boost_why why[BOOST_QUANTITIES];
	struct boost_end end;
	uint64_t seed = 4;

	end = end_of(&by_power, STRONG, &seed);
	assert_int_equal(boost_cause_of(&end, 1, idle, false, why), BOOST_BY_ONE_OF);
	/* also where two things are not known */
	end.at[BOOST_POWER] = end.at[BOOST_TEMPERATURE] = NAN;
	assert_int_equal(boost_cause_of(&end, 1, (double[]){ NAN, NAN, 0 }, false, why),
			 BOOST_BY_ONE_OF);
	/* nor do boosts under one condition that are not explained */
	struct boost_end apart[] = { { STRONG, true, { 15, 50, 5 } },
				     { STRONG, true, { 12, 60, 7 } } };

	assert_int_equal(boost_cause_of(apart, 2, idle, false, why), BOOST_BY_ONE_OF);
}

TEST(what_was_fitted_is_not_tested)
{
	struct boost_why why[BOOST_QUANTITIES];
	struct boost_end ends[2 * CONDITIONS];
	uint64_t seed = 3;

	for (size_t i = 0; i < 2 * CONDITIONS; i++)
		ends[i] = end_of(&by_power, i % CONDITIONS, &seed);
	assert_int_equal(boost_cause_of(ends, 2 * CONDITIONS, idle, false, why), BOOST_BY_POWER);
	assert_false(isnan(why[BOOST_POWER].p) || isnan(why[BOOST_POWER].f));
	assert_int_equal(boost_cause_of(ends, 2 * CONDITIONS, idle, true, why), BOOST_BY_POWER);
	assert_true(isnan(why[BOOST_POWER].p) && isnan(why[BOOST_POWER].f));
	assert_false(isnan(why[BOOST_TIME].p));
}

/*
 * Boosts of this power one after the other, each from a clean history; @until: out: when they ended
 */
static size_t record(struct boost_slice *s, const double *watts, size_t n, double *until)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		double w = 3;

		for (size_t k = 0; k < 1000; k++, at++)
			s[at] = (struct boost_slice){ .t_s = at * SLICE_S, .len_s = SLICE_S,
						      .w = 3 };
		while (w < 15 && at < MOST) {
			w += (watts[i] - w) * -expm1(-SLICE_S / TAU);
			s[at] = (struct boost_slice){ .t_s = at * SLICE_S, .len_s = SLICE_S,
						      .w = watts[i] };
			at++;
		}
		until[i] = at * SLICE_S;
	}
	return at;
}

TEST(a_weighted_mean_follows_the_power)
{
	struct boost_slice *s = calloc(MOST, sizeof(*s));
	double until[2];
	size_t n;

	assert_non_null(s);
	n = record(s, (double[]){ 17, 16 }, 2, until);
	for (size_t i = 0; i < 2; i++)
		assert_true(fabs(boost_weighted(s, n, TAU, 3, until[i]) - 15) < 0.02);
	/* within a slice, and from another beginning */
	assert_true(fabs(boost_weighted(s, n, TAU, 3, 20.51) - (17 - 14 * exp(-0.51 / TAU))) <
		    0.01);
	assert_true(fabs(boost_weighted(s, n, TAU, 10, 1) - (3 + 7 * exp(-1 / TAU))) < 0.01);
	free(s);
}

TEST(a_time_constant_is_found_without_a_limit)
{
	struct boost_slice *s = calloc(MOST, sizeof(*s));
	double until[2];
	size_t n;

	assert_non_null(s);
	n = record(s, (double[]){ 17, 16 }, 2, until);
	assert_true(fabs(boost_tau(s, n, 3, until, 2, 5.5) / TAU - 1) < 0.1);
	free(s);
}
