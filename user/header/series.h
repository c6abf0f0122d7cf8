/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report of several recordings says before its figures (series.c): which they are, and which
 * of them differ from the rest. diff says the same of each of its sides, sweep what is doubtful of
 * each setting.
 */
#ifndef KJOULE_HEADER_SERIES_H
#define KJOULE_HEADER_SERIES_H

#include "attribute/merge.h"
#include "attribute/power_model.h"

/**
 * struct header_series - how it is shown
 * @shown_first: the domain that tables show, see struct blocks
 * @verbose:	with all facts
 * @model:	of them @blocks; NULL: none
 */
struct header_series {
	unsigned int shown_first;
	bool verbose;
	const struct power_model *model;
	const struct blocks *blocks;
};

/** header_series_print() - as header_print() has them of one recording */
void header_series_print(const struct merge *m, const struct header_series *h);
/** header_series_facts_print() - all of header_series_json(); @name: of the first line */
void header_series_facts_print(const struct merge *m, const struct header_series *h,
			       const char *name);
/** header_series_warnings_print() - what makes figures doubtful, as lines beginning with # */
void header_series_warnings_print(FILE *f, const struct merge *m);
/** header_series_warn() - what a reader of rows alone would miss, on standard error */
void header_series_warn(const struct merge *m);
/**
 * header_series_doubts() - what makes an average's figures doubtful, as notes that begin with
 * @label: lost samples, time without readings of the first domain, a noisy calibration, runs that
 * differ from the rest
 * Return: 0 or -ENOMEM
 */
int header_series_doubts(const struct merge *m, const char *label, struct merge_notes *notes);
/** header_series_json() - what was recorded and how; @h: NULL: without a model */
struct json_object *header_series_json(const struct merge *m, const struct header_series *h);

#endif /* KJOULE_HEADER_SERIES_H */
