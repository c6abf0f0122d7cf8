/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of a verb's tables and the choice among them, --fields. CSV and JSON have all columns,
 * whatever is chosen.
 */
#ifndef KJOULE_FIELDS_H
#define KJOULE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/base/error.h"

#define FIELDS_MOST	24

/**
 * struct output_field - a field: a figure with its interval, or a name
 * @key:	what --fields calls it
 * @shown:	without --fields
 */
struct output_field {
	const char *key;
	bool shown;
};

/**
 * struct fields - those of a verb, in the order in which tables have them
 * @chosen:	the value of --fields: "a,b", these in this order; "+a,b", these as well; NULL:
 *		those shown by default
 */
struct fields {
	const struct output_field *known;
	size_t n;
	const char *chosen;
};

/**
 * fields_check() - are those that are chosen known, each once? Return: 0, or -EINVAL with the
 * reason in @err
 */
int fields_check(const struct fields *f, struct kjoule_error *err);
/**
 * fields_list() - keys of the fields of a table, in their order, of fields_check()'s 0. Return: how
 * many
 */
size_t fields_list(const struct fields *f, const char *keys[FIELDS_MOST]);

/** fields_has() - does a value of --fields name the field? NULL: no */
bool fields_has(const char *chosen, const char *key);

#endif /* KJOULE_FIELDS_H */
