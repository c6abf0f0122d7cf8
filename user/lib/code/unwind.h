/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a copy of registers and stack to who called: what frame pointers cannot
 * tell of code that has none. Needs the files that were mapped; opens them itself.
 */
#ifndef KJOULE_UNWIND_H
#define KJOULE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/buildid.h"
#include "lib/code/maps.h"
#include "lib/control/control.h"

struct kjoule_unwinder;

/* How far it went. */
enum kjoule_unwound {
	KJOULE_UNWOUND_WHOLE,	/* to the outermost frame */
	KJOULE_UNWOUND_SHORT,	/* to the end of what was copied of the stack */
	KJOULE_UNWOUND_DEEP,	/* as many frames as there was room for */
	KJOULE_UNWOUND_BLIND,	/* to code that does not say how to go on, or whose file is not there */
	KJOULE_UNWOUND_KINDS
};

/**
 * kjoule_unwinder_new() - @maps and @build_ids (may be NULL) have to stay
 * @this_kernel: what was recorded ran on a kernel like the running one, so its vDSO is the same
 * Return: NULL without memory
 */
struct kjoule_unwinder *kjoule_unwinder_new(const struct kjoule_maps *maps,
					    const struct kjoule_build_ids *build_ids,
					    bool this_kernel);
/**
 * kjoule_unwind() - the frames of a thread of process @pid at @time_ns
 * @ip:		out: where it was, then return addresses, innermost first. Where a signal came in
 *		the address is one more, so that one less is in the same function everywhere.
 * @n:		in: room in @ip, at least 1; out: how many
 */
enum kjoule_unwound kjoule_unwind(struct kjoule_unwinder *u, uint32_t pid, uint64_t time_ns,
				  const struct kjoule_stack *stack, uint64_t *ip, size_t *n);
/** kjoule_unwinder_vdso() - the kernel's code in every process is in this file, instead */
void kjoule_unwinder_vdso(struct kjoule_unwinder *u, int fd);
void kjoule_unwinder_free(struct kjoule_unwinder *u);

#endif /* KJOULE_UNWIND_H */
