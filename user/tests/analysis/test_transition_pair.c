// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repeats of a change, on simulated series of known truth: medians are right, intervals cover,
 * disturbed tries do not pass; and the error of the paper's own ways on the same series.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include "tests/support/synthetic.h"
#include "tests/support/transitions.h"
#include "tests/support/unit.h"

#define N	TRANSITION_REPEATS

static size_t pairs_of(size_t n)
{
	return getenv("KJOULE_TEST_QUICK") ? 5 : n;
}

static struct made_change varied(const struct made_change *of, double latency, double noise,
				 double resolution, bool up)
{
	struct made_change c = *of;

	c.latency = latency;
	c.noise = noise;
	c.resolution = resolution;
	if (!up) {
		c.from = of->to;
		c.to = of->from;
	}
	return c;
}

/* A pair of as many tries as it takes. */
static void measure(const struct made_change *c, const struct transition_level *from,
		    const struct transition_level *to, uint64_t *seed, struct transition_pair *p)
{
	struct transition_try tries[TRANSITION_TRIES_MOST];
	size_t n = 0;

	do {
		assert_true(n < TRANSITION_TRIES_MOST);
		made_tries(c, from, to, seed, tries + n, NULL, 1);
		n++;
		if (n >= N || n == TRANSITION_HOPELESS)
			assert_int_equal(transition_pair(tries, n, 0, NULL, p), 0);
	} while (n < N || p->state == TRANSITION_MORE);
}

static bool covers(const struct value *v, double truth)
{
	return v->lo <= truth && truth <= v->hi;
}

static void check_pairs(const struct made_change *c, size_t pairs, const char *what)
{
	size_t verdicts[TRANSITION_VERDICTS] = { 0 };
	double loop = fmax(c->from, c->to), most = fmax(loop, 0.02 * c->latency), off = 0,
		off_pause = 0, tries = 0, half = 0;
	size_t inside[3] = { 0 }, within = 0;
	struct transition_level from, to;
	uint64_t seed = 4711;

	made_level(c, c->from, &seed, &from);
	made_level(c, c->to, &seed, &to);
	for (size_t i = 0; i < pairs; i++) {
		struct transition_pair p;

		measure(c, &from, &to, &seed, &p);
		assert_int_equal(p.state, TRANSITION_KNOWN);
		off = fmax(off, fabs(p.first_ns.v - c->latency));
		off_pause = fmax(off_pause, fabs(p.pause_ns.v - c->pause));
		within += fabs(p.first_ns.v - c->latency) <= most;
		tries += (double)p.tries / pairs;
		half += (p.first_ns.hi - p.first_ns.lo) / 2 / loop / pairs;
		for (enum transition_verdict v = 1; v < TRANSITION_VERDICTS; v++)
			verdicts[v] += p.verdicts[v];
		inside[0] += covers(&p.first_ns, c->latency);
		inside[1] += covers(&p.settled_ns, c->latency + c->pause);
		inside[2] += covers(&p.pause_ns, c->pause);
	}
	printf("%s: off by %.2f loops at most (pause by %.1f %%), half an interval %.2f, %zu, %zu, %zu of %zu inside, %.1f tries\n",
	       what, off / loop, c->pause > 0 ? 100 * off_pause / c->pause : 0, half, inside[0],
	       inside[1], inside[2], pairs, tries);
	for (enum transition_verdict v = 1; v < TRANSITION_VERDICTS; v++)
		if (verdicts[v])
			printf("   %zu tries of them: %s\n", verdicts[v],
			       transition_verdict_name(v));
	assert_true(c->spread > 0 || within == pairs);
	assert_true(c->pause <= 0 || off_pause <= 0.2 * c->pause);
	for (int k = 0; k < 3; k++)
		assert_true(inside[k] >= 0.93 * pairs);
	assert_true(tries <= N / 0.9);
}

