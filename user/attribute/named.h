/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of code that the user has given a name: --block NAME=PART[,PART]...
 */
#ifndef KJOULE_NAMED_H
#define KJOULE_NAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/code.h"

enum named_kind {
	NAMED_FUNCTION,		/* a function, inlined or not */
	NAMED_LINES,		/* FILE:FROM-TO */
	NAMED_ADDRESSES,	/* OBJECT:0xFROM-0xTO, as the ELF file counts, the last one excluded */
	NAMED_CODE,		/* the same of one object alone, by its whole path; of no command line */
};

struct named_part {
	enum named_kind kind;
	char *where;		/* function, source file or object: a whole path or the end of one */
	uint64_t from, to;
	uint64_t samples;
};

struct named_block {
	char *name;
	size_t n;
	struct named_part *parts;
};

struct named {
	size_t n;
	struct named_block *blocks;
};

/**
 * named_add() - from the command line; parts of one name are one block
 * @why:	out: of -EINVAL, for the user
 * Return: 0, -EINVAL, -ENOMEM
 */
int named_add(struct named *named, const char *text, const char **why);
/** named_add_code() - not from the command line: code whose place is known. Return: 0, -ENOMEM */
int named_add_code(struct named *named, const char *name, const char *object, uint64_t from, uint64_t to);
void named_free(struct named *named);

/* What is known of an instruction. */
struct named_code {
	const char *object, *symbol;
	uint64_t address;		/* the file's own; 0: not known */
	const struct kjoule_line *lines;
	size_t n_lines;
};

/** named_find() - the first block that has the instruction, and which part of it; NULL: none has */
struct named_block *named_find(const struct named *named, const struct named_code *code,
			       struct named_part **part);
/** named_needs_lines() - can it not be told without lines of source? */
bool named_needs_lines(const struct named *named);

#endif /* KJOULE_NAMED_H */
