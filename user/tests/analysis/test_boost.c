// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a chip does under a load, from simulated slices of time: levels, and for how long it boosts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "analysis/boost/boost.h"
#include "analysis/boost/boost_judge.h"
#include "analysis/stats/change_points.h"
#include "tests/support/transitions.h"
#include "tests/support/unit.h"

#define SLICE_S	0.02
#define MOST	4000

/* One step of the load of a simulated machine with two CPUs. */
struct load_step {
	double seconds, w, khz, busy;
};

struct machine {
	struct boost_slice s[MOST];
	size_t n;
	uint64_t seed;
	double noise;		/* of power and frequency, a part */
};

static void run(struct machine *m, const struct load_step *load_steps, size_t n)
{
	double t = 0, end = 0;

	for (size_t i = 0; i < n; i++) {
		const struct load_step *of = &load_steps[i];

		for (end += of->seconds; t < end - 1e-9 && m->n < MOST; t += SLICE_S) {
			m->s[m->n++] = (struct boost_slice){
				.t_s = t, .len_s = SLICE_S,
				.w = of->w * (1 + 30 * m->noise * made_normal(&m->seed)),
				.khz = of->busy > 0 ?
				       of->khz * (1 + m->noise * made_normal(&m->seed)) : NAN,
				.busy = of->busy, .mine = of->busy, .celsius = NAN,
				.work = of->busy * of->khz / 10 *
					(1 + m->noise * made_normal(&m->seed)),
			};
		}
	}
}

static struct machine *machine(double noise)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->seed = 11;
	m->noise = noise;
	return m;
}

static void near(double found, double wanted, double part)
{
	if (!(fabs(found - wanted) <= part * fabs(wanted)))
		fail_msg("%.6g is not %.6g within %g %%", found, wanted, 100 * part);
}

/* What a load of @seconds becomes, from its beginning on. */
static struct boost_course course_of(const struct load_step *load_steps, size_t n, double noise,
				     double seconds)
{
	struct machine *m = machine(noise);
	struct boost_course c;

	run(m, load_steps, n);
	assert_int_equal(boost_course(m->s, m->n, 0, seconds, 2, &c), 0);
	free(m);
	return c;
}

/* The paper's machine, at a tenth of the time. */
static const struct load_step haswell[] = {
	{ 5, 3, 90000, 0 }, { 5.507, 17, 90000, 2 }, { 6, 15, 80000, 2 }, { 1, 3, 80000, 0 },
};

TEST(a_boost_is_found)
{
	struct machine *m = machine(0.003);
	struct boost_level idle;
	struct boost_course c;

	run(m, haswell, 4);
	assert_int_equal(boost_course(m->s, m->n, 5, 16.507, 2, &c), 0);
	assert_int_equal(c.verdict, BOOST_ENDS);
	assert_false(c.by_work);
	assert_int_equal(c.n_levels, 2);
	near(c.tb_s.v, 5.507, 0.005);
	assert_true(c.tb_s.lo <= 5.507 && 5.507 <= c.tb_s.hi);
	near(c.r, 1.125, 0.002);
	near(c.r_work, 1.125, 0.002);
	near(c.boost.w.v, 17, 0.02);
	near(c.sustained.w.v, 15, 0.02);
	near(c.sustained.khz.v, 80000, 0.001);
	assert_true(c.boost.w.lo < 17 && c.boost.w.hi > 17);
	idle = boost_level(m->s, m->n, 0, 5);
	near(idle.w.v, 3, 0.02);
	assert_true(isnan(idle.khz.v) && isnan(idle.celsius.v));
	free(m);
}

TEST(without_a_frequency_it_is_found_by_throughput)
{
	struct machine *m = machine(0.003);
	struct boost_course c;

	run(m, haswell, 4);
	for (size_t i = 0; i < m->n; i++)
		m->s[i].khz = m->s[i].w = NAN;
	assert_int_equal(boost_course(m->s, m->n, 5, 16.507, 2, &c), 0);
	assert_int_equal(c.verdict, BOOST_ENDS);
	assert_true(c.by_work && isnan(c.boost.w.v));
	near(c.tb_s.v, 5.507, 0.005);
	near(c.r, 1.125, 0.002);
	for (size_t i = 0; i < m->n; i++)
		m->s[i].work = NAN;
	assert_int_equal(boost_course(m->s, m->n, 5, 16.507, 2, &c), 0);
	assert_int_equal(c.verdict, BOOST_UNKNOWN);
	assert_true(isnan(c.tb_s.v) && isnan(c.r));
	free(m);
}

