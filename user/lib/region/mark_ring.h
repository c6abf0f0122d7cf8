/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory in which programs mark their regions for `kjoule record`: its layout, and the
 * recorder's side of it (mark_ring.c). The programs' side is region.c, which shares nothing with
 * the rest of libkjoule but this file.
 *
 * The recorder makes a memfd of a fixed, sealed size, passes it to the command and its children,
 * and names it in their environment. Each thread takes a ring of its own by writing itself into the
 * table of owners, and is the only writer of that; the recorder is the only reader. Both are
 * wait-free: a mark without room is lost and counted, and a thread that is killed at any
 * instruction leaves whole marks, and a ring that the recorder gives to others.
 *
 *	thread						recorder
 *
 *	if (next + n - tail > UNITS) lose it  (D)	head = load-acquire(head)	(B)
 *	next += n					copy the units [tail, head)
 *	write the units					store-release(tail, head)	(C)
 *	store-release(head, next)		(A)
 *
 * A pairs with B: units are whole before they are read. C pairs with D: they have been read before
 * they are overwritten.
 *
 * A signal handler may mark while its thread does: it gets the units after those being written, and
 * whichever of the two began publishes both.
 *
 * The recorder trusts none of the content: it takes the size from its own head, copies between
 * bounds, and passes the copy to a reader that checks it (region_timeline.h).
 */
#ifndef KJOULE_MARK_RING_H
#define KJOULE_MARK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * "FD:INODE:PID:FD": the inherited number, the file's inode, and another process that has it with
 * its number there: the recorder, or the command
 */
#define KJOULE_REGION_ENV	"KJOULE_REGIONS"
#define KJOULE_REGION_MAGIC	0x31736e6f69676572ull	/* "regions1" in little endian */
#define KJOULE_REGION_RINGS	512
#define KJOULE_REGION_UNITS	16384			/* of a ring; a power of two */
#define KJOULE_REGION_SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum kjoule_region_kind {
	/* a thread has the ring, nothing is defined; @node 0. Then its owner */
	KJOULE_REGION_START = 1,
	KJOULE_REGION_DEFINE,	/* @node is @parent's child; then its name, ended by a zero */
	KJOULE_REGION_BEGIN,		/* @node was begun */
	KJOULE_REGION_END,		/* back in @node */
	KJOULE_REGION_UNBEGUN,		/* an end without a begin */
	KJOULE_REGION_LOST,		/* from @time_ns on @node marks were lost */
	KJOULE_REGION_CLOSE,		/* the thread ends */
};

/* A ring's elements. A record is one unit or, by its @units, several. */
struct kjoule_region_unit {
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
	uint32_t node;			/* 0: in no region */
	uint8_t kind;
	uint8_t units;			/* of the record, this one included */
	uint16_t parent;		/* of KJOULE_REGION_DEFINE */
};

/* The second unit of KJOULE_REGION_START. */
struct kjoule_region_who {
	uint32_t pid, tid;
	uint64_t reserved;		/* 0 */
};

struct kjoule_region_ring {
	uint64_t image;			/* of the owner: another one after an exec */
	uint64_t next;			/* units given out */
	uint64_t head;			/* units that may be read */
	uint64_t lost;			/* marks without room */
	uint64_t left_out;		/* regions too deep, or one too many */
	uint64_t reserved[3];
	uint64_t tail;			/* the recorder's: units that were read */
	uint64_t reserved2[7];
};

struct kjoule_region_head {
	uint64_t magic;
	uint32_t head_bytes;		/* size of this structure without units */
	uint32_t over;			/* there is no reader any more */
	uint64_t pid_namespace;		/* the recorder's: in others it has another number */
	uint64_t time_namespace;
	uint32_t foreign;		/* programs that are in others */
	uint32_t refused;		/* threads without a ring */
	uint32_t unmapped;		/* programs without address space for it */
	uint32_t reserved0;
	uint64_t reserved[506];
	uint64_t owners[KJOULE_REGION_RINGS];	/* process << 32 | thread; 0: free */
	struct kjoule_region_ring rings[KJOULE_REGION_RINGS];
};

#define KJOULE_REGION_BYTES	(sizeof(struct kjoule_region_head) + (size_t)KJOULE_REGION_RINGS * \
				 KJOULE_REGION_UNITS * sizeof(struct kjoule_region_unit))

_Static_assert(sizeof(struct kjoule_region_unit) == 16, "unit");
_Static_assert(sizeof(struct kjoule_region_who) == 16, "who");
_Static_assert(sizeof(struct kjoule_region_ring) == 128, "ring");
_Static_assert(sizeof(struct kjoule_region_head) == 8192 + 128 * KJOULE_REGION_RINGS, "head");

/*
 * A batch read of a ring: KJOULE_CHUNK_REGIONS is a sequence of these, each followed by its units.
 */
struct kjoule_region_batch {
	uint32_t ring;
	uint32_t units;
	uint64_t first;			/* number of earlier units of the ring */
	uint64_t lost, left_out;	/* by the ring, in total */
};

_Static_assert(sizeof(struct kjoule_region_batch) == 32, "batch");

/* Marks that were lost, and why. */
struct kjoule_region_counters {
	uint64_t lost;			/* marks for which a ring had no room */
	uint64_t left_out;		/* regions too deep, or one too many of a thread */
	uint64_t unfinished;		/* units that were never finished: a thread was killed */
	uint64_t damaged;		/* times that a ring's counters were invalid */
	uint32_t foreign;	/* programs in other namespaces, with other thread numbers */
	uint32_t refused;		/* threads without a ring */
	uint32_t unmapped;		/* programs without address space for the memory */
};

struct kjoule_region_area;

/* Takes a batch with its units. Return: 0 or -errno, which ends the drain */
typedef int (*kjoule_region_sink)(void *arg, const struct kjoule_region_batch *batch,
				  const struct kjoule_region_unit *units);

/** kjoule_region_area_new() - make it. Return: 0 or -errno */
int kjoule_region_area_new(struct kjoule_region_area **area);
void kjoule_region_area_free(struct kjoule_region_area *area);
/**
 * kjoule_region_area_hand_over() - pass it to the program that this process is to execute next
 * Call it in a child of the process that made it. Return: 0 or -errno
 */
int kjoule_region_area_hand_over(const struct kjoule_region_area *area);
/**
 * kjoule_region_area_drain() - take waiting units, up to some megabytes
 * @fullest: out: the part of its units that the fullest ring had waiting, 0 to 1
 * Return: 0: all taken, 1: there may be more; or as @sink
 */
int kjoule_region_area_drain(struct kjoule_region_area *area, kjoule_region_sink sink, void *arg,
			     double *fullest);
/** kjoule_region_area_reap() - free rings of threads that have ended */
void kjoule_region_area_reap(struct kjoule_region_area *area);
/** kjoule_region_area_end() - there will be no reader any more: programs can stop marking */
void kjoule_region_area_end(struct kjoule_region_area *area);
void kjoule_region_area_counters(const struct kjoule_region_area *area,
				 struct kjoule_region_counters *counters);

#endif /* KJOULE_MARK_RING_H */
