/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule report`: figures (report_rows.c), what is printed before
 * them (report_head.c), and the command line (cmd_report.c).
 */
#ifndef KJOULE_REPORT_H
#define KJOULE_REPORT_H

#include "blocks.h"
#include "output.h"

enum report_sort { SORT_ENERGY, SORT_TIME, SORT_POWER, SORT_FREQ, SORT_SAMPLES, SORT_NAME };

struct report_options {
	enum output_format format;
	enum report_sort sort;
	double percent_limit;		/* of the energy, or of the time without any */
	bool raw;
	uint32_t pid;			/* 0: all */
	const char *comm;		/* NULL: all */
};

enum report_kind { ROW_TOTAL, ROW_PROCESS, ROW_FUNCTION, ROW_TICKS, ROW_INTERRUPTS };

struct report_row {
	enum report_kind kind;
	uint32_t process, function;	/* indices into blocks */
	struct profile_group g;
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
/** report_print() - the rows; @head becomes the JSON document */
int report_print(const struct report *r, const struct blocks *b, const struct report_options *opt,
		 struct json_object *head);
/** report_head_print() - what was recorded and how, as lines beginning with # */
void report_head_print(const struct view *v, const struct blocks *b, const struct profile *p,
		       const struct report *r, const char *path);
/** report_head_json() - the same for programs */
struct json_object *report_head_json(const struct view *v, const struct blocks *b,
				     const struct profile *p, const char *path);

/* A block's power is mixed with its neighbours' below this purity. */
#define REPORT_PURE	0.85

#endif /* KJOULE_REPORT_H */
