/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps CPUs busy and counts the work: one pinned thread a CPU, resting until started. */
#ifndef KJOULE_CPU_LOAD_H
#define KJOULE_CPU_LOAD_H

#include <stdint.h>
#include "lib/base/cpus.h"
#include "lib/base/error.h"

enum cpu_load_kind {
	CPU_LOAD_SAXPY,		/* y = a x + y over vectors that fit into any first-level cache */
	CPU_LOAD_MULTIPLY,		/* dependent multiplications of integers, in registers */
	CPU_LOAD_MEMORY,		/* reads through more memory than caches hold */
	CPU_LOAD_MIXED,		/* some of each, in turn */
	CPU_LOAD_KINDS
};

/* What they are called, on command lines too. */
extern const char *const cpu_load_names[CPU_LOAD_KINDS];

struct cpu_load;

/**
 * cpu_load_new() - threads on these CPUs, resting
 * @threads: how many, round robin over the CPUs; 0: one for each CPU
 * Return: 0 or -errno with the reason in @err
 */
int cpu_load_new(enum cpu_load_kind kind, const struct kjoule_cpus *cpus, unsigned int threads,
		 struct cpu_load **l, struct kjoule_error *err);
/**
 * cpu_load_go() - start
 * @part: of the time, in turns of CPU_LOAD_TURN_NS; 1: all of it, 0: rest
 */
void cpu_load_go(struct cpu_load *l, double part);
/** cpu_load_passes() - sum over threads; passes of different kinds are not comparable */
uint64_t cpu_load_passes(const struct cpu_load *l);
unsigned int cpu_load_threads(const struct cpu_load *l);
/** cpu_load_free() - end the threads. NULL is fine */
void cpu_load_free(struct cpu_load *l);

#define CPU_LOAD_TURN_NS	10000000

#endif /* KJOULE_CPU_LOAD_H */
