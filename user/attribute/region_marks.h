/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a recording has the regions that are asked for, and how the marks went.
 */
#ifndef KJOULE_REGION_MARKS_H
#define KJOULE_REGION_MARKS_H

#include "recording/view.h"

/**
 * region_marks_check() - are there the regions that the view is asked for?
 * Return: 0; -ENOENT: nothing was marked; -ESRCH: that one was never entered; with the reason, and what there is
 * instead, in @err
 */
int region_marks_check(const struct view *v, const char *path, struct kjoule_error *err);

/** region_marks_missing() - of a recording's regions, a line each; the caller's to free, NULL: nothing is */
char *region_marks_missing(const struct view *v);

#endif /* KJOULE_REGION_MARKS_H */
