/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule report`: rows (rows.c), their printing (print.c), callers (callers.c),
 * stacks for flame graphs (folded.c), vectors (vectors.c), regions (regions.c), budgets of power
 * (budget.c), notes on the model (model.c) and the command line (cmd_report.c).
 */
#ifndef KJOULE_REPORT_H
#define KJOULE_REPORT_H

#include "attribute/callgraph.h"
#include "attribute/groups.h"
#include "attribute/options.h"
#include "attribute/power_model.h"
#include "output/columns.h"
#include "output/output.h"
#include "recording/view.h"

/* What is to be reported. */
struct report_files {
	size_t n;
	const char **paths;
	bool without_outliers;
};

/**
 * report_one() - of a recording; @path: NULL: no file was named, see kjoule_reader_open(). Return:
 * an exit code
 */
int report_one(const char *path, struct attribute_options *opt);
/** report_several() - of an average run. Return: an exit code */
int report_several(const struct report_files *files, struct attribute_options *opt);

enum report_kind {
	ROW_TOTAL, ROW_PROCESS, ROW_FUNCTION, ROW_TICKS, ROW_INTERRUPTS, ROW_CALLER, ROW_HIDDEN
};

struct report_row {
	enum report_kind kind;
	uint32_t process, function;	/* indices into blocks */
	struct profile_group g;
	const struct runs_between *between;	/* of several recordings; NULL: of one */
	const struct region_marks *marks;	/* of a region; NULL: it is none */
	/* of a caller */
	unsigned int depth;		/* how far out, from 1 */
	unsigned int indent;		/* branches that it is behind */
	bool branch; /* one of several callers of the line above, or of a sibling */
};

/* A process with its functions, both sorted. */
struct report_process {
	struct report_row total;
	bool outside;			/* of the total: kjoule's recorder, CPUs that it paused */
	size_t n_rows;
	struct report_row *rows;
};

/* Does a row draw more than the budget of power (ALEA, section 7.1)? Only a block is asked. */
enum report_over { OVER_NO, OVER_PERHAPS, OVER_YES, OVER_UNKNOWN, OVER_NO_QUESTION, OVER_KINDS };

/* How many do, and for how long they run together. */
struct report_overs {
	size_t n[OVER_KINDS];
	double time_s[OVER_KINDS];
};

struct report {
	struct report_row total;
	size_t n_processes;
	struct report_process *processes;
	struct report_row hidden;	/* the sum of the rows that are below the limit */
	bool hidden_known[PROFILE_DOMAINS];	/* a row of them has this energy */
	size_t n_hidden, n_few;			/* of them, for their few samples only */
	struct report_overs hidden_over;	/* of these */
	double parallel; /* part of the busy ticks at which several CPUs of a package were busy */
};

/** report_new() - choose, sort and filter. Return: 0 or -ENOMEM */
int report_new(const struct blocks *b, const struct groups *g, const struct attribute_options *opt,
	       struct report *r);
void report_free(struct report *r);
/**
 * report_rows_list() - the rows of a table: functions of all processes in one list, or processes,
 * then what the measurement took and what is hidden; they add up to the total
 * @several:	out: they are of more than one process
 * Return: 0 or -ENOMEM; *rows is the caller's to free
 */
int report_rows_list(const struct report *r, const struct blocks *b,
		     const struct attribute_options *opt, struct report_row **rows, size_t *n,
		     bool *several);
/**
 * report_row_is_gap() - "[idle]", "[missed]": time that no code is known of, which a table has for
 * what it is
 */
bool report_row_is_gap(const struct blocks *b, const struct report_row *row);
/**
 * report_print() - the rows; @head becomes the JSON document
 * @c:		callers to be shown below each function, or NULL
 */
int report_print(const struct report *r, const struct blocks *b, const struct callgraph *c,
		 const struct attribute_options *opt, const struct power_model *m,
		 struct json_object *head);
/**
 * report_over() - hold a row's power in the first domain against a budget
 * @budget_w:	Watt; 0: there is none
 *
 * Its 95 % interval decides: OVER_YES if all of it is above, OVER_PERHAPS if a part is. Without an
 * interval, and where it is mixed with its neighbours', a power above is OVER_PERHAPS; one that is
 * not above is OVER_UNKNOWN, as is a power that is not known.
 */
enum report_over report_over(const struct blocks *b, const struct report_row *r, double budget_w);
/** report_over_power() - the same of any power; @share: see struct profile_energy */
enum report_over report_over_power(const struct value *w, double share, double budget_w);
/** report_over_name() - "yes", "perhaps", "no"; NULL: it is not known, or was not asked */
const char *report_over_name(enum report_over over);
/** report_over_mark() - of a table, "" where there is nothing to be said */
const char *report_over_mark(enum report_over over);
/** report_over_count() - one row more, whose interval of --interval worst-case is yet to be made */
void report_over_count(struct report_overs *o, const struct blocks *b, const struct report_row *r,
		       const struct attribute_options *opt);
/**
 * report_budget_print() - below the table, rows that it has not included; nothing without a budget
 */
void report_budget_print(const struct report *r, const struct blocks *b,
			 const struct attribute_options *opt);
/** report_overs_print() - the same of any rows, shown ones and hidden ones */
void report_overs_print(const struct blocks *b, double budget_w, const struct report_overs *o,
			const struct report_overs *hidden);
/** report_overs_json() - of the rows that are hidden */
struct json_object *report_overs_json(const struct report_overs *hidden);
/** report_model_no_energy() - why a row has no energy in a domain, if it has none; for people */
const char *report_model_no_energy(const struct power_model *m, const struct report_row *r,
				   unsigned int domain);
/** report_model_footnotes() - below the table */
void report_model_footnotes(const struct report *r, const struct blocks *b,
			    const struct power_model *m);
/**
 * report_callers() - the rows of a function's callers, in the order in which they are shown
 * @limit:	leave out callers of less weight (see report_weight_of())
 * @rows:	out: the caller's to free
 */
int report_callers(const struct callgraph *c, const struct blocks *b, uint32_t function,
		   const struct report_row *total, double limit, struct report_row **rows,
		   size_t *n);
/** report_children() - functions with all that they called; @head becomes the JSON document */
int report_children(const struct report *r, const struct blocks *b, const struct callgraph *c,
		    const struct attribute_options *opt, struct json_object *head);
/**
 * report_folded() - a line for each stack: "process;outer;...;inner WEIGHT"
 * Return: 0; -ENODATA when energy is asked for and not known; -ENOMEM
 */
int report_folded(const struct report *r, const struct blocks *b, const struct callgraph *c,
		  const struct attribute_options *opt);
/** report_vectors() - co-running sets, and what each spent. Return: 0 or -ENOMEM */
int report_vectors(const struct blocks *b, const struct profile *p,
		   const struct attribute_options *opt, struct json_object *head);
/** report_region_not_sampled() - that the region was entered and not sampled. Return: -ENOENT */
int report_region_not_sampled(const struct view *v, const char *path, struct kjoule_error *err);
/** report_vpm_readings() - readings of blocks that a recording has */
size_t report_vpm_readings(const struct view *v);
/** report_vpm_has() - are there readings of each of these blocks? */
bool report_vpm_has(const struct view *v, const struct user_blocks *named);
/**
 * report_vpm_blocks() - make @opt->named the blocks that there are readings of: all, or those that
 *			 it has
 * Return: 0; -ENOENT with the reason in @err: there are none of one that was asked for; -ENOMEM
 */
int report_vpm_blocks(struct view *v, struct attribute_options *opt, struct kjoule_error *err);
/**
 * report_vpm() - their power. @head is taken over
 * Return: 0; -ENODATA with the reason in @err: none is known; -ENOMEM
 */
int report_vpm(struct view *v, const struct blocks *b, const struct profile *p,
	       const struct attribute_options *opt, struct json_object *head,
	       struct kjoule_error *err);
/* Why something is not known; "" if it is. */
struct report_vpm_why {
	char text[600];
};

/**
 * report_vpm_code() - the very code that there were readings of, addresses [@start, @end) as its
 * object's file counts
 *
 * Of a function in a recording that does not have its end: as the file has it.
 *
 * Return: false where it is not known
 */
bool report_vpm_code(struct view *v, const struct kjoule_vpm_block *info, uint64_t *start,
		     uint64_t *end);
/**
 * report_vpm_time() - do ticks in its code tell all of the time that its latency and power are of?
 * @why:	out: why they do not: it calls, returns, or goes on in other code, or its code
 *		cannot be read
 * Return: 0 or -ENOMEM
 */
int report_vpm_time(struct view *v, const struct kjoule_vpm_block *info,
		    struct report_vpm_why *why);
/** report_regions_columns() - how often a region was entered, and for how long */
void report_regions_columns(struct columns *c);
void report_regions_cells(struct output *out, const struct report_row *row, int digits);
/**
 * report_regions_footnote() - regions that were entered and have no row, because no sample fell
 * into them
 */
void report_regions_footnote(const struct view *v, const struct blocks *b);
void report_regions_footnote_of_several(const struct blocks *b, const struct groups *g);
/** report_weight_of() - the same of a row: what limits and orders them */
double report_weight_of(const struct report_row *r, const struct report_row *total,
			const struct blocks *b);
/**
 * report_names() - the cells of a row that say what it is: kind to mode
 * @hidden:	the name of the row of hidden ones
 */
void report_names(struct output *out, const struct blocks *b, const struct report_row *r,
		  const char *hidden);
/**
 * report_choose_domain() - which domain tables show first
 * Return: 0; -errno with the reason in @err
 */
int report_choose_domain(struct blocks *b, const struct attribute_options *opt,
			 struct kjoule_error *err);
/**
 * report_process_not_found() - that there is none of @opt's, and which there are
 * Return: -ESRCH
 */
int report_process_not_found(const struct blocks *b, const struct groups *g, const char *path,
			     const struct attribute_options *opt, struct kjoule_error *err);
/**
 * report_blocks_check() - was each block of --block sampled? One that was not has no energy of 0:
 *			   it was not measured. Warns of parts without a sample
 * Return: 0; -ENOENT with the reason in @err
 */
int report_blocks_check(const struct report *r, const struct blocks *b,
			const struct power_model *m, const struct user_blocks *named,
			struct kjoule_error *err);
/* The value of --fields, for each kind of table. Return: 0, or -EINVAL with the reason in @err */
int report_fields_check(const struct attribute_options *opt, struct kjoule_error *err);
int callers_fields_check(const struct attribute_options *opt, struct kjoule_error *err);
int report_vectors_fields_check(const struct attribute_options *opt, struct kjoule_error *err);
/** report_hidden_name() - of the row of those that are hidden: "(81 more rows below 1 %)" */
const char *report_hidden_name(const struct report *r, const struct attribute_options *opt,
			       char *buf, size_t len);

#endif /* KJOULE_REPORT_H */
