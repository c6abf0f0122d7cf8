/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ticks of each CPU, block by block: internal to blocks.h. */
#ifndef KJOULE_BLOCKS_STREAMS_H
#define KJOULE_BLOCKS_STREAMS_H

#include "attribute/blocks.h"

/**
 * blocks_streams_make() - all streams, with the cost of a tick on each, and the ticks of unknown
 * code
 * @raw: ticks cost nothing
 *
 * After the windows, whose pauses it needs.
 * Return: 0 or -errno
 */
int blocks_streams_make(struct blocks *b, struct view *v, bool raw);

#endif /* KJOULE_BLOCKS_STREAMS_H */
