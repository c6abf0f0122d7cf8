/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Energies of blocks from the powers of edge windows (edge.h). Pure. */
#ifndef KJOULE_EDGE_GROUPS_H
#define KJOULE_EDGE_GROUPS_H

#include "analysis/edge/edge.h"

/**
 * edge_apply() - use these powers instead of shares of the counter's own windows
 * @in: what was solved
 * @paused: the block of ticks at which the CPUs were paused
 * @d: of the same vectors
 */
void edge_apply(const struct edge_input *in, const struct edge_result *r, uint32_t paused,
		struct cpm_domain *d);

/* A group has no energy if the power of more than this part of its ticks is unknown. */
#define EDGE_UNKNOWN_MOST	0.05

/* Unless it has this part of all such ticks, of several blocks: their joint power is known. */
#define EDGE_UNKNOWN_ALL	0.9

/**
 * edge_groups() - cpm_groups() with the uncertainty of these powers
 *
 * Errors of powers are independent, but for those of the paused power and of interrupts:
 * covariances, which are negative between blocks that take turns, are left out.
 *
 * Return: 0 or -ENOMEM
 */
int edge_groups(const struct edge_input *in, const struct edge_result *r,
		const struct cpm_domain *d, const uint32_t *group_of, uint32_t unsampled_group,
		uint32_t paused, uint32_t n_groups, struct cpm_group *groups);

#endif /* KJOULE_EDGE_GROUPS_H */
