/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule report`: figures (report_rows.c), their printing (report_print.c),
 * callers (report_callers.c), the model (report_model.c), stacks for flame graphs (report_folded.c), vectors
 * (report_vectors.c), regions (report_regions.c), budgets of power (report_budget.c), what is printed before
 * (report_head.c, report_overhead.c, report_beside.c), and the command line (cmd_report.c).
 */
#ifndef KJOULE_REPORT_H
#define KJOULE_REPORT_H

#include "chains.h"
#include "columns.h"
#include "output.h"
#include "runs.h"

enum report_sort { SORT_ENERGY, SORT_TIME, SORT_POWER, SORT_FREQ, SORT_SAMPLES, SORT_NAME };

/* What is shown of callers. */
enum report_callers { CALLERS_NONE, CALLERS_GRAPH, CALLERS_CHILDREN, CALLERS_FOLDED };

/* How energy is divided among blocks. */
enum report_model_kind { REPORT_CPM, REPORT_EDGE, REPORT_MIXTURE, REPORT_VPM, REPORT_AUTO };

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
	size_t runs;			/* recordings that are one report; 0: it is of one */
	const char *convergence;	/* picture of how sure figures become with more samples; NULL: none */
	bool force;			/* replace the data of a picture */
	enum report_model_kind model;
	bool model_given;
	bool by_given, sort_given;	/* even if it is what happens without */
	bool worst_case;		/* intervals of energies by ALEA's equation 10 */
	bool cut;			/* only a part of the time, from @from_ns to @to_ns */
	uint64_t from_ns, to_ns;
	bool vectors;			/* what ran together, instead of blocks */
	bool units;			/* something else than functions is told apart */
	bool processes;			/* and nothing finer than processes */
	bool by_region;			/* regions are told apart */
	const char *region;		/* only what ran inside of it; NULL: all */
	enum grain_kind grain;
	struct named named;
};

/* What is to be reported. */
struct report_files {
	size_t n;
	const char **paths;
	bool without_outliers;
};

/** report_one() - of a recording; @path: NULL: no file was named, see kjoule_reader_open(). Return: an exit code */
int report_one(const char *path, struct report_options *opt);
/** report_several() - of an average run. Return: an exit code */
int report_several(const struct report_files *files, struct report_options *opt);
/** report_parse_grain() - the value of --by. Return: 0, or the exit code after saying why not */
int report_parse_grain(const char *verb, const char *text, struct report_options *opt);
/** report_parse_block() - the value of --block. Return: the same */
int report_parse_block(const char *verb, const char *text, struct report_options *opt);

/* Options that report, annotate and diff have in common, as getopt_long() tells them. */
enum report_option {
	REPORT_OPT_LIMIT = 1024, REPORT_OPT_REGION, REPORT_OPT_PID, REPORT_OPT_COMM, REPORT_OPT_SOURCE,
	REPORT_OPT_INTERVAL, REPORT_OPT_JSON, REPORT_OPT_CSV
};

/**
 * report_parse_common() - one of these
 * @limit:	of --percent-limit
 * Return: 0; -ENOENT: it is another option; or the exit code after saying what is wrong
 */
int report_parse_common(const char *verb, int option, const char *arg, struct report_options *opt, double *limit);

/**
 * struct report_model - the model of a report
 * @asked,@used: @used is never REPORT_AUTO
 * @reason:	why it was chosen, or why there is none; for people
 * @windows,@left_out,@window_ticks,@reliability: of REPORT_MIXTURE, see struct separation
 * @in_step:	ticks were on an even grid
 * @united:	of each block there was, the one that it is a part of; NULL: none was made one with another
 * @fate:	enum separate_fate of each block that others were made one with
 * @why:	of REPORT_EDGE: enum edge_why of each block, EDGE_KNOWN: none of it, or next to none, is of unknown power
 * @read:	domains that there are readings of, as bits
 * @windows_of:	of REPORT_EDGE: domains that windows are of, as bits; @solved: they tell something; @too_many: there are more ticks in
 *		them than the model looks at
 * @not_told:	blocks that could not be told apart
 */
struct report_model {
	enum report_model_kind asked, used;
	char reason[560];
	uint64_t windows, left_out;
	double window_ticks, reliability;
	bool in_step;
	uint32_t *united;
	uint8_t *fate, *why;
	size_t n_united, n_fates, n_whys, not_told;
	unsigned int windows_of, read;
	bool solved, too_many;
};

enum report_kind {
	ROW_TOTAL, ROW_PROCESS, ROW_FUNCTION, ROW_TICKS, ROW_INTERRUPTS, ROW_CALLER
};

struct report_row {
	enum report_kind kind;
	uint32_t process, function;	/* indices into blocks */
	struct profile_group g;
	const struct runs_between *between;	/* of several recordings; NULL: of one */
	const struct report_marks *marks;	/* of a region; NULL: it is none */
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
	size_t hidden_processes;
	struct report_overs hidden_over;	/* of what is hidden */
	double parallel;			/* part of the busy ticks at which several CPUs of a package were busy */
};

/**
 * struct report_places - where the processes and functions of one recording are among those of several
 * @process_of,@function_of: NULL: where they are in the recording
 */
struct report_places {
	uint32_t n_processes, n_functions;
	const uint32_t *process_of, *function_of;
};

/* How a region was marked: of several recordings, how often in all of them, and for how long in a run. */
struct report_marks {
	bool known;			/* it was entered */
	uint64_t entered, unended;
	double marked_s;
};

/*
 * The figures of all, of each process and of each function, and the marks of functions that are regions; NULL
 * where these were not asked for. Of several recordings: those of an average run,
 * and how much runs differ; NULL where there is but one.
 */
struct report_groups {
	uint32_t n_processes, n_functions;
	struct profile_group *total, *processes, *functions;
	struct report_marks *marks;
	struct runs_between *total_between, *processes_between, *functions_between;
};

/** report_groups_new() - add up; @at NULL: each for itself. Return: 0 or -ENOMEM */
int report_groups_new(const struct blocks *b, const struct profile *p, const struct report_places *at,
		      struct report_groups *g);
void report_groups_free(struct report_groups *g);
/** report_new() - choose, sort and filter. Return: 0 or -ENOMEM */
int report_new(const struct blocks *b, const struct report_groups *g, const struct report_options *opt,
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
/**
 * report_over() - hold a row's power in the first domain against a budget
 * @budget_w:	Watt; 0: there is none
 *
 * Its 95 % interval decides: OVER_YES if all of it is above, OVER_PERHAPS if a part is. Without an interval, and where it is mixed
 * with its neighbours', a power above is OVER_PERHAPS; one that is not above is OVER_UNKNOWN, as is a power that is not known.
 */
enum report_over report_over(const struct blocks *b, const struct report_row *r, double budget_w);
/** report_over_power() - the same of any power; @purity: see struct profile_energy */
enum report_over report_over_power(const struct value *w, double purity, double budget_w);
/** report_over_name() - "yes", "perhaps", "no"; NULL: it is not known, or was not asked */
const char *report_over_name(enum report_over over);
/** report_over_mark() - of a table, "" where there is nothing to be said */
const char *report_over_mark(enum report_over over);
/** report_over_count() - one row more, whose interval of --interval worst-case is yet to be made */
void report_over_count(struct report_overs *o, const struct blocks *b, const struct report_row *r,
		       const struct report_options *opt);
/** report_budget_print() - below the table, rows that it has not included; nothing without a budget */
void report_budget_print(const struct report *r, const struct blocks *b, const struct report_options *opt);
/** report_overs_print() - the same of any rows, shown ones and hidden ones */
void report_overs_print(const struct blocks *b, double budget_w, const struct report_overs *o, const struct report_overs *hidden);
/** report_overs_json() - of the rows that are hidden */
struct json_object *report_overs_json(const struct report_overs *hidden);
/** report_model_parse() - "cpm", "mixture", "auto". Return: 0 or -EINVAL */
int report_model_parse(const char *text, enum report_model_kind *model);
/**
 * report_model_new() - choose, and make one of blocks that can not be told apart; before chains_new()
 * Return: 0; -ENODATA: the one that was asked for can not be used, see @reason; -ENOMEM
 */
int report_model_new(struct blocks *b, const struct report_options *opt, struct report_model *m);
/** report_model_blocks() - of which blocks the model does not tell the power, once it was solved. Return: 0 or -ENOMEM */
int report_model_blocks(struct report_model *m, const struct blocks *b, const struct profile *p);
void report_model_free(struct report_model *m);
const char *report_model_name(const struct report_model *m);
const char *report_model_asked(const struct report_model *m);
/** report_model_note() - what is to be said of a block, NULL if nothing is */
const char *report_model_note(const struct report_model *m, uint32_t function);
/** report_model_no_energy() - why a row has no energy in a domain, if it has none; for people */
const char *report_model_no_energy(const struct report_model *m, const struct report_row *r, unsigned int domain);
/** report_model_print() - of the header; the default is not told */
void report_model_print(const struct report_model *m, const struct blocks *b, const struct profile *p);
struct json_object *report_model_json(const struct report_model *m, const struct blocks *b, const struct profile *p);
/** report_model_footnotes() - below the table */
void report_model_footnotes(const struct report *r, const struct blocks *b, const struct report_model *m);
/**
 * report_callers() - the rows of a function's callers, in the order in which they are shown
 * @limit:	leave out callers of less weight (see report_weight_of())
 * @rows:	out: the caller's to free
 */
int report_callers(const struct chains *c, const struct blocks *b, uint32_t function,
		   const struct report_row *total, double limit, struct report_row **rows, size_t *n);
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
/**
 * report_regions_check() - are there the regions that the view is asked for?
 * Return: 0; -ENOENT: nothing was marked; -ESRCH: that one was never entered; with the reason, and what there is
 * instead, in @err
 */
int report_regions_check(const struct view *v, const char *path, struct kjoule_error *err);
/** report_regions_nobody() - say that the region was entered and not sampled. Return: -ENOENT */
int report_regions_nobody(const struct view *v, const char *path);
/** report_vpm_readings() - readings of blocks that a recording has */
size_t report_vpm_readings(const struct view *v);
/** report_vpm_has() - are there readings of each of these blocks? */
bool report_vpm_has(const struct view *v, const struct named *named);
/**
 * report_vpm_blocks() - have the blocks told apart that there are readings of: all, or those in @opt->named
 * Return: 0; -ENOENT, after having said so: there are none of one that was asked for; -ENOMEM
 */
int report_vpm_blocks(struct view *v, struct report_options *opt);
/** report_vpm() - their power. @head is taken over. Return: 0; -EDOM nothing can be told of any; -ENOMEM */
int report_vpm(struct view *v, const struct blocks *b, const struct profile *p,
	       const struct report_options *opt, struct json_object *head);
/* Why something is not told; "" if it is. */
struct report_vpm_why {
	char text[600];
};

/**
 * report_vpm_code() - the very code that there were readings of, addresses [@start, @end) as its object's file counts
 *
 * Of a function in a recording that does not have its end: as the file has it.
 *
 * Return: false where it is not known
 */
bool report_vpm_code(struct view *v, const struct kjoule_vpm_block *info, uint64_t *start, uint64_t *end);
/**
 * report_vpm_time() - do ticks in its code tell all of the time that its latency and power are of?
 * @why:	out: why they do not: it calls, returns, or goes on in other code, or its code can not be read
 * Return: 0 or -ENOMEM
 */
int report_vpm_time(struct view *v, const struct kjoule_vpm_block *info, struct report_vpm_why *why);
/** report_regions_print() - how many there are and what is missing, as lines beginning with # */
void report_regions_print(const struct view *v);
/** report_regions_json() - the same, and each of them; NULL: none were marked */
struct json_object *report_regions_json(const struct view *v);
/** report_regions_columns() - how often a region was entered, and for how long */
void report_regions_columns(struct columns *c);
void report_regions_cells(struct output *out, const struct report_row *row, int digits);
/** report_regions_marks() - of the groups of one recording. Return: 0 or -ENOMEM */
int report_regions_marks(const struct view *v, const struct blocks *b, struct report_groups *g);
/** report_marks_add() - those of one process more; @c NULL: none */
void report_marks_add(struct report_marks *m, const struct kjoule_regions_count *c);
/** report_regions_missing() - of a recording's regions, a line each; the caller's to free, NULL: nothing is */
char *report_regions_missing(const struct view *v);
/** report_regions_footnote() - regions that were entered and have no row, because no sample fell into them */
void report_regions_footnote(const struct view *v, const struct blocks *b);
void report_regions_footnote_of_several(const struct blocks *b, const struct report_groups *g);
/**
 * report_group_weight() - joules of the first domain, and of what has none what it would have at the mean power of @all; seconds where
 * that is not known: joules are not to be held against seconds
 */
double report_group_weight(const struct profile_group *g, const struct profile_group *all, unsigned int n_domains);
/** report_weight_of() - the same of a row: what limits and orders them */
double report_weight_of(const struct report_row *r, const struct report_row *total, const struct blocks *b);
/** report_names() - the cells of a row that say what it is: kind to mode */
void report_names(struct output *out, const struct blocks *b, const struct report_row *r);
/** report_hidden_print() - below a table: how many processes and functions are not in it */
void report_hidden_print(const struct report *r, size_t functions);
/** report_head_print() - what was recorded and how, as lines beginning with # */
void report_head_print(const struct view *v, const struct blocks *b, const struct profile *p,
		       const struct report *r, const struct chains *c, const struct report_model *m,
		       const char *path);
/**
 * report_doubts_print() - of the same only what makes figures doubtful: no energy, readings that tell nothing, lost samples,
 *			   a noisy calibration
 */
void report_doubts_print(const struct view *v, const struct blocks *b, const struct profile *p);
/**
 * report_untold_print() - of a domain, how much of the time no reading tells of, and how long its counter stood still; nothing
 * where it is next to nothing
 * @part,@most:	see profile_untold(); of the one of several recordings that has most of it, else as much
 * @still_s:	see profile_still_s()
 */
void report_untold_print(const char *domain, double part, double most, double still_s);
/** report_crowds_print() - so many ticks, this part of the busy ones, had more different company than is kept; 0: nothing */
void report_crowds_print(uint64_t ticks, double part);
/** report_head_json() - the same for programs */
struct json_object *report_head_json(const struct view *v, const struct blocks *b,
				     const struct profile *p, const struct chains *c,
				     const struct report_model *m, const char *path);

/** report_overhead_print() - what sampling took of the CPUs, as lines beginning with # */
void report_overhead_print(const struct view *v, const struct blocks *b);
/** report_overhead_part() - of all CPUs together, see overhead_all(). NAN: not known */
double report_overhead_part(const struct view *v, const struct blocks *b);
/** report_overhead_json() - the same, and of each CPU; NULL: not known, as with --raw */
struct json_object *report_overhead_json(const struct view *v, const struct blocks *b);

/** report_command_line() - as it could be typed again, more or less; the caller's to free, NULL without memory */
char *report_command_line(const struct kjoule_meta *meta);

/** report_beside_print() - what sources told that no code is charged by, as lines beginning with # */
void report_beside_print(const struct view *v);
struct json_object *report_beside_json(const struct view *v);
/** report_sources_json() - all sources of the recording, and how reading them went */
struct json_object *report_sources_json(const struct view *v);

/**
 * report_held_by() - the option of record by which CPUs were held again and again, NULL: they were not
 *
 * Only `kjoule report` of one recording has models for that. Whatever else tells figures of such a recording says
 * REPORT_HELD of it, with its path and this option.
 */
const char *report_held_by(const struct blocks *b);
#define REPORT_HELD	"%s was recorded with %s: its CPUs were held again and again, which is in no total, and took longer; figures are those of the constant power model, `kjoule report` of one recording has the model for it"

/* A block's power is mixed with its neighbours' below this purity. */
#define REPORT_PURE	0.85

/* What ticks took is known to this part of it at least, or the reader is told why the intervals are wide. */
#define REPORT_NOISY	0.2

/* Without readings of energy there is always a little of the time, at its ends. */
#define REPORT_UNTOLD	0.01

/* Less of the ticks at which several CPUs of a package are busy is not told. */
#define REPORT_PARALLEL	0.0005

#endif /* KJOULE_REPORT_H */
