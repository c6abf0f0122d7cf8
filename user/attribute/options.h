/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that the verbs which attribute energy to code have in common: which part of recordings,
 * in which units, by which model, shown how.
 */
#ifndef KJOULE_OPTIONS_H
#define KJOULE_OPTIONS_H

#include "attribute/blocks.h"
#include "attribute/user_blocks.h"
#include "cli/options.h"
#include "output/output.h"

enum attribute_sort { SORT_ENERGY, SORT_TIME, SORT_POWER, SORT_FREQ, SORT_SAMPLES, SORT_NAME };

/* What is shown of callers. */
enum attribute_callers { CALLERS_NONE, CALLERS_GRAPH, CALLERS_CHILDREN, CALLERS_FOLDED };

/* How energy is divided among blocks. */
enum power_model_kind { MODEL_CPM, MODEL_EDGE, MODEL_MIXTURE, MODEL_VPM, MODEL_AUTO };

enum attribute_weight { WEIGHT_ENERGY, WEIGHT_TIME, WEIGHT_SAMPLES };

struct attribute_options {
	enum output_format format;
	enum attribute_sort sort;
	double percent_limit;		/* of the energy, or of the time; below 0: not given */
	uint32_t least_samples;		/* rows of fewer are summed, as those below the limit are */
	const char *fields, *domains;	/* of tables; NULL: the default ones, the first */
	bool verbose, quiet;		/* the long header, none */
	bool no_titles;			/* of tables */
	double callers_limit;		/* the same for the callers below a function */
	bool raw;
	uint32_t pid;			/* 0: all */
	const char *comm;		/* NULL: all */
	const char *source;		/* NULL: the first of the recording */
	enum attribute_callers callers;
	enum attribute_weight weight;	/* of CALLERS_FOLDED */
	double budget_w; /* mark what draws more in the first domain shown; 0: none */
	bool system;			/* the whole machine was recorded */
	size_t runs;			/* recordings that are one report; 0: it is of one */
	const char *convergence;	/* picture of intervals by samples; NULL: none */
	bool force;			/* replace the data of a picture */
	enum power_model_kind model;
	bool model_given;
	bool by_given, sort_given;	/* even if it is what happens without */
	unsigned int worst_case;	/* intervals of energies by ALEA's equation 10 */
	bool cut;			/* only a part of the time, from @from_ns to @to_ns */
	uint64_t from_ns, to_ns;
	bool vectors;			/* co-running sets instead of blocks */
	unsigned int by;		/* enum code_unit_kind or ATTRIBUTE_BY_PROCESS; from it: */
	bool units;			/* another granularity than functions */
	bool processes;			/* and nothing finer than processes */
	bool by_region;			/* blocks are regions */
	enum code_unit_kind grain;
	const char *region;		/* only what ran inside of it; NULL: all */
	struct user_blocks named;
};

#define ATTRIBUTE_BY_PROCESS	(CODE_UNIT_REGION + 1)

/* Rows of what report, annotate, diff and sweep have in common, see cli/options.h. */
#define ATTRIBUTE_BY_CODE \
	[CODE_UNIT_OBJECT] = "object", [CODE_UNIT_FUNCTION] = "function", \
	[CODE_UNIT_LINE] = "line", [CODE_UNIT_LOOP] = "loop", [CODE_UNIT_BLOCK] = "block", \
	[CODE_UNIT_REGION] = "region"
#define ATTRIBUTE_OPT_BY(opt) \
	{ 0, "by", "UNIT", "function, object, line, loop, block, region, process", \
	  OPT_WORD(&(opt)->by, ATTRIBUTE_BY_CODE, [ATTRIBUTE_BY_PROCESS] = "process"), \
	  .given = &(opt)->by_given }
#define ATTRIBUTE_OPT_BLOCK(opt) \
	{ 0, "block", "NAME=PART[,...]", \
	  "count these functions or FILE:FROM-TO as one", \
	  OPT_CALL(attribute_parse_block, &(opt)->named) }
#define ATTRIBUTE_OPT_LIMIT(out, help) \
	{ 0, "percent-limit", "P", help, OPT_PERCENT(out) }
#define ATTRIBUTE_OPT_REGION(out) \
	{ 0, "region", "NAME", "only what ran inside of this region, or of outer/inner", \
	  OPT_TEXT(out) }
#define ATTRIBUTE_OPT_PID(out) \
	{ 0, "pid", "PID", "only this process", OPT_PID(out) }
#define ATTRIBUTE_OPT_COMM(out) \
	{ 0, "comm", "NAME", "only processes of this name", OPT_TEXT(out) }
#define ATTRIBUTE_OPT_SOURCE(out) \
	{ 0, "source", "NAME[,...]", "attribute the energy of these sources", OPT_SOURCES(out) }
#define ATTRIBUTE_OPT_INTERVAL(out) \
	{ 0, "interval", "KIND", "of energies: combined (default), worst-case", \
	  OPT_WORD(out, "combined", "worst-case") }
#define ATTRIBUTE_OPT_RAW(out) \
	{ 0, "raw", NULL, "the plain model: equal shares, no costs taken out", OPT_FLAG(out) }

/* What all tables have. */
#define ATTRIBUTE_OPT_TABLE(opt) \
	{ 0, "fields", "KEY[,...]", "columns of the table; +KEY adds to those it has", \
	  OPT_TEXT(&(opt)->fields), .not_with = "json csv" }, \
	{ 0, "domain", "NAME[,...]", "energy domains of the table, or all (default: first)", \
	  OPT_TEXT(&(opt)->domains), .not_with = "json csv" }, \
	{ 'v', "verbose", NULL, "all that is known of the recording, above the table", \
	  OPT_FLAG(&(opt)->verbose), .not_with = "quiet json csv" }, \
	{ 'q', "quiet", NULL, "the table, and nothing above or below", OPT_FLAG(&(opt)->quiet) }, \
	{ 0, "no-header", NULL, "a table without the titles of its columns", \
	  OPT_FLAG(&(opt)->no_titles), .not_with = "json csv" }

/** attribute_parse_block() - the value of --block, see OPT_CALL(); @named: struct user_blocks */
int attribute_parse_block(void *named, const char *text, const char **why);

/**
 * attribute_options_check() - what follows from --by and --block
 * Return: 0, or the exit code after saying why they do not go together
 */
int attribute_options_check(const char *verb, struct attribute_options *opt);

/** attribute_is_wanted() - is the process one of those asked for? */
bool attribute_is_wanted(const struct blocks_process *p, const struct attribute_options *opt);

#endif /* KJOULE_OPTIONS_H */
