/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of many streams comes next: for walks over all CPUs in the order of time. */
#ifndef KJOULE_MIN_HEAP_H
#define KJOULE_MIN_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* The stream @who, numbered by the caller, goes on at @when. */
struct kjoule_min_heap_entry {
	uint64_t when;
	size_t who;
};

/* A heap: the earliest first, of equal ones the lowest number. */
struct kjoule_min_heap {
	size_t n;
	struct kjoule_min_heap_entry *turns;
};

/** kjoule_min_heap_init() - for up to @n streams. Return: 0 or -ENOMEM */
int kjoule_min_heap_init(struct kjoule_min_heap *e, size_t n);
/** kjoule_min_heap_push() - each stream once at a time */
void kjoule_min_heap_push(struct kjoule_min_heap *e, uint64_t when, size_t who);
/** kjoule_min_heap_first() - NULL if none is left */
const struct kjoule_min_heap_entry *kjoule_min_heap_first(const struct kjoule_min_heap *e);
/** kjoule_min_heap_pop() - take the first one out. Return: its @who */
size_t kjoule_min_heap_pop(struct kjoule_min_heap *e);
void kjoule_min_heap_exit(struct kjoule_min_heap *e);

#endif /* KJOULE_MIN_HEAP_H */
