/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How merge.c finds a recording's processes and code among those of the others. */
#ifndef KJOULE_MERGE_NAMES_H
#define KJOULE_MERGE_NAMES_H

#include "attribute/merge.h"

/* With MERGE_NAMES: the recording's name of the program whose name may differ. NULL: unknown */
struct merge_alias {
	const char *comm, *object;
};

/** merge_text() - a copy that stays; the same for the same text. NULL: no memory */
const char *merge_text(struct merge_names *names, const char *text);
/**
 * merge_places() - the numbers of a recording's processes and functions among all; new ones are
 * added
 * @process_of,@function_of: out: room for all of @b's
 * Return: 0 or -ENOMEM
 */
int merge_places(struct merge_names *names, const struct merge_alias *alias, const struct blocks *b,
		 uint32_t *process_of, uint32_t *function_of);

/**
 * merge_region_place() - the number of a process's region among all, sampled or not, added if new
 * @process: its number among all
 * Return: 0 or -ENOMEM
 */
int merge_region_place(struct merge_names *names, const struct code_unit *region, uint32_t process,
		       uint32_t *out);

#endif /* KJOULE_MERGE_NAMES_H */
