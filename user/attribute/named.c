// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Named blocks; see named.h. Used by report and annotate.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/named.h"
#include "lib/base/grow.h"
#include "lib/code/demangle.h"

/* FROM-TO or FROM alone; what follows must be the end. */
static int parse_range(const char *text, int base, uint64_t *from, uint64_t *to)
{
	char *end;

	errno = 0;
	if (!isxdigit((unsigned char)text[0]))
		return -EINVAL;
	*from = strtoull(text, &end, base);
	*to = *from;
	if (*end == '-') {
		text = end + 1;
		if (!isxdigit((unsigned char)text[0]))
			return -EINVAL;
		*to = strtoull(text, &end, base);
	}
	return errno || *end ? -EINVAL : 0;
}

static int parse_part(const char *text, struct named_part *part, const char **why)
{
	const char *colon = strrchr(text, ':'), *range = colon ? colon + 1 : NULL;

	memset(part, 0, sizeof(*part));
	if (!*text) {
		*why = "a part is empty";
		return -EINVAL;
	}
	/* a::b is a function, and so is anything else without a number behind its colon */
	if (!colon || colon == text || !isdigit((unsigned char)*range)) {
		part->kind = NAMED_FUNCTION;
		part->where = strdup(text);
		return part->where ? 0 : -ENOMEM;
	}
	part->kind = !strncmp(range, "0x", 2) ? NAMED_ADDRESSES : NAMED_LINES;
	if (parse_range(range, part->kind == NAMED_LINES ? 10 : 16, &part->from, &part->to)) {
		*why = "expected FILE:FROM-TO (lines), OBJECT:0xFROM-0xTO (addresses) or a function";
		return -EINVAL;
	}
	if (part->kind == NAMED_ADDRESSES ? part->from >= part->to : !part->from || part->from > part->to) {
		*why = part->kind == NAMED_ADDRESSES ? "the addresses have to rise: 0xFROM-0xTO, the last one excluded" :
		       "the lines have to rise, from 1";
		return -EINVAL;
	}
	part->where = strndup(text, colon - text);
	return part->where ? 0 : -ENOMEM;
}

static struct named_block *block_of(struct named *named, const char *name, size_t len)
{
	struct named_block *block;

	for (size_t i = 0; i < named->n; i++)
		if (strlen(named->blocks[i].name) == len && !memcmp(named->blocks[i].name, name, len))
			return &named->blocks[i];
	block = kjoule_grow(&named->blocks, &named->n, sizeof(*block));
	if (!block)
		return NULL;
	block->name = strndup(name, len);
	if (!block->name) {
		named->n--;
		return NULL;
	}
	return block;
}

int named_add(struct named *named, const char *text, const char **why)
{
	const char *equals = strchr(text, '=');
	struct named_block *block;
	char *parts, *next;
	int ret = 0;

	*why = "expected NAME=PART[,PART]...";
	if (!equals || equals == text || !equals[1])
		return -EINVAL;
	block = block_of(named, text, equals - text);
	parts = next = strdup(equals + 1);
	if (!block || !parts)
		ret = -ENOMEM;
	while (next && !ret) {
		struct named_part part, *to;

		ret = parse_part(strsep(&next, ","), &part, why);
		if (ret)
			break;
		to = kjoule_grow(&block->parts, &block->n, sizeof(*to));
		if (to) {
			*to = part;
		} else {
			free(part.where);
			ret = -ENOMEM;
		}
	}
	free(parts);
	return ret;
}

int named_add_code(struct named *named, const char *name, const char *object, uint64_t from, uint64_t to)
{
	struct named_block *block = block_of(named, name, strlen(name));
	struct named_part *part = block ? kjoule_grow(&block->parts, &block->n, sizeof(*part)) : NULL;

	if (!part)
		return -ENOMEM;
	*part = (struct named_part){ .kind = NAMED_CODE, .where = strdup(object), .from = from, .to = to };
	if (part->where)
		return 0;
	block->n--;
	return -ENOMEM;
}

void named_free(struct named *named)
{
	for (size_t i = 0; i < named->n; i++) {
		for (size_t k = 0; k < named->blocks[i].n; k++)
			free(named->blocks[i].parts[k].where);
		free(named->blocks[i].parts);
		free(named->blocks[i].name);
	}
	free(named->blocks);
	memset(named, 0, sizeof(*named));
}

/* Is @end the path, or its last parts? */
static bool ends_in(const char *path, const char *end)
{
	size_t len, n = strlen(end);

	if (!path)
		return false;
	len = strlen(path);
	return len >= n && !strcmp(path + len - n, end) && (len == n || end[0] == '/' || path[len - n - 1] == '/');
}

static bool has(const struct named_part *part, const struct named_code *code)
{
	switch (part->kind) {
	case NAMED_FUNCTION:
		if (kjoule_name_is(code->symbol, part->where))
			return true;
		for (size_t i = 0; i < code->n_lines; i++)
			if (code->lines[i].function && !strcmp(code->lines[i].function, part->where))
				return true;
		return false;
	case NAMED_LINES:
		for (size_t i = 0; i < code->n_lines; i++)
			if (code->lines[i].line >= part->from && code->lines[i].line <= part->to &&
			    ends_in(code->lines[i].file, part->where))
				return true;
		return false;
	case NAMED_ADDRESSES:
		return code->address && code->address >= part->from && code->address < part->to &&
		       ends_in(code->object, part->where);
	case NAMED_CODE:
		return code->address && code->address >= part->from && code->address < part->to && code->object &&
		       !strcmp(code->object, part->where);
	}
	return false;
}

struct named_block *named_find(const struct named *named, const struct named_code *code,
			       struct named_part **part)
{
	for (size_t i = 0; i < named->n; i++) {
		for (size_t k = 0; k < named->blocks[i].n; k++) {
			*part = &named->blocks[i].parts[k];
			if (has(*part, code))
				return &named->blocks[i];
		}
	}
	*part = NULL;
	return NULL;
}

bool named_needs_lines(const struct named *named)
{
	for (size_t i = 0; i < named->n; i++)
		for (size_t k = 0; k < named->blocks[i].n; k++)
			if (named->blocks[i].parts[k].kind < NAMED_ADDRESSES)
				return true;
	return false;
}
