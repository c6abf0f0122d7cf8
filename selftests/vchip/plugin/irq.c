// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU takes an interrupt at the boundary after the block in which time was
 * passing, so the interrupted address names the wrong block. The chip knows better:
 * time passes where quanta end. Quanta have random lengths, so the chance of an
 * instruction to hold the end of one is its share of the cycles, however long
 * the emulation of this or that block really takes.
 */
#include "irq.h"

#define VECTOR_NMI	2
#define VECTOR_FIRST	32

void irq_note_spin(struct core *c, unsigned int i)
{
	c->spin_ip = block_insn_vaddr(c->prev, i);
	c->spin_task = c->prev_task;
	c->spin_kernel = c->prev->kernel;
	c->spin_valid = true;
}

void irq_entry(struct core *c, const struct block *b)
{
	const struct block *p = c->prev;
	struct vchip_cpu *regs = c->regs;
	uint32_t flags = VCHIP_IRQ_VALID;
	uint64_t ip;

	if (b->vector < VECTOR_FIRST && b->vector != VECTOR_NMI)
		return;
	if (!p) {
		page_write(regs->irq_flags, 0);
		goto out;
	}
	if (c->spin_valid && c->spin_task == c->prev_task && c->spin_kernel == p->kernel) {
		ip = c->spin_ip;
	} else {
		/* No quantum has ended since this context began: the last instruction is nearest. */
		ip = block_insn_vaddr(p, p->insns - 1);
		flags |= VCHIP_IRQ_FALLBACK;
	}
	if (p->kernel)
		flags |= VCHIP_IRQ_KERNEL;
	page_write(regs->irq_ip, ip);
	page_write(regs->irq_task, c->prev_task);
	page_write(regs->irq_flags, flags);
out:
	/* B, pairs with the guest driver's reading irq_seq before and after. */
	__atomic_store_n(&regs->irq_seq, regs->irq_seq + 1, __ATOMIC_RELEASE);
}
