/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many overlapping address ranges covers a point: a process may map any number, and every
 * sample looks one up. Used by lib/code/maps.c.
 */
#ifndef KJOULE_INTERVAL_MAP_H
#define KJOULE_INTERVAL_MAP_H

#include <stddef.h>
#include <stdint.h>

/* [start, start + len); may wrap. */
struct kjoule_interval {
	uint64_t start, len;
};

#define KJOULE_INTERVAL_MAP_NONE	SIZE_MAX

struct kjoule_interval_map;

/**
 * kjoule_interval_map_new() - in their order, later ones cover earlier ones. Return: 0 or -ENOMEM
 */
int kjoule_interval_map_new(const struct kjoule_interval *list, size_t n,
			    struct kjoule_interval_map **out);
/**
 * kjoule_interval_map_last() - the last range that has @point, of the first @n
 * Return: its place in the list, or KJOULE_INTERVAL_MAP_NONE
 */
size_t kjoule_interval_map_last(const struct kjoule_interval_map *r, uint64_t point, size_t n);
void kjoule_interval_map_free(struct kjoule_interval_map *r);

#endif /* KJOULE_INTERVAL_MAP_H */
