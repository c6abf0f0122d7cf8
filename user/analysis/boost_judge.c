// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See boost_judge.h.
 */
#include <math.h>
#include "boost_judge.h"

static const char *const names[BOOST_CLASSES] = { "boosted", "throttled", "mixed", "disturbed", "unjudged" };

const char *boost_class_name(enum boost_class class)
{
	return names[class];
}

/* The mean frequency of slices that are inside and faster than @above, of which a neighbour is as well: not those of a change. */
static double mean_above(const struct boost_slice *s, size_t n, double from_s, double to_s, double above)
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

/* How long it was slower than what is sustained; what no CPU runs in is no part of it. */
static double slower(const struct boost_slice *s, size_t n, double from_s, double to_s, double sustained)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double begin = fmax(s[i].t_s, from_s), end = fmin(s[i].t_s + s[i].len_s, to_s);

		if (end > begin && s[i].khz < (1 - BOOST_LEAST) * sustained)
			sum += end - begin;
	}
	return sum;
}

static void correct(struct boost_run *r, double slice_s)
{
	double off = r->class == BOOST_MIXED ? slice_s : 0;

	r->as_sustained_s.v = r->r * r->boosted_s + r->sustained_s + r->slower_s;
	/* a slice more or less of it was boosted */
	r->as_sustained_s.lo = r->as_sustained_s.v - (r->r - 1) * off;
	r->as_sustained_s.hi = r->as_sustained_s.v + (r->r - 1) * off;
	r->as_boosted_s.v = r->as_sustained_s.v / r->r;
	r->as_boosted_s.lo = r->as_sustained_s.lo / r->r;
	r->as_boosted_s.hi = r->as_sustained_s.hi / r->r;
}

struct boost_run boost_run_judge(const struct boost_slice *s, size_t n, double from_s, double to_s, double sustained_khz,
				 double boost_khz, double others)
{
	static const struct value unknown = { NAN, NAN, NAN };
	struct boost_level all = boost_level(s, n, from_s, to_s);
	struct boost_run r = { .class = BOOST_UNJUDGED, .seconds = to_s - from_s, .boosted_s = NAN, .sustained_s = NAN, .slower_s = NAN,
			       .boost_khz = NAN, .r = NAN, .others = others, .khz = all.khz.v, .w = all.w.v,
			       .as_boosted_s = unknown, .as_sustained_s = unknown };
	double part, least_khz;

	if (!n || isnan(sustained_khz) || isnan(r.khz) || r.seconds < BOOST_RUN_LEAST * s[0].len_s)
		return r;
	r.boost_khz = mean_above(s, n, from_s, to_s, (1 + BOOST_LEAST) * sustained_khz);
	r.slower_s = slower(s, n, from_s, to_s, sustained_khz);
	/* with fewer CPUs at work some chips boost to more: that is no less of a boost */
	least_khz = isnan(boost_khz) ? r.boost_khz : fmin(boost_khz, r.boost_khz);
	r.boosted_s = isnan(r.boost_khz) ? 0 : boost_time(s, n, from_s, to_s, least_khz, sustained_khz, false);
	r.sustained_s = r.seconds - r.boosted_s - r.slower_s;
	part = r.boosted_s / (r.seconds - r.slower_s);
	if (part < BOOST_RUN_PURE)
		r.boost_khz = boost_khz;
	r.r = r.boost_khz / sustained_khz;
	if (others > BOOST_RUN_OTHERS + BOOST_RUN_OTHERS_SLICES * s[0].len_s / r.seconds || r.slower_s > BOOST_RUN_SLOWER * r.seconds)
		r.class = BOOST_DISTURBED;
	else if (part < BOOST_RUN_PURE)
		r.class = BOOST_THROTTLED;
	else if (part > 1 - BOOST_RUN_PURE)
		r.class = BOOST_BOOSTED;
	else
		r.class = BOOST_MIXED;
	if (r.class != BOOST_DISTURBED)
		correct(&r, s[0].len_s);
	return r;
}