TEST(steps_between_are_levels)
{
	const struct load_step steps[] = { { 3, 20, 3400000, 2 }, { 4, 18, 3100000, 2 },
					   { 5, 15, 2800000, 2 } };
	struct boost_course c;

	c = course_of(steps, 3, 0.002, 12);
	assert_int_equal(c.n_levels, 3);
	near(c.tb_s.v, 3, 0.01);
	near(c.last_s, 7, 0.01);
	near(c.r, 3.4 / 2.8, 0.002);
	near(c.levels[1].khz.v, 3100000, 0.002);
}

TEST(a_governor_that_takes_its_time_is_no_level)
{
	const struct load_step steps[] = { { 0.04, 8, 40000, 2 }, { 5, 17, 90000, 2 },
					   { 5, 15, 80000, 2 } };
	struct boost_course c;

	c = course_of(steps, 3, 0.002, 10.04);
	assert_int_equal(c.verdict, BOOST_ENDS);
	assert_int_equal(c.n_levels, 2);
	near(c.boost.khz.v, 90000, 0.002);
	near(c.tb_s.v, 5, 0.005);
}

TEST(up_and_down_has_a_mean)
{
	struct load_step steps[41] = { { 5, 17, 90000, 2 } };
	struct boost_course c;

	for (size_t i = 1; i < 41; i++)
		steps[i] = i % 2 ? (struct load_step){ 0.3, 13, 80000, 2 } :
			   (struct load_step){ 0.3, 16, 90000, 2 };
	c = course_of(steps, 41, 0.001, 17);
	assert_int_equal(c.verdict, BOOST_ENDS);
	near(c.tb_s.v, 5, 0.01);
	near(c.sustained.khz.v, 85000, 0.005);
	near(c.sustained.w.v, 14.5, 0.02);
	/* however long it is down at the end */
	steps[40] = (struct load_step){ 0.6, 13, 80000, 2 };
	c = course_of(steps, 41, 0.001, 17.3);
	assert_int_equal(c.verdict, BOOST_ENDS);
	near(c.sustained.khz.v, 80000 + 10000 * 19 * 0.3 / 12.3, 0.003);
}

TEST(what_is_slow_for_most_of_the_time_has_ended_the_boost)
{
	const struct load_step most[] = { { 5, 17, 90000, 2 }, { 3, 13, 80000, 2 },
					  { 1, 16, 90000, 2 } };
	const struct load_step little[] = { { 5, 17, 90000, 2 }, { 1, 13, 80000, 2 },
					    { 3, 16, 90000, 2 } };
	const struct load_step interpolated_for[] = { { 5, 17, 90000, 2 }, { 1.5, 16, 88000, 2 },
						      { 1, 18, 93000, 2 }, { 0.2, 17, 90000, 2 } };
	const struct load_step late[] = { { 5, 17, 90000, 2 }, { 0.2, 12, 70000, 2 },
					  { 3, 17, 90000, 2 }, { 1, 15, 80000, 2 } };
	struct boost_course c;

	c = course_of(most, 3, 0.001, 9);
	assert_int_equal(c.verdict, BOOST_ENDS);
	assert_int_equal(c.n_levels, 3);
	near(c.tb_s.v, 5, 0.01);
	near(c.last_s, 5, 0.01);
	near(c.sustained.khz.v, 82500, 0.002);
	near(c.r, 90000 / 82500.0, 0.002);
	c = course_of(little, 3, 0.001, 9);
	assert_int_equal(c.verdict, BOOST_LASTS);
	/* what is faster makes up for it */
	c = course_of(interpolated_for, 4, 0.001, 7.7);
	assert_int_equal(c.verdict, BOOST_LASTS);
	/* slower to the end, for however short a part of the time */
	c = course_of(late, 4, 0.001, 9.2);
	assert_int_equal(c.verdict, BOOST_ENDS);
	near(c.sustained.khz.v, 80000, 0.002);
}

