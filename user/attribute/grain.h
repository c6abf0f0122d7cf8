/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How finely code is told apart: which unit an address belongs to, a function, an object, a
 * line of source, a loop, a basic block, or a block that the user has named.
 */
#ifndef KJOULE_GRAIN_H
#define KJOULE_GRAIN_H

#include "analysis/flow/flow.h"
#include "attribute/named.h"
#include "recording/view.h"

/* GRAIN_REGION: no code, but what the program says it is at; blocks_lookup.c makes these units. */
enum grain_kind { GRAIN_FUNCTION, GRAIN_OBJECT, GRAIN_LINE, GRAIN_LOOP, GRAIN_BLOCK, GRAIN_NAMED, GRAIN_REGION };

/* Why code is counted as its function, though something finer was asked for. */
enum grain_miss {
	GRAIN_HIT,
	GRAIN_NO_FILE,		/* the kernel's, code made at run time, a file that is missing or another one */
	GRAIN_NO_LINES,		/* without debug information */
	GRAIN_NO_SYMBOL,	/* nobody knows which function it is in */
	GRAIN_NO_CODE,		/* cannot be decoded: not this machine's, or too much of it */
	GRAIN_MISSES
};

/**
 * struct grain_unit - code that is counted as one
 * @kind:	what it is; GRAIN_FUNCTION where nothing finer can be told
 * @name:	for people; units at other places may have the same
 * @function:	that it is in; "" for an object
 * @file,@line:	where it begins; NULL, 0: not known
 * @start,@end:	addresses as the object's file counts them; 0, 0: not known, or several
 * @depth:	of a loop: 1 is in no other
 * @outer_file,@outer_line: of a line: the call in the function itself of what was inlined, else the line
 * @miss:	why it is but a function
 * @around,@around_end: addresses of the function; 0: not known
 */
struct grain_unit {
	enum grain_kind kind;
	const char *name, *object, *function, *file;
	unsigned int line, depth;
	uint64_t start, end;
	uint64_t around, around_end;
	const char *outer_file;
	unsigned int outer_line;
	enum grain_miss miss;
};

/* A function's code. */
struct grain_code {
	struct kjoule_code *file;
	struct kjoule_insn *insns;	/* the caller's to free */
	size_t n_insns;
	const struct flow *flow;
};

struct grain;

/**
 * grain_new() - decide how finely
 * @named:	blocks of the user's, which come first; must stay. NULL: none
 * Return: 0 or -ENOMEM
 */
int grain_new(enum grain_kind kind, struct named *named, struct grain **g);
void grain_free(struct grain *g);
/**
 * grain_find() - the unit of an address that view_resolve_at() has looked up
 * @unit:	out: lives as long as the grain
 * @part:	out: of a named block, NULL otherwise
 * Return: 0 or -ENOMEM
 */
int grain_find(struct grain *g, const struct view_place *place, bool kernel, const struct grain_unit **unit,
	       struct named_part **part);
/**
 * grain_code() - the code of a function that grain_find() has come across
 * Return: 0; -ENODATA there is none to look at; -ENOMEM
 */
int grain_code(struct grain *g, const char *object, uint64_t start, uint64_t end, struct grain_code *code);

#endif /* KJOULE_GRAIN_H */
