// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Named blocks; see user_blocks.h. Used by report and annotate.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/user_blocks.h"
#include "lib/base/array.h"
#include "lib/code/demangle.h"

/* FROM-TO or FROM alone; what follows must be the end. */
static int user_block_parse_range(const char *text, int base, uint64_t *from, uint64_t *to)
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

static int user_block_parse_part(const char *text, struct user_blocks_part *part, const char **why)
{
	const char *colon = strrchr(text, ':'), *range = colon ? colon + 1 : NULL;

	memset(part, 0, sizeof(*part));
	if (!*text) {
		*why = "a part is empty";
		return -EINVAL;
	}
	/* a::b is a function, and so is anything else without a number after its colon */
	if (!colon || colon == text || !isdigit((unsigned char)*range)) {
		part->kind = USER_BLOCKS_FUNCTION;
		part->where = strdup(text);
		return part->where ? 0 : -ENOMEM;
	}
	part->kind = !strncmp(range, "0x", 2) ? USER_BLOCKS_ADDRESSES : USER_BLOCKS_LINES;
	if (user_block_parse_range(range, part->kind == USER_BLOCKS_LINES ? 10 : 16, &part->from,
				   &part->to)) {
		*why = "expected FILE:FROM-TO (lines), OBJECT:0xFROM-0xTO (addresses) or a function";
		return -EINVAL;
	}
	if (part->kind == USER_BLOCKS_ADDRESSES ? part->from >= part->to : !part->from ||
	    part->from > part->to) {
		*why = part->kind == USER_BLOCKS_ADDRESSES ? "the addresses have to rise: 0xFROM-0xTO, the last one excluded" :
		       "the lines have to rise, from 1";
		return -EINVAL;
	}
	part->where = strndup(text, colon - text);
	return part->where ? 0 : -ENOMEM;
}

static struct user_block *user_block_find_or_add(struct user_blocks *named, const char *name,
						 size_t len)
{
	struct user_block *block;

	for (size_t i = 0; i < named->n; i++)
		if (strlen(named->blocks[i].name) == len &&
		    !memcmp(named->blocks[i].name, name, len))
			return &named->blocks[i];
	block = kjoule_array_grow(&named->blocks, &named->n, sizeof(*block));
	if (!block)
		return NULL;
	block->name = strndup(name, len);
	if (!block->name) {
		named->n--;
		return NULL;
	}
	return block;
}

int user_blocks_add(struct user_blocks *named, const char *text, const char **why)
{
	const char *equals = strchr(text, '=');
	struct user_block *block;
	char *parts, *next;
	int ret = 0;

	*why = "expected NAME=PART[,PART]...";
	if (!equals || equals == text || !equals[1])
		return -EINVAL;
	block = user_block_find_or_add(named, text, equals - text);
	parts = next = strdup(equals + 1);
	if (!block || !parts)
		ret = -ENOMEM;
	while (next && !ret) {
		struct user_blocks_part part, *to;

		ret = user_block_parse_part(strsep(&next, ","), &part, why);
		if (ret)
			break;
		to = kjoule_array_grow(&block->parts, &block->n, sizeof(*to));
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

int user_blocks_add_code(struct user_blocks *named, const char *name, const char *object,
			 uint64_t from, uint64_t to)
{
	struct user_block *block = user_block_find_or_add(named, name, strlen(name));
	struct user_blocks_part *part = block ?
					kjoule_array_grow(&block->parts, &block->n, sizeof(*part)) :
					NULL;

	if (!part)
		return -ENOMEM;
	*part = (struct user_blocks_part){ .kind = USER_BLOCKS_CODE, .where = strdup(object),
					   .from = from, .to = to };
	if (part->where)
		return 0;
	block->n--;
	return -ENOMEM;
}

void user_blocks_free(struct user_blocks *named)
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
static bool user_block_path_ends_in(const char *path, const char *end)
{
	size_t len, n = strlen(end);

	if (!path)
		return false;
	len = strlen(path);
	return len >= n && !strcmp(path + len - n, end) &&
	       (len == n || end[0] == '/' || path[len - n - 1] == '/');
}

static bool user_block_part_has(const struct user_blocks_part *part,
				const struct user_blocks_code *code)
{
	switch (part->kind) {
	case USER_BLOCKS_FUNCTION:
		if (kjoule_name_is(code->symbol, part->where))
			return true;
		for (size_t i = 0; i < code->n_lines; i++)
			if (code->lines[i].function &&
			    !strcmp(code->lines[i].function, part->where))
				return true;
		return false;
	case USER_BLOCKS_LINES:
		for (size_t i = 0; i < code->n_lines; i++)
			if (code->lines[i].line >= part->from && code->lines[i].line <= part->to &&
			    user_block_path_ends_in(code->lines[i].file, part->where))
				return true;
		return false;
	case USER_BLOCKS_ADDRESSES:
		return code->address && code->address >= part->from && code->address < part->to &&
		       user_block_path_ends_in(code->object, part->where);
	case USER_BLOCKS_CODE:
		return code->address && code->address >= part->from && code->address < part->to &&
		       code->object &&
		       !strcmp(code->object, part->where);
	}
	return false;
}

struct user_block *user_blocks_find(const struct user_blocks *named,
				    const struct user_blocks_code *code,
				    struct user_blocks_part **part)
{
	for (size_t i = 0; i < named->n; i++) {
		for (size_t k = 0; k < named->blocks[i].n; k++) {
			*part = &named->blocks[i].parts[k];
			if (user_block_part_has(*part, code))
				return &named->blocks[i];
		}
	}
	*part = NULL;
	return NULL;
}

bool user_blocks_needs_lines(const struct user_blocks *named)
{
	for (size_t i = 0; i < named->n; i++)
		for (size_t k = 0; k < named->blocks[i].n; k++)
			if (named->blocks[i].parts[k].kind < USER_BLOCKS_ADDRESSES)
				return true;
	return false;
}