TEST(what_is_fast_for_most_of_the_time_rises)
{
	const struct load_step most[] = { { 5, 15, 80000, 2 }, { 3, 17, 90000, 2 },
					  { 1, 15, 80000, 2 } };
	const struct load_step late[] = { { 5, 15, 80000, 2 }, { 0.2, 12, 70000, 2 },
					  { 3, 15, 80000, 2 }, { 1, 17, 90000, 2 } };
	struct boost_course c;

	c = course_of(most, 3, 0.001, 9);
	assert_int_equal(c.verdict, BOOST_RISES);
	near(c.sustained.khz.v, 87500, 0.002);
	c = course_of(late, 4, 0.001, 9.2);
	assert_int_equal(c.verdict, BOOST_RISES);
	/* the dip is in the mean of the level that it is in */
	near(c.r, 79.76 / 90, 0.002);
}

/* One speed with something else for a short time in it. */
static void passes(const struct load_step *load_steps, size_t n, double seconds)
{
	struct boost_course c = course_of(load_steps, n, 0.001, seconds);

	assert_int_equal(c.verdict, BOOST_LASTS);
	assert_int_equal(c.n_levels, 1);
	near(c.levels[0].to_s - c.levels[0].from_s, seconds, 0.02);
	assert_true(c.boost.khz.v == c.levels[0].khz.v && c.sustained.khz.v == c.boost.khz.v);
	assert_true(isnan(c.tb_s.v) && isnan(c.last_s) && isnan(c.r) && isnan(c.r_work));
}

TEST(what_passes_ends_no_boost)
{
	const struct load_step dip[] = { { 5, 17, 90000, 2 }, { 0.2, 13, 70000, 2 },
					 { 5, 17, 90000, 2 } };
	const struct load_step at_the_end[] = { { 5, 17, 90000, 2 }, { 0.3, 13, 70000, 2 } };
	const struct load_step hardly_slower[] = { { 5, 17, 90000, 2 }, { 0.3, 13, 70000, 2 },
						   { 5, 17, 89500, 2 } };
	const struct load_step peak[] = { { 5, 15, 80000, 2 }, { 0.3, 17, 90000, 2 },
					  { 5, 15, 80000, 2 }, { 0.3, 17, 90000, 2 } };
	/* an edge of the load, which is faster because not all CPUs run yet */
	const struct load_step edge[] = { { 0.06, 11, 100000, 2 }, { 10, 17, 90000, 2 } };

	passes(dip, 3, 10.2);
	passes(at_the_end, 2, 5.3);
	passes(hardly_slower, 3, 10.3);
	passes(peak, 4, 10.6);
	passes(edge, 2, 10.06);
}

TEST(a_short_boost_under_a_long_load_is_one)
{
	const struct load_step steps[] = { { 1.2, 17, 90000, 2 }, { 78, 15, 80000, 2 } };
	const struct load_step ramp[] = { { 1.2, 13, 70000, 2 }, { 78, 15, 80000, 2 } };
	struct boost_course c;

	c = course_of(steps, 2, 0.002, 79.2);
	assert_int_equal(c.verdict, BOOST_ENDS);
	near(c.tb_s.v, 1.2, 0.02);
	near(c.r, 1.125, 0.002);
	/* as long, and slower: a governor that takes its time */
	c = course_of(ramp, 2, 0.002, 79.2);
	assert_int_equal(c.verdict, BOOST_LASTS);
	near(c.boost.khz.v, 80000, 0.001);
	near(c.boost.from_s, 1.2, 0.02);
}

TEST(a_boost_goes_on_behind_a_dip)
{
	const struct load_step steps[] = { { 2, 17, 90000, 2 }, { 0.1, 13, 70000, 2 },
					   { 3, 17, 90000, 2 }, { 6, 15, 80000, 2 },
					   { 0.1, 17, 90000, 2 }, { 1, 15, 80000, 2 } };
	struct boost_course c;

	c = course_of(steps, 6, 0.002, 12.2);
	assert_int_equal(c.verdict, BOOST_ENDS);
	assert_int_equal(c.n_levels, 2);
	near(c.tb_s.v, 5.1, 0.02);
	/* dips are in the means of the levels that they are in */
	near(c.r, (5 * 90 + 0.1 * 70) / 5.1 / ((7 * 80 + 0.1 * 90) / 7.1), 0.002);
}

