// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Settings of frequency and threads: the course of a program, which setting is the least and
 * whether that is significant, and what blocks of their own frequency save.
 */
#include <math.h>
#include <stdlib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include "analysis/profile/execution_order.h"
#include "sweep/sweep.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

static gsl_rng *rng;

/* Blocks 0 and 1 are groups of their own, 2 is not looked at. */
TEST(the_course_is_by_the_clock)
{
	static const struct cpm_tick first[] =
		{ { .tick = 0, .block = 0 }, { .tick = 1, .block = 0 },
		  { .tick = 2, .block = 1 }, { .tick = 3, .block = 2 },
		  { .tick = 4, .block = 0 }, { .tick = 9, .block = 1 } };
	static const struct cpm_tick second[] =
		{ { .tick = 1, .block = 0 }, { .tick = 2, .block = 0 },
		  { .tick = 5, .block = 1, .more = 4 }, { .tick = 10, .block = 0 } };
	const struct cpm_stream streams[] =
		{ { .ticks = first, .n = 6 }, { .ticks = second, .n = 4 } };
	const uint32_t group_of[] = { 0, 1, COURSE_NONE };
	struct execution_step *steps;
	double ticks[2];
	size_t n;

	assert_int_equal(execution_order_elapsed(streams, 2, group_of, 2, ticks), 0);
	/* 0, 1, 2, 4, 10; 2, 5 to 9 */
	assert_true(ticks[0] == 5 && ticks[1] == 6);
	assert_int_equal(execution_order_steps(streams, 2, group_of, &steps, &n), 0);
	assert_int_equal(n, 2);
	/* each CPU went 0, 1, 0, 1 or 0, 1, 0 */
	assert_true(steps[0].from == 0 && steps[0].to == 1 && steps[0].n == 3);
	assert_true(steps[1].from == 1 && steps[1].to == 0 && steps[1].n == 2);
	free(steps);
}

/* As many pairs as are met have room, and each is there once, in order. */
TEST(many_steps_are_counted)
{
	enum { GROUPS = 60, TICKS = 20000 };
	static struct cpm_tick ticks[TICKS];
	static unsigned int wanted[GROUPS][GROUPS];
	uint32_t group_of[GROUPS];
	struct execution_step *steps;
	size_t n, pairs = 0;

	for (uint32_t i = 0; i < GROUPS; i++)
		group_of[i] = i;
	for (unsigned int i = 0; i < TICKS; i++) {
		ticks[i] =
			(struct cpm_tick){ .tick = i, .block = gsl_rng_uniform_int(rng, GROUPS) };
		if (i && ticks[i].block != ticks[i - 1].block)
			pairs += !wanted[ticks[i - 1].block][ticks[i].block]++;
	}
	assert_int_equal(execution_order_steps(&(struct cpm_stream){ .ticks = ticks, .n = TICKS },
					       1, group_of, &steps, &n), 0);
	assert_true(n == pairs && n > 3000);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(steps[i].n, wanted[steps[i].from][steps[i].to]);
		assert_true(!i || steps[i - 1].from < steps[i].from ||
			    (steps[i - 1].from == steps[i].from && steps[i - 1].to < steps[i].to));
	}
	free(steps);
}

static struct value value(double v, double half)
{
	return (struct value){ v, v - half, v + half };
}

/* The interval of E t holds, where t is uncertain in both: simulated. */
TEST(a_product_knows_that_time_is_in_it_twice)
{
	unsigned int inside = 0, n = 20000;
	double width = 0, spread = 0;
	struct value power;

	for (unsigned int i = 0; i < n; i++) {
		double t = 10 + gsl_ran_gaussian(rng, 0.2), p = 3 + gsl_ran_gaussian(rng, 0.03);
		struct value delay = value(t, 1.96 * 0.2);
		struct value j = value(p * t, 1.96 * p * t * hypot(0.2 / 10, 0.03 / 3));
		struct value product = sweep_product(&j, &delay);

		inside += product.lo <= 300 && product.hi >= 300;
		width += (product.hi - product.lo) / 2 / 1.96 / n;
		spread += pow(product.v - 300, 2) / n;
	}
	assert_in_range(inside, 0.94 * n, 0.96 * n);
	assert_true(near(width / sqrt(spread), 1, 0.03));
	/* of what is not known nothing is said */
	assert_true(isnan(sweep_product(&(struct value){ 1, NAN, NAN },
					&(struct value){ 2, 1, 3 }).lo));
	/* 8 J in 2 s are 4 W, on however many CPUs; 3 % and 4 % are 5 % */
	power = sweep_power(&(struct value){ 8, 7.76, 8.24 }, &(struct value){ 2, 1.92, 2.08 });
	assert_true(fabs(power.v - 4) < 1e-9 && fabs(power.lo - 3.8) < 1e-9 &&
		    fabs(power.hi - 4.2) < 1e-9);
	power = sweep_power(&(struct value){ 8, NAN, NAN }, &(struct value){ 0, 0, 0 });
	assert_true(isnan(power.v) && isnan(power.lo));
}

/* Of settings that do not differ one seems to in one sweep of twenty, and in no more. */
TEST(the_least_is_alike_with_what_does_not_differ)
{
	unsigned int n = 4000, wrong = 0, found = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct value figures[8];
		struct sweep_best b;

		for (int k = 0; k < 8; k++)
			figures[k] = value(10 + gsl_ran_gaussian(rng, 0.1), 0.196);
		b = sweep_least(figures, 8, 1e6, NULL);
		wrong += b.equal < 7;
		/* and one that does is found */
		figures[3] = value(9 + gsl_ran_gaussian(rng, 0.1), 0.196);
		b = sweep_least(figures, 8, 1e6, NULL);
		found += b.setting == 3 && !b.equal;
	}
	assert_in_range(wrong, 0.02 * n, 0.05 * n);
	assert_in_range(found, 0.97 * n, n);
}

