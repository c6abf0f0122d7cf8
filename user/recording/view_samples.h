/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timeline of a view whose samples are left in the file; see view.h. */
#ifndef KJOULE_VIEW_SAMPLES_H
#define KJOULE_VIEW_SAMPLES_H

#include "recording/view.h"

/* The first read of what is left in the file, which makes the timeline. */
struct view_load;

/** view_load_open() - Call view_load_close() in any case. Return: 0 or -errno */
int view_load_open(struct view *v, struct view_load **l);
/**
 * view_load_next() - the next samples, of any CPU; each CPU's are in order
 * @cpu: out: its number in the timeline
 * @samples,@n: out: some of them, until the next call
 * Return: 1; 0: there are none; -ESTALE: the file has changed; or -errno
 */
int view_load_next(struct view_load *l, size_t *cpu, const struct timeline_sample **samples,
		   size_t *n);
/** view_load_close() - the timeline is complete, for timeline_finish() */
void view_load_close(struct view_load *l);
/** view_load_end() - @v was read, or never will be: the timeline is there */
void view_load_end(struct view *v);

#endif /* KJOULE_VIEW_SAMPLES_H */