TEST(one_speed_is_no_boost_that_ends)
{
	const struct load_step steady[] = { { 20, 15, 80000, 2 } };
	struct boost_course c;

	/*
	 * also where the frequency wanders by less than counts, and where it does not move at all
	 */
	for (unsigned int noise = 0; noise < 3; noise++) {
		c = course_of(steady, 1, noise * 0.002, 20);
		assert_int_equal(c.verdict, BOOST_LASTS);
		assert_int_equal(c.n_levels, 1);
		assert_true(isnan(c.tb_s.v) && isnan(c.r));
		near(c.boost.khz.v, 80000, 0.001);
	}
}

TEST(a_load_without_a_boost_is_reported)
{
	const struct load_step rises[] = { { 5, 15, 80000, 2 }, { 5, 17, 90000, 2 } };
	const struct load_step lazy[] = { { 5, 10, 90000, 1 }, { 5, 9, 80000, 1 } };
	struct machine *m = machine(0.002);
	struct boost_course c;

	run(m, rises, 2);
	assert_int_equal(boost_course(m->s, m->n, 0, 10, 2, &c), 0);
	assert_int_equal(c.verdict, BOOST_RISES);
	m->n = 0;
	run(m, lazy, 2);
	assert_int_equal(boost_course(m->s, m->n, 0, 10, 2, &c), 0);
	assert_int_equal(c.verdict, BOOST_IDLE);
	near(c.busy, 0.5, 0.01);
	assert_int_equal(boost_course(m->s, 10, 0, 10, 2, &c), 0);
	assert_int_equal(c.verdict, BOOST_UNKNOWN);
	assert_int_equal(boost_course(m->s, 0, 0, 10, 2, &c), 0);
	assert_int_equal(c.verdict, BOOST_UNKNOWN);
	free(m);
}

TEST(a_few_values_that_are_far_off_are_no_level)
{
	double v[500];
	struct step *steps;
	uint64_t seed = 5;
	size_t n;

	for (size_t i = 0; i < 500; i++)
		v[i] = (i < 200 ? 100 : 98) * (1 + 0.002 * made_normal(&seed));
	v[50] = v[51] = v[300] = 20;
	v[120] = NAN;
	assert_int_equal(change_points_find(v, 500, 0.005, &steps, &n), 0);
	assert_int_equal(n, 2);
	assert_in_range(steps[0].end, 198, 202);
	assert_int_equal(steps[1].begin, steps[0].end);
	assert_int_equal(steps[1].end, 500);
	near(steps[0].mean, 100, 0.001);
	near(steps[1].mean, 98, 0.001);
	free(steps);
	/* they differ by less than counts */
	assert_int_equal(change_points_find(v, 500, 0.03, &steps, &n), 0);
	assert_int_equal(n, 1);
	free(steps);
	for (size_t i = 0; i < 500; i++)
		v[i] = NAN;
	assert_int_equal(change_points_find(v, 500, 0.03, &steps, &n), -ENODATA);
	assert_int_equal(change_points_find(v, 0, 0.03, &steps, &n), -ENODATA);
	v[3] = 7;
	assert_int_equal(change_points_find(v, 2, 0.03, &steps, &n), -ENODATA);
	assert_int_equal(change_points_find(&v[3], 1, 0.03, &steps, &n), 0);
	assert_int_equal(n, 1);
	near(steps[0].mean, 7, 1e-12);
	free(steps);
}

