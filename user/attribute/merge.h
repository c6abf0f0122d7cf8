/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several recordings of one program as one: common names, differences, and the figures of an
 * average run (analysis/runs/runs.h). Recordings are opened one after another; little of each stays
 * in memory. Code is matched by the names of process, object and symbol and by the file's own
 * addresses, never by load addresses.
 */
#ifndef KJOULE_MERGE_H
#define KJOULE_MERGE_H

#include "analysis/profile/execution_order.h"
#include "analysis/stats/outliers.h"
#include "attribute/groups.h"
#include "attribute/options.h"

/* How code of several recordings is matched. */
enum merge_join {
	MERGE_SAME,	/* the same files: path and place in the file */
	MERGE_NAMES,	/* the same names in objects of the same name: two builds */
};

/* The names that recordings have in common. */
struct merge_names {
	enum merge_join join;
	struct blocks b;	/* names only; figures by the same numbers are struct groups' */
	const char *comm, *object;	/* MERGE_NAMES: the program's common name; NULL: itself */
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
 * @command: as it could be typed again; "" if none was recorded
 * @program,@build_id: of view_program(), NULL: unknown
 * @partial: why it is not a whole run, NULL: it is
 * @figures,@median: values that are compared to the other runs'; NAN: unknown
 * @elapsed_s: of each function; with @steps only if struct merge requests the execution order
 * @overhead: see overhead_all(); NAN: unknown
 * @unmeasured,@still_s: see profile_unmeasured_part() and profile_still_s()
 * @other_set_ticks,@crowded: see profile_other_set_ticks() and profile_other_set_part()
 * @differs: an outlier in one of them
 * @left_out: not in the average
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
	/* record's option by which its CPUs were paused; NULL: they were not */
	const char *paused;
	double calibration_error, parallel, crowded, overhead;
	double unmeasured[PROFILE_DOMAINS], still_s[PROFILE_DOMAINS];
	int exit_code;			/* -1: none, or unknown */
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
	bool execution_order;	/* each run's is requested: set before merge_add() */
	bool exits_known;		/* exit codes are no failure: not reported */
	size_t n, kept, judged;		/* runs; in the average; compared with each other */
	struct merge_run *runs;
	unsigned int n_domains;
	struct kjoule_domain_info domains[PROFILE_DOMAINS];
	char sources[PROFILE_DOMAINS][KJOULE_NAME_LEN];
	double median[MERGE_FIGURES];
	struct merge_notes notes;	/* how recordings differ in kind */
	bool damaged;			/* parts of a file were */
	bool warned;			/* of objects without names */
	bool has_outliers;
	struct groups groups;	/* of an average run, after merge_average() */
};

/** merge_new() - @names and @opt must stay. Cannot fail */
void merge_new(struct merge *m, struct merge_names *names, const struct attribute_options *opt);
void merge_free(struct merge *m);
/**
 * merge_add() - one recording more; damage of the file is reported on standard error
 * @path: must stay
 * Return: 0; -EXDEV if it does not match those before; -ENOENT, -EINVAL as energy_columns_choose();
 *   as view_open(); the reason in @err
 */
int merge_add(struct merge *m, const char *path, struct kjoule_error *err);
/**
 * merge_outliers() - find runs that differ too much from the rest, and leave them out if requested;
 * partial runs are always left out if there are whole ones, and not compared
 * Return: 0; -ENODATA if none is left; -ENOMEM
 */
int merge_outliers(struct merge *m, bool leave_out);
/** merge_same() - are they the same recording: the file, or a copy of it? */
bool merge_same(const struct merge_run *a, const struct merge_run *b);
/** merge_average() - of the first @n runs that are not left out. Return: 0, -ENODATA, -ENOMEM */
int merge_average(struct merge *m, size_t n, struct groups *out);
/** merge_note() - add a remark. Return: 0 or -ENOMEM */
int merge_note(struct merge_notes *notes, const char *fmt,
	       ...) __attribute__((format(printf, 2, 3)));

void merge_notes_free(struct merge_notes *notes);

#endif /* KJOULE_MERGE_H */
