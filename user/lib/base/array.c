// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arrays that grow by doubling.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"

void *kjoule_array_grow(void *list, size_t *n, size_t size)
{
	void **p = list;
	char *items = *p;

	if (!(*n & (*n - 1))) {
		items = realloc(*p, (*n ? 2 * *n : 1) * size);
		if (!items)
			return NULL;
		*p = items;
	}
	return memset(items + (*n)++ * size, 0, size);
}
