/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large a ring is to be: larger for stacks, smaller where the module refuses one.
 */
#ifndef KJOULE_RECORD_RING_H
#define KJOULE_RECORD_RING_H

#include "record/record.h"

/**
 * record_ring_for_stacks() - the size of a ring that is to hold stacks
 * @n_cpus:	that have one
 * @memory:	of the machine
 * @wanted:	out: what it would be if memory were no matter
 */
uint32_t record_ring_for_stacks(const struct record_options *opt, const struct kjoule_info *info,
			   unsigned int n_cpus, uint64_t memory, uint32_t *wanted);
/**
 * record_ring_smaller() - the size to try where the module refuses one
 * @bytes:	that were refused, 0: the default
 * Return: half of them; 0 where the size was asked for, or is the least there is
 */
uint32_t record_ring_smaller(const struct record_options *opt, const struct kjoule_info *info,
			     uint32_t bytes);

#endif /* KJOULE_RECORD_RING_H */
