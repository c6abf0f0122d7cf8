/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many streams comes next: for walks over all CPUs in the order of their ticks
 * or times, that must not look at every CPU for every record.
 */
#ifndef KJOULE_EARLIEST_H
#define KJOULE_EARLIEST_H

#include <stddef.h>
#include <stdint.h>

/* The stream @who, numbered by the caller, goes on at @when. */
struct kjoule_turn {
	uint64_t when;
	size_t who;
};

/* A heap: the earliest first, of equal ones the lowest number. */
struct kjoule_earliest {
	size_t n;
	struct kjoule_turn *turns;
};

/** kjoule_earliest_init() - for up to @n streams. Return: 0 or -ENOMEM */
int kjoule_earliest_init(struct kjoule_earliest *e, size_t n);
/** kjoule_earliest_push() - each stream once at a time */
void kjoule_earliest_push(struct kjoule_earliest *e, uint64_t when, size_t who);
/** kjoule_earliest_first() - NULL if none is left */
const struct kjoule_turn *kjoule_earliest_first(const struct kjoule_earliest *e);
/** kjoule_earliest_pop() - take the first one out. Return: who */
size_t kjoule_earliest_pop(struct kjoule_earliest *e);
void kjoule_earliest_exit(struct kjoule_earliest *e);

#endif /* KJOULE_EARLIEST_H */
