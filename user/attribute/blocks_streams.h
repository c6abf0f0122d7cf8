/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ticks of each CPU, block by block: the inside of blocks.h.
 */
#ifndef KJOULE_BLOCKS_STREAMS_H
#define KJOULE_BLOCKS_STREAMS_H

#include "attribute/blocks.h"

/**
 * blocks_streams_make() - all lanes, with what a tick costs on each, and the ticks of which nobody knows what ran
 * @raw:	ticks cost nothing
 *
 * The windows are there already: their holds are.
 * Return: 0 or -errno
 */
int blocks_streams_make(struct blocks *b, struct view *v, bool raw);

#endif /* KJOULE_BLOCKS_STREAMS_H */
