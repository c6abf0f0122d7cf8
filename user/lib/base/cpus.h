/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of CPUs.
 */
#ifndef KJOULE_CPUS_H
#define KJOULE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KJOULE_MAX_CPUS		8192

/* A set of CPUs, bit n of byte n / 8: the format of KJOULE_A_SESSION_CPUS. */
struct kjoule_cpus {
	uint8_t bits[KJOULE_MAX_CPUS / 8];
};

/** kjoule_cpus_parse() - "0-3,8" to a set. Return: 0, -EINVAL (syntax), -ERANGE (number) */
int kjoule_cpus_parse(const char *text, struct kjoule_cpus *set);
/** kjoule_cpus_format() - the shortest list of ranges. Return: @buf */
char *kjoule_cpus_format(const struct kjoule_cpus *set, char *buf, size_t len);
/** kjoule_cpus_online() - the CPUs that are online now. Return: 0 or -errno */
int kjoule_cpus_online(struct kjoule_cpus *set);
bool kjoule_cpus_has(const struct kjoule_cpus *set, unsigned int cpu);
void kjoule_cpus_add(struct kjoule_cpus *set, unsigned int cpu);
unsigned int kjoule_cpus_count(const struct kjoule_cpus *set);
/** kjoule_cpus_next() - the first CPU >= @cpu in the set, or -1 */
int kjoule_cpus_next(const struct kjoule_cpus *set, unsigned int cpu);

#endif /* KJOULE_CPUS_H */