TEST(time_at_the_boost_is_known_better_than_a_slice)
{
	struct machine *m = machine(0);

	run(m, haswell, 4);
	/* the boost ends within a slice */
	for (size_t i = 0; i < m->n; i++)
		if (m->s[i].t_s < 10.507 && m->s[i].t_s + SLICE_S > 10.507)
			m->s[i].khz = 80000 + 10000 * (10.507 - m->s[i].t_s) / SLICE_S;
	assert_true(fabs(boost_time(m->s, m->n, 5, 16.507, 90000, 80000, false) - 5.507) < 1e-6);
	assert_true(fabs(boost_time(m->s, m->n, 10, 16.507, 90000, 80000, false) - 0.507) < 1e-6);
	assert_true(fabs(boost_time(m->s, m->n, 12, 16, 90000, 80000, false)) < 1e-9);
	/*
	 * what runs slower than what is sustained does not boost, and faster is no more than all of
	 * the time
	 */
	assert_true(fabs(boost_time(m->s, m->n, 5, 10, 85000, 80000, false) - 5) < 1e-9);
	assert_true(fabs(boost_time(m->s, m->n, 5, 10, 110000, 95000, false)) < 1e-9);
	free(m);
}

/* The simulated machine's speeds, without an interval. */
static const struct boost_judge by = { { 90000, NAN, NAN }, { 80000, NAN, NAN }, .others = 0,
				       .cpus = 2, .tick_s = SLICE_S / 5 };

static struct boost_run judge_by(const struct boost_judge *of, const struct load_step *load_steps,
				 size_t n, double from_s, double to_s)
{
	struct machine *m = machine(0.002);
	struct boost_run r;

	run(m, load_steps, n);
	r = boost_run_judge(m->s, m->n, from_s, to_s, of);
	free(m);
	return r;
}

/* A run that boosts for @part of its two seconds, on a machine where others have so many CPUs. */
static struct boost_run judge(double part, double others, double slow_s)
{
	const struct load_step load_steps[] = { { 1, 3, 90000, 0 }, { slow_s, 8, 40000, 2 },
						{ 2 * part, 17, 90000, 2 },
						{ 2 * (1 - part), 15, 80000, 2 },
						{ 1, 3, 80000, 0 } };
	struct boost_judge of = by;

	of.others = others;
	return judge_by(&of, load_steps, 5, 1, 3 + slow_s);
}

TEST(a_run_is_what_it_was)
{
	size_t right = 0;

	assert_int_equal(judge(1, 0.01, 0).class, BOOST_BOOSTED);
	assert_int_equal(judge(0, 0.01, 0).class, BOOST_THROTTLED);
	for (unsigned int percent = 5; percent <= 95; percent++)
		right += judge(percent / 100.0, 0, 0).class == BOOST_MIXED;
	assert_int_equal(right, 91);
	assert_int_equal(judge(1, 0.06, 0).class, BOOST_DISTURBED);
	assert_int_equal(judge(1, 0.04, 0).class, BOOST_BOOSTED);
	assert_int_equal(judge(1, 0, 0.06).class, BOOST_BOOSTED);
}

TEST(a_moment_on_one_cpu_is_no_less_of_a_boost)
{
	const struct load_step load_steps[] = { { 0.1, 11, 100000, 1 }, { 1.5, 17, 90000, 2 },
						{ 0.1, 11, 100000, 1 } };
	struct boost_run r;

	r = judge_by(&by, load_steps, 3, 0, 1.7);
	assert_int_equal(r.class, BOOST_BOOSTED);
	assert_true(r.boosted_s > 1.68);
}

TEST(one_speed_between_is_not_boosted)
{
	const struct load_step between[] = { { 2, 16, 85000, 2 } },
		hardly_less[] = { { 2, 17, 89000, 2 } };
	const struct load_step dip[] = { { 0.4, 17, 90000, 2 }, { 0.04, 15, 80000, 2 },
					 { 0.4, 17, 90000, 2 } };
	const struct load_step peak[] = { { 0.4, 15, 80000, 2 }, { 0.04, 15, 81400, 2 },
					  { 0.4, 15, 80000, 2 } };
	struct boost_judge unknown = by, hardly = by;
	struct boost_run r;

	r = judge_by(&by, between, 1, 0, 2);
	assert_int_equal(r.class, BOOST_THROTTLED);
	near(r.boost_khz, 90000, 1e-9);
	near(r.boosted_s, 1, 0.01);
	near(r.as_sustained_s.v, 2.125, 0.002);
	near(r.as_boosted_s.v, 2.125 / 1.125, 0.002);
	r = judge_by(&by, hardly_less, 1, 0, 2);
	assert_int_equal(r.class, BOOST_BOOSTED);
	near(r.boost_khz, 89000, 0.001);
	/* two slices are no level */
	assert_int_equal(judge_by(&by, dip, 3, 0, 0.84).class, BOOST_BOOSTED);
	hardly.boost_khz.v = 81000;
	assert_int_equal(judge_by(&hardly, peak, 3, 0, 0.84).class, BOOST_THROTTLED);
	unknown.boost_khz.v = NAN;
	r = judge_by(&unknown, between, 1, 0, 2);
	assert_int_equal(r.class, BOOST_BOOSTED);
	near(r.r, 85 / 80.0, 0.001);
}

