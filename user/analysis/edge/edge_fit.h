/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of the edge-synchronised model, see edge.h: normal equations over its windows. The unknowns are the
 * powers of the vectors that have a column of their own, one power for all others together, and a constant. Called by
 * edge.c.
 */
#ifndef KJOULE_EDGE_FIT_H
#define KJOULE_EDGE_FIT_H

#include <gsl/gsl_matrix.h>
#include "analysis/edge/edge_occupancy.h"

/* As many vectors have a power of their own; the rest, which is rare, has one in common. */
#define EDGE_OWN_MOST		64
#define EDGE_COLUMNS_MOST	(EDGE_OWN_MOST + 2)

/* Windows that may have an error in common. */
#define EDGE_LAGS		16

/* A window is off anyway by such a part of its energy: by how well the moves of a counter are timed. */
#define EDGE_OFF_ANYWAY		0.002

/* The normal equations, and what the intervals need. */
struct edge_system {
	size_t n;		/* columns */
	size_t rows;
	gsl_matrix *m, *inverse;	/* of the equations */
	gsl_vector *y, *x;
	gsl_matrix *scores;	/* sum of what each window has to do with the answer, squared */
	double lately[EDGE_LAGS][EDGE_COLUMNS_MOST];	/* of these, the last ones */
	double before[EDGE_COLUMNS_MOST];	/* of these, the sum with their weights */
	size_t scored;
	double *off, *anyway;	/* of each row from the model, and so much at least; and its window */
	size_t *window, n_off;
	double residual;	/* sum of squares */
	gsl_matrix *blur;	/* what of @m comes from not knowing where changes were, at most */
};

/** edge_fit_new() - for so many vectors with a column of their own. Return: 0 or -ENOMEM; edge_fit_free() either way */
int edge_fit_new(struct edge_system *s, size_t columns);
void edge_fit_free(struct edge_system *s);
/**
 * edge_fit_windows() - the powers that fit the windows best
 * @spin_w:	power while all CPUs are held
 * Return: 0; -ENODATA: too few windows, or no one answer; -ENOMEM
 */
int edge_fit_windows(const struct edge_input *in, const struct edge_occupancy *st, const struct edge_vector *v,
		     double spin_w, struct edge_system *s);
/**
 * edge_fit_wild() - which windows differ from the model by far more than the others do: something else had the CPUs
 *		     in them
 * @st:		out: its @wild
 * @n:		out: how many
 * Return: 0 or -ENOMEM
 */
int edge_fit_wild(const struct edge_input *in, const struct edge_occupancy *st, const struct edge_vector *v, double spin_w,
		  struct edge_system *s, size_t *n);
/** edge_fit_scores() - what the two below need, after the powers are known */
void edge_fit_scores(const struct edge_input *in, const struct edge_occupancy *st, const struct edge_vector *v,
		     double spin_w, struct edge_system *s);
/** edge_fit_variance() - of an unknown: inverse * scores * inverse', the entry on the diagonal */
double edge_fit_variance(const struct edge_system *s, size_t a);
/**
 * edge_fit_pull() - by how much an unknown may be pulled to the others by changes that are not known exactly, as if all
 * of their error were one that a regression suffers from: inverse * blur * x
 */
double edge_fit_pull(const struct edge_system *s, size_t a);

#endif /* KJOULE_EDGE_FIT_H */
