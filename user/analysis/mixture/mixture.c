// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The mixture model, see mixture.h.
 *
 * Sampling errors: ticks are T apart; an edge where one block follows another is seen between two
 * ticks, and taken to be in the middle between them; likewise an update of the counter. The true
 * place is up to T/2 before or behind: with a random first phase the error is uniform, of variance
 * T^2/12; with ticks that are delayed at random by up to J*T it is (1 + J^2) T^2/12. A block's
 * occupancy of a window is wrong by the difference of the errors at both ends of each of its runs,
 * T^2/6 for a run if the two are independent. On an even grid they are not: a run of exactly four
 * intervals always has four ticks, and its occupancy is right. For two edges D apart the errors'
 * covariance is, by the Fourier series of the sawtooth,
 *
 *	c(D) = T^2 * sum over k >= 1 of cos(2 pi k D/T) sinc^2(k J) / (2 pi^2 k^2)
 *
 * with sinc(x) = sin(pi x) / (pi x), and if D varies with variance s^2 around its mean each term
 * has a factor of exp(-2 pi^2 k^2 s^2 / T^2). (c(0) = T^2/12 with J = 0; with J = 1 it is 0, as a
 * tick anywhere in its interval has no grid.) The counts of ticks of a run vary by s^2 + 2
 * (variance of an edge - c(D)), which is solved for s^2. Lengths of successive runs are taken to be
 * independent, as are edges of runs and updates of the counter.
 *
 * So the errors of all occupancies of a window have a known covariance matrix S_j, and
 *
 *	(sum of W_j W_j' - S_j) P = sum of W_j E_j
 *
 * has the powers as its solution, where least squares leaves S_j out. The total over all windows is
 * known nearly as well as the counter, so P is constrained to add up to it, and to be nowhere below
 * 0.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include "analysis/mixture/mixture_runs.h"
#include "analysis/stats/interval.h"

/* Windows longer than so many usual ones count by their mean power: the error grows with them. */
#define LONG_WINDOW	3.0

/* Relative uncertainty of the errors' covariance: of each edge, and of what edges share. */
#define OWN_KNOWN	0.01
#define SHARED_KNOWN	0.07
#define UNSEEN_KNOWN	0.7

/*
 * If a larger part of the runs is seen at one tick only, runs are too short for their occupancies
 * to be corrected: simulated ones of 1.4 to 1.6 ticks were off by 6 to 12 %. This is the case below
 * 1.65 ticks.
 */
#define BRIEF_SINGLE	0.35

/* Sums over windows. @raw: W W', @errors, @we: W E, @w: W, and @e: E. */
struct sums {
	double *raw, *we, *w, e;
	struct mixture_errors errors;
};

struct solving {
	const struct mixture_input *in;
	uint32_t n;
	struct mixture_runs runs;
	struct sums all, batches[MIXTURE_BATCHES];
};

static int sums_new(struct sums *b, uint32_t n)
{
	b->raw = calloc((size_t)n * n, sizeof(double));
	b->errors.own = calloc((size_t)n * n, sizeof(double));
	b->errors.shared = calloc((size_t)n * n, sizeof(double));
	b->errors.unseen = calloc((size_t)n * n, sizeof(double));
	b->we = calloc(n, sizeof(double));
	b->w = calloc(n, sizeof(double));
	return b->raw && b->errors.own && b->errors.shared && b->errors.unseen && b->we &&
	       b->w ? 0 : -ENOMEM;
}

static void sums_free(struct sums *b)
{
	free(b->raw);
	free(b->errors.own);
	free(b->errors.shared);
	free(b->errors.unseen);
	free(b->we);
	free(b->w);
}

static void sums_add(struct sums *a, const struct sums *b, uint32_t n, double sign)
{
	for (size_t i = 0; i < (size_t)n * n; i++) {
		a->raw[i] += sign * b->raw[i];
		a->errors.own[i] += sign * b->errors.own[i];
		a->errors.shared[i] += sign * b->errors.shared[i];
		a->errors.unseen[i] += sign * b->errors.unseen[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		a->we[i] += sign * b->we[i];
		a->w[i] += sign * b->w[i];
	}
	a->e += sign * b->e;
}

/* Raw sums less their sampling error. */
static double sums_corrected(const struct sums *b, uint32_t n, uint32_t i, uint32_t k)
{
	size_t at = (size_t)i * n + k;

	return b->raw[at] - b->errors.own[at] - b->errors.shared[at] - b->errors.unseen[at];
}

static void sums_add_window(struct sums *b, uint32_t n, double weight, const double *ticks,
			    const struct mixture_errors *errors, double uj)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < n; k++) {
			b->raw[i * n + k] += weight * ticks[i] * ticks[k];
			b->errors.own[i * n + k] += weight * errors->own[i * n + k];
			b->errors.shared[i * n + k] += weight * errors->shared[i * n + k];
			b->errors.unseen[i * n + k] += weight * errors->unseen[i * n + k];
		}
		b->we[i] += weight * ticks[i] * uj;
		b->w[i] += ticks[i];
	}
	b->e += uj;
}

