// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See boost.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "analysis/boost/boost.h"
#include "analysis/stats/change_points.h"

#define BATCHES		16

/* A load of fewer slices is too short to judge; a level of fewer is a passing one. */
#define LEAST_SLICES	20

/* A slower level before the first is a ramp, if it is at most this part of the load. */
#define RAMP		0.02

/*
 * So few slices are a ramp at any speed: they may have begun before the load was on all its CPUs.
 */
#define EDGE		3

/* With more levels than these behind the first there is no last one: the speed goes up and down. */
#define MOST_BEHIND	6

static const char *const names[BOOST_VERDICTS] = { "ends", "lasts", "rises", "idle", "unknown" };

const char *boost_verdict_name(enum boost_verdict verdict)
{
	return names[verdict];
}

/* The mean of the known values, with an interval from the means of batches. */
static struct value slices_mean(const struct boost_slice *s, size_t n, size_t offset)
{
	double sum[BATCHES] = { 0 }, all = 0, squares = 0, t;
	size_t known[BATCHES] = { 0 }, in = 0, batches = 0;
	struct value v = { NAN, NAN, NAN };

	for (size_t i = 0; i < n; i++) {
		double x = *(const double *)((const char *)&s[i] + offset);
		size_t b = i * BATCHES / n;

		if (isnan(x))
			continue;
		sum[b] += x;
		known[b]++;
		all += x;
		in++;
	}
	if (!in)
		return v;
	v.v = all / in;
	for (size_t b = 0; b < BATCHES; b++) {
		if (!known[b])
			continue;
		squares += known[b] * (sum[b] / known[b] - v.v) * (sum[b] / known[b] - v.v);
		batches++;
	}
	if (batches < 2)
		return v;
	t = interval_t(batches - 1) * sqrt(squares / in / (batches - 1));
	v.lo = v.v - t;
	v.hi = v.v + t;
	return v;
}

struct boost_level boost_level(const struct boost_slice *slices, size_t n, double from_s,
			       double to_s)
{
	struct boost_level l = { .from_s = from_s, .to_s = to_s };
	size_t begin = 0, end;

	/* sums of times have rounding errors */
	while (begin < n && slices[begin].t_s < from_s - 1e-9)
		begin++;
	for (end = begin; end < n && slices[end].t_s + slices[end].len_s <= to_s + 1e-9;)
		end++;
	l.w = slices_mean(&slices[begin], end - begin, offsetof(struct boost_slice, w));
	l.khz = slices_mean(&slices[begin], end - begin, offsetof(struct boost_slice, khz));
	l.work = slices_mean(&slices[begin], end - begin, offsetof(struct boost_slice, work));
	l.celsius = slices_mean(&slices[begin], end - begin, offsetof(struct boost_slice, celsius));
	return l;
}

double boost_time(const struct boost_slice *slices, size_t n, double from_s, double to_s,
		  double boosted, double sustained, bool by_work)
{
	double sum = 0, part = 1;

	for (size_t i = 0; i < n; i++) {
		double v = by_work ? slices[i].work : slices[i].khz;
		double begin = fmax(slices[i].t_s, from_s),
			end = fmin(slices[i].t_s + slices[i].len_s, to_s);

		if (end <= begin)
			continue;
		if (!isnan(v))
			part = fmin(fmax((v - sustained) / (boosted - sustained), 0), 1);
		sum += part * (end - begin);
	}
	return sum;
}

/* The slices of a load, and the references for them. */
struct load_part {
	const struct boost_slice *slices;
	size_t n;
	double begin_s;
	size_t n_steps;
	struct step *steps;
};

static bool slices_have_value(const struct boost_slice *s, size_t n, size_t offset)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(*(const double *)((const char *)&s[i] + offset)))
			return true;
	return false;
}

static int load_find_steps(struct load_part *p, size_t offset)
{
	double *v = malloc(p->n * sizeof(*v));
	int ret;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		v[i] = *(const double *)((const char *)&p->slices[i] + offset);
	ret = change_points_find(v, p->n, BOOST_LEAST, &p->steps, &p->n_steps);
	free(v);
	return ret;
}

static double step_length(const struct step *s)
{
	return (double)(s->end - s->begin);
}

/*
 * A short excursion that returns to the level before it is no step: it stays in that level's mean.
 */
static void dips_leave_out(struct load_part *p)
{
	struct step *s = p->steps;
	size_t kept = 0;

	for (size_t i = 0; i < p->n_steps; i++) {
		struct step *before = kept > 1 ? &s[kept - 2] : NULL,
		*dip = kept ? &s[kept - 1] : NULL;

		if (before && step_length(dip) < LEAST_SLICES &&
		    step_length(before) >= LEAST_SLICES && step_length(&s[i]) >= LEAST_SLICES &&
		    fabs(before->mean - s[i].mean) < BOOST_LEAST * fmax(before->mean, s[i].mean)) {
			before->mean =
				(before->mean * step_length(before) +
				 s[i].mean * step_length(&s[i])) /
				(step_length(before) + step_length(&s[i]));
			before->end = s[i].end;
			kept--;
			continue;
		}
		s[kept++] = s[i];
	}
	p->n_steps = kept;
}

static double slice_start_s(const struct load_part *p, size_t i)
{
	return i < p->n ? p->slices[i].t_s : p->slices[p->n - 1].t_s + p->slices[p->n - 1].len_s;
}

/*
 * The first slices may have another level: the governor has not reacted, or the slice began before
 * the load. Anything faster than what follows is not a ramp but a short boost.
 */
