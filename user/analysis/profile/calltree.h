/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains put together as a tree: who called whom, outermost first. Weights of
 * its nodes are the caller's; this adds them up by function, with all that a
 * function called (recursion counted once), and turns the tree round for one
 * function, to its callers. Pure.
 */
#ifndef KJOULE_CALLTREE_H
#define KJOULE_CALLTREE_H

#include <stddef.h>
#include <stdint.h>

#define CALLTREE_ROOT	0
#define CALLTREE_NONE	UINT32_MAX

/* A chain: @function, called by what the node @parent stands for. */
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
 * calltree_cumulate() - weights by function, each with all that was called from it
 * @weights:	of each node, its own
 * @out:	of each of @n_functions functions: the sum of the nodes on whose way to the root it
 *		is, each counted once however often
 * Return: 0 or -ENOMEM
 */
int calltree_cumulate(const struct calltree *t, const double *weights, uint32_t n_functions,
		      double *out);

/**
 * calltree_callers() - the callers of a function as a tree of their own
 * @node_of:	for each node that ends in @function its node in @callers, else CALLTREE_NONE
 * @callers:	to be initialised here: a child of the root is @function itself, a child of
 *		that who called it, and so on outwards
 * @depth:	at most so many callers; what is further out is left out
 * Return: 0 or -ENOMEM
 */
int calltree_callers(const struct calltree *t, uint32_t function, unsigned int depth,
		     struct calltree *callers, uint32_t *node_of);

#endif /* KJOULE_CALLTREE_H */
