/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains as a tree, outermost function first. Weights of nodes are the caller's; they are
 * added up by function, inclusive (recursion counted once), and the tree is inverted for one
 * function, to its callers. Pure.
 */
#ifndef KJOULE_CALLTREE_H
#define KJOULE_CALLTREE_H

#include <stddef.h>
#include <stdint.h>

#define CALLTREE_ROOT	0
#define CALLTREE_NONE	UINT32_MAX

/* A chain: @function, called from node @parent. */
struct calltree_node {
	uint32_t parent;
	uint32_t function;	/* of the root: CALLTREE_NONE */
};

struct calltree {
	uint32_t n;		/* a parent has a smaller number than its children */
	struct calltree_node *nodes;
	uint32_t room, n_slots;
	uint32_t *slots;
};

/** calltree_init() - Return: 0 or -ENOMEM */
int calltree_init(struct calltree *t);
void calltree_free(struct calltree *t);
/** calltree_child() - the node of @function called from @parent; made if there is none */
int calltree_child(struct calltree *t, uint32_t parent, uint32_t function, uint32_t *node);

/**
 * calltree_cumulate() - inclusive weights by function
 * @weights: of each node, its own
 * @out: of each of @n_functions functions: the sum of its nodes with all below, each node counted
 *   once
 * Return: 0 or -ENOMEM
 */
int calltree_cumulate(const struct calltree *t, const double *weights, uint32_t n_functions,
		      double *out);

/**
 * calltree_callers() - the callers of a function as a tree
 * @node_of: for each node that ends in @function its node in @callers, else CALLTREE_NONE
 * @callers: initialised here: a child of the root is @function, its children are callers, and so on
 *   outwards
 * @depth: limit of callers; the rest is cut off
 * Return: 0 or -ENOMEM
 */
int calltree_callers(const struct calltree *t, uint32_t function, unsigned int depth,
		     struct calltree *callers, uint32_t *node_of);

#endif /* KJOULE_CALLTREE_H */
