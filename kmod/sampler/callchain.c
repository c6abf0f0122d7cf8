// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains; see callchain.h. Runs in the tick with interrupts off: a record is reserved at its
 * maximum size, filled in place and cut, so that nothing is allocated and no large array is on the
 * stack.
 *
 * User memory is read without faults: a page that is not present ends the chain or the stack. User
 * registers and frames are not trusted: memory is read upwards only.
 */
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <asm/irq_regs.h>

#include <linux/kjoule.h>

#include "ring/ring.h"
#include "sampler/callchain.h"
#include "sampler/sampler.h"

/*
 * The defaults are perf's: PERF_MAX_STACK_DEPTH, and the dump size of "--call-graph dwarf". The
 * maximum makes the longest chain 16 KiB, of the record's 64 KiB; that of stacks is the record's
 * 16-bit size, in whole words. All are part of the ABI.
 */
#define DEPTH_DEFAULT	127
#define DEPTH_MAX	1024
#define STACK_DEFAULT	8192
#define STACK_MAX	((u32)((U16_MAX & ~7U) - sizeof(struct kjoule_stack)))

/*
 * Frames of the timer interrupt above the interrupted code, with a margin: with fewer, the chain is
 * marked as cut. Part of the ABI: a reader's buffer has room for them.
 */
#define TICK_FRAMES	32

/* Minimum of largest records in a ring: with fewer, most would be lost. Part of the ABI. */
#define RING_RECORDS	4

static u16 chain_size(u64 flags, u32 depth)
{
	u32 n = 0;

	if (flags & KJOULE_FLAG_KERNEL_CHAIN)
		n += depth + TICK_FRAMES;
	if (flags & KJOULE_FLAG_USER_CHAIN)
		n += depth;
	return sizeof(struct kjoule_chain) + n * sizeof(u64);
}

/*
 * kjoule_callchain_largest() - size of the longest record that follows a sample. Return: bytes, 0
 * if there is none
 */
u32 kjoule_callchain_largest(u64 flags, u32 depth, u32 stack_bytes)
{
	u32 chain = 0, stack = 0;

	if (flags & (KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN))
		chain = chain_size(flags, depth);
	if (flags & KJOULE_FLAG_USER_STACK)
		stack = sizeof(struct kjoule_stack) + stack_bytes;
	return max(chain, stack);
}

/**
 * kjoule_callchain_check() - check the session's parameters for chains and stacks
 * @flags:	KJOULE_FLAG_* of the session
 * @depth:	frames of each kind; 0 becomes the default
 * @stack_bytes: of the user stack; 0 becomes the default
 * @ring_bytes:	of each ring
 * @why:	set to the reason of an error
 *
 * Parameters that do not apply become 0.
 * Return: 0, -ERANGE, or -EINVAL for a combination that is not possible
 */
int kjoule_callchain_check(u64 flags, u32 *depth, u32 *stack_bytes, u32 ring_bytes,
			   const char **why)
{
	bool chain = flags & (KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN);
	bool stack = flags & KJOULE_FLAG_USER_STACK;

	if (*depth && !chain) {
		*why = "a chain's depth goes with flag kernel-chain or user-chain only";
		return -EINVAL;
	}
	if (*stack_bytes && !stack) {
		*why = "bytes of the stack go with flag user-stack only";
		return -EINVAL;
	}
	if (chain && !*depth)
		*depth = DEPTH_DEFAULT;
	if (stack && !*stack_bytes)
		*stack_bytes = STACK_DEFAULT;
	if (*depth > DEPTH_MAX) {
		*why = "a chain has at most 1024 frames of each kind";
		return -ERANGE;
	}
	if (*stack_bytes > STACK_MAX) {
		*why = "of a stack at most 65384 bytes can be copied";
		return -ERANGE;
	}
	if (*stack_bytes % 8) {
		*why = "bytes of the stack have to be a multiple of 8";
		return -EINVAL;
	}
	if (ring_bytes / RING_RECORDS < kjoule_callchain_largest(flags, *depth, *stack_bytes)) {
		*why = "the ring has to hold four of the largest chains or stacks asked for";
		return -EINVAL;
	}
	return 0;
}

static struct pt_regs *chain_user_regs(struct pt_regs *regs)
{
	if (user_mode(regs))
		return regs;
	if ((current->flags & PF_KTHREAD) || !current->mm)
		return NULL;
	regs = task_pt_regs(current);
	/* kernel threads may have borrowed a process's mm */
	return user_mode(regs) ? regs : NULL;
}

/*
 * Store the call chain of the interrupted kernel code in @ip, which has room for @depth +
 * TICK_FRAMES. The walk begins here; frames up to the interrupt are dropped.
 */
static u32 chain_walk_kernel(struct pt_regs *regs, u64 *ip, u32 depth, u8 *flags)
{
	u32 n, from, room = depth + TICK_FRAMES;

	BUILD_BUG_ON(sizeof(unsigned long) != sizeof(u64));
	n = stack_trace_save((unsigned long *)ip, room, 0);
	for (from = 0; from < n && ip[from] != instruction_pointer(regs);)
		from++;
	/* the unwinder does not pass all code: leave out our own frames */
	if (from == n) {
		*flags |= KJOULE_CHAIN_KERNEL_CUT;
		return 0;
	}
	from++;
	if (n == room || n - from > depth)
		*flags |= KJOULE_CHAIN_KERNEL_CUT;
	n = min(n - from, depth);
	memmove(ip, ip + from, n * sizeof(*ip));
	return n;
}

