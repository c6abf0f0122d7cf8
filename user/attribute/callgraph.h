/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains with their figures: each tick's callers as a node of a tree, and the time and the
 * energy of each node. Used by report.
 */
#ifndef KJOULE_CALLGRAPH_H
#define KJOULE_CALLGRAPH_H

#include "analysis/profile/calltree.h"
#include "attribute/blocks.h"

/*
 * A node's figures are its own: of ticks in its function with these callers, without interrupts. A
 * block's net figures are divided among its nodes, so those of all its nodes add up to the block's
 * row:
 *
 *	energy of node = energy of block * e(node) / e(block)
 *	time of node = time of block * ticks of node / ticks of block
 *
 * e() is the sum over ticks of the model's energy for the block of that tick: callers under which a
 * function draws more get more.
 */
struct callgraph {
	struct calltree tree;
	uint32_t **labels;		/* node of each tick, by stream */
	size_t n_streams;
	uint64_t samples, with, cut;	/* samples; those with callers; those that may have more */
	unsigned int n_domains;
	double *weight_samples, *time_s;	/* by node */
	double *j[PROFILE_DOMAINS];		/* joule, by node; NULL: unknown */
};

/** callgraph_new() - follow all callers; before profile_new(). Return: 0 or -ENOMEM */
int callgraph_new(struct view *v, struct blocks *b, struct callgraph *c);
/** callgraph_solve() - the figures. Return: 0 or -ENOMEM */
int callgraph_solve(struct callgraph *c, const struct blocks *b, const struct profile *p);
void callgraph_free(struct callgraph *c);

#endif /* KJOULE_CALLGRAPH_H */