TEST(test_emulated_pairs_cover_the_truth)
{
	static const double latencies[] = { 680e3, 884e3, 1496e3, 2108e3 };
	static const double noises[] = { 0.005, 0.01, 0.02, 0.03 };

	for (size_t i = 0; i < 4; i++) {
		struct made_change up = varied(&made_slow, latencies[i], noises[i], 100, true);
		struct made_change down = varied(&made_slow, 680e3, noises[i], 100, false);
		char what[80];

		snprintf(what, sizeof(what), "up after %.0f us, %.1f %% noise", latencies[i] / 1e3,
			 100 * noises[i]);
		check_pairs(&up, pairs_of(i ? 30 : 500), what);
		snprintf(what, sizeof(what), "down after 680 us, %.1f %% noise", 100 * noises[i]);
		check_pairs(&down, pairs_of(30), what);
	}
}

TEST(test_real_pairs_cover_the_truth)
{
	static const double latencies[] = { 20e3, 26e3, 44e3, 62e3 };
	static const double resolutions[] = { 1, 10, 20, 30 };

	for (size_t i = 0; i < 4; i++) {
		struct made_change up = varied(&made_fast, latencies[i], 0.005,
					       resolutions[i], true);
		struct made_change down = varied(&made_fast, 20e3, 0.01, resolutions[i], false);
		char what[80];

		snprintf(what, sizeof(what), "up after %.0f us, clock of %.0f ns",
			 latencies[i] / 1e3, resolutions[i]);
		check_pairs(&up, pairs_of(i ? 30 : 500), what);
		snprintf(what, sizeof(what), "down after 20 us, clock of %.0f ns", resolutions[i]);
		check_pairs(&down, pairs_of(30), what);
	}
}

/* Delays of their own in each repeat, no pause, and neighbours. */
TEST(test_other_pairs_cover_the_truth)
{
	struct made_change c = made_fast;

	c.spread = 0.3 * c.latency;
	check_pairs(&c, pairs_of(500), "44 us and up to 30 % more or less");
	c = made_slow;
	c.spread = 0.3 * c.latency;
	check_pairs(&c, pairs_of(100), "1496 us and up to 30 % more or less");
	c.pause = 0;
	check_pairs(&c, pairs_of(100), "the same without a pause");
	c.spread = 0;
	check_pairs(&c, pairs_of(100), "1496 us each time, without a pause");
	/* 3.2 to 3.4 GHz */
	c = made_slow;
	c.from = 32e3;
	c.to = 30e3;
	check_pairs(&c, pairs_of(100), "32 to 30 us, 1 % noise");
}

/*
 * Loops that begin equally long after the request each time: the change is always at the same place
 * of one.
 */
TEST(test_loops_in_step_with_the_request_are_not_trusted)
{
	size_t pairs = 0, inside = 0, inside_pause = 0;

	for (double latency = 40e3; latency < 42e3; latency += getenv("KJOULE_TEST_QUICK") ?
	     500 : 20) {
		struct made_change c = made_fast;
		struct transition_level from, to;
		struct transition_pair p;
		uint64_t seed = 4711;

		c.latency = latency;
		c.dither = false;
		c.noise = 0.0005;
		made_level(&c, c.from, &seed, &from);
		made_level(&c, c.to, &seed, &to);
		measure(&c, &from, &to, &seed, &p);
		pairs++;
		inside += covers(&p.first_ns, latency) && covers(&p.settled_ns, latency + c.pause);
		inside_pause += covers(&p.pause_ns, c.pause);
		assert_true(p.phase > 0.5);
		assert_true(fabs(p.first_ns.v - latency) < c.from);
	}
	printf("in step with the request: %zu and %zu of %zu inside\n", inside,
	       inside_pause, pairs);
	assert_true(inside >= 0.93 * pairs && inside_pause >= 0.93 * pairs);
}

/* What became of tries that were disturbed in many ways. */
struct outcome {
	size_t tries, clean, clean_good, good, wrong;
	double worst;
};

static void disturbed_tries(const struct made_change *c, size_t pairs, uint64_t seed,
			    struct outcome *o)
{
	double loop = fmax(c->from, c->to);
	struct transition_level from, to;

