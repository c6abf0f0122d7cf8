// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Least squares over edge windows; see edge_fit.h.
 */
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/edge/edge_fit.h"
#include "analysis/stats/outliers.h"

/* One window as a row: seconds and energy without interrupts, and without the paused time's. */
struct row {
	const struct edge_input *in;
	const struct edge_vector *v;
	size_t n, window;
	double t[EDGE_COLUMNS_MOST];
	double busy_s;		/* sum over CPUs */
	double uj;
};

static void row_add_part(void *to, uint32_t vector, double ns)
{
	const struct cpm_vectors *v;
	struct row *r = to;
	uint32_t column = r->v[vector].column;

	v = r->in->vectors;
	r->t[column == EDGE_NO_COLUMN ? r->n - 2 : column] += ns * 1e-9 *
							      (1 - edge_irq_part(r->in));
	/* each busy CPU has interrupts of its own */
	for (uint32_t k = v->first[vector]; k < v->first[vector + 1]; k++)
		if (v->kinds[v->members[k]] != CPM_IDLE)
			r->busy_s += ns * 1e-9;
}

/* Uncertain changes in a window. */
static void blur_add_changes(const struct edge_occupancy *st, const struct edge_vector *v,
			     double low, double high, double net, struct edge_walk *k,
			     struct edge_system *s)
{
	while (k->change < st->n_changes && st->changes[k->change].at <= low)
		k->change++;
	for (size_t i = k->change; i < st->n_changes && st->changes[i].at < high; i++) {
		uint32_t a = v[edge_occupancy_run(st, i)].column,
		b = v[edge_occupancy_run(st, i + 1)].column;
		double variance = st->changes[i].variance * net * net;

		a = a == EDGE_NO_COLUMN ? s->n - 2 : a;
		b = b == EDGE_NO_COLUMN ? s->n - 2 : b;
		if (a == b)
			continue;
		*gsl_matrix_ptr(s->blur, a, a) += variance;
		*gsl_matrix_ptr(s->blur, b, b) += variance;
		*gsl_matrix_ptr(s->blur, a, b) -= variance;
		*gsl_matrix_ptr(s->blur, b, a) -= variance;
	}
}

static void blur_add_windows(const struct edge_input *in, const struct edge_occupancy *st,
			     const struct edge_vector *v, struct edge_system *s)
{
	struct edge_walk k = { 0 };

	for (size_t j = 0; j < in->n_windows; j++)
		if (edge_occupancy_uses(in, st, j))
			blur_add_changes(st, v, st->from[j],
					 st->from[j] +
					 (in->windows[j].b_ns - in->windows[j].from_ns),
					 1e-9 * (1 - edge_irq_part(in)), &k, s);
}

/* Call @each for the rows of all usable windows. */
static void rows_for_each(const struct edge_input *in, const struct edge_occupancy *st,
			  const struct edge_vector *v, double spin_w,
			  void (*each)(struct edge_system *s, const struct row *r),
			  struct edge_system *s)
{
	struct edge_walk k = { 0 };

	for (size_t j = 0; j < in->n_windows; j++) {
		const struct edge_window *w = &in->windows[j];
		struct row r = { .in = in, .v = v, .n = s->n, .window = j };

		if (!edge_occupancy_uses(in, st, j))
			continue;
		edge_occupancy_window(in, st, v, &k, j, row_add_part, &r);
		r.t[s->n - 1] = 1;
		r.uj = w->uj - spin_w * 1e-3 * (w->paused_ns + w->before_ns);
		if (edge_irq_part(in) > 0)
			r.uj -= in->irq_w * 1e6 * edge_irq_part(in) * r.busy_s;
		each(s, &r);
	}
}

static void system_add_row(struct edge_system *s, const struct row *r)
{
	for (size_t a = 0; a < s->n; a++) {
		*gsl_vector_ptr(s->y, a) += r->t[a] * r->uj;
		for (size_t b = 0; b < s->n; b++)
			*gsl_matrix_ptr(s->m, a, b) += r->t[a] * r->t[b];
	}
	s->rows++;
}

/* Residual of a window. */
static double row_residual(const struct edge_system *s, const struct row *r)
{
	double off = r->uj;

	for (size_t a = 0; a < s->n; a++)
		off -= r->t[a] * gsl_vector_get(s->x, a);
	return off;
}

/*
 * t_j (y_j - t_j x), whose sum is zero at the solution. A misplaced change affects some windows in
 * a row (Newey and West's weights).
 */
