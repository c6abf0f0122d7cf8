// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See boost_judge.h.
 */
#include <math.h>
#include <stdlib.h>
#include "analysis/boost/boost_judge.h"
#include "analysis/stats/change_points.h"

/* At most so many values of a run's frequency: finding levels in a steady one is quadratic. */
#define MOST_VALUES	2000

static const char *const names[BOOST_CLASSES] = { "boosted", "throttled", "mixed", "disturbed",
						  "unjudged" };

const char *boost_class_name(enum boost_class class)
{
	return names[class];
}

/* Mean frequency of slices faster than @above that have such a neighbour: not those of a change. */
static double khz_mean_above(const struct boost_slice *s, size_t n, double from_s, double to_s,
			     double above)
{
	double sum = 0;
	size_t in = 0;

	for (size_t i = 1; i + 1 < n; i++) {
		if (s[i].t_s < from_s || s[i].t_s + s[i].len_s > to_s || !(s[i].khz > above))
			continue;
		if (!(s[i - 1].khz > above) && !(s[i + 1].khz > above))
			continue;
		sum += s[i].khz;
		in++;
	}
	return in ? sum / in : NAN;
}

/* Slower than this is slower than sustained. */
static double khz_slow_limit(double sustained_khz)
{
	return (1 - BOOST_LEAST) * sustained_khz;
}

static double slice_overlap_s(const struct boost_slice *s, double from_s, double to_s)
{
	return fmax(fmin(s->t_s + s->len_s, to_s) - fmax(s->t_s, from_s), 0);
}

/* How long it was slower than that, idle slices left out. @khz: out: mean frequency meanwhile */
static double slices_slower_s(const struct boost_slice *s, size_t n, double from_s, double to_s,
			      double below, double *khz)
{
	double sum = 0, cycles = 0;

	for (size_t i = 0; i < n; i++) {
		double t = slice_overlap_s(&s[i], from_s, to_s);

		if (!(s[i].khz < below))
			continue;
		sum += t;
		cycles += t * s[i].khz;
	}
	if (khz)
		*khz = cycles / sum;
	return sum;
}

/* A run that is slow only at its beginning waits for a governor. Return: when that is over */
static double governor_wait_end_s(const struct boost_slice *s, size_t n, double from_s, double to_s,
				  double below)
{
	for (size_t i = 0; i < n && s[i].t_s < fmin(from_s + BOOST_RUN_GOVERNOR_S, to_s); i++)
		if (s[i].t_s >= from_s && s[i].khz >= below)
			return s[i].t_s;
	return from_s;
}

static double slices_mean_busy(const struct boost_slice *s, size_t n, double from_s, double to_s)
{
	double sum = 0, known = 0;

	for (size_t i = 0; i < n; i++) {
		double t = slice_overlap_s(&s[i], from_s, to_s);

		if (isnan(s[i].busy))
			continue;
		sum += t * s[i].busy;
		known += t;
	}
	return sum / known;
}

static bool run_is_disturbed(const struct boost_run *r, const struct boost_judge *by,
			     double slice_s)
{
	double idle = by->cpus ? fmax(1 - r->busy / by->cpus, 0) : 0;
	double sd = sqrt(fmax(r->busy * idle * by->tick_s / r->seconds, 0));

	return by->others > fmax(BOOST_RUN_OTHERS, BOOST_RUN_OTHERS_CPU * by->cpus) +
			    BOOST_RUN_OTHERS_SLICES * slice_s / r->seconds +
			    BOOST_RUN_OTHERS_SD * sd;
}

/* The frequency of a run at one speed; NAN: several, or unknown. */
static double slices_only_khz(const struct boost_slice *s, size_t n, double from_s, double to_s)
{
	size_t begin = 0, end, n_values, n_steps, each;
	struct step *steps = NULL;
	double *values, khz = NAN;

	while (begin < n && s[begin].t_s < from_s - 1e-9)
		begin++;
	for (end = begin; end < n && s[end].t_s + s[end].len_s <= to_s + 1e-9;)
		end++;
	each = (end - begin) / MOST_VALUES + 1;
	n_values = (end - begin) / each;
	values = malloc((n_values + 1) * sizeof(*values));
	if (!values)
		return NAN;
	for (size_t i = 0; i < n_values; i++) {
		double sum = 0;
		size_t known = 0;

		for (const struct boost_slice *k = &s[begin + i * each];
		     k < &s[begin + (i + 1) * each]; k++) {
			sum += isnan(k->khz) ? 0 : k->khz;
			known += !isnan(k->khz);
		}
		values[i] = known ? sum / known : NAN;
	}
	if (!change_points_find(values, n_values, BOOST_LEAST, &steps, &n_steps) && n_steps == 1)
		khz = steps[0].mean;
	free(steps);
	free(values);
	return khz;
}

