/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of all, of each process and of each function.
 */
#ifndef KJOULE_GROUPS_H
#define KJOULE_GROUPS_H

#include "analysis/runs/runs.h"
#include "attribute/blocks.h"
#include "recording/view.h"

/**
 * struct groups_places - where the processes and functions of one recording are among those of several
 * @process_of,@function_of: NULL: where they are in the recording
 */
struct groups_places {
	uint32_t n_processes, n_functions;
	const uint32_t *process_of, *function_of;
};

/* How a region was marked: of several recordings, how often in all of them, and for how long in a run. */
struct region_marks {
	bool known;			/* it was entered */
	uint64_t entered, unended;
	double marked_s;
};

/*
 * The figures of all, of each process and of each function, and the marks of functions that are regions; NULL
 * where these were not asked for. Of several recordings: those of an average run,
 * and how much runs differ; NULL where there is but one.
 */
struct groups {
	uint32_t n_processes, n_functions;
	struct profile_group *total, *processes, *functions;
	struct region_marks *marks;
	struct runs_between *total_between, *processes_between, *functions_between;
};

/** groups_new() - add up; @at NULL: each for itself. Return: 0 or -ENOMEM */
int groups_new(const struct blocks *b, const struct profile *p, const struct groups_places *at,
		      struct groups *g);

void groups_free(struct groups *g);

/** groups_add_marks() - of the groups of one recording. Return: 0 or -ENOMEM */
int groups_add_marks(const struct view *v, const struct blocks *b, struct groups *g);

/** region_marks_add() - those of one process more; @c NULL: none */
void region_marks_add(struct region_marks *m, const struct kjoule_regions_count *c);

/**
 * groups_weight() - joules of the first domain, and of what has none what it would have at the mean power of @all; seconds where
 * that is not known: joules are not to be held against seconds
 */
double groups_weight(const struct profile_group *g, const struct profile_group *all, unsigned int n_domains);

/* A block's power is mixed with its neighbours' below this purity. */
#define GROUPS_PURE	0.85

#endif /* KJOULE_GROUPS_H */
