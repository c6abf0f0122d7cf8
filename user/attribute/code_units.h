/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The granularity of code: which unit an address belongs to, a function, an object, a line of
 * source, a loop, a basic block, or a block that the user has named.
 */
#ifndef KJOULE_CODE_UNITS_H
#define KJOULE_CODE_UNITS_H

#include "analysis/flow/flow.h"
#include "attribute/user_blocks.h"
#include "recording/view.h"

/* From this part of exact instruction pointers on a figure is not marked as imprecise. */
#define CODE_UNIT_PRECISE	0.99

/* CODE_UNIT_REGION: a region that the program has marked; blocks_lookup.c makes these units. */
enum code_unit_kind { CODE_UNIT_FUNCTION, CODE_UNIT_OBJECT, CODE_UNIT_LINE, CODE_UNIT_LOOP,
		      CODE_UNIT_BLOCK, CODE_UNIT_NAMED, CODE_UNIT_REGION };

/* Why code is counted as its function instead of something finer. */
enum code_unit_miss {
	CODE_UNIT_HIT,
	CODE_UNIT_NO_FILE,		/* kernel, code made at run time, missing or wrong file */
	CODE_UNIT_NO_LINES,		/* without debug information */
	CODE_UNIT_NO_SYMBOL,	/* in an unknown function */
	CODE_UNIT_NO_CODE,	/* cannot be decoded: not this machine's, or too much of it */
	CODE_UNIT_MISSES
};

/**
 * struct code_unit - code that is counted as one
 * @kind: what it is; CODE_UNIT_FUNCTION if nothing finer is known
 * @name: not unique
 * @function: that it is in; "" for an object
 * @file,@line: where it begins; NULL, 0: unknown
 * @start,@end: addresses as in the object's file; 0, 0: unknown, or several
 * @depth: of a loop: 1 is outermost
 * @outer_file,@outer_line: of a line: the call in the function itself if it was inlined, else the
 *   line
 * @miss: why it is only a function
 * @around,@around_end: addresses of the function; 0: unknown
 */
struct code_unit {
	enum code_unit_kind kind;
	const char *name, *object, *function, *file;
	unsigned int line, depth;
	uint64_t start, end;
	uint64_t around, around_end;
	const char *outer_file;
	unsigned int outer_line;
	enum code_unit_miss miss;
};

/* A function's code. */
struct code_units_code {
	struct kjoule_code *file;
	struct kjoule_insn *insns;	/* the caller's to free */
	size_t n_insns;
	const struct flow *flow;
};

struct code_units;

/**
 * code_units_new() - choose the granularity
 * @named: the user's blocks, which come first; must stay. NULL: none
 * Return: 0 or -ENOMEM
 */
int code_units_new(enum code_unit_kind kind, struct user_blocks *named, struct code_units **g);
void code_units_free(struct code_units *g);
/**
 * code_units_find() - the unit of an address that view_resolve_at() has looked up
 * @unit: out: lives as long as the units
 * @part: out: of a named block, NULL otherwise
 * Return: 0 or -ENOMEM
 */
int code_units_find(struct code_units *g, const struct view_place *place, bool kernel,
		    const struct code_unit **unit, struct user_blocks_part **part);
/**
 * code_units_code() - the code of a function that code_units_find() has returned
 * Return: 0; -ENODATA: unavailable; -ENOMEM
 */
int code_units_code(struct code_units *g, const char *object, uint64_t start, uint64_t end,
		    struct code_units_code *code);

#endif /* KJOULE_CODE_UNITS_H */
