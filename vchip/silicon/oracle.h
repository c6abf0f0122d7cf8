/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The truth: exact counters for each (CPU, block, task, P-state), from which executions,
 * cycles, energy and time of each instruction follow.
 */
#ifndef VCHIP_ORACLE_H
#define VCHIP_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "core.h"

/*
 * Values of a counter, indexed by "while every other CPU of its package was halted" where they are
 * two: executions, those of them that were further passes of a rep, and static package
 * energy of the time alone in femtojoule. A correction has the same: what was taken back
 * from instruction @pos on. A pause has time in nanoseconds, and static energy alone.
 */
enum oracle_value {
	VALUE_EXEC = 0,
	VALUE_CONTINUES = 2,
	VALUE_STATIC = 4,
	VALUE_STRIDE = 5,
	PAUSE_NS = 0,
	PAUSE_STATIC = 2,
};

/* A correction or a pause of a counter, at an instruction. */
struct entry {
	struct count *count;
	struct entry *next;
	uint32_t pos;
	uint64_t value[VALUE_STRIDE];
};

/* What a block touches, in one cache line: cold code is what the emulation is slowest at. */
struct count {
	uint64_t task;
	struct block *block;
	uint32_t pstate;
	uint32_t index;		/* in its table: the way to its links */
	uint64_t value[VALUE_STRIDE];
} __attribute__((aligned(64)));

/* What is rarely wanted of it. */
struct count_links {
	struct entry *corrections;
	struct entry *pauses;
};

/* Entries never move. */
struct table {
	size_t size;
	size_t used;
	size_t chunks;
	char **chunk;
};

#define TABLE_CHUNK	1024

enum oracle_table {
	TABLE_COUNT,
	TABLE_CORRECTION,
	TABLE_PAUSE,
	TABLES,			/* those that are written out */
	TABLE_LINKS = TABLES,
	ALL_TABLES,
};

/* Open addressing by a 64-bit hash that stands for (block, task, P-state). */
struct slot {
	uint64_t hash;		/* 0: free */
	struct count *count;
};

struct oracle_core {
	struct table table[ALL_TABLES];
	struct slot *slot;
	size_t slots;
};

struct oracle_core *oracle_core_new(void);

/*
 * The counter of a block for a task at the present frequency, made if it is new, and put into the
 * block's slot.
 */
struct count *oracle_count(struct core *c, struct block *b, uint64_t task);

static inline void oracle_charge(struct count *count, unsigned int alone, unsigned int continues,
				 uint64_t static_fj)
{
	count->value[VALUE_EXEC + alone]++;
	count->value[VALUE_CONTINUES + alone] += continues;
	count->value[VALUE_STATIC] += static_fj;
}

/* It has been charged with other CPUs, and turns out to have been executed alone. */
static inline void oracle_settle_alone(struct count *count, unsigned int continues,
				       uint64_t static_fj)
{
	count->value[VALUE_EXEC]--;
	count->value[VALUE_CONTINUES] -= continues;
	oracle_charge(count, 1, continues, static_fj);
}

/* The block before did not complete: nothing happened from instruction @pos on. */
void oracle_take_back(struct core *c, unsigned int pos, uint64_t static_fj);

/**
 * oracle_pause() - time passed on the last instruction of the block before, without cycles
 * @ns: how long
 * @alone: no other CPU of its package ran
 * @static_fj: static package energy of that, when alone
 */
void oracle_pause(struct core *c, uint64_t ns, unsigned int alone, uint64_t static_fj);

static inline void *table_at(const struct table *t, size_t i)
{
	return t->chunk[i / TABLE_CHUNK] + (i % TABLE_CHUNK) * t->size;
}

/**
 * oracle_open() - begin the file
 * @path: NULL: there will be none
 * Return: 0 or -errno.
 */
int oracle_open(const char *path);

/* The guest has set a mark: write a section and tell the guest so. */
void oracle_mark(struct core *c);

/* The last section. */
void oracle_close(void);

#endif /* VCHIP_ORACLE_H */
