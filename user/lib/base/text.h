/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a text may reach a terminal. Names in recordings, programs and file systems are
 * untrusted: an escape sequence in one would steer the terminal. Whoever prints or keeps such a
 * name cleans it here; see also output_text() and output_printf().
 */
#ifndef KJOULE_TEXT_H
#define KJOULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * kjoule_text_char() - the UTF-8 character at @text
 * @code: out: its code point
 * Return: its length; 0: there is none, be it overlong, a surrogate, cut short or the end
 */
size_t kjoule_text_char(const char *text, uint32_t *code);

/**
 * kjoule_text_is_safe() - does a terminal show this character and do nothing else?
 *
 * Not safe are control characters (C0, tab and line feed included, DEL and C1), line and paragraph
 * separators, bidirectional controls and U+FFFE and U+FFFF, which XML forbids.
 */
bool kjoule_text_is_safe(uint32_t code);

/** kjoule_text_safe_len() - bytes at the start of @text that are safe */
size_t kjoule_text_safe_len(const char *text);

/** kjoule_text_clean() - in @text, make each byte that is not safe a question mark */
void kjoule_text_clean(char *text);

#endif /* KJOULE_TEXT_H */
