/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the energy of a window is divided: among its ticks, and of a tick among the
 * blocks that ran at it. The inside of the constant power model, see cpm.c; groups of
 * blocks (cpm.c) and labels of ticks (labels.c) are added up by the same shares.
 */
#ifndef KJOULE_CPM_DIVIDE_H
#define KJOULE_CPM_DIVIDE_H

#include "cpm.h"

/* A tick of vector v gets weights[v] / @total of the window's energy. */
struct cpm_division {
	const double *weights;
	double total, equal;
};

struct cpm_division cpm_divide(const struct cpm_window *w, const double *weights);
/** cpm_tick_share() - part of the window's energy, 0 to 1, of each tick with that vector */
double cpm_tick_share(const struct cpm_division *div, uint32_t vector);

/**
 * struct cpm_sharing - how the blocks of a vector share a tick's energy
 * @n:		blocks
 * @others:	of these, not marginal ones. If there is none, @part is nobody's.
 * @all:	what the others draw alone, together
 * @part:	of the energy, what is not the marginal blocks'
 * @known:	what each of the others draws alone is known: they share in proportion, else equally
 */
struct cpm_sharing {
	uint32_t n, others;
	double all, part;
	bool known;
};

/** cpm_share_among() - of a tick with that vector, those members and that energy (microjoule) */
struct cpm_sharing cpm_share_among(const struct cpm_vectors *v, const struct cpm_domain *d, uint32_t vector,
				   const uint32_t *members, uint32_t n, double uj);
/** cpm_share() - the same of a vector that is no crowd */
struct cpm_sharing cpm_share(const struct cpm_vectors *v, const struct cpm_domain *d,
			     uint32_t vector, double uj);
/** cpm_share_of() - the part of one of its blocks, 0 to 1; of one that is there twice, of each */
double cpm_share_of(const struct cpm_vectors *v, const struct cpm_domain *d,
		    const struct cpm_sharing *s, uint32_t block);

#endif /* KJOULE_CPM_DIVIDE_H */