TEST(a_long_run_at_one_speed_is_judged_as_well)
{
	const struct load_step between[] = { { 75, 16, 85000, 2 } },
		mixed[] = { { 5, 17, 90000, 2 }, { 70, 15, 80000, 2 } };

	assert_int_equal(judge_by(&by, between, 1, 0, 75).class, BOOST_THROTTLED);
	assert_int_equal(judge_by(&by, mixed, 2, 0, 75).class, BOOST_MIXED);
}

TEST(a_heavier_command_has_a_sustained_speed_of_its_own)
{
	const struct load_step heavy[] = { { 1, 20, 90000, 2 }, { 1, 16, 70000, 2 } };
	struct boost_judge of = by;
	struct boost_run r;

	r = judge_by(&by, heavy, 2, 0, 2);
	assert_int_equal(r.class, BOOST_MIXED);
	near(r.sustained_khz, 70000, 0.001);
	near(r.r, 90 / 70.0, 0.002);
	near(r.boosted_s, 1, 0.01);
	assert_true(r.slower_s == 0);
	near(r.as_sustained_s.v, 1 + 90 / 70.0, 0.003);
	near(r.as_boosted_s.v, 1 + 70 / 90.0, 0.003);
	r = judge_by(&by, &heavy[1], 1, 0, 1);
	assert_int_equal(r.class, BOOST_THROTTLED);
	near(r.as_sustained_s.v, 1, 0.001);
	/* where others run it may be they who slow it down */
	of.others = 0.2;
	r = judge_by(&of, heavy, 2, 0, 2);
	assert_int_equal(r.class, BOOST_DISTURBED);
	near(r.sustained_khz, 80000, 1e-9);
	/* a governor that takes its time is no heavier command, but nothing takes that long */
	r = judge(0, 0, 0.14);
	assert_int_equal(r.class, BOOST_THROTTLED);
	near(r.sustained_khz, 80000, 1e-9);
	near(r.slower_s, 0.14, 0.01);
	near(judge(0.5, 0, 0.3).sustained_khz, 40000, 0.01);
}

TEST(other_load_may_be_as_much_as_a_tick)
{
	const struct load_step half[] = { { 2, 17, 90000, 2 } };
	struct boost_judge of = by;

	near(judge_by(&of, half, 1, 0, 2).busy, 2, 1e-9);
	/* all CPUs are busy: what ticks see is certain */
	of.others = 0.06;
	assert_int_equal(judge_by(&of, half, 1, 0, 2).class, BOOST_DISTURBED);
	/* half of them are: 0.04 + 0.025 + 3 * 0.0447 */
	of.cpus = 4;
	of.others = 0.18;
	assert_int_equal(judge_by(&of, half, 1, 0, 2).class, BOOST_BOOSTED);
	of.others = 0.22;
	assert_int_equal(judge_by(&of, half, 1, 0, 2).class, BOOST_DISTURBED);
	/* a hundredth of each of many */
	of.cpus = 100;
	of.tick_s = 0;
	of.others = 0.9;
	assert_int_equal(judge_by(&of, half, 1, 0, 2).class, BOOST_BOOSTED);
	of.others = 1.1;
	assert_int_equal(judge_by(&of, half, 1, 0, 2).class, BOOST_DISTURBED);
	of.others = NAN;
	assert_int_equal(judge_by(&of, half, 1, 0, 2).class, BOOST_BOOSTED);
}

