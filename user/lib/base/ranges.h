/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many ranges of addresses, one over the other, covers a point: a process may
 * map and map again without end, and every sample asks. Used by lib/code/maps.c.
 */
#ifndef KJOULE_RANGES_H
#define KJOULE_RANGES_H

#include <stddef.h>
#include <stdint.h>

/* [start, start + len); may wrap. */
struct kjoule_range {
	uint64_t start, len;
};

#define KJOULE_RANGES_NONE	SIZE_MAX

struct kjoule_ranges;

/** kjoule_ranges_new() - in their order, the later ones over the earlier. Return: 0 or -ENOMEM */
int kjoule_ranges_new(const struct kjoule_range *list, size_t n, struct kjoule_ranges **out);
/**
 * kjoule_ranges_last() - the last range that has @point, of the first @n
 * Return: its place in the list, or KJOULE_RANGES_NONE
 */
size_t kjoule_ranges_last(const struct kjoule_ranges *r, uint64_t point, size_t n);
void kjoule_ranges_free(struct kjoule_ranges *r);

#endif /* KJOULE_RANGES_H */
