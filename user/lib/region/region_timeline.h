/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which region a thread was in at which moment: the marks of a recording (mark_ring.h) and the
 * side band's forks, execs and exits made into something that can be asked, as lib/code/maps.h does for
 * mappings. Believes nothing of the marks: they come from the programs.
 *
 * - A mark holds until the next one of its thread.
 * - A process that is forked is in the region of the thread that forked it; a new thread, and a program
 *   that is executed, are in none.
 * - Where marks were lost nobody knows, until the next one that was not.
 */
#ifndef KJOULE_REGION_TIMELINE_H
#define KJOULE_REGION_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KJOULE_REGIONS_OUTSIDE	0	/* in no region */
#define KJOULE_REGIONS_UNKNOWN	1	/* marks were lost */

/* Different regions, by the names around them, that are told apart; the rest is one. */
#define KJOULE_REGIONS_MOST	4096

/**
 * struct kjoule_regions_path - a region inside of others
 * @name:	its own
 * @text:	with those around it: "outer/inner"
 * @parent:	the one around it, KJOULE_REGIONS_OUTSIDE: none
 */
struct kjoule_regions_path {
	const char *name, *text;
	uint32_t parent;
	uint32_t depth;
};

/**
 * struct kjoule_regions_count - what a process did with a region
 * @entered:	how often it was begun
 * @unended:	begun, and not ended when the thread, its program or the recording did
 * @marked_ns:	time in it, of all threads, waiting included; that of regions inside of it is theirs
 */
struct kjoule_regions_count {
	uint32_t pid, path;
	uint64_t entered, unended, marked_ns;
};

/* From a moment on a thread of a process is there. */
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
	uint64_t left_out;		/* regions too deep or one too many, in the program; or more than MOST */
	uint64_t damaged;		/* units that made no sense */
	struct kjoule_regions_index *index;
};

/**
 * kjoule_regions_new() - from the chunks of a recording
 * @batches:	all of KJOULE_CHUNK_REGIONS, one behind the other
 * @side_band:	raw perf records
 * @begin_ns, @end_ns: of the recording: times in regions are of what is in between
 * Return: 0 or -ENOMEM
 */
int kjoule_regions_new(const void *batches, size_t len, const void *side_band, size_t side_band_len,
		       uint64_t begin_ns, uint64_t end_ns, struct kjoule_regions **regions);
/** kjoule_regions_find() - the path of a thread at a time */
uint32_t kjoule_regions_find(const struct kjoule_regions *r, uint32_t tid, uint64_t time_ns);
/**
 * kjoule_regions_line() - where a thread was, in the order of time
 * @i:		0, 1, 2, ... of all threads
 * @tid:	out: its number; threads that had the same one after another are one
 * Return: how many; @line is NULL where there are no more threads
 */
size_t kjoule_regions_line(const struct kjoule_regions *r, size_t i, uint32_t *tid,
			   const struct kjoule_regions_since **line);
/**
 * kjoule_regions_inside() - is a path that of a region, or of one inside of it?
 * @name:	a region's, or those of several that are in each other directly: "outer/inner"
 */
bool kjoule_regions_inside(const struct kjoule_regions *r, uint32_t path, const char *name);
/** kjoule_regions_count() - of a process, NULL: it has never been there */
const struct kjoule_regions_count *kjoule_regions_count(const struct kjoule_regions *r, uint32_t pid, uint32_t path);
void kjoule_regions_free(struct kjoule_regions *r);

#endif /* KJOULE_REGION_TIMELINE_H */
