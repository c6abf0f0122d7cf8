// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See transition_path.h: Viterbi's best path.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include "analysis/transition/transition_path.h"

/* A loop is an outlier in one of so many cases, and is then up to so many times as long. */
#define STRAY_ONE_IN	100
#define STRAY_UP_TO	10

/* Other levels: between the shorter and the longer one times these, at least so far apart. */
#define GRID_LOW	0.5
#define GRID_HIGH	2.0
#define GRID_STEP	0.01

/*
 * Limits for a piece of noise: strays in a row (a level of its own has at least three loops), and
 * the range of the sum of residuals, times sqrt(n): that of a random walk is above 3 in one of a
 * hundred.
 */
#define STRAY_ROW	2
#define NOISE		3.0

/* Of a median against a mean, and deviations by which a piece's level is certainly off. */
#define MEDIAN_SD	1.2533
#define SURELY		3.0

/* A level with its constants: log likelihood of a time is -(ns - mean)^2 * narrow - wide. */
struct state {
	double ns, sd, narrow, wide;
};

static struct state state_make(double ns, double sd)
{
	return (struct state){ ns, sd, 0.5 / sd / sd, log(sd * sqrt(2 * M_PI)) };
}

static double loop_likelihood(const struct state *s, double floor, double ns)
{
	double near = -(ns - s->ns) * (ns - s->ns) * s->narrow - s->wide;

	/* no fmax(): this is the hot loop, and there is no NAN */
	return near > floor ? near : floor;
}

/* The first two are the pair's. Return: how many */
static size_t states_make(const struct transition_level *from, const struct transition_level *to,
			  struct state **states)
{
	double noise = fmax(from->sd_ns / from->mean_ns.v, to->sd_ns / to->mean_ns.v),
		step = 1 + fmax(GRID_STEP, noise);
	double low = GRID_LOW * fmin(from->mean_ns.v, to->mean_ns.v),
		high = GRID_HIGH * fmax(from->mean_ns.v, to->mean_ns.v);
	size_t n = 2 + (size_t)(log(high / low) / log(step)) + 1;

	*states = calloc(n, sizeof(**states));
	if (!*states)
		return 0;
	(*states)[PATH_FROM] = state_make(from->mean_ns.v, from->sd_ns);
	(*states)[PATH_TO] = state_make(to->mean_ns.v, to->sd_ns);
	/* a level is up to half a step from the grid's next */
	for (size_t i = 2; i < n; i++, low *= step)
		(*states)[i] = state_make(low, low * hypot(noise, (step - 1) / 2));
	return n;
}

/*
 * Forward: the best likelihood of each state; @moved: it was entered from another one, and @best of
 * each loop: which.
 */
static void path_score_forward(const struct transition_loop *loops, size_t n,
			       const struct state *states, size_t n_states, double floor,
			       double *score, uint8_t *moved, size_t *best)
{
	for (size_t s = 0; s < n_states; s++)
		score[s] = s == PATH_FROM ? 0 : -PATH_CHANGE;
	for (size_t i = 0; i < n; i++) {
		double from_top, ns = loops[i].loop_ns;
		size_t top = 0;

		for (size_t s = 1; s < n_states; s++)
			if (score[s] > score[top])
				top = s;
		best[i] = top;
		from_top = score[top] - PATH_CHANGE;
		for (size_t s = 0; s < n_states; s++) {
			moved[i * n_states + s] = i && from_top > score[s];
			score[s] = (from_top > score[s] ? from_top : score[s]) +
				   loop_likelihood(&states[s], floor, ns);
		}
	}
}

static void path_trace_back(size_t n, size_t n_states, const double *score, const uint8_t *moved,
			    const size_t *best, size_t *path)
{
	size_t s = 0;

	for (size_t i = 1; i < n_states; i++)
		if (score[i] > score[s])
			s = i;
	for (size_t i = n; i-- > 0;) {
		path[i] = s;
		if (moved[i * n_states + s])
			s = best[i];
	}
}

/* Where the likelihood of a level's normal distribution comes down to that of an outlier. */
static double level_reach(const struct path *p, double sd)
{
	double most = -p->floor - log(sd * sqrt(2 * M_PI));

	return most > 0 ? sd * sqrt(2 * most) : 0;
}

/* The level of a piece, by its loops that fit; @sd: out, of it. */
static double piece_level(const struct path_piece *piece, const struct transition_loop *loops,
			  double *room, double *sd)
{
	size_t n = 0;

	for (size_t i = piece->begin; i < piece->end; i++)
		if (path_fits(piece, loops[i].loop_ns))
			room[n++] = loops[i].loop_ns;
	gsl_sort(room, 1, n);
	*sd = n ? MEDIAN_SD * piece->sd / sqrt(n) : 0;
	return n ? gsl_stats_median_from_sorted_data(room, 1, n) : piece->ns;
}

/* @sd: of @ns */
static enum path_kind level_path_kind(double ns, double sd, const struct transition_level *from,
				      const struct transition_level *to)
{
	double most = fabs(from->mean_ns.v - to->mean_ns.v) / 2,
		off_from = fabs(ns - from->mean_ns.v);
	double off_to = fabs(ns - to->mean_ns.v);

	if (off_to <= fmin(transition_near(to->mean_ns.v, from->mean_ns.v) + SURELY * sd, most))
		return PATH_TO;
	if (off_from <= fmin(transition_near(from->mean_ns.v, to->mean_ns.v) + SURELY * sd, most))
		return PATH_FROM;
	return PATH_OTHER;
}

