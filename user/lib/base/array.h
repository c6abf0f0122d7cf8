/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KJOULE_ARRAY_H
#define KJOULE_ARRAY_H

#include <stddef.h>

/**
 * kjoule_array_grow() - one item more for an array
 * @list: address of the array's pointer; its room is always a power of two
 * @n: its items
 * @size: of an item
 * Return: the new item, zeroed, or NULL without memory (the array stays)
 */
void *kjoule_array_grow(void *list, size_t *n, size_t size);

#endif /* KJOULE_ARRAY_H */
