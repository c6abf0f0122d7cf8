// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What of a text may reach a terminal; see text.h. Used by all that prints.
 */
#include <string.h>
#include "lib/base/text.h"

size_t kjoule_text_char(const char *text, uint32_t *code)
{
	/* the least code point that needs so many bytes: a shorter form is the only one */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t n = *p < 0x80 ? *p != 0 : *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 :
		   *p < 0xf8 ? 4 : 0;

	if (n < 2) {
		*code = *p;
		return n;
	}
	*code = *p & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (*code < least[n] || (*code >= 0xd800 && *code < 0xe000) || *code > 0x10ffff)
		return 0;
	return n;
}

bool kjoule_text_is_safe(uint32_t code)
{
	return code >= 0x20 && (code < 0x7f || code >= 0xa0) && (code < 0x2028 || code > 0x202e) &&
	       (code < 0x2066 || code > 0x2069) && code != 0x061c && code != 0x200e &&
	       code != 0x200f &&
	       code != 0xfffe && code != 0xffff;
}

size_t kjoule_text_safe_len(const char *text)
{
	const char *p = text;
	uint32_t code;
	size_t n;

	for (;;) {
		/* nearly all text is ASCII and needs no cleaning */
		while (*p >= 0x20 && *p < 0x7f)
			p++;
		n = kjoule_text_char(p, &code);
		if (!n || !kjoule_text_is_safe(code))
			return p - text;
		p += n;
	}
}

void kjoule_text_clean(char *text)
{
	uint32_t code;
	size_t n;

	for (text += kjoule_text_safe_len(text); *text; text += kjoule_text_safe_len(text)) {
		n = kjoule_text_char(text, &code);
		n = n ? n : 1;
		memset(text, '?', n);
		text += n;
	}
}
