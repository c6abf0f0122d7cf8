/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a view, see view.h: its timeline where the samples are left in the file. Called by view.c.
 */
#ifndef KJOULE_VIEW_SAMPLES_H
#define KJOULE_VIEW_SAMPLES_H

#include "recording/view.h"

/* Going through what is left in the file for the first time, which makes the timeline. */
struct view_load;

/** view_load_open() - all CPUs are in the timeline then. Return: 0 or -errno; view_load_close() is due in both cases */
int view_load_open(struct view *v, struct view_load **l);
/**
 * view_load_next() - the next samples, of any CPU; each CPU's are in order
 * @cpu:	out: its number in the timeline
 * @samples,@n:	out: some of them, until the next call
 * Return: 1; 0: there are none; -ESTALE: the file is not what it was; or -errno
 */
int view_load_next(struct view_load *l, size_t *cpu, const struct timeline_sample **samples, size_t *n);
/** view_load_close() - the timeline has all of it, for timeline_finish() */
void view_load_close(struct view_load *l);
/** view_load_end() - that of @v was gone through, or never will be: the timeline is there */
void view_load_end(struct view *v);

#endif /* KJOULE_VIEW_SAMPLES_H */
