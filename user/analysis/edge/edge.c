// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Powers of vectors from edge windows; see edge.h. edge_occupancy.c finds the sets in the windows,
 * edge_fit.c solves the equations.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/edge/edge_fit.h"
#include "analysis/stats/outliers.h"

/* From this part of the windows' time on a vector has a power of its own. */
#define OWN_LEAST	0.01

/* Collinear with others: its interval is this much wider than alone. */
#define ALIKE		12.0

/* If more than this part of the windows are outliers, it is not known which are right. */
#define WILD_MOST	0.25

/* Windows with only paused CPUs that are needed to know their power. */
#define SPINS_LEAST	10

double edge_irq_part(const struct edge_input *in)
{
	return isnan(in->irq_w) ? 0 : in->tick + in->other * (1 - in->tick);
}

double edge_irq_off(const struct edge_input *in, double w)
{
	double part = edge_irq_part(in);

	return part < 1 && part > 0 ? in->irq_error * part / (1 - part) * (in->irq_w - w) : 0;
}

/* How much of each vector there is in the windows. */
struct survey {
	struct edge_vector *v;
	uint32_t *seen;		/* of each vector, the last window that it was in */
	uint32_t window;
	double ns;
};

static void survey_add_part(void *to, uint32_t vector, double ns)
{
	struct survey *s = to;

	s->v[vector].ns += ns;
	s->v[vector].windows += s->seen[vector] != s->window;
	s->seen[vector] = s->window;
	s->ns += ns;
}

static int windows_survey(const struct edge_input *in, const struct edge_occupancy *st,
			  struct edge_vector *v, double *ns, size_t *windows)
{
	struct survey s = { .v = v };
	struct edge_walk k = { 0 };

	s.seen = calloc(in->vectors->n_vectors + 1, sizeof(*s.seen));
	if (!s.seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->vectors->n_vectors; i++) {
		v[i].ns = 0;
		v[i].windows = 0;
	}
	for (size_t j = 0; j < in->n_windows; j++) {
		if (!edge_occupancy_uses(in, st, j))
			continue;
		s.window++;
		edge_occupancy_window(in, st, v, &k, j, survey_add_part, &s);
	}
	free(s.seen);
	*windows = s.window;
	*ns = s.ns;
	return 0;
}

static const struct edge_vector *sort_vectors;