	made_level(c, c->from, &seed, &from);
	made_level(c, c->to, &seed, &to);
	for (size_t i = 0; i < pairs; i++) {
		enum transition_verdict verdicts[N];
		struct transition_try tries[N];
		struct made_series made[N];
		struct transition_pair p;

		made_tries(c, &from, &to, &seed, tries, made, N);
		assert_int_equal(transition_pair(tries, N, 0, verdicts, &p), 0);
		for (size_t k = 0; k < N; k++) {
			double off = fmax(fabs(tries[k].first.ns - made[k].first),
					  fabs(tries[k].settled_ns - made[k].settled)) / loop;

			o->tries++;
			o->clean += !made[k].disturbed;
			o->clean_good += !made[k].disturbed && !verdicts[k];
			if (verdicts[k])
				continue;
			o->good++;
			o->wrong += !(off <= 3);
			o->worst = fmax(o->worst, off);
		}
	}
}

/*
 * @stolen: of the time something else runs for so much, and in 2 % of the loops at most;
 *   @at_change: of the series, around it
 */
static void check_disturbed(const char *what, const struct made_change *of, double stolen,
			    double at_change)
{
	static const double lengths[] = { 1, 2, 4, 10, 40, 1000 };
	struct outcome o = { 0 };

	/* what runs takes up to so many loops */
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct made_change c = *of;

		c.at_change = at_change;
		c.at_change_ns = lengths[i] * c.from;
		c.stray = fmin(0.02, 2 * stolen / lengths[i]);
		c.stray_ns = lengths[i] * c.from;
		disturbed_tries(&c, pairs_of(10), 100 + i, &o);
	}
	printf("%s: %zu tries, %zu good, %zu of these off by more than three loops (%.2f at most); undisturbed %zu, %zu good\n",
	       what, o.tries, o.good, o.wrong, o.worst, o.clean, o.clean_good);
	/*
	 * with hardly a good series, what is short enough may be a cluster of its own now and then
	 */
	assert_true(o.wrong <= (stolen > 0.1 ? 0.005 * o.good : 0));
	assert_true(stolen > 0.1 || o.clean_good >= 0.95 * o.clean);
	assert_true(stolen > 0.1 || o.good > o.tries / 2);
}

TEST(test_disturbed_tries_do_not_pass)
{
	struct made_change c = made_slow;

	check_disturbed("60 to 30 us, a pause of 323 us", &c, 0.05, 0.25);
	c.pause = 0;
	check_disturbed("60 to 30 us, no pause", &c, 0.05, 0.25);
	c.from = 30e3;
	c.to = 60e3;
	check_disturbed("30 to 60 us, no pause", &c, 0.05, 0.25);
	check_disturbed("1063 to 500 ns, a pause of 9.5 us", &made_fast, 0.05, 0.25);
	c = made_fast;
	c.from = 531;
	c.to = 500;
	check_disturbed("531 to 500 ns, a pause of 9.5 us", &c, 0.05, 0.25);
	c.pause = 0;
	check_disturbed("531 to 500 ns, no pause", &c, 0.05, 0.25);
	c.spread = 0.3 * c.latency;
	check_disturbed("531 to 500 ns, no pause, other delays each time", &c, 0.05, 0.25);
	/* most of the series, so that few pauses are what they should be */
	check_disturbed("60 to 30 us, a pause of 323 us, seldom left alone", &made_slow, 0.9, 0.6);
	check_disturbed("1063 to 500 ns, a pause of 9.5 us, seldom left alone", &made_fast, 0.9,
			0.6);
}

/* --- what fails, and why --- */

static struct transition_pair failing(const struct made_change *c, const struct made_change *as)
{
	struct transition_level from, to;
	struct transition_pair p;
	uint64_t seed = 5;

	made_level(c, c->from, &seed, &from);
	made_level(c, c->to, &seed, &to);
	measure(as, &from, &to, &seed, &p);
	assert_int_equal(p.state, TRANSITION_FAILED);
	assert_true(isnan(p.first_ns.v) && isnan(p.last_ns.v) && isnan(p.settled_ns.v) &&
		    isnan(p.pause_ns.v));
	assert_true(p.tries <= TRANSITION_TRIES_MOST);
	return p;
}

