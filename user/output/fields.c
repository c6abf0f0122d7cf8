// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The choice of a table's fields; see fields.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "output/fields.h"

/* The next key of a list, NULL at its end; @at goes on behind it. */
static const char *fields_next_key(const char **at, size_t *len)
{
	const char *key = *at;

	if (!*key)
		return NULL;
	*len = strcspn(key, ",");
	*at = key + *len + (key[*len] == ',');
	return key;
}

static const struct output_field *fields_find(const struct fields *f, const char *key, size_t len)
{
	for (size_t i = 0; i < f->n; i++)
		if (strlen(f->known[i].key) == len && !strncmp(f->known[i].key, key, len))
			return &f->known[i];
	return NULL;
}

static int fields_fail(const struct fields *f, const char *key, size_t len, const char *why,
		       struct kjoule_error *err)
{
	char list[256] = "";

	for (size_t i = 0; i < f->n; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 f->known[i].key);
	return kjoule_fail(err, EINVAL, "--fields: '%.*s': %s; there are %s",
			   (int)(len < 64 ? len : 64), key, why, list);
}

int fields_check(const struct fields *f, struct kjoule_error *err)
{
	const struct output_field *seen[FIELDS_MOST] = { 0 }, *field;
	const char *at = f->chosen, *key;
	size_t len, n = 0;

	if (!at)
		return 0;
	at += *at == '+';
	if (!*at || at[strlen(at) - 1] == ',')
		return fields_fail(f, "", 0, "no field", err);
	while ((key = fields_next_key(&at, &len))) {
		field = fields_find(f, key, len);
		if (!field)
			return fields_fail(f, key, len, "no such field", err);
		for (size_t i = 0; i < n; i++)
			if (seen[i] == field)
				return fields_fail(f, key, len, "given twice", err);
		seen[n++] = field;
	}
	return 0;
}

bool fields_has(const char *chosen, const char *key)
{
	const char *at = chosen ? chosen + (*chosen == '+') : "", *one;
	size_t len;

	while ((one = fields_next_key(&at, &len)))
		if (strlen(key) == len && !strncmp(one, key, len))
			return true;
	return false;
}

size_t fields_list(const struct fields *f, const char *keys[FIELDS_MOST])
{
	const char *at = f->chosen, *key;
	size_t len, n = 0;

	if (at && *at != '+') {
		while ((key = fields_next_key(&at, &len)))
			keys[n++] = fields_find(f, key, len)->key;
		return n;
	}
	for (size_t i = 0; i < f->n; i++)
		if (f->known[i].shown || (at && fields_has(at, f->known[i].key)))
			keys[n++] = f->known[i].key;
	return n;
}