static void path_add_piece(struct path *p, const struct path_piece *piece)
{
	struct path_piece *last = p->n ? &p->pieces[p->n - 1] : NULL;

	/* one level in two pieces: the second is a little off */
	if (last && last->kind == piece->kind && piece->kind != PATH_OTHER) {
		last->end = piece->end;
		last->sd = fmax(last->sd, piece->sd);
		return;
	}
	p->pieces[p->n++] = *piece;
}

static void path_make_pieces(const struct transition_loop *loops, size_t n, const size_t *path,
			     const struct state *states, const struct transition_level *from,
			     const struct transition_level *to, double *room, struct path *p)
{
	size_t begin = 0;

	p->pieces[p->n++] = (struct path_piece){ 0, 0, PATH_FROM, from->mean_ns.v, from->sd_ns, 0 };
	for (size_t i = 1; i <= n; i++) {
		const struct state *s = &states[path[begin]];
		struct path_piece piece = { begin, i, PATH_OTHER, s->ns, s->sd,
					    level_reach(p, s->sd) };

		if (i < n && path[i] == path[begin])
			continue;
		if (path[begin] <= PATH_TO) {
			piece.kind = path[begin];
		} else {
			double sd, ns = piece_level(&piece, loops, room, &sd);

			piece.kind = level_path_kind(ns, sd, from, to);
			piece.sd = hypot(piece.sd, ns - piece.ns);
			piece.ns = ns;
		}
		path_add_piece(p, &piece);
		begin = i;
	}
	for (size_t i = 0; i < p->n; i++)
		p->pieces[i].reach_ns = level_reach(p, p->pieces[i].sd);
}

/* For a path through the pair's two levels alone: are its loops' residuals just noise? */
static bool residuals_are_noise(const struct transition_loop *loops, size_t begin, size_t end,
				const struct state *s, double floor)
{
	double sum = 0, low = 0, high = 0;
	size_t row = 0;

	for (size_t i = begin; i < end; i++) {
		double off = (loops[i].loop_ns - s->ns) / s->sd;

		row = loop_likelihood(s, floor, loops[i].loop_ns) <= floor ? row + 1 : 0;
		if (row > STRAY_ROW)
			return false;
		if (row)
			continue;
		sum += off;
		low = sum < low ? sum : low;
		high = sum > high ? sum : high;
	}
	return high - low < NOISE * sqrt(end - begin + 1.0);
}

/*
 * Most series are at one level, and then at the other. Looking for others takes twenty times as
 * long, and is only done if the residuals of either piece suggest it: strays, or a sum of them that
 * drifts.
 */
static bool path_is_plain(const struct transition_loop *loops, size_t n, const size_t *path,
			  const struct state *states, double floor)
{
	size_t begin = 0;

	for (size_t i = 1; i <= n; i++) {
		if (i < n && path[i] == path[begin])
			continue;
		if (!residuals_are_noise(loops, begin, i, &states[path[begin]], floor))
			return false;
		begin = i;
	}
	return true;
}

int path_find(const struct transition_loop *loops, size_t n, const struct transition_level *from,
	      const struct transition_level *to, struct path *p)
{
	struct state *states = NULL;
	size_t n_states = states_make(from, to, &states), *best = calloc(n + 1, sizeof(*best));
	size_t *path = calloc(n + 1, sizeof(*path));
	double *score = calloc(n_states + 1, sizeof(*score)), *room = calloc(n + 1, sizeof(*room));
	uint8_t *moved = calloc(n + 1, n_states + 1);
	int ret = -ENOMEM;

	*p = (struct path){ .pieces = calloc(n + 2, sizeof(*p->pieces)) };
	p->floor = -log(STRAY_ONE_IN * STRAY_UP_TO * fmax(from->mean_ns.v, to->mean_ns.v));
	if (states && best && path && score && room && moved && p->pieces) {
		for (size_t used = PATH_TO + 1;; used = n_states) {
			path_score_forward(loops, n, states, used, p->floor, score, moved, best);
			path_trace_back(n, used, score, moved, best, path);
			if (used == n_states || path_is_plain(loops, n, path, states, p->floor))
				break;
		}
		path_make_pieces(loops, n, path, states, from, to, room, p);
		ret = 0;
	}
	free(states);
	free(best);
	free(path);
	free(score);
	free(room);
	free(moved);
	return ret;
}

void path_free(struct path *p)
{
	free(p->pieces);
}

bool path_fits(const struct path_piece *piece, double ns)
{
	return fabs(ns - piece->ns) < piece->reach_ns;
}

void path_corner(const struct path *p, size_t i, const struct transition_loop *loops, size_t *first,
		 size_t *last)
{
	const struct path_piece *a = &p->pieces[i], *b = &p->pieces[i + 1];
	struct state before = state_make(a->ns, a->sd), after = state_make(b->ns, b->sd);
	double lost = 0;

	*first = *last = b->begin;
	for (size_t at = b->begin; at-- > a->begin;) {
		lost += loop_likelihood(&before, p->floor, loops[at].loop_ns) -
			loop_likelihood(&after, p->floor, loops[at].loop_ns);
		if (lost <= PATH_SURE)
			*first = at;
	}
	lost = 0;
	for (size_t at = b->begin; at < b->end; at++) {
		lost += loop_likelihood(&after, p->floor, loops[at].loop_ns) -
			loop_likelihood(&before, p->floor, loops[at].loop_ns);
		if (lost <= PATH_SURE)
			*last = at + 1;
	}
}