TEST(test_failure_has_a_reason_and_no_number)
{
	struct made_change c = made_slow, as = made_slow;
	struct transition_pair p;

	as.latency = INFINITY;
	as.timeout = 10e6;
	p = failing(&c, &as);
	assert_int_equal(p.why, TRANSITION_NEVER);
	assert_float_equal(p.request_ns.v, c.request, 1e-6);
	as = c;
	as.to = 1.2 * c.to;
	p = failing(&c, &as);
	assert_int_equal(p.why, TRANSITION_ELSEWHERE);
	assert_float_equal(p.speed_ratio, 1 / 1.2, 0.005);
	as = c;
	as.from = 45e3;
	assert_int_equal(failing(&c, &as).why, TRANSITION_NOT_FROM);
	as = c;
	as.request = 5e6;
	assert_int_equal(failing(&c, &as).why, TRANSITION_IN_CALL);
	c.to = 0.99 * c.from;
	p = failing(&c, &c);
	assert_int_equal(p.why, TRANSITION_TOO_NEAR);
	/* now and then something runs at the change, and now and then is too often */
	c = as = made_slow;
	as.stray = 0.5;
	as.stray_ns = 5000e3;
	p = failing(&c, &as);
	assert_int_equal(p.tries, p.verdicts[TRANSITION_GOOD] ? TRANSITION_TRIES_MOST : N);
}

/*
 * The CPU stops for @ns from @at on: the loop with it takes longer, and all later ones begin later.
 */
static void stand_still(struct made_series *m, double at, double ns)
{
	for (size_t i = 0; i < m->s.n; i++) {
		struct transition_loop *l = &m->loops[i];

		if (l->start_ns > at)
			l->start_ns += ns;
		else if (l->start_ns + l->loop_ns > at)
			l->loop_ns += ns;
	}
}

/* Tries of two levels near each other, in which the CPU stops at @at, give or take @spread. */
static struct transition_pair standing(double at, double spread)
{
	struct made_change c = made_slow;
	struct transition_try tries[N];
	struct transition_level from, to;
	struct transition_pair p;
	uint64_t seed = 11;

	c.from = 78.5e3;
	c.to = 82e3;
	c.noise = 0.01;
	c.pause = 0;
	c.latency = 1115e3;
	c.dither = true;
	made_level(&c, c.from, &seed, &from);
	made_level(&c, c.to, &seed, &to);
	for (size_t i = 0; i < N; i++) {
		struct made_series m;

		made_new(&c, &seed, &m);
		stand_still(&m, at + spread * (2 * rnd_unit(&seed) - 1), 313e3);
		assert_int_equal(transition_try(&m.s, &from, &to, &tries[i]), 0);
		made_free(&m);
	}
	assert_int_equal(transition_pair(tries, N, 0, NULL, &p), 0);
	return p;
}

/*
 * A CPU that stops some loops before the loops look changed, in each try, has changed then: the
 * later step is something else. One that stops there by chance has not.
 */
TEST(test_a_pause_next_to_the_change_is_no_chance)
{
	struct transition_pair p = standing(660e3, 10e3);

	assert_int_equal(p.verdicts[TRANSITION_GOOD], 0);
	assert_int_equal(p.state, TRANSITION_FAILED);
	assert_int_equal(p.why, TRANSITION_DISTURBED);
	assert_true(isnan(p.last_ns.v));
	p = standing(550e3, 500e3);
	assert_true(p.verdicts[TRANSITION_GOOD] > N / 2);
}

/* What the first of some good tries becomes if it is unlike the others in one thing. */
static enum transition_verdict unlike_the_others(void (*change)(struct transition_try *t),
						 size_t tries)
{
	struct made_change c = made_slow;
	enum transition_verdict verdicts[N];
	struct transition_level from, to;
	struct transition_try t[N];
	struct transition_pair p;
	uint64_t seed = 11;

	c.noise = 0.002;
	made_level(&c, c.from, &seed, &from);
	made_level(&c, c.to, &seed, &to);
	made_tries(&c, &from, &to, &seed, t, NULL, tries);
	assert_int_equal(transition_pair(t, tries, tries, verdicts, &p), 0);
	assert_int_equal(p.verdicts[TRANSITION_GOOD], tries);
	change(&t[0]);
	assert_int_equal(transition_pair(t, tries, tries, verdicts, &p), 0);
	for (size_t i = 1; i < tries; i++)
		assert_int_equal(verdicts[i], TRANSITION_GOOD);
	return verdicts[0];
}