static void score_add_row(struct edge_system *s, const struct row *r)
{
	double *score = s->lately[s->scored % EDGE_LAGS], off = row_residual(s, r);

	for (size_t a = 0; a < s->n; a++)
		score[a] = r->t[a] * off;
	/* for each pair of columns: the product of this row and a sum over the lags */
	memset(s->before, 0, s->n * sizeof(*s->before));
	for (size_t lag = 0; lag < EDGE_LAGS && lag <= s->scored; lag++) {
		const double *before = s->lately[(s->scored - lag) % EDGE_LAGS];
		double weight = lag ? 1 - (double)lag / EDGE_LAGS : 0.5;

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

/* An empty column has no power. */
static void system_close_empty(struct edge_system *s)
{
	for (size_t a = 0; a < s->n; a++)
		if (gsl_matrix_get(s->m, a, a) == 0)
			gsl_matrix_set(s->m, a, a, 1);
}

/* Return: 0; -ENODATA if the equations are singular */
static int system_invert(struct edge_system *s)
{
	gsl_matrix *lu = gsl_matrix_alloc(s->n, s->n);
	gsl_permutation *p = gsl_permutation_alloc(s->n);
	gsl_error_handler_t *handler;
	int sign, ret = lu && p ? 0 : -ENOMEM;

	if (!ret) {
		gsl_matrix_memcpy(lu, s->m);
		handler = gsl_set_error_handler_off();
		if (gsl_linalg_LU_decomp(lu, p, &sign) || gsl_linalg_LU_invert(lu, p, s->inverse))
			ret = -ENODATA;
		gsl_set_error_handler(handler);
	}
	for (size_t a = 0; a < s->n && !ret; a++) {
		double sum = 0;

		for (size_t b = 0; b < s->n; b++)
			sum += gsl_matrix_get(s->inverse, a, b) * gsl_vector_get(s->y, b);
		if (!isfinite(sum))
			ret = -ENODATA;
		gsl_vector_set(s->x, a, sum);
	}
	gsl_matrix_free(lu);
	gsl_permutation_free(p);
	return ret;
}

double edge_fit_variance(const struct edge_system *s, size_t a)
{
	double sum = 0;

	for (size_t b = 0; b < s->n; b++)
		for (size_t c = 0; c < s->n; c++)
			sum += gsl_matrix_get(s->inverse, a, b) * gsl_matrix_get(s->scores, b, c) *
			       gsl_matrix_get(s->inverse, a, c);
	return sum * s->rows / (s->rows - s->n);
}

double edge_fit_pull(const struct edge_system *s, size_t a)
{
	double sum = 0;

	for (size_t b = 0; b < s->n; b++)
		for (size_t c = 0; c < s->n; c++)
			sum += gsl_matrix_get(s->inverse, a, b) * gsl_matrix_get(s->blur, b, c) *
			       gsl_vector_get(s->x, c);
	return fabs(sum);
}

int edge_fit_new(struct edge_system *s, size_t columns)
{
	memset(s, 0, sizeof(*s));
	s->n = columns + 2;
	s->m = gsl_matrix_calloc(s->n, s->n);
	s->inverse = gsl_matrix_calloc(s->n, s->n);
	s->scores = gsl_matrix_calloc(s->n, s->n);
	s->blur = gsl_matrix_calloc(s->n, s->n);
	s->y = gsl_vector_calloc(s->n);
	s->x = gsl_vector_calloc(s->n);
	return s->m && s->inverse && s->scores && s->blur && s->y && s->x ? 0 : -ENOMEM;
}

void edge_fit_free(struct edge_system *s)
{
	gsl_matrix_free(s->m);
	gsl_matrix_free(s->inverse);
	gsl_matrix_free(s->scores);
	gsl_matrix_free(s->blur);
	gsl_vector_free(s->y);
	gsl_vector_free(s->x);
}

static void system_clear(struct edge_system *s)
{
	gsl_matrix_set_zero(s->m);
	gsl_vector_set_zero(s->y);
	s->rows = 0;
}

int edge_fit_windows(const struct edge_input *in, const struct edge_occupancy *st,
		     const struct edge_vector *v, double spin_w, struct edge_system *s)
{
	system_clear(s);
	rows_for_each(in, st, v, spin_w, system_add_row, s);
	if (s->rows < EDGE_WINDOWS_LEAST + s->n)
		return -ENODATA;
	system_close_empty(s);
	return system_invert(s);
}

void edge_fit_scores(const struct edge_input *in, const struct edge_occupancy *st,
		     const struct edge_vector *v, double spin_w, struct edge_system *s)
{
	rows_for_each(in, st, v, spin_w, score_add_row, s);
	blur_add_windows(in, st, v, s);
}

static void row_note_residual(struct edge_system *s, const struct row *r)
{
	s->off[s->n_off] = row_residual(s, r);
	s->anyway[s->n_off] = EDGE_OFF_ANYWAY * r->in->windows[r->window].uj;
	s->window[s->n_off++] = r->window;
}

int edge_fit_wild(const struct edge_input *in, const struct edge_occupancy *st,
		  const struct edge_vector *v, double spin_w, struct edge_system *s, size_t *n)
{
	struct outlier *far = calloc(s->rows + 1, sizeof(*far));
	int ret = -ENOMEM;

	*n = 0;
	s->off = calloc(s->rows + 1, sizeof(*s->off));
	s->anyway = calloc(s->rows + 1, sizeof(*s->anyway));
	s->window = calloc(s->rows + 1, sizeof(*s->window));
	if (far && s->off && s->anyway && s->window) {
		rows_for_each(in, st, v, spin_w, row_note_residual, s);
		ret = outliers_find(s->off, s->anyway, s->n_off, far, NULL);
	}
	for (size_t i = 0; !ret && i < s->n_off; i++) {
		st->wild[s->window[i]] = far[i].differs;
		*n += far[i].differs;
	}
	free(s->off);
	free(s->anyway);
	free(s->window);
	free(far);
	return ret;
}
