/* SPDX-License-Identifier: GPL-2.0-only */
/* The counting chip: exact instructions, no time of its own. */
#ifndef VCHIP_COUNT_H
#define VCHIP_COUNT_H

#include "core.h"

/**
 * count_start() - take the place of the timed chip
 * @path: file for totals at marks and at the end, or NULL
 * Return: 0 or -errno.
 */
int count_start(const char *path);
void count_stop(void);

/* A CPU enters a block. Context: its thread, or the one thread of -icount. */
void count_enter_block(struct core *c, struct block *b);

#endif /* VCHIP_COUNT_H */
