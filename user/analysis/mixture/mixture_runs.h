/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of classes over the ticks of a recording, and the sampling errors of a window's occupancies.
 * Internal to the mixture model, see mixture.c for the formulas.
 */
#ifndef KJOULE_MIXTURE_RUNS_H
#define KJOULE_MIXTURE_RUNS_H

#include "analysis/mixture/mixture.h"

/* Ticks [from, to) of one class; MIXTURE_NONE: unknown code, or with the recorder. */
struct mixture_run {
	uint64_t from, to;
	uint32_t class;
};

/**
 * struct mixture_length - length of a class's runs, in ticks
 * @mean: of the usual ones
 * @variance: of their true length
 * @all_mean: of all whole ones
 * @single: the part of these that is seen at one tick
 * @n: number of these
 */
struct mixture_length {
	double mean, variance, all_mean, single;
	uint64_t n;
};

struct mixture_runs {
	size_t n;
	struct mixture_run *runs;
	uint32_t n_classes;
	double jitter;
	struct mixture_length *lengths;		/* of each class */
	struct mixture_length window;		/* of windows of the counter */
};

/**
 * struct mixture_errors - covariance of the sampling errors of a window's occupancies, squared
 * ticks, n_classes^2 each
 * @own: of each edge with itself
 * @shared: of edges with each other, because they are on the same grid
 * @unseen: of runs that fell between two ticks, estimated
 */
struct mixture_errors {
	double *own, *shared, *unseen;
};

/** mixture_runs_new() - from the ticks up to the end of the last window. Return: 0 or -ENOMEM */
int mixture_runs_new(const struct mixture_input *in, struct mixture_runs *r);
void mixture_runs_free(struct mixture_runs *r);
/**
 * mixture_runs_window() - occupancies of a window
 * @at: the first run to look at; moved on to the window's first. Windows must come in order
 * @ticks: out: of each class
 * @errors: added to
 * Return: false if some of its ticks are unknown
 */
bool mixture_runs_window(const struct mixture_runs *r, const struct cpm_window *w, size_t *at,
			 double *ticks, struct mixture_errors *errors);
/**
 * mixture_covariance() - of the sampling errors of two edges
 * @mean,@variance: of the distance between them, in ticks
 * Return: in squared intervals
 */
double mixture_covariance(double mean, double variance, double jitter);

#endif /* KJOULE_MIXTURE_RUNS_H */
