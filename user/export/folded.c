// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks; see folded.h. Used by report --folded.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "export/folded.h"
#include "output/output.h"

/* Names may hold anything; a semicolon and a line's end have a meaning here. */
static void folded_put_name(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name == '\n' ? '?' : *name, f);
}

static void folded_put_frames(FILE *f, const struct calltree *t, const struct blocks *b,
			      uint32_t node)
{
	const struct blocks_function *function;

	if (node == CALLTREE_ROOT)
		return;
	folded_put_frames(f, t, b, t->nodes[node].parent);
	function = &b->functions[t->nodes[node].function];
	/* idle, lost: the process's name says it all */
	if (!function->object[0])
		return;
	fputc(';', f);
	/* a function without a name: at least whose it is */
	if (strcmp(function->symbol, "[unknown]")) {
		folded_put_name(f, function->symbol);
	} else {
		const char *base = strrchr(function->object, '/');

		folded_put_name(f,
				base && function->object[0] == '/' ? base + 1 : function->object);
	}
	if (function->kernel)
		fputs("_[k]", f);
}

static char *folded_stack_text(const struct blocks *b, uint32_t process, const struct calltree *t,
			       uint32_t node, const char *more)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	folded_put_name(f, b->processes[process].comm);
	folded_put_frames(f, t, b, node);
	fputs(more, f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

int folded_add(struct folded *f, const struct blocks *b, uint32_t process,
	       const struct calltree *t, uint32_t node, const char *more, double weight)
{
	char *text = folded_stack_text(b, process, t, node, more);

	if (!text)
		return -ENOMEM;
	if (f->n == f->room) {
		size_t room = f->room ? 2 * f->room : 256;
		void *list = realloc(f->list, room * sizeof(*f->list));

		if (!list) {
			free(text);
			return -ENOMEM;
		}
		f->list = list;
		f->room = room;
	}
	f->list[f->n++] = (struct folded_stack){ text, weight };
	return 0;
}

static int folded_stack_by_text(const void *a, const void *b)
{
	const struct folded_stack *x = a, *y = b;

	return strcmp(x->text, y->text);
}

void folded_write(struct folded *f, FILE *file)
{
	double carry = 0;
	size_t i, k;

	if (f->n)
		qsort(f->list, f->n, sizeof(*f->list), folded_stack_by_text);
	for (i = 0; i < f->n; i = k) {
		double weight = 0;
		int64_t whole;

		for (k = i; k < f->n && !strcmp(f->list[k].text, f->list[i].text); k++)
			weight += f->list[k].weight;
		whole = llround(fmax(weight + carry, 0));
		carry += weight - whole;
		if (whole)
			output_printf(file, "%s %" PRId64 "\n", f->list[i].text, whole);
	}
}

void folded_free(struct folded *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->list[i].text);
	free(f->list);
}
