/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is printed before the figures: a summary (summary.c), what was recorded and how (header.c),
 * the model (model.c), the overhead (overhead.c), regions (regions.c), sources that no code is
 * charged by (unattributed.c); of several recordings: series.c.
 */
#ifndef KJOULE_HEADER_H
#define KJOULE_HEADER_H

#include <stdio.h>
#include "attribute/callgraph.h"
#include "attribute/power_model.h"
#include "recording/view.h"

/**
 * struct header - what a header is about
 * @callers:	NULL: without callers
 * @model:	NULL: that of the first papers
 * @path:	of the recording's file
 * @samples:	that are shown
 * @outside_j:	what kjoule's recorder used, which is in no total; NAN: not known
 * @verbose:	facts will follow the summary
 */
struct header {
	const struct view *view;
	const struct blocks *blocks;
	const struct profile *profile;
	const struct callgraph *callers;
	const struct power_model *model;
	const char *path;
	uint64_t samples;
	double outside_j;
	bool verbose;
};

/**
 * header_print() - a summary of three lines, what makes figures doubtful and, with -v, all facts,
 * as lines beginning with #
 */
void header_print(const struct header *h);

/**
 * header_doubts_print() - what makes figures doubtful: no energy, time without readings, lost
 * samples, a noisy calibration, what the model and the callers lack
 */
void header_doubts_print(FILE *f, const struct header *h);

/** header_json() - what was recorded and how */
struct json_object *header_json(const struct header *h);

/** header_target_text() - what was recorded: "process 5 and its children, CPUs 0-1" */
const char *header_target_text(const struct view *v, char *buf, size_t len);

/**
 * struct header_gap - what was not measured of a domain
 * @part,@most:	see profile_unmeasured_part(); of the one of several recordings that has most of it,
 *		else as much
 * @stuck_s:	see profile_still_s()
 * @unread:	its counter was not seen to change twice
 */
struct header_gap {
	const char *domain;
	double part, most, stuck_s;
	bool unread;
};

/**
 * header_gaps_print() - of @n domains, those of which something to speak of was not measured; a
 * line for those that lack the same
 */
void header_gaps_print(FILE *f, const struct header_gap *gaps, size_t n);

/**
 * header_other_sets_print() - so many ticks, this part of the busy ones, were of sets that are not
 * kept one by one; 0: nothing
 */
void header_other_sets_print(FILE *f, uint64_t ticks, double part);

/** header_unattributed_json() - readings of sources that are not attributed to code */
struct json_object *header_unattributed_json(const struct view *v);

/** header_sources_json() - all sources of the recording, and how reading them went */
struct json_object *header_sources_json(const struct view *v);

/** header_model_doubts_print() - what makes the powers of a model doubtful */
void header_model_doubts_print(FILE *f, const struct power_model *m, const struct blocks *b,
			       const struct profile *p);

struct json_object *header_model_json(const struct power_model *m, const struct blocks *b,
				      const struct profile *p);

/** header_overhead_missed_print() - that record's bound was missed */
void header_overhead_missed_print(FILE *f, const struct view *v, const struct blocks *b);

/** header_overhead_json() - what sampling took of each CPU; NULL: not known, as with --raw */
struct json_object *header_overhead_json(const struct view *v, const struct blocks *b);

/** header_regions_missing_print() - what is missing of regions */
void header_regions_missing_print(FILE *f, const struct view *v);

/** header_regions_json() - each region, and what is missing; NULL: none were marked */
struct json_object *header_regions_json(const struct view *v);

/* Where the time of ticks is not known to this part of it, a line says why intervals are wide. */
#define HEADER_NOISY	0.2

/* Without readings of energy there is always a little of the time, at its ends. */
#define HEADER_UNMEASURED	0.01

#endif /* KJOULE_HEADER_H */
