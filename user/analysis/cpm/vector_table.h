/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Vectors by their members, while they are made and afterwards: the inside of struct cpm_vectors, for vectors.c. As many
 * are kept as there is room for, those with the most ticks; the others are crowds. Pure.
 */
#ifndef KJOULE_VECTOR_TABLE_H
#define KJOULE_VECTOR_TABLE_H

#include "analysis/cpm/cpm.h"

/**
 * struct vector_table - vectors being made
 * @room_vectors,@room_members,@n_members: of the arrays of @v
 * @bytes,@most: what vectors of several members take, and may
 * @ticks,@room_ticks: of each vector, while they are counted
 */
struct vector_table {
	struct cpm_vectors *v;
	size_t room_vectors, room_members, n_members;
	size_t bytes, most;
	uint64_t *ticks;
	size_t room_ticks;
};

/** vector_table_slot() - of the vector with these members, which are sorted: its number + 1; or a free one, which is 0 */
uint32_t *vector_table_slot(const struct cpm_vectors *v, const uint32_t *blocks, size_t n);
/** vector_table_other_set() - the vector of these members where none is kept that has just them */
uint32_t vector_table_other_set(const struct cpm_vectors *v, const uint32_t *blocks, size_t n);
/**
 * vector_table_find() - the vector with these members, which are sorted; made if there is none
 * Return: 0; -ENOSPC: there is none, and no room; -EOVERFLOW: more blocks than can be numbered; -ENOMEM
 */
int vector_table_find(struct vector_table *t, const uint32_t *blocks, size_t n, uint32_t *vector);
/** vector_table_bases() - of each vector the one without its marginal members; makes those that are missing */
int vector_table_bases(struct vector_table *t, uint32_t *blocks);

/*
 * Where there are more than there is room for, all ticks are counted before any of them is put anywhere: begin, count,
 * close. From then on vectors are not made any more, and crowds stand for those that are not there.
 */

/** vector_table_begin() - forget all but the silent one. Return: 0 or -ENOMEM */
int vector_table_begin(struct vector_table *t);
/**
 * vector_table_count() - @ticks of these members
 *
 * Whenever there is no room left the half with the fewest ticks is forgotten, and what is left has as many less as those
 * had at most (Misra and Gries, "Finding repeated elements", Science of Computer Programming 2, 1982): a vector
 * whose part of all ticks is larger than one in as many vectors as there is room for twice is there in the end.
 *
 * Return: 0, -EOVERFLOW or -ENOMEM
 */
int vector_table_count(struct vector_table *t, const uint32_t *blocks, size_t n, uint64_t ticks);
/** vector_table_close() - @blocks: room for all members of a vector. Return: 0, -EOVERFLOW or -ENOMEM */
int vector_table_close(struct vector_table *t, uint32_t *blocks);
/** vector_table_exit() - what was for making only */
void vector_table_exit(struct vector_table *t);

#endif /* KJOULE_VECTOR_TABLE_H */
