/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mixture model on a counter of a package: its classes of vectors, their powers applied to the
 * counter's windows, and the uncertainty of sums of blocks. Used by analysis/profile/profile.c and
 * analysis/profile/separability.c. Pure functions.
 */
#ifndef KJOULE_FIT_H
#define KJOULE_FIT_H

#include "analysis/mixture/mixture.h"

/* A class has at least this part of all ticks; rarer vectors are pooled. */
#define FIT_LEAST_PART	0.01
#define FIT_CLASSES	40

/**
 * struct fit - a counter's windows, solved
 * @class_of: of each vector, MIXTURE_NONE: pooled, its windows are left out
 * @loose: of each class: stands for what is not separated, and need not be certain
 * @vector: one of each class
 * @pool_uj: of pooled vectors: what is left of their windows, microjoule a tick
 * @marginal_uj: of marginal blocks, on top of the others' power; NAN: there is none
 */
struct fit {
	uint32_t n_vectors;
	uint32_t *class_of;
	bool *loose;
	uint32_t *vector;
	double pool_uj, marginal_uj;
	struct mixture m;
};

/**
 * struct fit_input - what is separated
 * @unit_of: of each block; blocks of one unit are one. NULL: each is its own
 * @loose: of each unit: stands for what is not separated
 */
struct fit_input {
	const struct cpm_vectors *vectors;
	const struct cpm_domain *domain;
	const uint32_t *unit_of;
	const bool *loose;
	double jitter;
	const struct mixture_range *unknown;
	size_t n_unknown;
};

/** fit_new() - solve. Return: 0 (look at fit.m.why), or -ENOMEM */
int fit_new(const struct fit_input *in, struct fit *f);
void fit_free(struct fit *f);
/**
 * fit_apply() - use the powers: windows that were fitted get the energy that follows, which adds up
 * to what was measured in all of them; others are divided in proportion to the powers
 */
void fit_apply(const struct fit *f, const struct cpm_vectors *v, struct cpm_domain *d);
/**
 * fit_groups() - add the powers' uncertainty to the variances and biases of cpm_groups()
 * Return: 0 or -ENOMEM
 */
int fit_groups(const struct fit *f, const struct cpm_vectors *v, const struct cpm_domain *d,
	       const uint32_t *group_of, uint32_t unsampled_group, uint32_t n_groups,
	       struct cpm_group *groups);

/** fit_vector_groups() - the same of cpm_vector_groups(). Return: 0 or -ENOMEM */
int fit_vector_groups(const struct fit *f, const struct cpm_vectors *v, const struct cpm_domain *d,
		      const uint32_t *group_of, uint32_t n_groups, struct cpm_group *groups);

#endif /* KJOULE_FIT_H */
