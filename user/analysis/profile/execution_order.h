/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Elapsed time of a program's blocks, and which followed which. Pure functions. */
#ifndef KJOULE_EXECUTION_ORDER_H
#define KJOULE_EXECUTION_ORDER_H

#include "analysis/cpm/cpm.h"

/* Group of ignored blocks. */
#define COURSE_NONE	UINT32_MAX

/** struct execution_step - @to came after @from on a CPU, @n times, ignored blocks skipped */
struct execution_step {
	uint32_t from, to;
	uint64_t n;
};

/**
 * execution_order_elapsed() - at how many ticks at least one CPU ran a block of each group
 * @group_of: of each block; COURSE_NONE: ignored
 * @ticks: out: @n_groups of them
 *
 * A tick counts once, however many CPUs ran it: this is elapsed time, where a block's ticks are CPU
 * time.
 *
 * Return: 0 or -ENOMEM
 */
int execution_order_elapsed(const struct cpm_stream *streams, size_t n_streams,
			    const uint32_t *group_of, uint32_t n_groups, double *ticks);
/**
 * execution_order_steps() - how often one group followed another, as seen by ticks: a lower bound
 * @steps: out: by @from and @to, the caller's to free; none of a group to itself
 * Return: 0 or -ENOMEM
 */
int execution_order_steps(const struct cpm_stream *streams, size_t n_streams,
			  const uint32_t *group_of, struct execution_step **steps, size_t *n);

#endif /* KJOULE_EXECUTION_ORDER_H */