/* All windows in batches of successive ones. */
static int batches_add_windows(struct solving *s, struct mixture *m)
{
	const struct cpm_domain *d = s->in->domain;
	size_t square = (size_t)s->n * s->n * sizeof(double);
	struct mixture_errors errors = { malloc(square), malloc(square), malloc(square) };
	double *ticks = calloc(s->n, sizeof(*ticks));
	struct cpm_windows windows;
	uint64_t seen = 0;
	size_t at = 0;
	int ret;

	if (!ticks || !errors.own || !errors.shared || !errors.unseen) {
		free(ticks);
		free(errors.own);
		free(errors.shared);
		free(errors.unseen);
		return -ENOMEM;
	}
	ret = cpm_windows_begin(d, &windows);
	while (!ret && cpm_windows_next(&windows)) {
		const struct cpm_window *w = &windows.w;
		double length = w->to - w->from, usual = s->runs.window.mean * LONG_WINDOW;
		double weight = length > usual ? usual * usual / (length * length) : 1;

		if (!w->known)
			continue;
		memset(errors.own, 0, square);
		memset(errors.shared, 0, square);
		memset(errors.unseen, 0, square);
		if (mixture_runs_window(&s->runs, w, &at, ticks, &errors)) {
			sums_add_window(&s->batches[seen * MIXTURE_BATCHES / d->known], s->n,
					weight, ticks, &errors, w->uj);
			m->used[windows.number] = true;
			m->windows++;
			m->window_ticks += length;
		} else {
			m->left_out++;
		}
		seen++;
	}
	cpm_windows_end(&windows);
	m->window_ticks /= m->windows ? m->windows : 1;
	for (int i = 0; i < MIXTURE_BATCHES; i++)
		sums_add(&s->all, &s->batches[i], s->n, 1);
	free(ticks);
	free(errors.own);
	free(errors.shared);
	free(errors.unseen);
	return ret;
}

/*
 * The powers that solve the normal equations, add up to the energy of all windows (by a Lagrange
 * multiplier), and are not negative. @inverse: their derivative by the right side, n^2; may be
 * NULL. Return: 0, -EDOM if there is no such, -ENOMEM
 */
