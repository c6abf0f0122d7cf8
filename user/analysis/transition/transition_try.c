// SPDX-License-Identifier: GPL-2.0-or-later
/* One series around a request: did the frequency change, when, how certain; see transition.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include "analysis/transition/transition_path.h"

/* A pause must be known to within such a part of a loop. */
#define KNOWN_PART	0.5

/*
 * A loop off its level by less than such a part of the way to the other one has at most that part
 * at the other one: the change is next to it, whatever the deviation of the level's loops. The
 * first loops after a change are often so.
 */
#define NEXT_PART	0.02

/* Loops may overlap by such a part if the clock is coarse. */
#define OVERLAP_MOST	0.1

/* Of the loops' own spread: those farther from their median count as outliers in a mean. */
#define FAR		6.0
#define IQR_SIGMA	1.349

/*
 * Levels are at least so many deviations of the series' own loops apart, or these are too noisy:
 * less than TRANSITION_FOLLOW, as the deviation of the few loops before the request is inaccurate.
 */
#define NOISY		2.0

static const struct value unknown = { NAN, NAN, NAN };
static const struct transition_change no_change = {
	.ns = NAN, .end_ns = NAN, .pause_ns = NAN, .pause_most_ns = NAN, .after_ns = NAN,
	.before_ns = NAN, .unchanged = SIZE_MAX, .changed = SIZE_MAX, .loop_start_ns = NAN,
	.from_ns = NAN, .to_ns = NAN,
};

/* A series being processed. */
struct work {
	const struct transition_series *s;
	const struct transition_level *from, *to;
	const struct transition_loop *loops;	/* those after the request */
	size_t n, before;
	double longest;		/* loop of the two levels */
	double *room;		/* for as many as the series has */
	struct path path;
};

static double loop_end_ns(const struct transition_loop *l)
{
	return l->start_ns + l->loop_ns;
}

static bool series_is_valid(const struct transition_series *s)
{
	if (!isfinite(s->request_ns) || s->request_ns < 0)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		const struct transition_loop *l = &s->loops[i];
		double overlap = OVERLAP_MOST * l->loop_ns;

		if (!isfinite(l->start_ns) || !isfinite(l->loop_ns) || !(l->loop_ns > 0) ||
		    !isfinite(loop_end_ns(l)))
			return false;
		if (i && l->start_ns < fmax(loop_end_ns(&l[-1]) - overlap, l[-1].start_ns))
			return false;
		if (l->start_ns < 0 && loop_end_ns(l) > overlap)
			return false;
	}
	return true;
}

/* The mean of loops without outliers. */
struct mean {
	size_t n, far;
	double ns, sd;		/* of the mean */
	double loop_sd;		/* of a loop */
};

/* @usual_sd: of a loop at that level, clock included, which @n equal loops may not show */
static struct mean loops_mean(const struct work *w, const struct transition_loop *loops, size_t n,
			      double usual_sd)
{
	struct mean m = { 0 };
	double middle, spread;

	for (size_t i = 0; i < n; i++)
		w->room[i] = loops[i].loop_ns;
	gsl_sort(w->room, 1, n);
	middle = gsl_stats_median_from_sorted_data(w->room, 1, n);
	spread = fmax((gsl_stats_quantile_from_sorted_data(w->room, 1, n, 0.75) -
		       gsl_stats_quantile_from_sorted_data(w->room, 1, n, 0.25)) /
		       IQR_SIGMA, usual_sd);
	for (size_t i = 0; i < n; i++)
		if (fabs(w->room[i] - middle) <= FAR * spread)
			w->room[m.n++] = w->room[i];
	m.far = n - m.n;
	m.ns = gsl_stats_mean(w->room, 1, m.n);
	m.loop_sd = fmax(m.n > 1 ? gsl_stats_sd(w->room, 1, m.n) : 0, usual_sd / 10);
	m.sd = m.loop_sd / sqrt(m.n);
	return m;
}

/*
 * Is a mean at its level, and not at the pair's other one? TRANSITION_GOOD, TRANSITION_ELSEWHERE:
 * it is significantly off; or DISTURBED, VAGUE.
 */
static enum transition_verdict mean_compare_level(const struct mean *m,
						  const struct transition_level *level,
						  const struct transition_level *other,
						  struct transition_difference *d)
{
	double near = transition_near(level->mean_ns.v, other->mean_ns.v), half, off;
	double apart = fabs(level->mean_ns.v - other->mean_ns.v);