static void another_step(struct transition_try *t)
{
	t->changes++;
}

static void longer_call(struct transition_try *t)
{
	t->request_ns += 5 * t->first.from_ns;
}

static void a_little_longer_call(struct transition_try *t)
{
	t->request_ns += 0.1 * t->first.from_ns;
}

TEST(test_a_try_unlike_the_others_was_disturbed)
{
	assert_int_equal(unlike_the_others(another_step, 31), TRANSITION_DISTURBED);
	/* of so few it is unknown which are the usual ones */
	assert_int_equal(unlike_the_others(another_step, 4), TRANSITION_GOOD);
	assert_int_equal(unlike_the_others(longer_call, 31), TRANSITION_DISTURBED);
	assert_int_equal(unlike_the_others(a_little_longer_call, 31), TRANSITION_GOOD);
}

/* A few good ones among all that were tried are no answer either. */
TEST(test_few_good_tries_are_a_failure)
{
	struct transition_try tries[TRANSITION_TRIES_MOST];
	struct transition_level from, to;
	struct transition_pair p;
	uint64_t seed = 5;

	made_level(&made_fast, made_fast.from, &seed, &from);
	made_level(&made_fast, made_fast.to, &seed, &to);
	made_tries(&made_fast, &from, &to, &seed, tries, NULL, TRANSITION_TRIES_MOST);
	for (size_t i = 0; i < TRANSITION_TRIES_MOST; i++)
		if (i % 6)
			tries[i].verdict = i % 6 < 4 ? TRANSITION_HIDDEN : TRANSITION_NEVER;
	assert_int_equal(transition_pair(tries, TRANSITION_TRIES_MOST - 1, 0, NULL, &p), 0);
	assert_int_equal(p.state, TRANSITION_MORE);
	assert_int_equal(transition_pair(tries, TRANSITION_TRIES_MOST, 0, NULL, &p), 0);
	assert_int_equal(p.state, TRANSITION_FAILED);
	assert_int_equal(p.why, TRANSITION_HIDDEN);
	assert_int_equal(p.verdicts[TRANSITION_GOOD], 21);
	assert_true(isnan(p.first_ns.v) && isnan(p.last_ns.v) && isnan(p.settled_ns.v) &&
		    isnan(p.pause_ns.v));
	/* but enough for whoever asks for no more */
	assert_int_equal(transition_pair(tries, TRANSITION_TRIES_MOST, 21, NULL, &p), 0);
	assert_int_equal(p.state, TRANSITION_KNOWN);
	assert_int_equal(p.why, TRANSITION_GOOD);
}

TEST(test_no_tries_ask_for_more)
{
	struct transition_pair p;

	assert_int_equal(transition_pair(NULL, 0, 0, NULL, &p), 0);
	assert_int_equal(p.state, TRANSITION_MORE);
	assert_true(isnan(p.first_ns.v) && isnan(p.request_ns.v));
}

/* With the ranks that tables have: 10 of 31, 1 of 6, 2 of 9, none of 5. */
TEST(test_median_has_the_ranks_of_the_tables)
{
	static const struct { size_t n, rank; } known[] = { { 31, 10 }, { 6, 1 }, { 8, 1 },
							    { 9, 2 }, { 20, 6 }, { 100, 40 } };
	double values[100], room[100];

	for (size_t i = 0; i < 100; i++)
		values[i] = i + 1;
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		struct value v = transition_median(values, known[k].n, room);

		assert_float_equal(v.v, (known[k].n + 1) / 2.0, 1e-9);
		assert_float_equal(v.lo, known[k].rank, 1e-9);
		assert_float_equal(v.hi, known[k].n + 1 - known[k].rank, 1e-9);
	}
	assert_true(isnan(transition_median(values, 5, room).lo));
	assert_true(isnan(transition_median(values, 0, room).v));
}

