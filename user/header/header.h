/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is printed before the figures: what was recorded and how (header.c), the model (model.c), the
 * overhead (overhead.c), regions (regions.c), what no code is charged with (unattributed.c).
 */
#ifndef KJOULE_HEADER_H
#define KJOULE_HEADER_H

#include <stdio.h>
#include "attribute/callgraph.h"
#include "attribute/power_model.h"
#include "recording/view.h"

/**
 * header_summary_print() - the same in three lines, and what makes figures doubtful, as lines beginning with #
 * @c:		NULL: without callers
 * @outside_j:	what kjoule's recorder used, which is in no total; NAN: not known
 */
void header_summary_print(const struct view *v, const struct blocks *b, const struct profile *p,
			  uint64_t samples, const struct callgraph *c, const struct power_model *m,
			  double outside_j);

/** header_print() - what was recorded and how, as lines beginning with # */
void header_print(const struct view *v, const struct blocks *b, const struct profile *p,
		       uint64_t samples, const struct callgraph *c, const struct power_model *m,
		       const char *path);

/**
 * header_doubts_print() - of the same only what makes figures doubtful: no energy, readings that tell nothing, lost samples,
 *			   a noisy calibration, what the model and the callers lack
 */
void header_doubts_print(FILE *f, const struct view *v, const struct blocks *b,
			 const struct profile *p, const struct callgraph *c,
			 const struct power_model *m);

/** header_target_text() - what was recorded: "process 5 and its children, CPUs 0-1" */
const char *header_target_text(const struct view *v, char *buf, size_t len);

/**
 * header_untold_print() - of a domain, how much of the time no reading tells of, and how long its counter stood still; nothing
 * where it is next to nothing
 * @part,@most:	see profile_unmeasured_part(); of the one of several recordings that has most of it, else as much
 * @still_s:	see profile_still_s()
 */
void header_untold_print(FILE *f, const char *domain, double part, double most, double still_s);

/** header_crowds_print() - so many ticks, this part of the busy ones, had more different company than is kept; 0: nothing */
void header_crowds_print(FILE *f, uint64_t ticks, double part);

/** header_json() - the same for programs */
struct json_object *header_json(const struct view *v, const struct blocks *b,
				     const struct profile *p, const struct callgraph *c,
				     const struct power_model *m, const char *path);

/** header_unattributed_print() - what sources told that no code is charged by, as lines beginning with # */
void header_unattributed_print(const struct view *v);

struct json_object *header_unattributed_json(const struct view *v);

/** header_sources_json() - all sources of the recording, and how reading them went */
struct json_object *header_sources_json(const struct view *v);

/** header_model_print() - of the header; the default is not told */
void header_model_print(const struct power_model *m, const struct blocks *b, const struct profile *p);

/** header_model_doubts_print() - of the same only what makes its powers doubtful */
void header_model_doubts_print(FILE *f, const struct power_model *m, const struct blocks *b,
			       const struct profile *p);

struct json_object *header_model_json(const struct power_model *m, const struct blocks *b, const struct profile *p);

/** header_overhead_print() - what sampling took of the CPUs, as lines beginning with # */
void header_overhead_print(const struct view *v, const struct blocks *b);

/** header_overhead_missed_print() - of them only that record's bound was missed */
void header_overhead_missed_print(FILE *f, const struct view *v, const struct blocks *b);

/** header_overhead_json() - the same, and of each CPU; NULL: not known, as with --raw */
struct json_object *header_overhead_json(const struct view *v, const struct blocks *b);

/** header_regions_print() - how many there are and what is missing, as lines beginning with # */
void header_regions_print(const struct view *v);

/** header_regions_missing_print() - of the same only what is missing */
void header_regions_missing_print(FILE *f, const struct view *v);

/** header_regions_json() - the same, and each of them; NULL: none were marked */
struct json_object *header_regions_json(const struct view *v);

/* What ticks took is known to this part of it at least, or the reader is told why the intervals are wide. */
#define HEADER_NOISY	0.2

/* Without readings of energy there is always a little of the time, at its ends. */
#define HEADER_UNTOLD	0.01

/* Less of the ticks at which several CPUs of a package are busy is not told. */
#define HEADER_PARALLEL	0.0005

#endif /* KJOULE_HEADER_H */