	if (m->far > TRANSITION_FAR_MOST * (m->n + m->far))
		return TRANSITION_DISTURBED;
	*d = transition_welch(m->ns, m->sd, m->n - 1.0, level->mean_ns.v, level->mean_sd,
			      level->dof);
	half = d->ns.hi - d->ns.v;
	off = fabs(d->ns.v);
	if (off - half > near)
		return TRANSITION_ELSEWHERE;
	return off + half < apart / 2 && apart > NOISY * m->loop_sd ? TRANSITION_GOOD :
	       TRANSITION_VAGUE;
}

/* A change between two loops that fit their levels. */
struct place {
	size_t begin, end;	/* the loops with the change; of those after the request */
	double from_ns, to_ns;	/* that time */
	double gaps_ns;		/* in it, and not in loops */
	size_t first, last;	/* of the corner, see path_corner() */
};

static double loop_time_before(const struct work *w, size_t i)
{
	return i ? loop_end_ns(&w->loops[i - 1]) : 0;
}

static double loop_time_from(const struct work *w, size_t i)
{
	return i < w->n ? w->loops[i].start_ns : loop_end_ns(&w->loops[w->n - 1]);
}

static bool loop_is_at_level(const struct path_piece *level, const struct path_piece *other,
			     double ns)
{
	return path_fits(level, ns) || fabs(ns - level->ns) < NEXT_PART *
	       fabs(other->ns - level->ns);
}

static struct place change_find_place(const struct work *w, size_t corner)
{
	const struct path_piece *a = &w->path.pieces[corner], *b = a + 1;
	struct place p = { .begin = b->begin, .end = b->begin };

	while (p.begin > a->begin && !loop_is_at_level(a, b, w->loops[p.begin - 1].loop_ns))
		p.begin--;
	while (p.end < b->end && !loop_is_at_level(b, a, w->loops[p.end].loop_ns))
		p.end++;
	path_corner(&w->path, corner, w->loops, &p.first, &p.last);
	p.from_ns = loop_time_before(w, p.begin);
	p.to_ns = loop_time_from(w, p.end);
	p.gaps_ns = p.to_ns - p.from_ns;
	for (size_t i = p.begin; i < p.end; i++)
		p.gaps_ns -= w->loops[i].loop_ns;
	return p;
}

static void change_set_place(const struct work *w, size_t corner, const struct place *p,
			     struct transition_change *c)
{
	double from = w->path.pieces[corner].ns, to = w->path.pieces[corner + 1].ns,
		n = p->end - p->begin;
	size_t unsure_before = p->first, unsure_after = p->last;

	c->from_ns = from;
	c->to_ns = to;
	c->loop_start_ns = p->begin < p->end ? w->loops[p->begin].start_ns : p->from_ns;
	if (p->begin < p->end) {
		/* what is in a loop is not in the gap next to it, however long that is */
		c->ns = w->loops[p->begin].start_ns + n * from / 2;
		c->end_ns = loop_end_ns(&w->loops[p->end - 1]) - n * to / 2;
		c->pause_ns = c->pause_most_ns = c->end_ns - c->ns;
	} else {
		c->ns = c->end_ns = (p->from_ns + p->to_ns) / 2;
		/* a pause in an unknown time cannot be separated from other things */
		c->pause_most_ns = fmax(p->gaps_ns, 0);
		c->pause_ns = c->pause_most_ns > KNOWN_PART * w->longest ? NAN : 0;
		/* either adjacent loop may have a little of it */
		unsure_before -= unsure_before > 0;
		unsure_after += unsure_after < w->n;
	}
	c->after_ns = fmin(loop_time_before(w, unsure_before), fmin(c->ns, c->end_ns));
	c->before_ns = fmax(loop_time_from(w, unsure_after), fmax(c->ns, c->end_ns));
	c->unchanged = unsure_before ? w->before + unsure_before - 1 : SIZE_MAX;
	c->changed = w->before + unsure_after;
}

static bool loop_is_stray(const struct work *w, size_t corner, size_t i)
{
	const struct path_piece *a = &w->path.pieces[corner];

	return !path_fits(a, w->loops[i].loop_ns) && !path_fits(a + 1, w->loops[i].loop_ns);
}

/* A pause outside of the change is looked for in so many loops to both sides. */
#define ADJACENT		10

static bool loop_is_in_place(const struct work *w, size_t corner, size_t i)
{
	struct place p;

	if (corner + 1 >= w->path.n)
		return false;
	p = change_find_place(w, corner);
	return i >= p.begin && i < p.end;
}

