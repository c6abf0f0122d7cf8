/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that a model cannot tell apart become one, by name. Between the models (analysis/separate.c) and the report.
 */
#ifndef KJOULE_INSEPARABLE_H
#define KJOULE_INSEPARABLE_H

#include "analysis/profile/separability.h"
#include "attribute/blocks.h"

/* So many of a unit are in its name, "a + b + c + 2 more (not separable)". */
#define BLOCKS_MERGED_NAMED	3

/**
 * blocks_merge_inseparable() - make one block of each unit of several, "a + b (not separable)"; what has too little time becomes
 *	"[others]" of its process, or a line of its own
 * @to:		out: of each block that there was, the one that it is a part of now, itself mostly; the caller's to free
 * Profiles of these blocks have to be made anew.
 * Return: 0 or -ENOMEM
 */
int blocks_merge_inseparable(struct blocks *b, const struct separation *s, uint32_t **to);
/**
 * blocks_pools() - the process of each block, for separability_new(), UINT32_MAX for what is none
 * Return: the caller's to free; NULL without memory
 */
uint32_t *blocks_pools(const struct blocks *b);

#endif /* KJOULE_INSEPARABLE_H */