TEST(what_is_not_known_is_no_least)
{
	const struct value figures[] =
		{ value(NAN, 0), value(5, 0.1), { 4, NAN, NAN }, value(NAN, 0) };
	const struct value one[] = { value(NAN, 0), value(2, 1) };
	bool equal[4];
	struct sweep_best b = sweep_least(figures, 4, 39, equal);

	assert_true(b.setting == 2 && b.next == 1 && b.known == 2 && b.equal == 0 &&
		    b.unknown == 1);
	assert_true(equal[1] && equal[2] && !equal[0]);
	b = sweep_least(one, 2, 39, NULL);
	assert_true(b.setting == 1 && b.next == SWEEP_NONE && b.known == 1 && !b.equal);
	b = sweep_least(one, 1, 39, NULL);
	assert_true(b.setting == SWEEP_NONE && !b.known);
}

/*
 * The paper's case: a block that is best at the highest frequency, one that is best at the lowest;
 * a third one that is not met everywhere, and a setting that failed.
 */
TEST(each_block_at_its_own_frequency_saves)
{
	static const uint32_t khz[] = { 50, 75, 100, 50, 75, 100 };
	static const uint32_t threads[] = { 1, 1, 1, 2, 2, 2 };
	const struct value all[] = { value(10.2, 0.1), value(9.2, 0.1), value(10.1, 0.1),
				     value(11, 0.1), value(NAN, 0), value(12, 0.1) };
	const struct value j[] = {
		value(7, 0.1), value(5, 0.1), value(4, 0.1), value(8, 0.1), value(NAN, 0),
		value(5, 0.1), value(3, 0.1), value(4, 0.1), value(6, 0.1), value(2.9, 0.1),
		value(NAN, 0), value(6, 0.1), value(0.2, 0.01), value(0.2, 0.01), value(NAN, 0),
		value(NAN, 0), value(NAN, 0), value(1, 0.01),
	};
	const struct value delay[] = {
		value(2, 0), value(1.5, 0), value(1, 0), value(1, 0), value(NAN, 0), value(0.5, 0),
		value(1, 0), value(0.9, 0), value(0.8, 0), value(1, 0), value(NAN, 0), value(1, 0),
		value(1, 0), value(1, 0), value(NAN, 0), value(NAN, 0), value(NAN, 0), value(1, 0),
	};
	const struct sweep_table t = { 6, 3, khz, threads, all, j, delay };
	struct value vague[18];
	struct sweep_saving s;

	assert_int_equal(sweep_save(&t, 39, &s), 0);
	assert_true(s.single == 1 && s.threads == 1);
	/* 5 + 4 becomes 4 + 3, and takes 0.5 s less and 0.1 s more */
	assert_true(s.chosen[0] == 2 && s.chosen[1] == 0 && s.chosen[2] == SWEEP_NONE);
	assert_true(near(s.saved_j.v, 2, 1e-9) && near(s.base_j, 9, 1e-9));
	/* four figures with 0.1 each */
	assert_true(near(s.saved_j.hi - s.saved_j.v, 0.2, 1e-9));
	assert_true(s.moved == 2 && s.sure == 2 && near(s.sure_j, 2, 1e-9));
	assert_true(near(s.delay_s, -0.4, 1e-9));
	free(s.chosen);
	/* one without an interval stays where it is */
	memcpy(vague, j, sizeof(j));
	vague[6].lo = vague[6].hi = NAN;
	vague[9] = value(3.5, 0.1);
	assert_int_equal(sweep_save(&(struct sweep_table){ 6, 3, khz, threads, all, vague, delay },
				    39, &s), 0);
	assert_true(s.chosen[1] == SWEEP_NONE && s.moved == 1 && near(s.saved_j.v, 1, 1e-9) &&
		    s.saved_j.hi > s.saved_j.v);
	free(s.chosen);
	assert_int_equal(sweep_save(&(struct sweep_table){ 1, 0, khz, threads, &all[4], j, delay },
				    39, &s), -ENODATA);
}

/* What is not significant saves something on paper only, and is not counted. */
TEST(chance_saves_nothing_that_is_told)
{
	static const uint32_t khz[] = { 50, 75, 100 }, threads[] = { 1, 1, 1 };
	unsigned int n = 2000, told = 0;
	double saved = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct value j[30], delay[30], all[3];
		struct sweep_saving s;

		for (int k = 0; k < 30; k++) {
			j[k] = value(1 + gsl_ran_gaussian(rng, 0.05), 0.098);
			delay[k] = value(1, 0);
		}
		for (int k = 0; k < 3; k++)
			all[k] = value(10 + gsl_ran_gaussian(rng, 0.1), 0.2);
		assert_int_equal(sweep_save(&(struct sweep_table){ 3, 10, khz, threads, all, j,
								   delay }, 1e6, &s), 0);
		saved += s.saved_j.v / n;
		told += s.sure > 0;
		free(s.chosen);
	}
	/* the mean of the least of three normals is 0.846 deviations low */
	assert_true(near(saved, 10 * 0.846 * 0.05, 0.02));
	/*
	 * all that is claimed of ten blocks and three settings together is wrong in one of twenty
	 * sweeps
	 */
	assert_in_range(told, 0, 0.05 * n);
}

int main(void)
{
	int ret;

	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, 1);
	ret = tests_run(NULL, NULL);
	gsl_rng_free(rng);
	return ret;
}
