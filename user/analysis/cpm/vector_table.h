/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Vectors by their members: internal to struct cpm_vectors, for vectors.c. The most frequent are
 * kept, as many as there is room for; the others are counted as all other sets. Pure.
 */
#ifndef KJOULE_VECTOR_TABLE_H
#define KJOULE_VECTOR_TABLE_H

#include "analysis/cpm/cpm.h"

/**
 * struct vector_table - vectors being made
 * @room_vectors,@room_members,@n_members: of the arrays of @v
 * @bytes,@most: memory of vectors of several members, and its limit
 * @ticks,@room_ticks: of each vector, while they are counted
 */
struct vector_table {
	struct cpm_vectors *v;
	size_t room_vectors, room_members, n_members;
	size_t bytes, most;
	uint64_t *ticks;
	size_t room_ticks;
};

/**
 * vector_table_slot() - of the vector with these sorted members: its number + 1; or a free one, 0
 */
uint32_t *vector_table_slot(const struct cpm_vectors *v, const uint32_t *blocks, size_t n);
/** vector_table_other_set() - the vector for all other sets of this size */
uint32_t vector_table_other_set(const struct cpm_vectors *v, const uint32_t *blocks, size_t n);
/**
 * vector_table_find() - the vector with these sorted members, made if necessary
 * Return: 0; -ENOSPC: none, and no room; -EOVERFLOW: more blocks than there are numbers; -ENOMEM
 */
int vector_table_find(struct vector_table *t, const uint32_t *blocks, size_t n, uint32_t *vector);
/** vector_table_bases() - find or make the vector without marginal members of each vector */
int vector_table_bases(struct vector_table *t, uint32_t *blocks);

/* Without room for all, ticks are counted first: begin, count, close. Then no vectors are made. */

/** vector_table_begin() - drop all but CPM_UNSAMPLED. Return: 0 or -ENOMEM */
int vector_table_begin(struct vector_table *t);
/**
 * vector_table_count() - @ticks of these members
 *
 * When the room is full the half with the fewest ticks is dropped, and the others lose as many
 * ticks as those had at most (Misra and Gries, "Finding repeated elements", Science of Computer
 * Programming 2, 1982). A vector with a larger part of all ticks than one in twice the number that
 * fits is kept in the end.
 *
 * Return: 0, -EOVERFLOW or -ENOMEM
 */
int vector_table_count(struct vector_table *t, const uint32_t *blocks, size_t n, uint64_t ticks);
/**
 * vector_table_close() - @blocks: room for all members of a vector. Return: 0, -EOVERFLOW or
 * -ENOMEM
 */
int vector_table_close(struct vector_table *t, uint32_t *blocks);
/** vector_table_exit() - free what only making needs */
void vector_table_exit(struct vector_table *t);

#endif /* KJOULE_VECTOR_TABLE_H */
