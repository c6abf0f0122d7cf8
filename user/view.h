/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording opened to be looked at: its timeline, and names for addresses and
 * threads. What report and script have in common.
 */
#ifndef KJOULE_VIEW_H
#define KJOULE_VIEW_H

#include "maps.h"
#include "recording.h"
#include "symbols.h"
#include "timeline.h"

struct view_object;

struct view {
	struct kjoule_recording rec;
	struct timeline tl;
	struct kjoule_maps *maps;
	size_t side_band_skipped;	/* bytes that could not be read */
	struct kjoule_kallsyms *live;	/* of this machine, if it is the same boot */
	size_t n_objects;
	struct view_object *objects;
};

/* Where an address is. */
struct view_place {
	const char *symbol;		/* "[unknown]" if it has no name */
	const char *object;		/* file, "[kernel]", "[module]", "[unknown]" */
	uint64_t offset;		/* inside the symbol or the object */
	bool known;
};

/** view_open() - Return: 0 or -errno with the reason in @err */
int view_open(const char *path, struct view *v, struct kjoule_error *err);
void view_close(struct view *v);
/** view_time() - CLOCK_MONOTONIC of a record */
uint64_t view_time(const struct view *v, uint64_t tick, uint32_t late_ns);
/** view_resolve() - strings live as long as the view */
void view_resolve(struct view *v, const struct timeline_sample *s, struct view_place *place);
/** view_comm() - name of a thread, "[unknown]" if never told */
const char *view_comm(const struct view *v, uint32_t pid, uint32_t tid, uint64_t time_ns);
/** view_missing() - the @i-th object without symbols and why, NULL if there are no more */
const char *view_missing(const struct view *v, size_t i, int *error);
/**
 * view_complain() - say on standard error what is wrong with the file
 * Return: the exit code: 1 if something inside is damaged; an end that is missing is 0
 */
int view_complain(const struct view *v, const char *path);

#endif /* KJOULE_VIEW_H */
