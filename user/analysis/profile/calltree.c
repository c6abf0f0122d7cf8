// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of call chains; see calltree.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/profile/calltree.h"

static uint32_t node_hash(uint32_t parent, uint32_t function)
{
	uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15ull;

	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull >> 32;
}

/* Slot of the node in the table. */
static uint32_t node_slot(const struct calltree *t, uint32_t parent, uint32_t function)
{
	uint32_t at = node_hash(parent, function) & (t->n_slots - 1);

	while (t->slots[at]) {
		const struct calltree_node *node = &t->nodes[t->slots[at]];

		if (node->parent == parent && node->function == function)
			break;
		at = (at + 1) & (t->n_slots - 1);
	}
	return at;
}

static int node_slots_grow(struct calltree *t)
{
	uint32_t n = t->n_slots ? 2 * t->n_slots : 1024;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	/* 0, the root, has no parent and marks an empty slot */
	for (uint32_t i = 1; i < t->n; i++)
		slots[node_slot(t, t->nodes[i].parent, t->nodes[i].function)] = i;
	return 0;
}

int calltree_init(struct calltree *t)
{
	memset(t, 0, sizeof(*t));
	t->room = 256;
	t->nodes = calloc(t->room, sizeof(*t->nodes));
	if (!t->nodes || node_slots_grow(t)) {
		calltree_free(t);
		return -ENOMEM;
	}
	t->nodes[0] = (struct calltree_node){ CALLTREE_NONE, CALLTREE_NONE };
	t->n = 1;
	return 0;
}

void calltree_free(struct calltree *t)
{
	free(t->nodes);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

int calltree_child(struct calltree *t, uint32_t parent, uint32_t function, uint32_t *node)
{
	uint32_t at;

	if (2 * (t->n + 1) > t->n_slots && node_slots_grow(t))
		return -ENOMEM;
	at = node_slot(t, parent, function);
	if (!t->slots[at]) {
		if (t->n == t->room) {
			void *p = realloc(t->nodes, 2ul * t->room * sizeof(*t->nodes));

			if (!p)
				return -ENOMEM;
			t->nodes = p;
			t->room *= 2;
		}
		t->nodes[t->n] = (struct calltree_node){ parent, function };
		t->slots[at] = t->n++;
	}
	*node = t->slots[at];
	return 0;
}

int calltree_cumulate(const struct calltree *t, const double *weights, uint32_t n_functions,
		      double *out)
{
	/* the last node that a function was counted for */
	uint32_t *seen = calloc(n_functions + 1, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	memset(out, 0, n_functions * sizeof(*out));
	for (uint32_t i = 1; i < t->n; i++) {
		if (weights[i] == 0)
			continue;
		for (uint32_t node = i; node != CALLTREE_ROOT; node = t->nodes[node].parent) {
			uint32_t f = t->nodes[node].function;

			if (seen[f] == i)
				continue;
			seen[f] = i;
			out[f] += weights[i];
		}
	}
	free(seen);
	return 0;
}

int calltree_callers(const struct calltree *t, uint32_t function, unsigned int depth,
		     struct calltree *callers, uint32_t *node_of)
{
	int ret = calltree_init(callers);

	for (uint32_t i = 0; i < t->n && !ret; i++) {
		uint32_t at = CALLTREE_ROOT;
		unsigned int left = depth + 1;

		node_of[i] = CALLTREE_NONE;
		if (i == CALLTREE_ROOT || t->nodes[i].function != function)
			continue;
		for (uint32_t node = i; node != CALLTREE_ROOT && left && !ret; left--) {
			ret = calltree_child(callers, at, t->nodes[node].function, &at);
			node = t->nodes[node].parent;
		}
		node_of[i] = at;
	}
	if (ret)
		calltree_free(callers);
	return ret;
}
