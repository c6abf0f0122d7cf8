// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of values on a command line; see args.h. Used by the verbs.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "lib/base/array.h"

static int args_value_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int args_list_add(uint32_t **list, size_t *n, uint32_t v)
{
	uint32_t *slot = kjoule_array_grow(list, n, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	*slot = v;
	return 0;
}

/* Ascending, each once. */
static void args_list_sort_unique(uint32_t *list, size_t *n)
{
	size_t kept = 0;

	if (*n)
		qsort(list, *n, sizeof(*list), args_value_by_number);
	for (size_t i = 0; i < *n; i++)
		if (!kept || list[i] != list[kept - 1])
			list[kept++] = list[i];
	*n = kept;
}

/* The parts between commas go to @one. */
static int args_list_parse_parts(const char *text, int (*one)(const char *part, void *arg),
				 void *arg)
{
	char *copy = strdup(text), *rest = copy, *part;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (part = strsep(&rest, ",")))
		ret = one(part, arg);
	free(copy);
	return ret;
}

struct into {
	uint32_t low, high, **list;
	size_t *n;
};

static int args_parse_whole(const char *text, const char **end, uint32_t most, uint32_t *v)
{
	unsigned long x;
	char *e;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	x = strtoul(text, &e, 10);
	*end = e;
	if (errno || !x || x > most)
		return -ERANGE;
	*v = x;
	return 0;
}

static int args_list_add_numbers(const char *part, void *arg)
{
	const struct into *into = arg;
	const char *end;
	uint32_t from, to;
	int ret = args_parse_whole(part, &end, into->high, &from);

	to = from;
	if (!ret && *end == '-')
		ret = args_parse_whole(end + 1, &end, into->high, &to);
	if (!ret && (*end || to < from))
		ret = -EINVAL;
	for (uint32_t v = from; !ret && v <= to; v++)
		ret = args_list_add(into->list, into->n, v);
	return ret;
}

/* All parts of @text by @one, into a list that is tidy; none if one of them cannot be read. */
static int args_list_parse(const char *text, int (*one)(const char *part, void *arg),
			   struct into into)
{
	int ret;

	*into.list = NULL;
	*into.n = 0;
	ret = args_list_parse_parts(text, one, &into);
	if (ret) {
		free(*into.list);
		*into.list = NULL;
		*into.n = 0;
	}
	args_list_sort_unique(*into.list, into.n);
	return ret;
}

int args_list(const char *text, uint32_t most, uint32_t **list, size_t *n)
{
	return args_list_parse(text, args_list_add_numbers, (struct into){ 1, most, list, n });
}

static int args_list_add_khz(const char *part, void *arg)
{
	const struct into *into = arg;
	uint32_t khz;
	int ret = args_frequency(part, into->low, into->high, &khz);

	return ret ? ret : args_list_add(into->list, into->n, khz);
}

int args_frequencies(const char *text, uint32_t low, uint32_t high, uint32_t **list, size_t *n)
{
	return args_list_parse(text, args_list_add_khz, (struct into){ low, high, list, n });
}
