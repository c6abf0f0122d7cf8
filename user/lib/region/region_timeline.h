/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which region a thread was in at which time: lookups in the marks of a recording (mark_ring.h) and
 * the sideband's forks, execs and exits, as lib/code/maps.h for mappings. Marks are untrusted: they
 * come from the programs.
 *
 * - A mark is valid until the next one of its thread.
 * - A forked process is in the region of the thread that forked it; a new thread, and an executed
 *   program, are in none.
 * - After lost marks the region is unknown until the next mark.
 */
#ifndef KJOULE_REGION_TIMELINE_H
#define KJOULE_REGION_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KJOULE_REGIONS_OUTSIDE	0	/* in no region */
#define KJOULE_REGIONS_UNKNOWN	1	/* marks were lost */

/* Limit of different regions, by the names around them; the rest is one. */
#define KJOULE_REGIONS_MOST	4096

/**
 * struct kjoule_regions_path - a region inside of others
 * @name: its own
 * @text: with those around it: "outer/inner"
 * @parent: the one around it, KJOULE_REGIONS_OUTSIDE: none
 */
struct kjoule_regions_path {
	const char *name, *text;
	uint32_t parent;
	uint32_t depth;
};

/**
 * struct kjoule_regions_count - a process's use of a region
 * @entered: how often it was begun
 * @unended: begun, and not ended before the thread, its program or the recording
 * @marked_ns: time in it, of all threads, waiting included, without inner regions
 */
struct kjoule_regions_count {
	uint32_t pid, path;
	uint64_t entered, unended, marked_ns;
};

/* A thread's position from a time on. */
struct kjoule_regions_since {
	uint64_t time_ns;
	uint32_t path, pid;
};

struct kjoule_regions {
	size_t n_paths;
	struct kjoule_regions_path *paths;	/* OUTSIDE and UNKNOWN are there */
	size_t n_counts;
	struct kjoule_regions_count *counts;
	uint64_t marks;			/* that were read */
	uint64_t threads;		/* that have marked something */
	uint64_t entered, unended, unbegun;	/* unbegun: ended and not begun */
	uint64_t lost;			/* marks that are known to be lost */
	/* regions too deep or one too many, in the program; or more than MOST */
	uint64_t left_out;
	uint64_t damaged;		/* invalid units */
	struct kjoule_regions_index *index;
};

/**
 * kjoule_regions_new() - from the chunks of a recording
 * @batches: content of all KJOULE_CHUNK_REGIONS
 * @side_band: raw perf records
 * @begin_ns, @end_ns: of the recording: limits of times in regions
 * Return: 0 or -ENOMEM
 */
int kjoule_regions_new(const void *batches, size_t len, const void *side_band, size_t side_band_len,
		       uint64_t begin_ns, uint64_t end_ns, struct kjoule_regions **regions);
/** kjoule_regions_find() - the path of a thread at a time */
uint32_t kjoule_regions_find(const struct kjoule_regions *r, uint32_t tid, uint64_t time_ns);
/**
 * kjoule_regions_line() - positions of a thread, by time
 * @i: 0, 1, 2, ... of all threads
 * @tid: out: its number; successive threads of one number are one
 * Return: how many; @line is NULL after the last thread
 */
size_t kjoule_regions_line(const struct kjoule_regions *r, size_t i, uint32_t *tid,
			   const struct kjoule_regions_since **line);
/**
 * kjoule_regions_inside() - is a path that of a region, or of one inside of it?
 * @name: a region's, or those of several directly nested ones: "outer/inner"
 */
bool kjoule_regions_inside(const struct kjoule_regions *r, uint32_t path, const char *name);
/** kjoule_regions_count() - of a process, NULL: it was never there */
const struct kjoule_regions_count *kjoule_regions_count(const struct kjoule_regions *r,
							uint32_t pid, uint32_t path);
void kjoule_regions_free(struct kjoule_regions *r);

#endif /* KJOULE_REGION_TIMELINE_H */
