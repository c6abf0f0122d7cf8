/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The course of a program: for how long its blocks were at work by the clock on the wall, and which followed which.
 * Pure functions.
 */
#ifndef KJOULE_EXECUTION_ORDER_H
#define KJOULE_EXECUTION_ORDER_H

#include "analysis/cpm/cpm.h"

/* Of blocks that are not looked at. */
#define COURSE_NONE	UINT32_MAX

/** struct execution_step - @to came after @from on a CPU, @n times; what is not looked at in between does not count */
struct execution_step {
	uint32_t from, to;
	uint64_t n;
};

/**
 * execution_order_elapsed() - at how many ticks at least one CPU ran a block of each group
 * @group_of:	of each block; COURSE_NONE: not looked at
 * @ticks:	out: @n_groups of them
 *
 * What several CPUs did at one tick took the time of one: this is a block's delay, as its ticks are its CPU time.
 *
 * Return: 0 or -ENOMEM
 */
int execution_order_elapsed(const struct cpm_stream *streams, size_t n_streams, const uint32_t *group_of, uint32_t n_groups,
		   double *ticks);
/**
 * execution_order_steps() - how often one group followed another, seen at the ticks: at least as often as that
 * @steps:	out: by @from and @to, the caller's to free; none of a group to itself
 * Return: 0 or -ENOMEM
 */
int execution_order_steps(const struct cpm_stream *streams, size_t n_streams, const uint32_t *group_of, struct execution_step **steps,
		 size_t *n);

#endif /* KJOULE_EXECUTION_ORDER_H */
