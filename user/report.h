/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule report`: figures (report_rows.c), their printing (report_print.c),
 * callers (report_callers.c), the model (report_model.c), stacks for flame graphs (report_folded.c),
 * vectors (report_vectors.c), what is printed before (report_head.c, report_beside.c), and the command
 * line (cmd_report.c).
 */
#ifndef KJOULE_REPORT_H
#define KJOULE_REPORT_H

#include "chains.h"
#include "output.h"

enum report_sort { SORT_ENERGY, SORT_TIME, SORT_POWER, SORT_FREQ, SORT_SAMPLES, SORT_NAME };

/* What is shown of callers. */
enum report_callers { CALLERS_NONE, CALLERS_GRAPH, CALLERS_CHILDREN, CALLERS_FOLDED };

/* How energy is divided among blocks. */
enum report_model_kind { REPORT_CPM, REPORT_MIXTURE, REPORT_AUTO };

enum report_weight { WEIGHT_ENERGY, WEIGHT_TIME, WEIGHT_SAMPLES };

struct report_options {
	enum output_format format;
	enum report_sort sort;
	double percent_limit;		/* of the energy, or of the time without any */
	double callers_limit;		/* the same for the callers below a function */
	bool raw;
	uint32_t pid;			/* 0: all */
	const char *comm;		/* NULL: all */
	const char *source;		/* NULL: the first of the recording */
	enum report_callers callers;
	enum report_weight weight;	/* of CALLERS_FOLDED */
	double budget_w;		/* what draws more in the first domain is marked; 0: no such */
	bool system;			/* the whole machine was recorded */
	enum report_model_kind model;
	bool worst_case;		/* intervals of energies by ALEA's equation 10 */
	bool vectors;			/* what ran together, instead of blocks */
	bool units;			/* something else than functions is told apart */
	bool processes;			/* and nothing finer than processes */
	enum grain_kind grain;
	struct named named;
};

/**
 * struct report_model - the model of a report
 * @asked,@used: @used is never REPORT_AUTO
 * @reason:	why it was chosen, or why there is none; for people
 * @windows,@left_out,@window_ticks,@reliability: of REPORT_MIXTURE, see struct separation
 * @in_step:	ticks were on an even grid
 * @united:	of each block there was, the one that it is a part of; NULL: none was made one with another
 * @fate:	enum separate_fate of each block that others were made one with
 * @not_told:	blocks that could not be told apart
 */
struct report_model {
	enum report_model_kind asked, used;
	char reason[400];
	uint64_t windows, left_out;
	double window_ticks, reliability;
	bool in_step;
	uint32_t *united;
	uint8_t *fate;
	size_t n_united, n_fates, not_told;
};

enum report_kind {
	ROW_TOTAL, ROW_PROCESS, ROW_FUNCTION, ROW_TICKS, ROW_INTERRUPTS, ROW_CALLER
};

struct report_row {
	enum report_kind kind;
	uint32_t process, function;	/* indices into blocks */
	struct profile_group g;
	/* of a caller */
	unsigned int depth;		/* how far out, from 1 */
	unsigned int indent;		/* branches that it is behind */
	bool branch;			/* one of several callers of the line above, or of a sibling */
};

/* A process with its functions, both sorted. */
struct report_process {
	struct report_row total;
	size_t n_rows;
	struct report_row *rows;
	size_t hidden;			/* functions below the limit */
};

struct report {
	struct report_row total;
	size_t n_processes;
	struct report_process *processes;
	size_t hidden_processes;
};

/** report_new() - add up, sort and filter. Return: 0 or -ENOMEM */
int report_new(const struct blocks *b, const struct profile *p, const struct report_options *opt,
	       struct report *r);
void report_free(struct report *r);
/** report_wanted() - is the process one of those asked for? */
bool report_wanted(const struct blocks_process *p, const struct report_options *opt);
/**
 * report_print() - the rows; @head becomes the JSON document
 * @c:		callers to be shown below each function, or NULL
 */
int report_print(const struct report *r, const struct blocks *b, const struct chains *c,
		 const struct report_options *opt, const struct report_model *m, struct json_object *head);
/** report_model_parse() - "cpm", "mixture", "auto". Return: 0 or -EINVAL */
int report_model_parse(const char *text, enum report_model_kind *model);
/**
 * report_model_new() - choose, and make one of blocks that can not be told apart; before chains_new()
 * Return: 0; -ENODATA: the one that was asked for can not be used, see @reason; -ENOMEM
 */
int report_model_new(struct blocks *b, const struct report_options *opt, struct report_model *m);
void report_model_free(struct report_model *m);
const char *report_model_name(const struct report_model *m);
/** report_model_note() - what is to be said of a block, NULL if nothing is */
const char *report_model_note(const struct report_model *m, uint32_t function);
/** report_model_print() - of the header; the default is not told */
void report_model_print(const struct report_model *m);
struct json_object *report_model_json(const struct report_model *m);
/** report_model_footnotes() - below the table */
void report_model_footnotes(const struct report *r, const struct report_model *m);
/**
 * report_callers() - the rows of a function's callers, in the order in which they are shown
 * @limit:	leave out callers of less weight (see report_weight_of())
 * @rows:	out: the caller's to free
 */
int report_callers(const struct chains *c, const struct blocks *b, uint32_t function,
		   double limit, struct report_row **rows, size_t *n);
/** report_children() - functions with all that they called; @head becomes the JSON document */
int report_children(const struct report *r, const struct blocks *b, const struct chains *c,
		    const struct report_options *opt, struct json_object *head);
/**
 * report_folded() - a line for each stack: "process;outer;...;inner WEIGHT"
 * Return: 0; -ENODATA when energy is asked for and not known; -ENOMEM
 */
int report_folded(const struct report *r, const struct blocks *b, const struct chains *c,
		  const struct report_options *opt);
/** report_vectors() - what ran together, and what was spent meanwhile. Return: 0 or -ENOMEM */
int report_vectors(const struct blocks *b, const struct profile *p, const struct report_options *opt,
		   struct json_object *head);
/** report_weight_of() - what limits and orders rows: energy, or time without any */
double report_weight_of(const struct report_row *r, const struct blocks *b);
/** report_names() - the cells of a row that say what it is: kind to mode */
void report_names(struct output *out, const struct blocks *b, const struct report_row *r);
/** report_hidden_print() - below a table: how many processes and functions are not in it */
void report_hidden_print(const struct report *r, size_t functions);
/** report_head_print() - what was recorded and how, as lines beginning with # */
void report_head_print(const struct view *v, const struct blocks *b, const struct profile *p,
		       const struct report *r, const struct chains *c, const struct report_model *m,
		       const char *path);
/** report_head_json() - the same for programs */
struct json_object *report_head_json(const struct view *v, const struct blocks *b,
				     const struct profile *p, const struct chains *c,
				     const struct report_model *m, const char *path);

/** report_beside_print() - what sources told that no code is charged by, as lines beginning with # */
void report_beside_print(const struct view *v);
struct json_object *report_beside_json(const struct view *v);
/** report_sources_json() - all sources of the recording, and how reading them went */
struct json_object *report_sources_json(const struct view *v);

/* A block's power is mixed with its neighbours' below this purity. */
#define REPORT_PURE	0.85

#endif /* KJOULE_REPORT_H */