/* A frame with frame pointer: the caller's frame, the return address. */
struct frame {
	u64 next;
	u64 ip;
};

static bool chain_read_frame(u64 at, bool compat, struct frame *frame)
{
	u32 narrow[2];

	if (!compat)
		return !(at % 8) &&
		       !copy_from_user_nofault(frame, (const void __user *)at, sizeof(*frame));
	if (at % 4 || at > U32_MAX ||
	    copy_from_user_nofault(narrow, (const void __user *)at, sizeof(narrow)))
		return false;
	frame->next = narrow[0];
	frame->ip = narrow[1];
	return true;
}

static u32 chain_walk_user(struct pt_regs *regs, bool leave, u64 *ip, u32 depth, u8 *flags)
{
	bool compat = !user_64bit_mode(regs);
	u64 at = regs->bp, least = regs->sp, size = compat ? 8 : 16;
	struct frame frame;
	u32 n = 0;

	if (leave)
		ip[n++] = instruction_pointer(regs);
	for (; at; at = frame.next) {
		/* upwards only, so that the walk ends */
		if (n == depth || at < least || !chain_read_frame(at, compat, &frame) ||
		    !frame.ip || frame.ip >= TASK_SIZE_MAX) {
			*flags |= KJOULE_CHAIN_USER_CUT;
			break;
		}
		ip[n++] = frame.ip;
		least = at + size;
	}
	return n;
}

static void chain_write(struct kjoule_ring_buffer *ring, const struct kjoule_plan *plan,
			struct pt_regs *regs, u32 tick)
{
	bool in_kernel = !user_mode(regs);
	struct pt_regs *user = chain_user_regs(regs);
	struct kjoule_chain *rec;
	u8 flags = 0;

	rec = kjoule_ring_reserve(ring, KJOULE_RECORD_CHAIN, 0,
				  chain_size(plan->chain, plan->chain_depth), tick);
	if (!rec)
		return;
	rec->kernel = 0;
	rec->user = 0;
	if (in_kernel && (plan->chain & KJOULE_FLAG_KERNEL_CHAIN)) {
		/* do not write them at all: the reader has the ring mapped */
		if (plan->kernel_ip)
			rec->kernel = chain_walk_kernel(regs, rec->ip, plan->chain_depth, &flags);
		else
			flags |= KJOULE_CHAIN_KERNEL_HIDDEN;
	}
	if (user && (plan->chain & KJOULE_FLAG_USER_CHAIN))
		rec->user = chain_walk_user(user, in_kernel, rec->ip + rec->kernel,
					    plan->chain_depth, &flags);
	rec->rec.flags = flags;
	kjoule_ring_shrink(ring, &rec->rec, struct_size(rec, ip, rec->kernel + rec->user));
}

static u32 stack_copy(u8 *to, u64 sp, u32 bytes)
{
	u32 done = 0, n;

	while (done < bytes) {
		n = min_t(u32, bytes - done, PAGE_SIZE - offset_in_page(sp + done));
		if (copy_from_user_nofault(to + done, (const void __user *)(sp + done), n))
			break;
		done += n;
	}
	return done;
}

static void stack_write(struct kjoule_ring_buffer *ring, const struct kjoule_plan *plan,
			const struct pt_regs *regs, u32 tick)
{
	const u64 reg[KJOULE_STACK_REGS] = {
		regs->ax, regs->dx, regs->cx, regs->bx, regs->si, regs->di, regs->bp, regs->sp,
		regs->r8, regs->r9, regs->r10, regs->r11, regs->r12, regs->r13, regs->r14,
		regs->r15, regs->ip,
	};
	struct kjoule_stack *rec;
	u32 whole;

	rec = kjoule_ring_reserve(ring, KJOULE_RECORD_STACK, 0, sizeof(*rec) + plan->stack_bytes,
				  tick);
	if (!rec)
		return;
	memcpy(rec->reg, reg, sizeof(reg));
	rec->bytes = stack_copy(rec->data, regs->sp, plan->stack_bytes);
	whole = ALIGN(rec->bytes, 8);
	memset(rec->data + rec->bytes, 0, whole - rec->bytes);
	kjoule_ring_shrink(ring, &rec->rec, sizeof(*rec) + whole);
}

static void stack_withhold(struct kjoule_ring_buffer *ring, u32 tick)
{
	struct kjoule_stack *rec = kjoule_ring_reserve(ring, KJOULE_RECORD_STACK,
						       KJOULE_STACK_WITHHELD, sizeof(*rec), tick);

	ring->page->stacks_withheld++;
	if (!rec)
		return;
	rec->bytes = 0;
	memset(rec->reg, 0, sizeof(rec->reg));
}

/*
 * kjoule_callchain_write() - write the records that follow a sample. @ring: the sample is its last
 * record. A record for which there is no room is counted as lost. Context: producer, in the timer's
 * interrupt.
 */
void kjoule_callchain_write(struct kjoule_ring_buffer *ring, const struct kjoule_plan *plan,
			    u32 tick)
{
	struct pt_regs *regs = get_irq_regs(), *user;

	if (!regs)
		return;
	if (plan->chain & (KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN))
		chain_write(ring, plan, regs, tick);
	user = plan->chain & KJOULE_FLAG_USER_STACK ? chain_user_regs(regs) : NULL;
	if (!user)
		return;
	if (kjoule_stack_access_current(&plan->stacks))
		stack_write(ring, plan, user, tick);
	else
		stack_withhold(ring, tick);
}
