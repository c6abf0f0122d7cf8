/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of the total, of each process and of each function. */
#ifndef KJOULE_GROUPS_H
#define KJOULE_GROUPS_H

#include "analysis/runs/runs.h"
#include "attribute/blocks.h"
#include "recording/view.h"

/**
 * struct groups_places - numbers of one recording's processes and functions among those of several
 * @process_of,@function_of: NULL: the recording's own
 */
struct groups_places {
	uint32_t n_processes, n_functions;
	const uint32_t *process_of, *function_of;
};

/* How a region was marked: how often in all recordings, and for how long in a run. */
struct region_marks {
	bool known;			/* it was entered */
	uint64_t entered, unended;
	double marked_s;
};

/*
 * The figures of the total, of each process and of each function, and the marks of functions that
 * are regions; NULL if not requested. Of several recordings: those of an average run, and how much
 * runs differ; NULL if there is one.
 */
struct groups {
	uint32_t n_processes, n_functions;
	struct profile_group *total, *processes, *functions;
	struct region_marks *marks;
	struct runs_between *total_between, *processes_between, *functions_between;
};

/** groups_new() - add up; @at NULL: with the recording's own numbers. Return: 0 or -ENOMEM */
int groups_new(const struct blocks *b, const struct profile *p, const struct groups_places *at,
		      struct groups *g);

void groups_free(struct groups *g);

/** groups_add_marks() - of the groups of one recording. Return: 0 or -ENOMEM */
int groups_add_marks(const struct view *v, const struct blocks *b, struct groups *g);

/** region_marks_add() - those of one process more; @c NULL: none */
void region_marks_add(struct region_marks *m, const struct kjoule_regions_count *c);

/**
 * groups_weight() - joules of a domain, for groups of unknown energy at the mean power of
 * @all; seconds if that is unknown: joules are not comparable to seconds
 */
double groups_weight(const struct profile_group *g, const struct profile_group *all,
		     unsigned int n_domains, unsigned int domain);

/* A block's power is mixed with its neighbours' below this share of its windows. */
#define GROUPS_PURE	0.85

#endif /* KJOULE_GROUPS_H */
