// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangling, by libiberty; see demangle.h. A short name can stand for an endless one (each part
 * may repeat the one before twice), and files are untrusted: what gets too long is left as it is.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "lib/code/demangle.h"

#define STYLE		(DMGL_PARAMS | DMGL_ANSI)
#define MANGLED_MOST	2048
#define NAME_MOST	4096

struct text {
	jmp_buf too_long;
	size_t len;
	char name[NAME_MOST];
};

static void name_append_part(const char *part, size_t len, void *arg)
{
	struct text *text = arg;

	/* only the demangler's stack, and an identifier of Rust that is not ASCII, which is lost */
	if (len >= sizeof(text->name) - text->len)
		longjmp(text->too_long, 1);
	memcpy(text->name + text->len, part, len);
	text->len += len;
}

char *kjoule_demangle(const char *name)
{
	struct text text = { .len = 0 };
	int known;

	if (name[0] != '_' || strlen(name) > MANGLED_MOST || setjmp(text.too_long))
		return NULL;
	known = rust_demangle_callback(name, STYLE, name_append_part, &text);
	if (!known) {
		text.len = 0;
		known = cplus_demangle_v3_callback(name, STYLE, name_append_part, &text);
	}
	return known && text.len ? strndup(text.name, text.len) : NULL;
}

/* The length of a name without parameters: "a::b(int) const [clone .cold]" has four. */
static size_t name_plain_length(const char *name)
{
	size_t len = strlen(name), at;
	const char *clone = strstr(name, " [clone ");
	int depth = 0;

	if (clone)
		len = clone - name;
	at = len;
	while (at && name[at - 1] != ')')
		at--;
	/* back to the parenthesis that it closes */
	while (at) {
		at--;
		depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
		if (!depth)
			break;
	}
	return at ? at : len;
}

/* Where a name begins after its return type: after the last space outside of brackets. */
static size_t name_skip_type(const char *name, size_t len)
{
	int depth = 0;

	for (size_t at = len; at; at--) {
		char c = name[at - 1];

		depth += c == ')' || c == '>' || c == '}' ? 1 : c == '(' || c == '<' ||
			 c == '{' ? -1 : 0;
		if (c == ' ' && !depth)
			return at;
	}
	return 0;
}

static bool name_is(const char *name, size_t len, const char *wanted)
{
	return strlen(wanted) == len && !memcmp(name, wanted, len);
}

bool kjoule_name_is(const char *name, const char *wanted)
{
	char *meant;
	size_t len, at;
	bool same;

	if (!strcmp(name, wanted))
		return true;
	meant = kjoule_demangle(wanted);
	same = meant && !strcmp(name, meant);
	free(meant);
	if (same || !strchr(name, '('))
		return same;
	len = name_plain_length(name);
	at = name_skip_type(name, len);
	return name_is(name, len, wanted) || name_is(name + at, len - at, wanted);
}

bool kjoule_name_is_part(const char *name)
{
	return strstr(name, ".cold") || strstr(name, ".part.");
}