/* --- the paper's own ways --- */

/* What one loop of the target must be within. */
struct range {
	double lo, hi;
};

/*
 * The published code: the middle half of the target's loops. The paper: the 95 % interval of their
 * mean.
 */
static void peer_ranges(const struct made_change *c, uint64_t *seed, struct range *quartiles,
			struct range *interval)
{
	static double loops[10000];
	struct transition_level l;

	made_loops(c, c->to, seed, loops, 10000);
	assert_int_equal(transition_level(loops, 10000, c->resolution, &l), 0);
	*interval = (struct range){ l.mean_ns.lo, l.mean_ns.hi };
	gsl_sort(loops, 1, 10000);
	quartiles->lo = gsl_stats_quantile_from_sorted_data(loops, 1, 10000, 0.25);
	quartiles->hi = gsl_stats_quantile_from_sorted_data(loops, 1, 10000, 0.75);
}

/* The end of the first loop in the range, NAN: none is. */
static double peer(const struct made_series *m, const struct range *r)
{
	for (size_t i = 0; i < m->s.n; i++)
		if (m->loops[i].start_ns >= 0 && m->loops[i].loop_ns >= r->lo &&
		    m->loops[i].loop_ns <= r->hi)
			return m->loops[i].start_ns + m->loops[i].loop_ns;
	return NAN;
}

struct errors {
	double ours[N], quartiles[N], interval[N];
	size_t n[3];
};

static void add_error(double *errors, size_t *n, double error)
{
	if (!isnan(error))
		errors[(*n)++] = fabs(error);
}

static void compare_peers(const struct made_change *c, const char *what, double *ours,
			  double *theirs)
{
	double loop = fmax(c->from, c->to), room[N];
	struct range quartiles, interval;
	struct transition_level from, to;
	struct errors e = { 0 };
	uint64_t seed = 4711;

	made_level(c, c->from, &seed, &from);
	made_level(c, c->to, &seed, &to);
	peer_ranges(c, &seed, &quartiles, &interval);
	for (size_t i = 0; i < N; i++) {
		struct transition_try t;
		struct made_series m;

		made_new(c, &seed, &m);
		assert_int_equal(transition_try(&m.s, &from, &to, &t), 0);
		add_error(e.ours, &e.n[0], t.settled_ns - m.settled);
		add_error(e.quartiles, &e.n[1], peer(&m, &quartiles) - m.settled);
		add_error(e.interval, &e.n[2], peer(&m, &interval) - m.settled);
		made_free(&m);
	}
	assert_true(e.n[0] > N / 2);
	*ours = transition_median(e.ours, e.n[0], room).v / loop;
	*theirs = e.n[1] ? transition_median(e.quartiles, e.n[1], room).v / loop : INFINITY;
	printf("%s: off by %.2f loops in the median (%zu tries); the first loop in the quartiles %.2f (%zu), "
	       "in the mean's interval %.2f (%zu)\n", what, *ours, e.n[0], *theirs, e.n[1],
	       transition_median(e.interval, e.n[2], room).v / loop, e.n[2]);
}

TEST(test_nearer_to_the_truth_than_the_paper)
{
	struct made_change c = made_slow;
	double ours, theirs;

	compare_peers(&c, "60 to 30 us, 1 % noise", &ours, &theirs);
	assert_true(ours < theirs);
	c.noise = 0.03;
	compare_peers(&c, "60 to 30 us, 3 % noise", &ours, &theirs);
	assert_true(ours < theirs);
	c = made_slow;
	c.to = 57e3;
	compare_peers(&c, "60 to 57 us, 1 % noise", &ours, &theirs);
	assert_true(ours < theirs);
	compare_peers(&made_fast, "1063 to 500 ns", &ours, &theirs);
	assert_true(ours < theirs);
	c = made_fast;
	c.to = 1030;
	c.noise = 0.01;
	compare_peers(&c, "1063 to 1030 ns, 1 % noise", &ours, &theirs);
	assert_true(ours < theirs);
}
