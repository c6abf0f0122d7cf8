// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Least squares over edge windows; see edge.h. The unknowns are the powers of the vectors that
 * have enough of the windows' time, one power for all others together, and a constant.
 */
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "edge.h"
#include "kjoule.h"
#include "changes.h"
#include "outliers.h"
#include "timeline.h"

/* As many vectors have a power of their own; the rest, which is rare, has one in common. */
#define OWN_MOST	64

/* Part of the windows' time from which on it has. */
#define OWN_LEAST	0.01

/* Windows that may have an error in common. */
#define LAGS 16

/* An interval this much wider than if it were alone: it is hidden behind others. */
#define ALIKE		12.0

#define NONE		UINT32_MAX

/* Ticks of a recording that the model looks at, at most: some hours of the highest rate. */
#define SEEN_MOST	(1u << 27)

/* A window is off anyway by such a part of its energy: by how well the moves of a counter are timed. */
#define OFF_ANYWAY	0.002

/* Where more of the windows than this part agree with no other it is not known which are right. */
#define WILD_MOST	0.25

/* Windows of held CPUs alone, without which their power is not known. */
#define SPINS_LEAST	10

/* What is known of a vector before its power is. */
struct vector {
	uint64_t ticks, runs;
	double ns;		/* in windows */
	uint32_t windows;	/* that it ran in */
	uint32_t column;	/* NONE: that of the rest */
	bool major;		/* the ticks follow it: its runs have edges that can be placed */
};

/* A tick at which the program was not held. */
struct seen {
	double at;		/* on the program's own clock, which stands while it is held */
	uint32_t vector;
};

/* The recording on the program's own clock, in nanoseconds. */
struct story {
	struct seen *seen;
	size_t n_seen;
	struct change *changes;	/* of the vectors that ticks follow */
	size_t n_changes;
	uint32_t first;		/* the vector before the first change */
	double *from;		/* of each window: where it begins */
	bool *wild;		/* of each window: it does not agree with the others */
};

/* @more: there is an event. Ticks are asked for in their order. */
static uint32_t vector_at(struct cpm_events *event, bool *more, uint64_t tick)
{
	while (*more && event->tick + event->count <= tick)
		*more = cpm_events_next(event);
	return *more && event->tick <= tick ? event->vector : CPM_SILENT;
}

static int see(struct story *st, double at, uint32_t vector, size_t *room)
{
	if (st->n_seen == SEEN_MOST)
		return -ENODATA;
	if (st->n_seen == *room) {
		size_t more = *room ? 2 * *room : 4096;
		struct seen *seen = realloc(st->seen, more * sizeof(*seen));

		if (!seen)
			return -ENOMEM;
		st->seen = seen;
		*room = more;
	}
	st->seen[st->n_seen++] = (struct seen){ at, vector };
	return 0;
}

/* Ticks from the first window to the last, those in holds left out. */
static int tell_story(const struct edge_input *in, struct story *st)
{
	const struct kjoule_session_info *s = in->session;
	struct cpm_events event;
	size_t room = 0;
	uint64_t tick, held = 0;
	int ret = cpm_events_begin(in->vectors, &event);
	bool more = !ret && cpm_events_next(&event);

	st->from = calloc(in->n_windows + 1, sizeof(*st->from));
	if (!st->from)
		ret = -ENOMEM;
	tick = in->n_windows ? timeline_first(s, in->windows[0].from_ns) : 0;
	for (size_t j = 0; j < in->n_windows && !ret; j++) {
		const struct edge_window *w = &in->windows[j];
		uint64_t due;

		/* up to the search for the edge, and after it */
		for (; (due = timeline_due(s, tick)) < w->seek_ns && !ret; tick++)
			ret = see(st, (double)(due - in->windows[0].from_ns - held),
				  vector_at(&event, &more, tick), &room);
		if (timeline_due(s, tick) < w->from_ns)
			tick = timeline_first(s, w->from_ns);
		held += j ? w->from_ns - w->seek_ns : 0;
		st->from[j] = (double)(w->from_ns - in->windows[0].from_ns - held);
		for (; (due = timeline_due(s, tick)) < w->b_ns && !ret; tick++)
			ret = see(st, (double)(due - in->windows[0].from_ns - held),
				  vector_at(&event, &more, tick), &room);
		if (timeline_due(s, tick) < w->b_ns + w->held_ns)
			tick = timeline_first(s, w->b_ns + w->held_ns);
		held += w->held_ns;
	}
	cpm_events_end(&event);
	return ret;
}

