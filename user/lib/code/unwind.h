/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a copy of registers and stack to the call chain, for code without frame pointers. */
#ifndef KJOULE_UNWIND_H
#define KJOULE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/code/buildid.h"
#include "lib/code/maps.h"
#include "lib/control/control.h"

struct kjoule_unwinder;

/* How far it got. */
enum kjoule_unwound {
	KJOULE_UNWOUND_WHOLE,	/* to the outermost frame */
	KJOULE_UNWOUND_SHORT,	/* to the end of what was copied of the stack */
	KJOULE_UNWOUND_DEEP,	/* as many frames as there was room for */
	/* to code without unwinding information, or whose file is missing */
	KJOULE_UNWOUND_BLIND,
	KJOULE_UNWOUND_KINDS
};

/**
 * kjoule_unwinder_new() - @maps and @build_ids (may be NULL) must stay
 * @this_kernel: the recording's kernel is like the running one, so its vDSO is the same
 * Return: NULL without memory
 */
struct kjoule_unwinder *kjoule_unwinder_new(const struct kjoule_maps *maps,
					    const struct kjoule_build_ids *build_ids,
					    bool this_kernel);
/**
 * kjoule_unwind() - the frames of a thread of process @pid at @time_ns
 * @ip: out: where it was, then return addresses, innermost first. At a signal the address is one
 *   more, so that one less is always in the same function
 * @n: in: room in @ip, at least 1; out: how many
 */
enum kjoule_unwound kjoule_unwind(struct kjoule_unwinder *u, uint32_t pid, uint64_t time_ns,
				  const struct kjoule_stack *stack, uint64_t *ip, size_t *n);
/** kjoule_unwinder_vdso() - use this file as the vDSO */
void kjoule_unwinder_vdso(struct kjoule_unwinder *u, int fd);
void kjoule_unwinder_free(struct kjoule_unwinder *u);

#endif /* KJOULE_UNWIND_H */
