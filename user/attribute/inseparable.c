// SPDX-License-Identifier: GPL-2.0-or-later
/* See inseparable.h. Ticks of merged blocks move to a new block; the old ones stay. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/inseparable.h"
#include "lib/base/array.h"

static const char others[] = "[others]";

uint32_t *blocks_pools(const struct blocks *b)
{
	uint32_t *pools = calloc(b->n_functions + 1, sizeof(*pools));

	for (uint32_t i = 0; pools && i < b->n_functions; i++)
		pools[i] = b->processes[b->functions[i].process].pid ?
			   b->functions[i].process : UINT32_MAX;
	return pools;
}

/* Keeps a text as long as the blocks. */
static const char *inseparable_keep_text(struct blocks *b, char *text)
{
	char **kept = text ? kjoule_array_grow(&b->names, &b->n_names, sizeof(*kept)) : NULL;

	if (!kept) {
		free(text);
		return NULL;
	}
	*kept = text;
	return text;
}

/* What qsort() needs other than the numbers. */
static const struct blocks *sorted;

static int block_by_samples(const void *a, const void *b)
{
	const struct blocks_function *x = &sorted->functions[*(const uint32_t *)a];
	const struct blocks_function *y = &sorted->functions[*(const uint32_t *)b];

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->symbol, y->symbol);
}

/* "a + b + c (not separable)", most samples first, with their processes if there are several. */
static const char *inseparable_make_name(struct blocks *b, const struct separation *s,
					 uint32_t unit)
{
	uint32_t *list = calloc(s->n_blocks + 1ul, sizeof(*list));
	char *text = NULL;
	size_t len, n = 0;
	FILE *f = list ? open_memstream(&text, &len) : NULL;

	if (!f) {
		free(list);
		return NULL;
	}
	for (uint32_t i = 0; i < s->n_blocks; i++)
		if (s->unit_of[i] == unit && b->functions[i].samples)
			list[n++] = i;
	sorted = b;
	qsort(list, n, sizeof(*list), block_by_samples);
	for (size_t i = 0; i < n && i < BLOCKS_MERGED_NAMED; i++) {
		const struct blocks_function *of = &b->functions[list[i]];

		fprintf(f, "%s%.64s", i ? " + " : "", of->symbol);
		if (s->pool[unit] == UINT32_MAX)
			fprintf(f, " of %.32s", b->processes[of->process].comm);
	}
	if (n > BLOCKS_MERGED_NAMED)
		fprintf(f, " + %zu more", n - BLOCKS_MERGED_NAMED);
	fprintf(f, " (not separable)");
	free(list);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return inseparable_keep_text(b, text);
}

/* The new block's unit of code: it has a kind and a name, and no place. */
static const struct code_unit *inseparable_make_unit(struct blocks *b, const struct code_unit *like,
						     const char *name, const char *object)
{
	struct code_unit *unit = calloc(1, sizeof(*unit));

	if (!unit || !inseparable_keep_text(b, (char *)unit))
		return NULL;
	unit->kind = like->kind;
	unit->name = name;
	unit->object = object;
	unit->function = "";
	return unit;
}

static uint32_t inseparable_count_blocks(const struct separation *s, uint32_t unit)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_blocks; i++)
		n += s->unit_of[i] == unit;
	return n;
}

/* The block that a unit of several becomes. */
static int inseparable_merge_blocks(struct blocks *b, const struct separation *s, uint32_t unit,
				    uint32_t *out)
{
	struct blocks_function one = b->functions[unit];
	bool little = s->fate[unit] == SEPARABILITY_LITTLE && s->loose[unit];
	int ret = 0;

	one.merged = false;
	one.samples = one.precise = one.timed = one.took_ns = one.user = one.late = 0;
	one.slowness = 0;
	one.region = KJOULE_REGIONS_OUTSIDE;	/* several were marked */
	one.symbol = little ? others : inseparable_make_name(b, s, unit);
	if (!one.symbol)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_blocks; i++) {
		if (s->unit_of[i] != unit)
			continue;
		one.samples += b->functions[i].samples;
		one.precise += b->functions[i].precise;
		one.timed += b->functions[i].timed;
		one.took_ns += b->functions[i].took_ns;
		one.user += b->functions[i].user;
		one.late += b->functions[i].late;
		one.slowness += b->functions[i].slowness;
		one.kernel &= b->functions[i].kernel;
		if (strcmp(one.object, b->functions[i].object))
			one.object = "";
	}
	if (s->pool[unit] == UINT32_MAX)
		ret = blocks_process(b,
				     &(struct blocks_process){ .comm = little ? others :
							       "[not separable]", .kind = CPM_BUSY,
							       .outside = true }, &one.process);
	if (!ret && one.unit) {
		one.unit = inseparable_make_unit(b, one.unit, one.symbol, one.object);
		ret = one.unit ? 0 : -ENOMEM;
	}
	return ret ? ret : blocks_find(b, &one, out);
}

int blocks_merge_inseparable(struct blocks *b, const struct separation *s, uint32_t **out)
{
	uint32_t *to = malloc((s->n_blocks + 1ul) * sizeof(*to));
	int ret = to ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < s->n_blocks && !ret; i++)
		to[i] = i;
	for (uint32_t i = 0; i < s->n_blocks && !ret; i++) {
		uint32_t merged;

		if (s->unit_of[i] != i || (inseparable_count_blocks(s, i) == 1 && !s->loose[i]))
			continue;
		ret = inseparable_merge_blocks(b, s, i, &merged);
		for (uint32_t k = 0; k < s->n_blocks && !ret; k++)
			if (s->unit_of[k] == i)
				to[k] = merged;
	}
	for (size_t l = 0; l < b->input.n_streams && !ret; l++)
		ret = missed_ticks_rename(&b->ticks[l], to, s->n_blocks);
	for (uint32_t i = 0; i < s->n_blocks && !ret; i++)
		b->functions[i].merged = to[i] != i;
	free(b->loose);
	b->loose = calloc(b->n_functions + 1, sizeof(*b->loose));
	if (!ret && !b->loose)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < s->n_blocks && !ret; i++)
		if (s->loose[s->unit_of[i]])
			b->loose[to[i]] = true;
	b->input.loose = b->loose;
	*out = to;
	return ret ? ret : blocks_seal(b);
}