static int equations_solve_powers(const struct sums *b, uint32_t n, double *p, double *inverse)
{
	gsl_matrix *a = gsl_matrix_calloc(n + 1, n + 1);
	gsl_vector *right = gsl_vector_calloc(n + 1), *x = gsl_vector_calloc(n + 1);
	gsl_permutation *order = gsl_permutation_alloc(n + 1);
	bool *zero = calloc(n, sizeof(*zero)), again = true;
	int ret = a && right && x && order && zero ? 0 : -ENOMEM, sign;

	while (!ret && again) {
		uint32_t lowest = n;

		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t k = 0; k < n; k++)
				gsl_matrix_set(a, i, k, zero[i] ||
					       zero[k] ? i == k : sums_corrected(b, n, i, k));
			gsl_matrix_set(a, i, n, zero[i] ? 0 : b->w[i]);
			gsl_matrix_set(a, n, i, zero[i] ? 0 : b->w[i]);
			gsl_vector_set(right, i, zero[i] ? 0 : b->we[i]);
		}
		gsl_matrix_set(a, n, n, 0);
		gsl_vector_set(right, n, b->e);
		if (gsl_linalg_LU_decomp(a, order, &sign) ||
		    gsl_linalg_LU_solve(a, order, right, x)) {
			ret = -EDOM;
			break;
		}
		for (uint32_t i = 0; i < n; i++) {
			p[i] = zero[i] ? 0 : gsl_vector_get(x, i);
			if (!isfinite(p[i]))
				ret = -EDOM;
			if (p[i] < 0 && (lowest == n || p[i] < p[lowest]))
				lowest = i;
		}
		again = lowest < n;
		if (again)
			zero[lowest] = true;
	}
	for (uint32_t k = 0; !ret && inverse && k < n; k++) {
		gsl_vector_set_zero(right);
		gsl_vector_set(right, k, !zero[k]);
		if (gsl_linalg_LU_solve(a, order, right, x))
			ret = -EDOM;
		for (uint32_t i = 0; i < n; i++)
			inverse[i * n + k] = zero[i] ? 0 : gsl_vector_get(x, i);
	}
	gsl_matrix_free(a);
	gsl_vector_free(right);
	gsl_vector_free(x);
	gsl_permutation_free(order);
	free(zero);
	return ret;
}

/*
 * Directions that change no energy: an orthonormal basis of the space orthogonal to @w, in n - 1
 * columns.
 */
static gsl_matrix *directions_basis(const double *w, uint32_t n)
{
	gsl_matrix *basis = gsl_matrix_calloc(n, n - 1);
	double *v = calloc(n, sizeof(*v)), norm = 0, vv = 0;

	if (!basis || !v) {
		gsl_matrix_free(basis);
		free(v);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		norm += w[i] * w[i];
	/* Householder: the reflection that takes w to the first axis takes the others to a basis */
	memcpy(v, w, n * sizeof(*v));
	v[0] += w[0] < 0 ? -sqrt(norm) : sqrt(norm);
	for (uint32_t i = 0; i < n; i++)
		vv += v[i] * v[i];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 1; k < n; k++)
			gsl_matrix_set(basis, i, k - 1,
				       (i == k) - (vv > 0 ? 2 * v[i] * v[k] / vv : 0));
	free(v);
	return basis;
}

/*
 * How much of the difference between windows is true and not sampling error, in the worst
 * direction: the least eigenvalue of the corrected matrix against the raw one. The direction's
 * largest parts with different signs are the classes that can hardly be separated.
 */
static int directions_judge(const struct sums *b, uint32_t n, struct mixture *m)
{
	gsl_matrix *basis = n > 1 ? directions_basis(b->w, n) : NULL;
	gsl_matrix *raw = gsl_matrix_calloc(n, n), *net = gsl_matrix_calloc(n, n),
		*half = gsl_matrix_calloc(n, n);
	gsl_matrix *a = NULL, *c = NULL, *vectors = NULL;
	gsl_vector *values = NULL;
	gsl_eigen_gensymmv_workspace *room = NULL;
	uint32_t least = 0;
	int ret = -ENOMEM;

	m->reliability = 1;
	if (n < 2) {
		ret = 0;
		goto out;
	}
	a = gsl_matrix_calloc(n - 1, n - 1);
	c = gsl_matrix_calloc(n - 1, n - 1);
	vectors = gsl_matrix_calloc(n - 1, n - 1);
	values = gsl_vector_calloc(n - 1);
	room = gsl_eigen_gensymmv_alloc(n - 1);
	if (!basis || !raw || !net || !half || !a || !c || !vectors || !values || !room)
		goto out;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < n; k++) {
			double ridge = i == k ? 1e-9 * (b->raw[i * n + i] + 1) : 0;

			gsl_matrix_set(raw, i, k, b->raw[i * n + k] + ridge);
			gsl_matrix_set(net, i, k, sums_corrected(b, n, i, k));
		}
	}
	gsl_matrix_view part = gsl_matrix_submatrix(half, 0, 0, n, n - 1);

	gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, net, basis, 0, &part.matrix);
	gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, basis, &part.matrix, 0, a);
	gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, raw, basis, 0, &part.matrix);
	gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, basis, &part.matrix, 0, c);
	ret = 0;
	if (gsl_eigen_gensymmv(a, c, values, vectors, room)) {
		m->why = MIXTURE_ALIKE;
		goto out;
	}
	for (uint32_t i = 1; i + 1 < n; i++)
		if (gsl_vector_get(values, i) < gsl_vector_get(values, least))
			least = i;
	m->reliability = gsl_vector_get(values, least);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k + 1 < n; k++)
			m->direction[i] += gsl_matrix_get(basis, i, k) *
					   gsl_matrix_get(vectors, k, least);
		m->direction[i] *= sqrt(b->w[i]);
	}
