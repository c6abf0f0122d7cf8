/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several recordings of one program as one: what they have in common, where they differ, and the figures of
 * an average run (analysis/runs/runs.h). Recordings are opened one after another; what is kept of each is small. Code is joined
 * by the names of process, object and symbol and by the file's own addresses, never by where it was loaded.
 */
#ifndef KJOULE_MERGE_H
#define KJOULE_MERGE_H

#include "analysis/profile/execution_order.h"
#include "analysis/stats/outliers.h"
#include "attribute/groups.h"
#include "attribute/options.h"

/* By what code of several recordings is the same. */
enum merge_join {
	MERGE_SAME,	/* the same files: path and place in the file */
	MERGE_NAMES,	/* the same names in objects of the same name: two builds */
};

/* The names that recordings have in common. */
struct merge_names {
	enum merge_join join;
	struct blocks b;		/* names only; figures by the same numbers are struct groups' */
	const char *comm, *object;	/* MERGE_NAMES: what the program is called, whichever it is; NULL: itself */
	size_t n_texts, n_units;
	char **texts;
	struct code_unit **units;
	struct kjoule_hash_index by_text, by_unit;
};

int merge_names_new(enum merge_join join, struct merge_names *names);
void merge_names_free(struct merge_names *names);

enum merge_figure { MERGE_TIME, MERGE_ENERGY, MERGE_POWER, MERGE_FIGURES };

/**
 * struct merge_run - one of the recordings
 * @command:	as it could be typed again; "" where none was recorded
 * @program,@build_id: of view_program(), NULL: not known
 * @partial:	why it is not a whole run, NULL: it is
 * @figures,@median: what was looked at, each held against the rest; NAN: not known
 * @elapsed_s:	of each function, by the clock on the wall; with @steps only if struct merge asks for the course
 * @overhead:	see overhead_all(); NAN: not known
 * @unmeasured,@still_s: see profile_unmeasured_part() and profile_still_s()
 * @other_set_ticks,@crowded: see profile_other_set_ticks() and profile_other_set_part()
 * @differs:	in one of them, too much
 * @left_out:	it takes no part in the average
 */
struct merge_run {
	const char *path;
	char *command, *program, *build_id, *frequency;
	char host[80], kernel[200];
	uint64_t wall_ns, interval_ns, jitter_ns;
	uint64_t t0_ns, seed, device, inode;	/* which recording it is, and which file */
	uint32_t target;
	struct kjoule_cpus cpus;
	double duration_s;
	struct kjoule_cpu_stats stats;
	uint64_t lost, interpolated, unattributed, other_set_ticks, readings[PROFILE_DOMAINS];
	bool lost_unknown, calibrated;
	const char *paused;		/* record's option by which its CPUs were held; NULL: they were not */
	double calibration_error, parallel, crowded, overhead;
	double unmeasured[PROFILE_DOMAINS], still_s[PROFILE_DOMAINS];
	int exit_code;			/* -1: none, or not known */
	const char *partial;
	struct groups groups;
	double *elapsed_s;
	struct execution_step *steps;
	size_t n_steps;
	struct outlier outliers[MERGE_FIGURES];
	double figures[MERGE_FIGURES];
	bool differs, left_out;
};

/* Remarks for the report. */
struct merge_notes {
	size_t n;
	char **list;
};

struct merge {
	struct merge_names *names;
	const struct attribute_options *opt;
	bool execution_order;			/* each run's is wanted: set before merge_add() */
	bool exits_known;		/* that exit codes are no failure: they are not told */
	size_t n, kept, judged;		/* runs; in the average; held against each other */
	struct merge_run *runs;
	unsigned int n_domains;
	struct kjoule_domain_info domains[PROFILE_DOMAINS];
	char sources[PROFILE_DOMAINS][KJOULE_NAME_LEN];
	double median[MERGE_FIGURES];
	struct merge_notes notes;	/* how recordings differ in what they are */
	bool damaged;			/* parts of a file were */
	bool has_outliers;
	struct groups groups;	/* of an average run, after merge_average() */
};

/** merge_new() - @names and @opt must stay. Nothing can fail */
void merge_new(struct merge *m, struct merge_names *names, const struct attribute_options *opt);
void merge_free(struct merge *m);
/**
 * merge_add() - one recording more; what is wrong with the file is told on standard error
 * @path:	must stay
 * Return: 0; -EXDEV if it cannot be one with those before; -ENOENT, -EINVAL as energy_columns_choose(); as
 * view_open(); the reason in @err
 */
int merge_add(struct merge *m, const char *path, struct kjoule_error *err);
/**
 * merge_outliers() - which of the runs differ too much from the rest; and leave out those, if asked to, and in any case those that
 *		      are no whole runs where there are whole ones, by which no other is judged either
 * Return: 0; -ENODATA if none is left; -ENOMEM
 */
int merge_outliers(struct merge *m, bool leave_out);
/** merge_same() - are they the very same: the file, or a copy of it? */
bool merge_same(const struct merge_run *a, const struct merge_run *b);
/** merge_average() - of the first @n runs that are not left out. Return: 0, -ENODATA, -ENOMEM */
int merge_average(struct merge *m, size_t n, struct groups *out);
/** merge_note() - keep one more. Return: 0 or -ENOMEM */
int merge_note(struct merge_notes *notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void merge_notes_free(struct merge_notes *notes);

#endif /* KJOULE_MERGE_H */
