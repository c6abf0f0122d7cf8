// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How large a ring is to be; see ring.h.
 */
#include "record/ring.h"

/* A ring that is to hold stacks: so many, but no more memory than this. */
#define RING_STACKS	1024
#define RING_STACKS_MAX	(32u << 20)

/* All of these rings together: so much, and no larger part of the machine's memory. */
#define RINGS_MAX	(1ull << 30)
#define RINGS_PART	16

uint32_t record_ring_for_stacks(const struct record_options *opt, const struct kjoule_info *info,
			   unsigned int n_cpus, uint64_t memory, uint32_t *wanted)
{
	uint64_t want = RING_STACKS * (opt->stack_bytes ? opt->stack_bytes : 8192ull);
	uint64_t most = memory / RINGS_PART < RINGS_MAX ? memory / RINGS_PART : RINGS_MAX;
	uint64_t bytes = info->default_ring_bytes, whole = bytes;

	while (whole < want && whole < RING_STACKS_MAX && whole < info->max_ring_bytes)
		whole *= 2;
	while (bytes < whole && 2 * bytes * n_cpus <= most)
		bytes *= 2;
	*wanted = whole;
	return bytes;
}

uint32_t record_ring_smaller(const struct record_options *opt, const struct kjoule_info *info,
			     uint32_t bytes)
{
	uint32_t half = (bytes ? bytes : info->default_ring_bytes) / 2;

	return opt->ring_given || half < info->min_ring_bytes ? 0 : half;
}
