/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to the edge-synchronised model, see edge.h: normal equations over its windows. Unknowns
 * are the powers of the vectors with a column, one power for all others, and a constant. Called by
 * edge.c.
 */
#ifndef KJOULE_EDGE_FIT_H
#define KJOULE_EDGE_FIT_H

#include <gsl/gsl_matrix.h>
#include "analysis/edge/edge_occupancy.h"

/* At most so many vectors have a column; the rest, which is rare, shares one. */
#define EDGE_OWN_MOST		64
#define EDGE_COLUMNS_MOST	(EDGE_OWN_MOST + 2)

/* Windows that may have an error in common. */
#define EDGE_LAGS		16

/* Relative error of any window's energy: by how well a counter's updates are timed. */
#define EDGE_OFF_ANYWAY		0.002

/* The normal equations, and what intervals need. */
struct edge_system {
	size_t n;		/* columns */
	size_t rows;
	gsl_matrix *m, *inverse;	/* of the equations */
	gsl_vector *y, *x;
	gsl_matrix *scores;	/* sum of the squared scores of the windows */
	double lately[EDGE_LAGS][EDGE_COLUMNS_MOST];	/* the last scores */
	double before[EDGE_COLUMNS_MOST];	/* their weighted sum */
	size_t scored;
	double *off, *anyway;	/* residual of each row, its floor, and its window */
	size_t *window, n_off;
	double residual;	/* sum of squares */
	gsl_matrix *blur;	/* the most that uncertain changes contribute to @m */
};

/** edge_fit_new() - Call edge_fit_free() in any case. Return: 0 or -ENOMEM */
int edge_fit_new(struct edge_system *s, size_t columns);
void edge_fit_free(struct edge_system *s);
/**
 * edge_fit_windows() - least squares
 * @spin_w: power while all CPUs are paused
 * Return: 0; -ENODATA: too few windows, or singular; -ENOMEM
 */
int edge_fit_windows(const struct edge_input *in, const struct edge_occupancy *st,
		     const struct edge_vector *v, double spin_w, struct edge_system *s);
/**
 * edge_fit_wild() - find outliers: something else had the CPUs in these windows
 * @st: out: its @wild
 * @n: out: how many
 * Return: 0 or -ENOMEM
 */
int edge_fit_wild(const struct edge_input *in, const struct edge_occupancy *st,
		  const struct edge_vector *v, double spin_w, struct edge_system *s, size_t *n);
/** edge_fit_scores() - after the powers are known; needed by the two below */
void edge_fit_scores(const struct edge_input *in, const struct edge_occupancy *st,
		     const struct edge_vector *v, double spin_w, struct edge_system *s);
/** edge_fit_variance() - of an unknown: inverse * scores * inverse', the entry on the diagonal */
double edge_fit_variance(const struct edge_system *s, size_t a);
/**
 * edge_fit_pull() - how far uncertain changes may pull an unknown to the others, if all of their
 * error were regression dilution: inverse * blur * x
 */
double edge_fit_pull(const struct edge_system *s, size_t a);

#endif /* KJOULE_EDGE_FIT_H */
