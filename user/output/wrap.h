/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sentences above and below a table, in lines no wider than the terminal, nor than TERMINAL_WIDTH:
 * wide lines of text are hard to read. Strings are cleaned as output_printf() does it.
 */
#ifndef KJOULE_WRAP_H
#define KJOULE_WRAP_H

#include <stdio.h>

/** wrap_comment() - "# key        text"; the lines that follow have no key */
void wrap_comment(FILE *file, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** wrap_line() - "# text" in lines that all begin with # */
void wrap_line(FILE *file, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/**
 * wrap_footnote() - an empty line, and "mark : text"; the lines that follow begin below the text;
 * @mark "": none
 */
void wrap_footnote(FILE *file, const char *mark, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* KJOULE_WRAP_H */