/* How long the vectors last, by the ticks: a run is as many as there are in a row. */
static void count_runs(const struct story *st, struct vector *v)
{
	for (size_t i = 0; i < st->n_seen; i++) {
		v[st->seen[i].vector].ticks++;
		v[st->seen[i].vector].runs += !i || st->seen[i].vector != st->seen[i - 1].vector;
	}
}

/*
 * Short visits, such as those to the kernel, do not end the run that they are in: they get the time of
 * their ticks, and what is before and after them is one run, or has its change somewhere in there.
 */
static int find_changes(struct story *st, const struct vector *v, uint32_t n_vectors)
{
	const struct seen *before = NULL;

	st->changes = calloc(st->n_seen + 1, sizeof(*st->changes));
	if (!st->changes)
		return -ENOMEM;
	for (size_t i = 0; i < st->n_seen; i++) {
		const struct seen *now = &st->seen[i];

		if (!v[now->vector].major)
			continue;
		if (!before)
			st->first = now->vector;
		else if (before->vector != now->vector)
			st->changes[st->n_changes++] = (struct change){
				.after = now->vector, .from = before->at, .to = now->at };
		before = now;
	}
	return changes_smooth(st->changes, st->n_changes, n_vectors);
}

/* Goes through a story window by window. */
struct walk {
	size_t change, seen;
};

static bool is_used(const struct edge_input *in, const struct story *st, size_t j)
{
	const struct edge_window *w = &in->windows[j];

	return !w->spin && !w->failed && w->b_ns > w->from_ns && !st->wild[j];
}

/* Part of [@from, @to] that is in [@low, @high]. */
static double overlap(double from, double to, double low, double high)
{
	return fmax(fmin(to, high) - fmax(from, low), 0);
}

/* What a tick stands for: from half way to the one before to half way to the one after. */
static void cell_of(const struct story *st, size_t i, double *low, double *high)
{
	*low = i ? (st->seen[i - 1].at + st->seen[i].at) / 2 : st->seen[i].at;
	*high = i + 1 < st->n_seen ? (st->seen[i].at + st->seen[i + 1].at) / 2 : st->seen[i].at;
}

/* Part of a stretch of major runs that the vector before change @i has. */
static double run_in(const struct story *st, size_t i, double low, double high)
{
	double from = i ? st->changes[i - 1].at : -INFINITY;
	double to = i < st->n_changes ? st->changes[i].at : INFINITY;

	return overlap(from, to, low, high);
}

static uint32_t vector_of_run(const struct story *st, size_t i)
{
	return i ? st->changes[i - 1].after : st->first;
}

/*
 * Have @each told the time, in nanoseconds, of each vector in a stretch; of one it may be told more
 * than once, and less than nothing.
 */
static void for_each_part(const struct story *st, const struct vector *v, struct walk *k, double low,
			  double high, void (*each)(void *to, uint32_t vector, double ns), void *to)
{
	while (k->change < st->n_changes && st->changes[k->change].at <= low)
		k->change++;
	for (size_t i = k->change; !i || i == k->change || st->changes[i - 1].at < high; i++) {
		each(to, vector_of_run(st, i), run_in(st, i, low, high));
		if (i == st->n_changes)
			break;
	}
	while (k->seen + 1 < st->n_seen && st->seen[k->seen + 1].at < low)
		k->seen++;
	for (size_t i = k->seen; i < st->n_seen; i++) {
		double begin, end, ns;

		cell_of(st, i, &begin, &end);
		if (begin >= high)
			break;
		ns = overlap(begin, end, low, high);
		if (v[st->seen[i].vector].major || ns <= 0)
			continue;
		each(to, st->seen[i].vector, ns);
		/* out of what the major ones were given */
		for (size_t c = k->change; c <= st->n_changes; c++) {
			double part = run_in(st, c, fmax(begin, low), fmin(end, high));

			if (part > 0)
				each(to, vector_of_run(st, c), -part);
			if (c < st->n_changes && st->changes[c].at > end)
				break;
		}
	}
}

static void for_window(const struct edge_input *in, const struct story *st, const struct vector *v,
		       struct walk *k, size_t j, void (*each)(void *to, uint32_t vector, double ns), void *to)
{
	const struct edge_window *w = &in->windows[j];

