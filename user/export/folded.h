/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks for flame graphs, one a line: "process;outer;...;inner WEIGHT".
 */
#ifndef KJOULE_FOLDED_H
#define KJOULE_FOLDED_H

#include <stdio.h>
#include "attribute/callgraph.h"

struct folded_stack {
	char *text;
	double weight;
};

struct folded {
	size_t n, room;
	struct folded_stack *list;
};

/**
 * folded_add() - a stack of a process
 * @node:	of @t: the innermost function
 * @more:	what follows on it, ";[interrupts]", or ""
 * Return: 0 or -ENOMEM
 */
int folded_add(struct folded *f, const struct blocks *b, uint32_t process,
	       const struct calltree *t, uint32_t node, const char *more, double weight);
/**
 * folded_write() - the lines, by their text, those that are equal as one
 *
 * Weights are whole numbers that add up to the total: what rounding takes from one line it gives
 * to the next.
 */
void folded_write(struct folded *f, FILE *file);
void folded_free(struct folded *f);

#endif /* KJOULE_FOLDED_H */