out:
	gsl_matrix_free(basis);
	gsl_matrix_free(raw);
	gsl_matrix_free(net);
	gsl_matrix_free(half);
	gsl_matrix_free(a);
	gsl_matrix_free(c);
	gsl_matrix_free(vectors);
	gsl_vector_free(values);
	if (room)
		gsl_eigen_gensymmv_free(room);
	return ret;
}

/* The powers without each of the batches (the jackknife): their spread is the uncertainty. */
static int powers_jackknife(struct solving *s, struct mixture *m)
{
	uint32_t n = s->n, done = 0;
	double *p = calloc((size_t)MIXTURE_BATCHES * n, sizeof(*p)),
		*mean = calloc(n, sizeof(*mean));
	int ret = p && mean ? 0 : -ENOMEM;

	for (int b = 0; b < MIXTURE_BATCHES && !ret; b++) {
		sums_add(&s->all, &s->batches[b], n, -1);
		ret = equations_solve_powers(&s->all, n, p + (size_t)done * n, NULL);
		sums_add(&s->all, &s->batches[b], n, 1);
		if (!ret)
			done++;
	}
	for (uint32_t b = 0; b < done; b++)
		for (uint32_t i = 0; i < n; i++)
			mean[i] += p[b * n + i] / done;
	for (uint32_t b = 0; b < done && !ret; b++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < n; k++)
				m->covariance[i * n + k] += (done - 1.0) / done *
							    (p[b * n + i] - mean[i]) *
							    (p[b * n + k] - mean[k]);
	m->dof = done - 1.0;
	free(p);
	free(mean);
	return ret;
}

/* Change of P if the errors' covariance is as far off as it may be. */
static void powers_find_bias(const struct sums *b, uint32_t n, const double *inverse,
			     struct mixture *m)
{
	const double *const errors[MIXTURE_BIASES] = { b->errors.own, b->errors.shared,
						       b->errors.unseen };
	static const double known[MIXTURE_BIASES] = { OWN_KNOWN, SHARED_KNOWN, UNSEEN_KNOWN };

	for (int e = 0; e < MIXTURE_BIASES; e++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < n; k++)
				for (uint32_t l = 0; l < n; l++)
					m->bias[e * n + i] += known[e] * inverse[i * n + k] *
							      errors[e][k * n + l] *
							      m->uj_per_tick[l];
}

double mixture_variance(const struct mixture *m, const double *weights)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->n_classes; i++)
		for (uint32_t k = 0; k < m->n_classes; k++)
			sum += weights[i] * weights[k] * m->covariance[i * m->n_classes + k];
	return fmax(sum, 0);
}

double mixture_bias(const struct mixture *m, const double *weights)
{
	double all = 0;

	for (int e = 0; e < MIXTURE_BIASES; e++) {
		double sum = 0;

		for (uint32_t i = 0; i < m->n_classes; i++)
			sum += weights[i] * m->bias[e * m->n_classes + i];
		all += fabs(sum);
	}
	return all;
}

