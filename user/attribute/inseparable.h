/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inseparable blocks become one, by name; see analysis/profile/separability.h. */
#ifndef KJOULE_INSEPARABLE_H
#define KJOULE_INSEPARABLE_H

#include "analysis/profile/separability.h"
#include "attribute/blocks.h"

/* So many of a unit are in its name, "a + b + c + 2 more (not separable)". */
#define BLOCKS_MERGED_NAMED	3

/**
 * blocks_merge_inseparable() - make one block of each unit of several, "a + b (not separable)";
 * blocks of too little time become "[others]" of their process, or a row of their own
 * @to: out: of each old block, the one that it is a part of now, mostly itself; the caller's to
 *   free
 * Profiles of these blocks must be made again.
 * Return: 0 or -ENOMEM
 */
int blocks_merge_inseparable(struct blocks *b, const struct separation *s, uint32_t **to);
/**
 * blocks_pools() - the process of each block, for separability_new(), UINT32_MAX for what is none
 * Return: the caller's to free; NULL without memory
 */
uint32_t *blocks_pools(const struct blocks *b);

#endif /* KJOULE_INSEPARABLE_H */