TEST(uncertain_speeds_widen_the_corrected_time)
{
	const struct load_step boosted[] = { { 2, 17, 90000, 2 } },
		mixed[] = { { 1, 17, 90000, 2 }, { 1, 15, 80000, 2 } };
	const struct load_step heavy[] = { { 1, 20, 90000, 2 }, { 1, 16, 70000, 2 } };
	struct boost_judge of = by;
	double rel = hypot(0.01, 0.02);
	struct boost_run r;

	r = judge_by(&of, boosted, 1, 0, 2);
	assert_true(r.as_sustained_s.lo == r.as_sustained_s.v &&
		    r.as_boosted_s.hi == r.as_boosted_s.v);
	of.boost_khz = (struct value){ 90000, 89100, 90900 };
	of.sustained_khz = (struct value){ 80000, 78400, 81600 };
	r = judge_by(&of, boosted, 1, 0, 2);
	near(r.as_sustained_s.hi - r.as_sustained_s.v, r.boosted_s * r.r * rel, 1e-6);
	near(r.as_sustained_s.v - r.as_sustained_s.lo, r.boosted_s * r.r * rel, 1e-6);
	near(r.as_boosted_s.hi - r.as_boosted_s.v,
	     r.as_boosted_s.v * hypot(r.boosted_s * r.r * rel / r.as_sustained_s.v, rel), 1e-6);
	/* and a slice of it may be of either */
	r = judge_by(&of, mixed, 2, 0, 2);
	near(r.as_sustained_s.hi - r.as_sustained_s.v,
	     hypot((r.r - 1) * SLICE_S, r.boosted_s * r.r * rel), 1e-6);
	/* what the chip sustains is no matter where it was not what the run was judged by */
	r = judge_by(&of, heavy, 2, 0, 2);
	near(r.as_sustained_s.hi - r.as_sustained_s.v,
	     hypot((r.r - 1) * SLICE_S, r.boosted_s * r.r * 0.01), 1e-6);
}

TEST(a_mixed_run_is_corrected_to_either_speed)
{
	for (unsigned int percent = 0; percent <= 100; percent += 10) {
		double part = percent / 100.0, work = 2 * (part * 1.125 + 1 - part);
		struct boost_run r = judge(part, 0, 0);

		near(r.as_sustained_s.v, work, 0.003);
		near(r.as_boosted_s.v, work / 1.125, 0.003);
		if (r.class == BOOST_MIXED)
			assert_true(r.as_sustained_s.lo <= work && work <= r.as_sustained_s.hi);
		near(r.r, 1.125, 0.002);
	}
	/* a disturbed one has no class */
	assert_true(isnan(judge(0.5, 0.2, 0).as_boosted_s.v));
}

TEST(a_run_without_enough_slices_is_not_judged)
{
	struct boost_judge none = by;
	struct machine *m = machine(0.002);

	none.sustained_khz.v = NAN;
	run(m, haswell, 4);
	assert_int_equal(boost_run_judge(m->s, m->n, 6, 6.1, &by).class, BOOST_UNJUDGED);
	assert_int_equal(boost_run_judge(m->s, m->n, 6, 8, &none).class, BOOST_UNJUDGED);
	assert_int_equal(boost_run_judge(m->s, 0, 6, 8, &by).class, BOOST_UNJUDGED);
	for (size_t i = 0; i < m->n; i++)
		m->s[i].khz = NAN;
	assert_int_equal(boost_run_judge(m->s, m->n, 6, 8, &by).class, BOOST_UNJUDGED);
	free(m);
}

TEST(a_value_in_which_a_change_falls_is_no_level)
{
	double v[500];
	struct step *steps;
	uint64_t seed = 5;
	size_t n;

	for (size_t i = 0; i < 500; i++)
		v[i] = (i < 200 ? 90000 : 80000) * (1 + 2e-6 * made_normal(&seed));
	v[200] = 85587;
	assert_int_equal(change_points_find(v, 500, 0.01, &steps, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(steps[0].end, 201);
	near(steps[0].mean, 90000, 1e-4);
	free(steps);
}
