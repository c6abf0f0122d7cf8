// SPDX-License-Identifier: GPL-2.0-or-later
/* The names that several recordings have in common; see merge.h. Called by merge.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/merge_names.h"
#include "lib/base/array.h"

int merge_names_new(enum merge_join join, struct merge_names *names)
{
	memset(names, 0, sizeof(*names));
	names->join = join;
	return blocks_names_new(&names->b);
}

void merge_names_free(struct merge_names *names)
{
	for (size_t i = 0; i < names->n_texts; i++)
		free(names->texts[i]);
	for (size_t i = 0; i < names->n_units; i++)
		free(names->units[i]);
	free(names->texts);
	free(names->units);
	kjoule_hash_index_free(&names->by_text);
	kjoule_hash_index_free(&names->by_unit);
	blocks_free(&names->b);
	memset(names, 0, sizeof(*names));
}

const char *merge_text(struct merge_names *names, const char *text)
{
	uint64_t hash = kjoule_hash_text(0, text);
	size_t probe = 0;
	char *copy, **slot;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&names->by_text, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE)
		if (!strcmp(names->texts[i], text))
			return names->texts[i];
	copy = strdup(text);
	if (!copy || kjoule_hash_index_add(&names->by_text, hash, names->n_texts)) {
		free(copy);
		return NULL;
	}
	slot = kjoule_array_grow(&names->texts, &names->n_texts, sizeof(*slot));
	if (!slot) {
		kjoule_hash_index_free(&names->by_text);	/* they are only copied again */
		free(copy);
		return NULL;
	}
	*slot = copy;
	return copy;
}

/* An object's common name. */
static const char *merge_object_name(struct merge_names *names, const struct merge_alias *alias,
				     const char *object)
{
	const char *slash = strrchr(object, '/');

	if (names->join == MERGE_NAMES && alias->object && !strcmp(object, alias->object))
		return merge_text(names, names->object);
	if (names->join == MERGE_NAMES && object[0] == '/')
		return merge_text(names, slash + 1);
	return merge_text(names, object);
}

static bool merge_text_is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* @object: the unit's, by its common name. Two builds have other addresses and the same names. */
static bool merge_unit_is_same(const struct merge_names *names, const struct code_unit *a,
			       const struct code_unit *b, const char *object)
{
	if (a->kind != b->kind || strcmp(a->name, b->name) || strcmp(a->object, object))
		return false;
	return names->join == MERGE_NAMES ||
	       (a->start == b->start && a->end == b->end && a->around == b->around &&
		a->line == b->line && a->outer_line == b->outer_line && a->miss == b->miss &&
		merge_text_is_same(a->file, b->file) &&
		merge_text_is_same(a->outer_file, b->outer_file));
}

static const char *merge_copy_text(struct merge_names *names, const char *text, bool *failed)
{
	const char *copy = text ? merge_text(names, text) : NULL;

	*failed |= text && !copy;
	return copy;
}

static int merge_unit_place(struct merge_names *names, const struct merge_alias *alias,
			    const struct code_unit *like, const struct code_unit **out)
{
	const char *object = merge_object_name(names, alias, like->object);
	uint64_t hash = kjoule_hash_text(like->kind, like->name);
	struct code_unit *unit, **slot;
	bool failed = false;
	size_t probe = 0;
	uint32_t i;

	if (!object)
		return -ENOMEM;
	while ((i = kjoule_hash_index_next(&names->by_unit, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE) {
		*out = names->units[i];
		if (merge_unit_is_same(names, *out, like, object))
			return 0;
	}
	unit = malloc(sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	*unit = *like;
	unit->object = object;
	unit->name = merge_copy_text(names, like->name, &failed);
	unit->function = merge_copy_text(names, like->function, &failed);
	unit->file = merge_copy_text(names, like->file, &failed);
	unit->outer_file = merge_copy_text(names, like->outer_file, &failed);
	if (failed || kjoule_hash_index_add(&names->by_unit, hash, names->n_units)) {
		free(unit);
		return -ENOMEM;
	}
	slot = kjoule_array_grow(&names->units, &names->n_units, sizeof(*slot));
	if (!slot) {
		kjoule_hash_index_free(&names->by_unit);
		free(unit);
		return -ENOMEM;
	}
	*slot = unit;
	*out = unit;
	return 0;
}

/* Process ids differ between runs: processes of one name are one. */
static int merge_process_place(struct merge_names *names, const struct merge_alias *alias,
			       const struct blocks_process *p, uint32_t *out)
{
	bool program = names->join == MERGE_NAMES && alias->comm && p->pid &&
		       !strcmp(p->comm, alias->comm);
	struct blocks_process like = { .comm = merge_text(names, program ? names->comm : p->comm),
				       .kind = p->kind, .outside = p->outside };

	return like.comm ? blocks_process(&names->b, &like, out) : -ENOMEM;
}

static int merge_function_place(struct merge_names *names, const struct merge_alias *alias,
				const struct blocks_function *f, uint32_t process, uint32_t *out)
{
	struct blocks_function like = { .process = process, .kernel = f->kernel };
	int ret = 0;

	like.symbol = merge_text(names, f->symbol);
	like.object = merge_object_name(names, alias, f->object);
	if (!like.symbol || !like.object)
		return -ENOMEM;
	if (f->unit)
		ret = merge_unit_place(names, alias, f->unit, &like.unit);
	if (!ret)
		ret = blocks_find(&names->b, &like, out);
	if (ret)
		return ret;
	names->b.functions[*out].samples += f->samples;
	names->b.functions[*out].precise += f->precise;
	return 0;
}

int merge_region_place(struct merge_names *names, const struct code_unit *region, uint32_t process,
		       uint32_t *out)
{
	const struct merge_alias none = { NULL, NULL };
	const struct blocks_function like = { .symbol = region->name, .object = region->object,
					      .unit = region };

	return merge_function_place(names, &none, &like, process, out);
}

int merge_places(struct merge_names *names, const struct merge_alias *alias, const struct blocks *b,
		 uint32_t *process_of, uint32_t *function_of)
{
	int ret = 0;

	for (size_t i = 0; i < b->n_processes && !ret; i++)
		ret = merge_process_place(names, alias, &b->processes[i], &process_of[i]);
	for (size_t i = 0; i < b->n_functions && !ret; i++)
		ret = merge_function_place(names, alias, &b->functions[i],
					   process_of[b->functions[i].process], &function_of[i]);
	return ret;
}