	for_each_part(st, v, k, st->from[j], st->from[j] + (w->b_ns - w->from_ns), each, to);
}

/* How much there is of each vector in the windows. */
struct survey {
	struct vector *v;
	uint32_t *seen;		/* of each vector, the last window that it was in */
	uint32_t window;
	double ns;
};

static void count_part(void *to, uint32_t vector, double ns)
{
	struct survey *s = to;

	s->v[vector].ns += ns;
	s->v[vector].windows += s->seen[vector] != s->window;
	s->seen[vector] = s->window;
	s->ns += ns;
}

static int survey_windows(const struct edge_input *in, const struct story *st, struct vector *v, double *ns,
			  size_t *windows)
{
	struct survey s = { .v = v };
	struct walk k = { 0 };

	s.seen = calloc(in->vectors->n_vectors + 1, sizeof(*s.seen));
	if (!s.seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->vectors->n_vectors; i++) {
		v[i].ns = 0;
		v[i].windows = 0;
	}
	for (size_t j = 0; j < in->n_windows; j++) {
		if (!is_used(in, st, j))
			continue;
		s.window++;
		for_window(in, st, v, &k, j, count_part, &s);
	}
	free(s.seen);
	*windows = s.window;
	*ns = s.ns;
	return 0;
}

static const struct vector *sort_vectors;

