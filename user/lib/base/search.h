/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binary search among values that ascend, or among structures by one of their members. Inline: it
 * is done for each sample.
 */
#ifndef KJOULE_SEARCH_H
#define KJOULE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* How many of @n structures of @size bytes have a value at @offset that is at most @most. */
static inline size_t kjoule_count_until(const void *array, size_t n, size_t size, size_t offset,
					uint64_t most)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)array + mid * size + offset) <= most)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The same by the name of a member that is a uint64_t, and of plain values. */
#define kjoule_count_members(array, n, member, most)					\
	kjoule_count_until(array, n, sizeof(*(array)),					\
			   offsetof(__typeof__(*(array)), member), most)
static inline size_t kjoule_count_values(const uint64_t *values, size_t n, uint64_t most)
{
	return kjoule_count_until(values, n, sizeof(*values), 0, most);
}

#endif /* KJOULE_SEARCH_H */