/*
 * The start of the first loop next to the change with a longer pause than the change itself, NAN:
 * there is none. It is the change's pause, and the change misplaced, or something else that ran:
 * one try does not show which. Those in other changes are theirs.
 */
static double pause_find_near(const struct work *w, size_t corner, const struct place *p,
			      double standing)
{
	const struct path_piece *a = &w->path.pieces[corner], *b = a + 1;
	size_t from = p->begin > a->begin + ADJACENT ? p->begin - ADJACENT : a->begin;
	size_t to = p->end + ADJACENT < b->end ? p->end + ADJACENT : b->end;

	for (size_t i = from; i < to; i++) {
		double longer = w->loops[i].loop_ns - fmax(a->ns, b->ns);

		if ((i < p->begin || i >= p->end) && loop_is_stray(w, corner, i) &&
		    longer > w->longest && longer > standing &&
		    !(corner && loop_is_in_place(w, corner - 1, i)) &&
		    !loop_is_in_place(w, corner + 1, i))
			return w->loops[i].start_ns;
	}
	return NAN;
}

/* Is the uncertainty within the allowed number of loops? */
static enum transition_verdict change_judge(const struct work *w, size_t corner,
					    const struct place *p,
					    const struct transition_change *c)
{
	double shorter = fmin(c->from_ns, c->to_ns), mean = (c->from_ns + c->to_ns) / 2,
		standing = 0, off, gaps;
	double begin = loop_time_before(w, p->first), end = loop_time_from(w, p->last);
	size_t stray = 0;

	if (p->gaps_ns > TRANSITION_GAP_MOST * w->longest)
		return p->begin ? TRANSITION_HIDDEN : TRANSITION_IN_CALL;
	/* of several long loops only one is the pause */
	for (size_t i = p->begin; i < p->end; i++) {
		standing = fmax(standing, w->loops[i].loop_ns - mean);
		if (w->loops[i].loop_ns < shorter)
			return TRANSITION_DISTURBED;
	}
	gaps = end - begin;
	for (size_t i = p->first; i < p->last; i++) {
		gaps -= w->loops[i].loop_ns;
		stray += loop_is_stray(w, corner, i);
	}
	off = fmax(c->ns - fmin(begin, p->from_ns), fmax(end, p->to_ns) - standing - c->ns);
	if (off <= TRANSITION_OFF_MOST * w->longest)
		return TRANSITION_GOOD;
	if (gaps > TRANSITION_GAP_MOST * w->longest)
		return p->first ? TRANSITION_HIDDEN : TRANSITION_IN_CALL;
	return p->end - p->begin > 1 || stray > 1 ? TRANSITION_DISTURBED : TRANSITION_VAGUE;
}

/* All corners of the path; those between the first and the last one only for their pauses. */
static enum transition_verdict changes_find(const struct work *w, struct transition_try *t)
{
	enum transition_verdict verdict = TRANSITION_GOOD;

	t->pause_ns = t->pause_most_ns = 0;
	for (size_t i = 0; i + 1 < w->path.n; i++) {
		struct place p = change_find_place(w, i);
		struct transition_change c;

		change_set_place(w, i, &p, &c);
		t->pause_ns += c.pause_ns;
		t->pause_most_ns += c.pause_most_ns;
		t->last = c;
		if (!i) {
			t->first = c;
			t->adjacent_ns = pause_find_near(w, i, &p, c.pause_most_ns);
		}
		if (!verdict && (!i || i + 2 == w->path.n))
			verdict = change_judge(w, i, &p, &c);
	}
	t->settled_ns = t->last.end_ns;
	return verdict;
}

static size_t loops_count_far(const struct path *p, const struct transition_loop *loops)
{
	size_t far = 0;

	for (size_t i = 0; i < p->n; i++)
		for (size_t at = p->pieces[i].begin; at < p->pieces[i].end; at++)
			far += !path_fits(&p->pieces[i], loops[at].loop_ns);
	return far;
}

/* The speed at the end of the series. */
static enum transition_verdict series_judge_end(const struct work *w, struct transition_try *t)
{
	const struct path_piece *last = &w->path.pieces[w->path.n - 1];
	struct place p = w->path.n > 1 ? change_find_place(w, w->path.n - 2) : (struct place){ 0 };
	size_t n = last->end - p.end;
	enum transition_verdict v;
	struct mean m;

