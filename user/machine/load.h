/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that keeps CPUs busy and counts what it has done: one thread a CPU, pinned to it, which rests until it is told to go.
 */
#ifndef KJOULE_LOAD_H
#define KJOULE_LOAD_H

#include <stdint.h>
#include "lib/kjoule.h"

enum load_kind {
	LOAD_SAXPY,		/* y = a x + y over vectors that fit into any first-level cache */
	LOAD_MULTIPLY,		/* dependent multiplications of integers, in registers */
	LOAD_MEMORY,		/* reads through more memory than caches hold */
	LOAD_MIXED,		/* some of each, in turn */
	LOAD_KINDS
};

/** load_name() - "saxpy" and the like */
const char *load_name(enum load_kind kind);
/** load_parse() - its inverse. Return: 0 or -EINVAL */
int load_parse(const char *text, enum load_kind *kind);

struct load;

/**
 * load_new() - threads on these CPUs, resting
 * @threads:	of them, dealt out one CPU after another; 0: one for each CPU
 * Return: 0 or -errno with the reason in @err
 */
int load_new(enum load_kind kind, const struct kjoule_cpus *cpus, unsigned int threads, struct load **l,
	     struct kjoule_error *err);
/**
 * load_go() - work from now on
 * @part:	of the time, in turns of LOAD_TURN_NS; 1: all of it, 0: rest
 */
void load_go(struct load *l, double part);
/** load_passes() - what all threads together have done so far; a pass of one kind is none of another */
uint64_t load_passes(const struct load *l);
unsigned int load_threads(const struct load *l);
/** load_free() - end the threads. NULL is fine */
void load_free(struct load *l);

#define LOAD_TURN_NS	10000000

#endif /* KJOULE_LOAD_H */
