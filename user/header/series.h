/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report of several recordings says before its figures (series.c): which they are, and which of them
 * differ from the rest. diff says the same of each of its sides, sweep what is doubtful of each setting.
 */
#ifndef KJOULE_HEADER_SERIES_H
#define KJOULE_HEADER_SERIES_H

#include "attribute/merge.h"

/** header_series_print() - lines beginning with #; @side: of which side, NULL: there is but one */
void header_series_print(const struct merge *m, const char *side);
/** header_series_warn() - what a reader of rows alone would miss, on standard error */
void header_series_warn(const struct merge *m);
/**
 * header_series_doubts() - what makes an average's figures doubtful, as notes that begin with @label: lost samples, readings of the
 *			  first domain that tell nothing, a noisy calibration, runs that differ from the rest
 * Return: 0 or -ENOMEM
 */
int header_series_doubts(const struct merge *m, const char *label, struct merge_notes *notes);
/** header_series_json() - the same for programs */
struct json_object *header_series_json(const struct merge *m);

#endif /* KJOULE_HEADER_SERIES_H */
