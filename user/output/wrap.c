// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of text; see wrap.h. Used by headers, facts and tables.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/text.h"
#include "output/terminal.h"
#include "output/wrap.h"

/* Of a comment's key. */
#define KEY_WIDTH	10

/* Characters on a terminal: bytes that continue one in UTF-8 take no room. */
static size_t wrap_width(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* A word that is wider than a line stays in one piece. */
static void wrap_print(FILE *file, const char *first, const char *lead, const char *fmt, va_list ap)
{
	size_t most = terminal_width(), column, len;
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	kjoule_text_clean(text);
	most = most < TERMINAL_WIDTH ? most : TERMINAL_WIDTH;
	fputs(first, file);
	column = wrap_width(first, strlen(first));
	for (const char *at = text, *gap = ""; *at; at += len, gap = " ") {
		size_t width;

		at += strspn(at, " ");
		len = strcspn(at, " ");
		if (!len)
			break;
		width = wrap_width(at, len);
		if (*gap && column + 1 + width > most) {
			fputc('\n', file);
			fputs(lead, file);
			column = wrap_width(lead, strlen(lead));
			gap = "";
		}
		fprintf(file, "%s%.*s", gap, (int)len, at);
		column += strlen(gap) + width;
	}
	fputc('\n', file);
	free(text);
}

void wrap_comment(FILE *file, const char *key, const char *fmt, ...)
{
	char first[64], lead[64];
	va_list ap;

	snprintf(first, sizeof(first), "# %-*.40s ", KEY_WIDTH, key);
	snprintf(lead, sizeof(lead), "# %*s ", KEY_WIDTH, "");
	va_start(ap, fmt);
	wrap_print(file, first, lead, fmt, ap);
	va_end(ap);
}

void wrap_line(FILE *file, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	wrap_print(file, "# ", "# ", fmt, ap);
	va_end(ap);
}

void wrap_footnote(FILE *file, const char *mark, const char *fmt, ...)
{
	char first[64], lead[64];
	va_list ap;

	fputc('\n', file);
	snprintf(first, sizeof(first), "%.40s%s", mark, *mark ? " : " : "");
	snprintf(lead, sizeof(lead), "%*s", (int)wrap_width(first, strlen(first)), "");
	va_start(ap, fmt);
	wrap_print(file, first, lead, fmt, ap);
	va_end(ap);
}
