/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that follow a sample if a session requests call chains or copies of the user stack.
 * Called by the sampler in its tick, and by sessions to check their parameters.
 */
#ifndef KJOULE_CALLCHAIN_H
#define KJOULE_CALLCHAIN_H

#include <linux/types.h>

#include <linux/kjoule_netlink.h>

struct kjoule_plan;
struct kjoule_ring_buffer;

#define KJOULE_CALLCHAIN_FLAGS	(KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN | \
				 KJOULE_FLAG_USER_STACK)

u32 kjoule_callchain_largest(u64 flags, u32 depth, u32 stack_bytes);
int kjoule_callchain_check(u64 flags, u32 *depth, u32 *stack_bytes, u32 ring_bytes,
			   const char **why);
void kjoule_callchain_write(struct kjoule_ring_buffer *ring, const struct kjoule_plan *plan,
			    u32 tick);

#endif
