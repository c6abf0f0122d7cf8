/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a recording has the requested regions, and how the marks went. */
#ifndef KJOULE_REGION_MARKS_H
#define KJOULE_REGION_MARKS_H

#include "recording/view.h"

/**
 * region_marks_check() - does the recording have the view's region?
 * Return: 0; -ENOENT: nothing was marked; -ESRCH: that one was never entered; with the reason, and
 *   the existing regions, in @err
 */
int region_marks_check(const struct view *v, const char *path, struct kjoule_error *err);

/** region_marks_missing() - a line for each region, the caller's to free, NULL: none is */
char *region_marks_missing(const struct view *v);

#endif /* KJOULE_REGION_MARKS_H */