/* As fast as the chip boosts, or hardly slower. */
static bool khz_is_boosted(double khz, double boost_khz)
{
	return isnan(boost_khz) || khz >= (1 - 2 * BOOST_LEAST) * boost_khz;
}

/* Given r->sustained_khz: the boosted part, and the class that follows from it. */
static void run_split_boosted(struct boost_run *r, const struct boost_slice *s, size_t n,
			      double from_s, double to_s, double boost_khz)
{
	double own = khz_mean_above(s, n, from_s, to_s, (1 + BOOST_LEAST) * r->sustained_khz),
		part, only;

	r->slower_s = slices_slower_s(s, n, from_s, to_s, khz_slow_limit(r->sustained_khz), NULL);
	r->boost_khz = khz_is_boosted(own, boost_khz) ? own : boost_khz;
	r->boosted_s = isnan(own) ?
		       0 : boost_time(s, n, from_s, to_s, fmin(boost_khz, r->boost_khz),
				      r->sustained_khz, false);
	r->sustained_s = r->seconds - r->boosted_s - r->slower_s;
	part = r->boosted_s / (r->seconds - r->slower_s);
	if (part < BOOST_RUN_PURE)
		r->boost_khz = boost_khz;
	r->r = r->boost_khz / r->sustained_khz;
	r->class = part < BOOST_RUN_PURE ? BOOST_THROTTLED : part > 1 - BOOST_RUN_PURE ?
		   BOOST_BOOSTED : BOOST_MIXED;
	if (r->class != BOOST_MIXED)
		return;
	only = slices_only_khz(s, n, from_s, to_s);
	if (isnan(only))
		return;
	r->class = BOOST_THROTTLED;
	if (only > (1 + BOOST_LEAST) * r->sustained_khz && khz_is_boosted(only, r->boost_khz))
		r->class = BOOST_BOOSTED;
}

/* Half of the interval, relative; 0: there is none. */
static double value_half_part(const struct value *v)
{
	return isnan(v->lo) || isnan(v->hi) ? 0 : (v->hi - v->lo) / 2 / v->v;
}

static struct value value_about(double v, double half)
{
	return (struct value){ v, v - half, v + half };
}

/* @rel: relative uncertainty of the speeds */
static void run_correct_times(struct boost_run *r, double slice_s, double rel)
{
	/* one slice more or less may have been boosted */
	double slice = r->class == BOOST_MIXED ? (r->r - 1) * slice_s : 0;
	double sustained = r->r * r->boosted_s + r->sustained_s + r->slower_s;
	double half = hypot(slice, r->boosted_s * r->r * rel), boosted = sustained / r->r;

	r->as_sustained_s = value_about(sustained, half);
	r->as_boosted_s = value_about(boosted, boosted * hypot(half / sustained, rel));
}

struct boost_run boost_run_judge(const struct boost_slice *s, size_t n, double from_s, double to_s,
				 const struct boost_judge *by)
{
	static const struct value unknown = { NAN, NAN, NAN };
	struct boost_level all = boost_level(s, n, from_s, to_s);
	struct boost_run r = { .class = BOOST_UNJUDGED, .seconds = to_s - from_s, .boosted_s = NAN,
			       .sustained_s = NAN, .slower_s = NAN, .boost_khz = NAN,
			       .sustained_khz = by->sustained_khz.v, .r = NAN, .others = by->others,
			       .busy = slices_mean_busy(s, n, from_s, to_s), .khz = all.khz.v,
			       .w = all.w.v, .as_boosted_s = unknown, .as_sustained_s = unknown };
	double below = khz_slow_limit(r.sustained_khz),
		rel_sustained = value_half_part(&by->sustained_khz), since_s, own_khz;

	if (!n || isnan(r.sustained_khz) || isnan(r.khz) ||
	    r.seconds < BOOST_RUN_LEAST * s[0].len_s)
		return r;
	run_split_boosted(&r, s, n, from_s, to_s, by->boost_khz.v);
	if (run_is_disturbed(&r, by, s[0].len_s)) {
		r.class = BOOST_DISTURBED;
		return r;
	}
	since_s = governor_wait_end_s(s, n, from_s, to_s, below);
	if (slices_slower_s(s, n, since_s, to_s, below, &own_khz) > BOOST_RUN_SLOWER * r.seconds) {
		r.sustained_khz = own_khz;
		rel_sustained = 0;
		run_split_boosted(&r, s, n, from_s, to_s, by->boost_khz.v);
	}
	run_correct_times(&r, s[0].len_s, hypot(value_half_part(&by->boost_khz), rel_sustained));
	return r;
}