static int by_time(const void *a, const void *b)
{
	double x = sort_vectors[*(const uint32_t *)a].ns, y = sort_vectors[*(const uint32_t *)b].ns;

	if (x != y)
		return x < y ? 1 : -1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Which vectors get a column; the last column but one is that of the rest. */
static int choose(const struct edge_input *in, struct vector *v, double ns, struct edge_result *r,
		  size_t *columns)
{
	uint32_t n = in->vectors->n_vectors, *order = calloc(n + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		v[i].column = NONE;
		r->why[i] = EDGE_SCARCE;
		r->ticks[i] = v[i].runs ? (double)v[i].ticks / v[i].runs : 0;
	}
	sort_vectors = v;
	qsort(order, n, sizeof(*order), by_time);
	*columns = 0;
	for (uint32_t i = 0; i < n && *columns < OWN_MOST; i++) {
		struct vector *of = &v[order[i]];

		if (of->ns < OWN_LEAST * ns || of->windows < EDGE_WINDOWS_LEAST)
			continue;
		r->why[order[i]] = of->major ? EDGE_KNOWN : EDGE_SHORT;
		of->column = (*columns)++;
	}
	free(order);
	return 0;
}

/* The normal equations, and what the intervals need. */
struct system {
	size_t n;		/* columns */
	size_t rows;
	gsl_matrix *m;		/* of the equations */
	gsl_vector *y, *x;
	gsl_matrix *scores;	/* sum of what each window has to do with the answer, squared */
	double lately[LAGS][OWN_MOST + 2];	/* of these, the last ones */
	double before[OWN_MOST + 2];	/* of these, the sum with their weights */
	size_t scored;
	double *off, *anyway;	/* of each row from the model, and so much at least; and its window */
	size_t *window, n_off;
	double residual;	/* sum of squares */
	gsl_matrix *blur;	/* what of @m comes from not knowing where changes were, at most */
};

/* One window as a row: times in seconds without interrupts, energy without them and the spinning. */
struct row {
	const struct edge_input *in;
	const struct vector *v;
	size_t n, window;
	double t[OWN_MOST + 2];
	double busy_s;		/* of all CPUs together */
	double uj;
};

double edge_irq_part(const struct edge_input *in)
{
	return isnan(in->irq_w) ? 0 : in->tick + in->other * (1 - in->tick);
}

static void row_part(void *to, uint32_t vector, double ns)
{
	const struct cpm_vectors *v;
	struct row *r = to;
	uint32_t column = r->v[vector].column;

	v = r->in->vectors;
	r->t[column == NONE ? r->n - 2 : column] += ns * 1e-9 * (1 - edge_irq_part(r->in));
	/* each busy CPU has interrupts of its own */
	for (uint32_t k = v->first[vector]; k < v->first[vector + 1]; k++)
		if (v->kinds[v->members[k]] != CPM_IDLE)
			r->busy_s += ns * 1e-9;
}

/* Changes in a window that are not known exactly. */
static void add_blur(const struct story *st, const struct vector *v, double low, double high, double net,
		     struct walk *k, struct system *s)
{
	while (k->change < st->n_changes && st->changes[k->change].at <= low)
		k->change++;
	for (size_t i = k->change; i < st->n_changes && st->changes[i].at < high; i++) {
		uint32_t a = v[vector_of_run(st, i)].column, b = v[vector_of_run(st, i + 1)].column;
		double variance = st->changes[i].variance * net * net;

		a = a == NONE ? s->n - 2 : a;
		b = b == NONE ? s->n - 2 : b;
		if (a == b)
			continue;
		*gsl_matrix_ptr(s->blur, a, a) += variance;
		*gsl_matrix_ptr(s->blur, b, b) += variance;
		*gsl_matrix_ptr(s->blur, a, b) -= variance;
		*gsl_matrix_ptr(s->blur, b, a) -= variance;
	}
}

static void blur_all(const struct edge_input *in, const struct story *st, const struct vector *v,
		     struct system *s)
{
	struct walk k = { 0 };

	for (size_t j = 0; j < in->n_windows; j++)
		if (is_used(in, st, j))
			add_blur(st, v, st->from[j], st->from[j] + (in->windows[j].b_ns - in->windows[j].from_ns),
				 1e-9 * (1 - edge_irq_part(in)), &k, s);
}

/* Have @each see the rows of all windows that are of use. */
static void for_each_row(const struct edge_input *in, const struct story *st, const struct vector *v,
			 double spin_w, void (*each)(struct system *s, const struct row *r), struct system *s)
{
	struct walk k = { 0 };

	for (size_t j = 0; j < in->n_windows; j++) {
		const struct edge_window *w = &in->windows[j];
		struct row r = { .in = in, .v = v, .n = s->n, .window = j };

		if (!is_used(in, st, j))
			continue;
		for_window(in, st, v, &k, j, row_part, &r);
		r.t[s->n - 1] = 1;
		r.uj = w->uj - spin_w * 1e-3 * (w->held_ns + w->before_ns);
		if (edge_irq_part(in) > 0)
			r.uj -= in->irq_w * 1e6 * edge_irq_part(in) * r.busy_s;
		each(s, &r);
	}
}

static void add_equation(struct system *s, const struct row *r)
{
	for (size_t a = 0; a < s->n; a++) {
		*gsl_vector_ptr(s->y, a) += r->t[a] * r->uj;
		for (size_t b = 0; b < s->n; b++)
			*gsl_matrix_ptr(s->m, a, b) += r->t[a] * r->t[b];
	}
	s->rows++;
}

/* By how much a window is off the model. */
static double off_by(const struct system *s, const struct row *r)
{
	double off = r->uj;

	for (size_t a = 0; a < s->n; a++)
		off -= r->t[a] * gsl_vector_get(s->x, a);
	return off;
}

/*
 * t_j (y_j - t_j x), whose sum is zero at the answer. A change that is misplaced is so in some windows
 * in a row (Newey and West's weights).
 */
static void add_score(struct system *s, const struct row *r)
{
	double *score = s->lately[s->scored % LAGS], off = off_by(s, r);

	for (size_t a = 0; a < s->n; a++)
		score[a] = r->t[a] * off;
	/* the sum over the lags for each pair of columns is the product of this row and of a sum over the lags */
	memset(s->before, 0, s->n * sizeof(*s->before));
	for (size_t lag = 0; lag < LAGS && lag <= s->scored; lag++) {
		const double *before = s->lately[(s->scored - lag) % LAGS];
		double weight = lag ? 1 - (double)lag / LAGS : 0.5;

		for (size_t a = 0; a < s->n; a++)
			s->before[a] += weight * before[a];
	}
	for (size_t a = 0; a < s->n; a++) {
		double *scores = gsl_matrix_ptr(s->scores, a, 0);

		if (score[a] == 0 && s->before[a] == 0)
			continue;
		for (size_t b = 0; b < s->n; b++)
			scores[b] += score[a] * s->before[b] + s->before[a] * score[b];
	}
	s->residual += off * off;
	s->scored++;
}

/* Nobody has been in a column: its power is not asked for. */
static void close_empty(struct system *s)
{
	for (size_t a = 0; a < s->n; a++)
		if (gsl_matrix_get(s->m, a, a) == 0)
			gsl_matrix_set(s->m, a, a, 1);
}

/* Return: 0; -ENODATA if the equations have no one answer */
static int invert(struct system *s, gsl_matrix *inverse)
{
	gsl_matrix *lu = gsl_matrix_alloc(s->n, s->n);
	gsl_permutation *p = gsl_permutation_alloc(s->n);
	gsl_error_handler_t *handler;
	int sign, ret = lu && p ? 0 : -ENOMEM;

	if (!ret) {
		gsl_matrix_memcpy(lu, s->m);
		handler = gsl_set_error_handler_off();
		if (gsl_linalg_LU_decomp(lu, p, &sign) || gsl_linalg_LU_invert(lu, p, inverse))
			ret = -ENODATA;
		gsl_set_error_handler(handler);
	}
	for (size_t a = 0; a < s->n && !ret; a++) {
		double sum = 0;

		for (size_t b = 0; b < s->n; b++)
			sum += gsl_matrix_get(inverse, a, b) * gsl_vector_get(s->y, b);
		if (!isfinite(sum))
			ret = -ENODATA;
		gsl_vector_set(s->x, a, sum);
	}
	gsl_matrix_free(lu);
	gsl_permutation_free(p);
	return ret;
}

/* Variance of an unknown: inverse * scores * inverse', the entry on the diagonal. */
static double variance_of(const struct system *s, const gsl_matrix *inverse, size_t a)
{
	double sum = 0;

	for (size_t b = 0; b < s->n; b++)
		for (size_t c = 0; c < s->n; c++)
			sum += gsl_matrix_get(inverse, a, b) * gsl_matrix_get(s->scores, b, c) *
			       gsl_matrix_get(inverse, a, c);
	return sum * s->rows / (s->rows - s->n);
}

/*
 * By how much an unknown may be pulled to the others by changes that are not known exactly, as if all
 * of their error were one that a regression suffers from: inverse * blur * x.
 */
static double pull_of(const struct system *s, const gsl_matrix *inverse, size_t a)
{
	double sum = 0;

	for (size_t b = 0; b < s->n; b++)
		for (size_t c = 0; c < s->n; c++)
			sum += gsl_matrix_get(inverse, a, b) * gsl_matrix_get(s->blur, b, c) *
			       gsl_vector_get(s->x, c);
	return fabs(sum);
}

/*
 * From microwatt to watts, as unsure as the windows, the spinning and the interrupts make it. Of the
 * pull, anything from nothing to all of it may be there: so it is as unsure as what is uniform between
 * them and below.
 */
static struct value power_of(const struct edge_input *in, const struct edge_result *r, double uw,
			     double variance, double pull, double dof)
{
	double part = edge_irq_part(in), w = uw * 1e-6;
	double off = interval_t(dof) * hypot(sqrt(variance), pull / sqrt(3)) * 1e-6;
	double irq = part < 1 && part > 0 ? in->irq_error * part / (1 - part) * fabs(in->irq_w - w) : 0;

	off = hypot(hypot(off, r->spin_w.hi - r->spin_w.v), irq);
	return (struct value){ w, w - off, w + off };
}

/*
 * The power of all whose own is not told, together: by their time, out of the unknowns that they have a
 * part in.
 */
static struct value unknown_power(const struct edge_input *in, const struct vector *v, const struct system *s,
				  const gsl_matrix *inverse, const struct edge_result *r, double dof)
{
	double part[OWN_MOST + 2] = { 0 }, all = 0, uw = 0, variance = 0, pull = 0;

	for (uint32_t i = 0; i < r->n_vectors; i++) {
		if (r->why[i] == EDGE_KNOWN)
			continue;
		part[v[i].column == NONE ? s->n - 2 : v[i].column] += v[i].ns;
		all += v[i].ns;
	}
	if (!(all > 0))
		return (struct value){ NAN, NAN, NAN };
	for (size_t a = 0; a < s->n; a++) {
		uw += part[a] / all * gsl_vector_get(s->x, a);
		pull += part[a] / all * pull_of(s, inverse, a);
	}
	for (size_t b = 0; b < s->n; b++) {
		for (size_t c = 0; c < s->n; c++) {
			double x = 0, y = 0;

			for (size_t a = 0; a < s->n; a++) {
				x += part[a] / all * gsl_matrix_get(inverse, a, b);
				y += part[a] / all * gsl_matrix_get(inverse, a, c);
			}
			variance += x * gsl_matrix_get(s->scores, b, c) * y;
		}
	}
	variance *= (double)s->rows / (s->rows - s->n);
	return power_of(in, r, uw, fmax(variance, 0), pull, dof);
}

static void conclude(const struct edge_input *in, const struct vector *v, const struct system *s,
		     const gsl_matrix *inverse, struct edge_result *r)
{
	double dof = s->rows - s->n;

	for (uint32_t i = 0; i < r->n_vectors; i++) {
		size_t a = v[i].column;
		double alike, variance;

		if (a == NONE)
			continue;
		alike = gsl_matrix_get(inverse, a, a) * gsl_matrix_get(s->m, a, a);
		variance = variance_of(s, inverse, a);
		if (!(alike > 0) || alike > ALIKE * ALIKE || !(variance >= 0))
			r->why[i] = EDGE_ALIKE;
		if (r->why[i] == EDGE_KNOWN)
			r->w[i] = power_of(in, r, gsl_vector_get(s->x, a), variance, pull_of(s, inverse, a),
					   dof);
		/* nothing draws less than nothing */
		if (r->w[i].hi < 0) {
			r->w[i] = (struct value){ NAN, NAN, NAN };
			r->why[i] = EDGE_ALIKE;
		}
	}
	r->unknown_w = unknown_power(in, v, s, inverse, r, dof);
	r->extra_uj = gsl_vector_get(s->x, s->n - 1);
}

static bool is_spin(const struct edge_window *w)
{
	return w->spin && !w->failed && w->held_ns;
}

/*
 * Power while all are held, from the windows that are nothing else. What took the CPU away in one, such as
 * the firmware or a hypervisor, shows in it as a power that the others do not have.
 */
static int learn_spin(const struct edge_input *in, struct edge_result *r)
{
	double sum = 0, squares = 0, ns = 0, mean, error;
	double *power = calloc(in->n_windows + 1, sizeof(*power)), *anyway = calloc(in->n_windows + 1, sizeof(*anyway));
	struct outlier *far = calloc(in->n_windows + 1, sizeof(*far));
	size_t n = 0;
	int ret = power && anyway && far ? 0 : -ENOMEM;

	for (size_t j = 0; j < in->n_windows && !ret; j++)
		if (is_spin(&in->windows[j])) {
			power[n] = in->windows[j].uj / in->windows[j].held_ns;
			anyway[n] = OFF_ANYWAY * power[n];
			n++;
		}
	if (!ret)
		ret = outliers_find(power, anyway, n, far, NULL);
	n = 0;
	for (size_t j = 0; j < in->n_windows && !ret; j++) {
		const struct edge_window *w = &in->windows[j];

		if (!is_spin(w))
			continue;
		if (far[n++].differs) {
			r->wild_spins++;
			continue;
		}
		r->spins++;
		sum += w->uj;
		ns += w->held_ns;
		squares += w->uj / w->held_ns * (w->uj / w->held_ns);
	}
	free(power);
	free(anyway);
	free(far);
	if (ret)
		return ret;
	if (r->spins < SPINS_LEAST)
		return -ENODATA;
	mean = sum / ns;
	error = interval_t(r->spins - 1) *
		sqrt(fmax(squares / r->spins - mean * mean, 0) / (r->spins - 1));
	/* microjoules in a nanosecond are kilowatts */
	mean *= 1e3;
	error *= 1e3;
	r->spin_w = (struct value){ mean, mean - error, mean + error };
	return 0;
}

static int allocate(struct system *s, gsl_matrix **inverse)
{
	s->m = gsl_matrix_calloc(s->n, s->n);
	s->scores = gsl_matrix_calloc(s->n, s->n);
	s->blur = gsl_matrix_calloc(s->n, s->n);
	s->y = gsl_vector_calloc(s->n);
	s->x = gsl_vector_calloc(s->n);
	*inverse = gsl_matrix_calloc(s->n, s->n);
	return s->m && s->scores && s->blur && s->y && s->x && *inverse ? 0 : -ENOMEM;
}

static void clear(struct system *s)
{
	gsl_matrix_set_zero(s->m);
	gsl_vector_set_zero(s->y);
	s->rows = 0;
}

/* The powers that fit the windows best. */
static int fit_windows(const struct edge_input *in, const struct story *st, const struct vector *v,
		       const struct edge_result *r, struct system *s, gsl_matrix *inverse)
{
	clear(s);
	for_each_row(in, st, v, r->spin_w.v, add_equation, s);
	if (s->rows < EDGE_WINDOWS_LEAST + s->n)
		return -ENODATA;
	close_empty(s);
	return invert(s, inverse);
}

static void note_off(struct system *s, const struct row *r)
{
	s->off[s->n_off] = off_by(s, r);
	s->anyway[s->n_off] = OFF_ANYWAY * r->in->windows[r->window].uj;
	s->window[s->n_off++] = r->window;
}

/* Windows that differ from the model by far more than the others do: something else had the CPUs in them. */
static int find_wild(const struct edge_input *in, const struct story *st, const struct vector *v,
		     struct edge_result *r, struct system *s)
{
	struct outlier *far = calloc(s->rows + 1, sizeof(*far));
	int ret = -ENOMEM;

	s->off = calloc(s->rows + 1, sizeof(*s->off));
	s->anyway = calloc(s->rows + 1, sizeof(*s->anyway));
	s->window = calloc(s->rows + 1, sizeof(*s->window));
	if (far && s->off && s->anyway && s->window) {
		for_each_row(in, st, v, r->spin_w.v, note_off, s);
		ret = outliers_find(s->off, s->anyway, s->n_off, far, NULL);
	}
	for (size_t i = 0; !ret && i < s->n_off; i++) {
		st->wild[s->window[i]] = far[i].differs;
		r->wild += far[i].differs;
	}
	free(s->off);
	free(s->anyway);
	free(s->window);
	free(far);
	return ret;
}

/* @last: without those that are wild; else only find them */
static int solve(const struct edge_input *in, const struct story *st, const struct vector *v, size_t columns,
		 bool last, struct edge_result *r)
{
	struct system s = { .n = columns + 2 };
	gsl_matrix *inverse;
	int ret = allocate(&s, &inverse);

	if (!ret)
		ret = fit_windows(in, st, v, r, &s, inverse);
	if (!ret && !last)
		ret = find_wild(in, st, v, r, &s);
	if (!ret && last) {
		for_each_row(in, st, v, r->spin_w.v, add_score, &s);
		blur_all(in, st, v, &s);
		conclude(in, v, &s, inverse, r);
		r->residual_uj = sqrt(s.residual / (s.rows - s.n));
	}
	gsl_matrix_free(s.m);
	gsl_matrix_free(s.scores);
	gsl_matrix_free(s.blur);
	gsl_matrix_free(inverse);
	gsl_vector_free(s.y);
	gsl_vector_free(s.x);
	return ret;
}

int edge_solve(const struct edge_input *in, struct edge_result *r)
{
	struct vector *v = calloc(in->vectors->n_vectors + 1, sizeof(*v));
	struct story st = { 0 };
	double ns = 0;
	size_t columns;
	int ret = -ENOMEM;

	memset(r, 0, sizeof(*r));
	r->n_vectors = in->vectors->n_vectors;
	r->w = malloc((r->n_vectors + 1) * sizeof(*r->w));
	r->why = calloc(r->n_vectors + 1, sizeof(*r->why));
	r->ticks = calloc(r->n_vectors + 1, sizeof(*r->ticks));
	for (uint32_t i = 0; r->w && i < r->n_vectors; i++)
		r->w[i] = (struct value){ NAN, NAN, NAN };
	st.wild = calloc(in->n_windows + 1, sizeof(*st.wild));
	if (v && r->w && r->why && r->ticks && st.wild)
		ret = learn_spin(in, r);
	if (!ret)
		ret = tell_story(in, &st);
	if (!ret) {
		count_runs(&st, v);
		for (uint32_t i = 0; i < r->n_vectors; i++)
			v[i].major = v[i].runs && v[i].ticks >= EDGE_TICKS_LEAST * v[i].runs;
		ret = find_changes(&st, v, r->n_vectors);
	}
	/* once with all windows, and without those that agree with no other */
	for (int pass = 0; pass < 2 && !ret; pass++) {
		ret = survey_windows(in, &st, v, &ns, &r->windows);
		if (!ret)
			ret = choose(in, v, ns, r, &columns);
		if (!ret)
			ret = solve(in, &st, v, columns, pass, r);
		if (!ret && r->wild > WILD_MOST * r->windows)
			ret = -ENODATA;
	}
	free(st.seen);
	free(st.changes);
	free(st.from);
	free(st.wild);
	free(v);
	if (ret)
		edge_free(r);
	return ret;
}

void edge_free(struct edge_result *r)
{
	free(r->w);
	free(r->why);
	free(r->ticks);
	memset(r, 0, sizeof(*r));
}