double mixture_half(const struct mixture *m, const double *weights)
{
	return interval_t(m->dof) * sqrt(mixture_variance(m, weights)) + mixture_bias(m, weights);
}

static int mixture_find_powers(struct solving *s, struct mixture *m)
{
	double *inverse = calloc((size_t)s->n * s->n, sizeof(*inverse));
	int ret = inverse ? directions_judge(&s->all, s->n, m) : -ENOMEM;

	if (!ret && !m->why)
		ret = equations_solve_powers(&s->all, s->n, m->uj_per_tick, inverse);
	if (!ret && !m->why) {
		powers_find_bias(&s->all, s->n, inverse, m);
		ret = powers_jackknife(s, m);
	}
	if (ret == -EDOM) {
		m->why = MIXTURE_ALIKE;
		ret = 0;
	}
	free(inverse);
	return ret;
}

/* Properties of the classes other than their powers. */
static void classes_set_runs(const struct solving *s, struct mixture *m)
{
	for (uint32_t c = 0; c < s->n; c++) {
		const struct mixture_length *l = &s->runs.lengths[c];
		const double *with = s->all.errors.own + (size_t)c * s->n;

		m->ticks[c] = s->all.w[c];
		m->run_ticks[c] = l->all_mean;
		m->brief[c] = l->single > BRIEF_SINGLE;
		/* an edge makes one side longer by as much as the other shorter */
		for (uint32_t k = 0; k < s->n; k++)
			m->border[(size_t)c * s->n + k] = k == c ? 0 : fmax(-with[k], 0);
	}
}

int mixture_solve(const struct mixture_input *in, struct mixture *m)
{
	struct solving s = { .in = in, .n = in->n_classes };
	gsl_error_handler_t *handler = gsl_set_error_handler_off();
	size_t n = in->n_classes;
	int ret;

	memset(m, 0, sizeof(*m));
	m->n_classes = in->n_classes;
	m->uj_per_tick = calloc(n + 1, sizeof(double));
	m->covariance = calloc(n * n + 1, sizeof(double));
	m->bias = calloc(MIXTURE_BIASES * n + 1, sizeof(double));
	m->direction = calloc(n + 1, sizeof(double));
	m->ticks = calloc(n + 1, sizeof(double));
	m->run_ticks = calloc(n + 1, sizeof(double));
	m->brief = calloc(n + 1, sizeof(bool));
	m->border = calloc(n * n + 1, sizeof(double));
	m->used = calloc(in->domain->n_windows + 1, sizeof(bool));
	ret = m->uj_per_tick && m->covariance && m->bias && m->direction && m->ticks &&
	      m->run_ticks && m->brief &&
	      m->border && m->used ? mixture_runs_new(in, &s.runs) : -ENOMEM;
	if (!ret)
		ret = sums_new(&s.all, s.n);
	for (int i = 0; i < MIXTURE_BATCHES && !ret; i++)
		ret = sums_new(&s.batches[i], s.n);
	if (!ret)
		ret = batches_add_windows(&s, m);
	if (!ret)
		classes_set_runs(&s, m);
	if (!ret && (m->windows < MIXTURE_WINDOWS || !n))
		m->why = MIXTURE_FEW_WINDOWS;
	else if (!ret && m->window_ticks < MIXTURE_TICKS)
		m->why = MIXTURE_COARSE;
	else if (!ret)
		ret = mixture_find_powers(&s, m);
	sums_free(&s.all);
	for (int i = 0; i < MIXTURE_BATCHES; i++)
		sums_free(&s.batches[i]);
	mixture_runs_free(&s.runs);
	gsl_set_error_handler(handler);
	if (ret)
		mixture_free(m);
	return ret;
}

void mixture_free(struct mixture *m)
{
	free(m->uj_per_tick);
	free(m->covariance);
	free(m->bias);
	free(m->direction);
	free(m->ticks);
	free(m->run_ticks);
	free(m->brief);
	free(m->border);
	free(m->used);
	memset(m, 0, sizeof(*m));
}