	if (n < TRANSITION_CONFIRM_LEAST)
		return TRANSITION_UNCONFIRMED;
	m = loops_mean(w, w->loops + p.end, n < TRANSITION_CONFIRM ? n : TRANSITION_CONFIRM,
		       last->sd);
	t->confirming = m.n;
	t->speed_ratio = w->to->mean_ns.v / m.ns;
	v = mean_compare_level(&m, w->to, w->from, &t->end);
	if (last->kind == PATH_FROM)
		return TRANSITION_NEVER;
	return last->kind == PATH_OTHER ? TRANSITION_ELSEWHERE : v;
}

static enum transition_verdict series_judge_start(const struct work *w)
{
	struct transition_difference d;
	enum transition_verdict v;
	struct mean m;

	if (w->before < TRANSITION_BEFORE_LEAST)
		return TRANSITION_NOT_FROM;
	m = loops_mean(w, w->s->loops, w->before, w->from->sd_ns);
	v = mean_compare_level(&m, w->from, w->to, &d);
	return v == TRANSITION_ELSEWHERE ? TRANSITION_NOT_FROM : v;
}

/* Too few loops for the final speed, but enough to see whether it changed. */
static enum transition_verdict series_judge_few(const struct work *w)
{
	const size_t n = TRANSITION_BEFORE_LEAST;
	struct transition_difference d;
	struct mean m;

	if (w->n < n)
		return TRANSITION_UNCONFIRMED;
	m = loops_mean(w, w->loops + w->n - n, n, w->from->sd_ns);
	return mean_compare_level(&m, w->from, w->to, &d) ? TRANSITION_UNCONFIRMED :
							    TRANSITION_NEVER;
}

static int series_solve(struct work *w, struct transition_try *t)
{
	int ret;

	t->verdict = series_judge_start(w);
	if (t->verdict)
		return 0;
	t->verdict = series_judge_few(w);
	if (w->n < TRANSITION_CONFIRM_LEAST)
		return 0;
	ret = path_find(w->loops, w->n, w->from, w->to, &w->path);
	if (!ret) {
		enum transition_verdict changes;

		t->changes = w->path.n - 1;
		t->far = loops_count_far(&w->path, w->loops);
		t->verdict = series_judge_end(w, t);
		changes = changes_find(w, t);
		if (!t->verdict)
			t->verdict = changes;
	}
	path_free(&w->path);
	return ret;
}

int transition_try(const struct transition_series *s, const struct transition_level *from,
		   const struct transition_level *to, struct transition_try *t)
{
	struct work w = { .s = s, .from = from, .to = to };
	int ret = 0;

	*t = (struct transition_try){ .verdict = TRANSITION_BAD, .request_ns = NAN,
				      .speed_ratio = NAN, .adjacent_ns = NAN,
				      .end = { .ns = unknown, .t = NAN, .dof = NAN } };
	if (series_is_valid(s)) {
		t->request_ns = s->request_ns;
		t->verdict = TRANSITION_TOO_NEAR;
		while (w.before < s->n && s->loops[w.before].start_ns < 0)
			w.before++;
		w.loops = s->loops + w.before;
		w.n = s->n - w.before;
		w.longest = fmax(from->mean_ns.v, to->mean_ns.v);
		if (transition_levels_apart(from, to, NULL) == TRANSITION_APART) {
			w.room = calloc(s->n + 1, sizeof(*w.room));
			ret = w.room ? series_solve(&w, t) : -ENOMEM;
			free(w.room);
		}
	}
	if (t->verdict || ret) {
		t->first = t->last = no_change;
		t->settled_ns = t->pause_ns = t->pause_most_ns = NAN;
	}
	return ret;
}

const char *transition_verdict_name(enum transition_verdict v)
{
	static const char * const names[TRANSITION_VERDICTS] = {
		[TRANSITION_GOOD] = "good", [TRANSITION_NEVER] = "never changed",
		[TRANSITION_ELSEWHERE] = "settled elsewhere",
		[TRANSITION_UNCONFIRMED] = "not confirmed",
		[TRANSITION_NOT_FROM] = "began elsewhere",
		[TRANSITION_IN_CALL] = "changed within the call",
		[TRANSITION_HIDDEN] = "hidden in a gap",
		[TRANSITION_DISTURBED] = "disturbed", [TRANSITION_VAGUE] = "too noisy",
		[TRANSITION_TOO_NEAR] = "levels too near",
		[TRANSITION_BAD] = "no series",
	};

	return v < TRANSITION_VERDICTS ? names[v] : "?";
}