static int vector_by_time(const void *a, const void *b)
{
	double x = sort_vectors[*(const uint32_t *)a].ns, y = sort_vectors[*(const uint32_t *)b].ns;

	if (x != y)
		return x < y ? 1 : -1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Choose vectors with a column; the last but one is for all others. */
static int columns_choose(const struct edge_input *in, struct edge_vector *v, double ns,
			  struct edge_result *r, size_t *columns)
{
	uint32_t n = in->vectors->n_vectors, *order = calloc(n + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		v[i].column = EDGE_NO_COLUMN;
		r->why[i] = EDGE_SCARCE;
		r->ticks[i] = v[i].runs ? (double)v[i].ticks / v[i].runs : 0;
	}
	sort_vectors = v;
	qsort(order, n, sizeof(*order), vector_by_time);
	*columns = 0;
	for (uint32_t i = 0; i < n && *columns < EDGE_OWN_MOST; i++) {
		struct edge_vector *of = &v[order[i]];

		if (of->ns < OWN_LEAST * ns || of->windows < EDGE_WINDOWS_LEAST)
			continue;
		r->why[order[i]] = of->major ? EDGE_KNOWN : EDGE_SHORT;
		of->column = (*columns)++;
	}
	free(order);
	return 0;
}

/*
 * From microwatt to watts, with the uncertainty of the windows, of the paused power and of
 * interrupts. The pull may be anything from nothing to all of it: its variance is that of a uniform
 * distribution.
 */
static struct value power_with_interval(const struct edge_input *in, const struct edge_result *r,
					double uw, double variance, double pull, double dof,
					double *own_w)
{
	double w = uw * 1e-6, off;

	*own_w = interval_t(dof) * hypot(sqrt(variance), pull / sqrt(3)) * 1e-6;
	off = hypot(hypot(*own_w, r->spin_w.hi - r->spin_w.v), edge_irq_off(in, w));
	return (struct value){ w, w - off, w + off };
}

/* The joint power of all vectors without an own one, weighted by time, from their unknowns. */
static struct value vectors_unknown_power(const struct edge_input *in, const struct edge_vector *v,
					  const struct edge_system *s, struct edge_result *r,
					  double dof)
{
	double part[EDGE_COLUMNS_MOST] = { 0 }, all = 0, uw = 0, variance = 0, pull = 0;

	for (uint32_t i = 0; i < r->n_vectors; i++) {
		if (r->why[i] == EDGE_KNOWN)
			continue;
		part[v[i].column == EDGE_NO_COLUMN ? s->n - 2 : v[i].column] += v[i].ns;
		all += v[i].ns;
	}
	if (!(all > 0))
		return (struct value){ NAN, NAN, NAN };
	for (size_t a = 0; a < s->n; a++) {
		uw += part[a] / all * gsl_vector_get(s->x, a);
		pull += part[a] / all * edge_fit_pull(s, a);
	}
	for (size_t b = 0; b < s->n; b++) {
		for (size_t c = 0; c < s->n; c++) {
			double x = 0, y = 0;

			for (size_t a = 0; a < s->n; a++) {
				x += part[a] / all * gsl_matrix_get(s->inverse, a, b);
				y += part[a] / all * gsl_matrix_get(s->inverse, a, c);
			}
			variance += x * gsl_matrix_get(s->scores, b, c) * y;
		}
	}
	variance *= (double)s->rows / (s->rows - s->n);
	return power_with_interval(in, r, uw, fmax(variance, 0), pull, dof, &r->unknown_own_w);
}

static void vectors_set_powers(const struct edge_input *in, const struct edge_vector *v,
			       const struct edge_system *s, struct edge_result *r)
{
	double dof = s->rows - s->n;

	for (uint32_t i = 0; i < r->n_vectors; i++) {
		size_t a = v[i].column;
		double alike, variance;

		if (a == EDGE_NO_COLUMN)
			continue;
		alike = gsl_matrix_get(s->inverse, a, a) * gsl_matrix_get(s->m, a, a);
		variance = edge_fit_variance(s, a);
		if (!(alike > 0) || alike > ALIKE * ALIKE || !(variance >= 0))
			r->why[i] = EDGE_ALIKE;
		if (r->why[i] == EDGE_KNOWN)
			r->w[i] = power_with_interval(in, r, gsl_vector_get(s->x, a), variance,
						      edge_fit_pull(s, a), dof, &r->own_w[i]);
		/* power is not negative */
		if (r->w[i].hi < 0) {
			r->w[i] = (struct value){ NAN, NAN, NAN };
			r->why[i] = EDGE_ALIKE;
		}
	}
	r->unknown_w = vectors_unknown_power(in, v, s, r, dof);
	r->extra_uj = gsl_vector_get(s->x, s->n - 1);
}

static bool window_is_spin(const struct edge_window *w)
{
	return w->spin && !w->failed && w->paused_ns;
}

/* Power of paused CPUs from windows without code. Firmware or a hypervisor makes outliers. */
static int spin_power_learn(const struct edge_input *in, struct edge_result *r)
{
	double sum = 0, squares = 0, ns = 0, mean, error;
	double *power = calloc(in->n_windows + 1, sizeof(*power)),
		*anyway = calloc(in->n_windows + 1, sizeof(*anyway));
	struct outlier *far = calloc(in->n_windows + 1, sizeof(*far));
	size_t n = 0;
	int ret = power && anyway && far ? 0 : -ENOMEM;

	for (size_t j = 0; j < in->n_windows && !ret; j++)
		if (window_is_spin(&in->windows[j])) {
			power[n] = in->windows[j].uj / in->windows[j].paused_ns;
			anyway[n] = EDGE_OFF_ANYWAY * power[n];
			n++;
		}
	if (!ret)
		ret = outliers_find(power, anyway, n, far, NULL);
	n = 0;
	for (size_t j = 0; j < in->n_windows && !ret; j++) {
		const struct edge_window *w = &in->windows[j];

		if (!window_is_spin(w))
			continue;
		if (far[n++].differs) {
			r->wild_spins++;
			continue;
		}
		r->spins++;
		sum += w->uj;
		ns += w->paused_ns;
		squares += w->uj / w->paused_ns * (w->uj / w->paused_ns);
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

/* @last: leave out outliers; else only find them */
static int columns_solve(const struct edge_input *in, const struct edge_occupancy *st,
			 const struct edge_vector *v, size_t columns, bool last,
			 struct edge_result *r)
{
	struct edge_system s;
	int ret = edge_fit_new(&s, columns);

	if (!ret)
		ret = edge_fit_windows(in, st, v, r->spin_w.v, &s);
	if (!ret && !last)
		ret = edge_fit_wild(in, st, v, r->spin_w.v, &s, &r->wild);
	if (!ret && last) {
		edge_fit_scores(in, st, v, r->spin_w.v, &s);
		vectors_set_powers(in, v, &s, r);
		r->residual_uj = sqrt(s.residual / (s.rows - s.n));
	}
	edge_fit_free(&s);
	return ret;
}

int edge_solve(const struct edge_input *in, struct edge_result *r)
{
	struct edge_vector *v = calloc(in->vectors->n_vectors + 1, sizeof(*v));
	struct edge_occupancy st = { 0 };
	double ns = 0;
	size_t columns;
	int ret = -ENOMEM;

	memset(r, 0, sizeof(*r));
	r->n_vectors = in->vectors->n_vectors;
	r->w = malloc((r->n_vectors + 1) * sizeof(*r->w));
	r->own_w = calloc(r->n_vectors + 1, sizeof(*r->own_w));
	r->why = calloc(r->n_vectors + 1, sizeof(*r->why));
	r->ticks = calloc(r->n_vectors + 1, sizeof(*r->ticks));
	for (uint32_t i = 0; r->w && i < r->n_vectors; i++)
		r->w[i] = (struct value){ NAN, NAN, NAN };
	if (v && r->w && r->own_w && r->why && r->ticks)
		ret = spin_power_learn(in, r);
	if (!ret)
		ret = edge_occupancy_tell(in, &st);
	if (!ret) {
		edge_occupancy_count(&st, v);
		for (uint32_t i = 0; i < r->n_vectors; i++)
			v[i].major = v[i].runs && v[i].ticks >= EDGE_TICKS_LEAST * v[i].runs;
		ret = edge_occupancy_changes(&st, v, r->n_vectors);
	}
	/* once with all windows, once without outliers */
	for (int pass = 0; pass < 2 && !ret; pass++) {
		ret = windows_survey(in, &st, v, &ns, &r->windows);
		if (!ret)
			ret = columns_choose(in, v, ns, r, &columns);
		if (!ret)
			ret = columns_solve(in, &st, v, columns, pass, r);
		if (!ret && r->wild > WILD_MOST * r->windows)
			ret = -ENODATA;
	}
	edge_occupancy_free(&st);
	free(v);
	if (ret)
		edge_free(r);
	return ret;
}

void edge_free(struct edge_result *r)
{
	free(r->w);
	free(r->own_w);
	free(r->why);
	free(r->ticks);
	memset(r, 0, sizeof(*r));
}
