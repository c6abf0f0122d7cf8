/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What standard output is shown on: its width, whether colours are wanted, and a pager in between.
 */
#ifndef KJOULE_TERMINAL_H
#define KJOULE_TERMINAL_H

#include <stdbool.h>

/* Width of output that is not a terminal. */
#define TERMINAL_WIDTH	100

/** terminal_width() - of a line, in characters */
unsigned int terminal_width(void);
/** terminal_has_colour() - it is a terminal, and NO_COLOR is not set */
bool terminal_has_colour(void);

/** terminal_refuse_pager() - from now on terminal_start_pager() does nothing */
void terminal_refuse_pager(void);
/**
 * terminal_start_pager() - standard output goes through $KJOULE_PAGER, $PAGER or less, if it is a
 * terminal
 *
 * After privileges were dropped. Nothing happens where the pager is empty or "cat", or cannot be
 * started.
 */
void terminal_start_pager(void);
/**
 * terminal_stop_pager() - write what is left, and wait until the reader is done. Return: 0, or -1
 * with errno: as fflush()
 */
int terminal_stop_pager(void);

#endif /* KJOULE_TERMINAL_H */
