/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the halves of region_timeline.h: marks of threads from programs' rings (mark_decoder.c),
 * and lookups in them (region_timeline.c).
 */
#ifndef KJOULE_MARK_DECODER_H
#define KJOULE_MARK_DECODER_H

#include "lib/region/mark_ring.h"
#include "lib/region/region_timeline.h"

/* Beyond enum kjoule_region_kind: sideband events. */
enum { KJOULE_MARK_FORK = 100, KJOULE_MARK_THREAD, KJOULE_MARK_EXEC, KJOULE_MARK_EXIT };

struct kjoule_mark {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint32_t order;			/* order of those at the same time */
	uint32_t path;			/* of KJOULE_MARK_FORK: the thread that forked */
	uint8_t kind;
};

/* Zeroed at first. */
struct kjoule_marks {
	size_t n;
	struct kjoule_mark *list;	/* the caller's to free */
};

/** kjoule_marks_add() - Return: 0 or -ENOMEM */
int kjoule_marks_add(struct kjoule_marks *m, const struct kjoule_mark *mark);
/**
 * kjoule_marks_read() - add those of a recording's batches, checked; paths and counts go into @r
 * Return: 0 or -ENOMEM
 */
int kjoule_marks_read(struct kjoule_marks *m, struct kjoule_regions *r, const void *batches,
		      size_t len);
/**
 * kjoule_regions_path() - the number of a region inside of another one, made if necessary
 * @path: out: KJOULE_REGIONS_UNKNOWN if there can be no more
 * Return: 0 or -ENOMEM
 */
int kjoule_regions_path(struct kjoule_regions *r, uint32_t parent, const char *name,
			uint32_t *path);

#endif /* KJOULE_MARK_DECODER_H */
