/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule annotate`: the rows of each function (rows.c), their printing
 * (print.c) and the command line (cmd_annotate.c).
 */
#ifndef KJOULE_ANNOTATE_H
#define KJOULE_ANNOTATE_H

#include "attribute/blocks.h"
#include "lib/base/error.h"
#include "output/output.h"

struct annotate_options {
	enum output_format format;
	unsigned int lines;		/* 1: by line of source, not by basic block */
	bool source;			/* show lines of source among instructions */
	double percent_limit;		/* leave out functions below it */
	const char *function;		/* only these; NULL: all */
	uint32_t pid;			/* 0: all */
	const char *comm;		/* NULL: all */
	const char *region;		/* only what ran inside of it; NULL: all */
	const char *energy;		/* source of energy; NULL: the first of the recording */
	const char *fields, *domains;	/* of tables; NULL: the default ones, the first */
	bool verbose, quiet, no_titles;
};

enum annotate_kind {
	ANNOTATE_FUNCTION, ANNOTATE_BLOCK, ANNOTATE_LINE, ANNOTATE_INSTRUCTION, ANNOTATE_SOURCE
};

/**
 * struct annotate_row - a row
 * @g:		figures of a function, block or line; net of interrupts
 * @has:	it has figures: it was sampled
 * @samples:	of an instruction
 * @depth:	of the innermost loop around a block, 0: none
 * @text:	an instruction, a line of source
 */
struct annotate_row {
	enum annotate_kind kind;
	struct profile_group g;
	bool has;
	uint64_t samples, address;
	const char *file;
	unsigned int line, depth;
	char *text;
};

/* Why there is but a total of a function. */
enum annotate_miss { ANNOTATE_HIT, ANNOTATE_NO_CODE, ANNOTATE_NO_LINES };

struct annotate_function {
	const char *name, *object;
	uint64_t start, end;
	struct profile_group g;
	enum annotate_miss miss;
	uint64_t samples, precise;
	size_t n_rows;
	struct annotate_row *rows;
};

struct annotate {
	size_t n;
	struct annotate_function *functions;	/* most energy first */
	size_t hidden;
	struct profile_group total;
	size_t n_missing;
	char **missing;				/* source files that could not be read */
};

/** annotate_new() - Return: 0 or -ENOMEM */
int annotate_new(struct view *v, struct blocks *b, const struct profile *p,
		 const struct annotate_options *opt, struct annotate *a);
void annotate_free(struct annotate *a);
/**
 * annotate_fields_check() - the value of --fields.
 * Return: 0, or -EINVAL with the reason in @err
 */
int annotate_fields_check(const char *chosen, struct kjoule_error *err);
/** annotate_print() - @head becomes the JSON document. Return: 0 or -ENOMEM */
int annotate_print(const struct annotate *a, const struct blocks *b,
		   const struct annotate_options *opt, struct json_object *head);

#endif /* KJOULE_ANNOTATE_H */
