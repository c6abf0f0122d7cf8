/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of code that the user has given a name: --block NAME=PART[,PART]...
 */
#ifndef KJOULE_USER_BLOCKS_H
#define KJOULE_USER_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/code.h"

enum user_blocks_kind {
	USER_BLOCKS_FUNCTION,		/* a function, inlined or not */
	USER_BLOCKS_LINES,		/* FILE:FROM-TO */
	USER_BLOCKS_ADDRESSES,	/* OBJECT:0xFROM-0xTO, as in the ELF file, the last one excluded */
	/* the same of one object, by its whole path; not from the command line */
	USER_BLOCKS_CODE,
};

struct user_blocks_part {
	enum user_blocks_kind kind;
	char *where;	/* function, source file or object: a whole path or the end of one */
	uint64_t from, to;
	uint64_t samples;
};

struct user_block {
	char *name;
	size_t n;
	struct user_blocks_part *parts;
};

struct user_blocks {
	size_t n;
	struct user_block *blocks;
};

/**
 * user_blocks_add() - from the command line; parts of one name are one block
 * @why: out: of -EINVAL, for the user
 * Return: 0, -EINVAL, -ENOMEM
 */
int user_blocks_add(struct user_blocks *named, const char *text, const char **why);
/** user_blocks_add_code() - code of a known place. Return: 0, -ENOMEM */
int user_blocks_add_code(struct user_blocks *named, const char *name, const char *object,
			 uint64_t from, uint64_t to);
void user_blocks_free(struct user_blocks *named);

/* Properties of an instruction. */
struct user_blocks_code {
	const char *object, *symbol;
	uint64_t address;		/* as in the file; 0: unknown */
	const struct kjoule_line *lines;
	size_t n_lines;
};

/** user_blocks_find() - the first block that has the instruction, and its part; or NULL */
struct user_block *user_blocks_find(const struct user_blocks *named,
				    const struct user_blocks_code *code,
				    struct user_blocks_part **part);
/** user_blocks_needs_lines() - do some parts need lines of source? */
bool user_blocks_needs_lines(const struct user_blocks *named);

#endif /* KJOULE_USER_BLOCKS_H */
