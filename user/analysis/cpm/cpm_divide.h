/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a window's energy is divided among its ticks, and a tick's among its blocks. Internal to the
 * constant power model, see cpm.c; groups of blocks and labels of ticks (labels.c) use the same
 * shares.
 */
#ifndef KJOULE_CPM_DIVIDE_H
#define KJOULE_CPM_DIVIDE_H

#include "analysis/cpm/cpm.h"

/* Classes of vectors: by the number of blocks that run at once. */
#define CPM_CLASSES	8
/* Kinds of vectors: their class, and: */
#define CPM_POOLED	0x80	/* its own power is unknown */
/* marginal blocks on top of another vector: its power plus theirs */
#define CPM_ON_TOP	0x40

/*
 * A tick gets its vector's weight over the weights of all. A vector of unknown power weighs as much
 * as the mean of those of its class in the window that have one; without such, as its class's mean
 * over the recording.
 */
struct cpm_division {
	double own[CPM_CLASSES], own_n[CPM_CLASSES], pooled[CPM_CLASSES], pooled_n[CPM_CLASSES];
	double total, equal;
	unsigned int seen;	/* classes, as bits */
};

static inline void cpm_division_add(struct cpm_division *div, uint8_t kind, double count,
				    double weight)
{
	unsigned int class = kind & (CPM_CLASSES - 1);

	if (kind & CPM_ON_TOP) {
		div->total += count * weight;
		return;
	}
	if (!(div->seen & 1u << class)) {
		div->seen |= 1u << class;
		div->own[class] = div->own_n[class] = div->pooled[class] = div->pooled_n[class] = 0;
	}
	if (kind & CPM_POOLED) {
		div->pooled[class] += count * weight;
		div->pooled_n[class] += count;
	} else {
		div->own[class] += count * weight;
		div->own_n[class] += count;
	}
}

/* after all parts of the window: @own becomes the mean */
static inline void cpm_division_end(struct cpm_division *div)
{
	for (unsigned int left = div->seen, class; left; left &= left - 1) {
		class = __builtin_ctz(left);
		div->total += div->own[class];
		if (div->own_n[class] > 0) {
			div->own[class] /= div->own_n[class];
			div->total += div->own[class] * div->pooled_n[class];
		} else {
			div->total += div->pooled[class];
		}
	}
}

/**
 * cpm_division_share() - part of the window's energy, 0 to 1, for a tick of that kind and weight
 */
static inline double cpm_division_share(const struct cpm_division *div, uint8_t kind, double weight)
{
	unsigned int class = kind & (CPM_CLASSES - 1);

	if (!(div->total > 0))
		return div->equal;
	if (kind & CPM_POOLED && !(kind & CPM_ON_TOP) && div->seen & 1u << class &&
	    div->own_n[class] > 0)
		weight = div->own[class];
	return weight / div->total;
}

/** cpm_kind() - of a vector. No kinds: each has a power of its own, found otherwise */
static inline uint8_t cpm_kind(const struct cpm_domain *d, uint32_t vector)
{
	return d->kinds ? d->kinds[vector] : 0;
}

/** cpm_divide() - by the weights of step @k */
struct cpm_division cpm_divide(const struct cpm_domain *d, const struct cpm_window *w,
			       unsigned int k);
/** cpm_tick_share() - part of the window's energy, 0 to 1, of each tick with that vector */
double cpm_tick_share(const struct cpm_domain *d, const struct cpm_division *div, unsigned int k,
		      uint32_t vector);

/**
 * struct cpm_sharing - how the blocks of a vector share a tick's energy
 * @n: blocks
 * @others: of these, not marginal ones. If there is none, @part is unattributed
 * @all: sum of what the others draw alone
 * @part: of the energy, without the marginal blocks'
 * @known: what each of the others draws alone is known: they share in proportion, else equally
 */
struct cpm_sharing {
	uint32_t n, others;
	double all, part;
	bool known;
};

/** cpm_share_among() - of a tick with that vector, those members and that energy (microjoule) */
struct cpm_sharing cpm_share_among(const struct cpm_vectors *v, const struct cpm_domain *d,
				   uint32_t vector, const uint32_t *members, uint32_t n, double uj);
/** cpm_share() - the same of a vector that has members */
struct cpm_sharing cpm_share(const struct cpm_vectors *v, const struct cpm_domain *d,
			     uint32_t vector, double uj);
/** cpm_share_of() - the part of one of its blocks, 0 to 1; if it is there twice, of each */
double cpm_share_of(const struct cpm_vectors *v, const struct cpm_domain *d,
		    const struct cpm_sharing *s, uint32_t block);

#endif /* KJOULE_CPM_DIVIDE_H */