static size_t ramp_skip(const struct load_part *p)
{
	const struct step *s = p->steps;
	size_t first = 0;

	while (first + 1 < p->n_steps &&
	       (s[first].end <= EDGE ||
		(s[first].end <= RAMP * p->n && s[first].mean < s[first + 1].mean)))
		first++;
	return first;
}

/* Of these steps and all between them. Slices next to a change may have some of it. */
static struct boost_level steps_level(const struct load_part *p, size_t first, size_t last)
{
	size_t begin = p->steps[first].begin, end = p->steps[last].end;
	struct boost_level l;

	if (end - begin > 4 && first)
		begin++;
	if (end - begin > 4 && last + 1 < p->n_steps)
		end--;
	l = boost_level(p->slices, p->n, slice_start_s(p, begin), slice_start_s(p, end));
	l.from_s = slice_start_s(p, p->steps[first].begin);
	l.to_s = slice_start_s(p, p->steps[last].end);
	return l;
}

static bool speed_is_below(double one, double other)
{
	return one < (1 - BOOST_LEAST) * other;
}

/* What follows the first level, compared to it: slower, faster, and the last level. */
struct behind {
	size_t slices, slower, faster;
	bool last_slower, last_faster;
};

static struct behind behind_measure(const struct load_part *p, size_t first)
{
	const struct step *s = p->steps, *last = &s[p->n_steps - 1];
	bool is_long = last->end - last->begin >= LEAST_SLICES;
	struct behind b = { .slices = p->n - s[first].end };

	for (size_t i = first + 1; i < p->n_steps; i++) {
		if (speed_is_below(s[i].mean, s[first].mean))
			b.slower += s[i].end - s[i].begin;
		else if (speed_is_below(s[first].mean, s[i].mean))
			b.faster += s[i].end - s[i].begin;
	}
	b.last_slower = is_long && speed_is_below(last->mean, s[first].mean);
	b.last_faster = is_long && speed_is_below(s[first].mean, last->mean);
	return b;
}

/* At least half of what follows the first level, and no dip. */
static bool slices_prevail(size_t slices, const struct behind *b)
{
	return slices >= LEAST_SLICES && 2 * slices >= b->slices;
}

/* Does @sustained with @r mean a boost that ended? A passing change does not. */
static enum boost_verdict load_verdict(const struct behind *b, double r)
{
	bool ends = b->last_slower || slices_prevail(b->slower, b),
		rises = b->last_faster || slices_prevail(b->faster, b);

	if (ends && speed_is_below(1, r))
		return BOOST_ENDS;
	return (ends || rises) && speed_is_below(r, 1) ? BOOST_RISES : BOOST_LASTS;
}

static void load_judge(const struct load_part *p, struct boost_course *c)
{
	size_t first = ramp_skip(p), last = p->n_steps - 1;
	struct behind b = behind_measure(p, first);
	bool mean_of_all = last - first > MOST_BEHIND || !(b.last_slower || b.last_faster);
	size_t from = mean_of_all ? first + 1 : last;

	c->verdict = BOOST_LASTS;
	if (last > first) {
		c->boost = steps_level(p, first, first);
		c->sustained = steps_level(p, from, last);
		c->r_work = c->boost.work.v / c->sustained.work.v;
		c->r = c->by_work ? c->r_work : c->boost.khz.v / c->sustained.khz.v;
		c->verdict = load_verdict(&b, c->r);
	}
	if (c->verdict == BOOST_LASTS) {
		c->n_levels = 1;
		c->levels[0] = c->boost = c->sustained = steps_level(p, first, last);
		c->r = c->r_work = NAN;
		return;
	}
	for (size_t i = first; i <= last && c->n_levels < BOOST_LEVELS; i++)
		c->levels[c->n_levels++] = steps_level(p, i, i);
	c->tb_s.v = slice_start_s(p, p->steps[first].end) -
		    (first ? slice_start_s(p, p->steps[first].begin) : p->begin_s);
	c->tb_s.lo = c->tb_s.v - p->slices[0].len_s;
	c->tb_s.hi = c->tb_s.v + p->slices[0].len_s;
	c->last_s = slice_start_s(p, p->steps[from].begin) - p->begin_s;
}

int boost_course(const struct boost_slice *slices, size_t n, double begin_s, double end_s,
		 double loaded, struct boost_course *c)
{
	struct load_part p = { .begin_s = begin_s };
	double busy = 0;
	size_t known = 0;
	int ret;

	*c = (struct boost_course){ .verdict = BOOST_UNKNOWN, .tb_s = { NAN, NAN, NAN },
				    .last_s = NAN, .r = NAN, .r_work = NAN, .busy = NAN };
	while (n && slices[0].t_s < begin_s - 1e-9) {
		slices++;
		n--;
	}
	while (n && slices[n - 1].t_s + slices[n - 1].len_s > end_s + 1e-9)
		n--;
	p.slices = slices;
	p.n = n;
	for (size_t i = 0; i < n; i++) {
		if (isnan(slices[i].mine))
			continue;
		busy += slices[i].mine;
		known++;
	}
	c->busy = known ? busy / known / loaded : NAN;
	if (n < LEAST_SLICES)
		return 0;
	c->by_work = !slices_have_value(slices, n, offsetof(struct boost_slice, khz));
	if (c->by_work && !slices_have_value(slices, n, offsetof(struct boost_slice, work)))
		return 0;
	if (c->busy < BOOST_BUSY) {
		c->verdict = BOOST_IDLE;
		return 0;
	}
	ret = load_find_steps(&p, c->by_work ? offsetof(struct boost_slice, work) :
			      offsetof(struct boost_slice, khz));
	if (!ret) {
		dips_leave_out(&p);
		load_judge(&p, c);
	}
	free(p.steps);
	return ret == -ENODATA ? 0 : ret;
}
