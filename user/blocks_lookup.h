/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the block of a sample: the inside of blocks.h.
 */
#ifndef KJOULE_BLOCKS_LOOKUP_H
#define KJOULE_BLOCKS_LOOKUP_H

#include "blocks.h"

/** blocks_lookup_init() - @v says what is told apart. Return: 0 or -ENOMEM */
int blocks_lookup_init(struct blocks *b, const struct view *v);
void blocks_lookup_exit(struct blocks *b);
/** blocks_pseudo() - a line that stands for something that is no program, and so is in no region. Return: 0 or -ENOMEM */
int blocks_pseudo(struct blocks *b, const char *name, enum cpm_kind kind, uint32_t *function);
/** blocks_of_sample() - the block that a sample is of, which has one sample more then. Return: 0 or -ENOMEM */
int blocks_of_sample(struct blocks *b, struct view *v, const struct timeline_sample *s, uint32_t *function);

#endif /* KJOULE_BLOCKS_LOOKUP_H */
