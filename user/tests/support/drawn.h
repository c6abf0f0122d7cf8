/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What gnuplot is given: a gnuplot before the others in PATH keeps its script, then has the real
 * one, if there is one, draw it.
 */
#ifndef KJOULE_TEST_DRAWN_H
#define KJOULE_TEST_DRAWN_H

#include <stddef.h>

void drawn_begin(void);
/* The script of what was drawn since, the last if there are several; it is kept. */
char *drawn_end(void);
/* How often a text is in another. */
size_t drawn_count(const char *script, const char *text);
/* Cells of all heat maps: with a figure; without one, which have this letter, 0: any. */
size_t drawn_figures(const char *script);
size_t drawn_letters(const char *script, char letter);

#endif /* KJOULE_TEST_DRAWN_H */
