// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU takes an interrupt at the boundary after the block in which it was raised, so the
 * address that the guest sees is that of the next one. The chip knows when it was raised,
 * and the instruction that was being executed then.
 */
#include "irq.h"

/* The instruction of the block before in which that time falls; -1: it came before that block. */
static int insn_at(const struct core *c, uint64_t ns)
{
	const struct block *p = c->prev;
	fixns_t at = ns << FIXNS_SHIFT, begin = c->prev_end;
	int i = p->insns - 1;

	for (; i > 0; i--) {
		begin -= p->insn[i].cycles * c->prev_cycle_fixns;
		if (at >= begin)
			return i;
	}
	begin -= p->insn[0].cycles * c->prev_cycle_fixns;
	return at >= begin ? 0 : -1;
}

void irq_entry(struct core *c, const struct block *b)
{
	const struct block *p = c->prev;
	struct vchip_cpu *regs = c->regs;
	uint32_t flags = VCHIP_IRQ_VALID;
	int insn;

	if (!block_is_interrupt(b))
		return;
	if (!p) {
		page_write(regs->irq_flags, 0);
		goto out;
	}
	insn = insn_at(c, c->interrupt_ns);
	if (insn < 0) {
		/*
		 * It had to wait until interrupts were let in: this is the instruction that did so.
		 */
		insn = p->insns - 1;
		flags |= VCHIP_IRQ_WAITED;
	}
	if (p->kernel)
		flags |= VCHIP_IRQ_KERNEL;
	page_write(regs->irq_ip, block_insn_vaddr(p, (unsigned int)insn));
	page_write(regs->irq_task, c->prev_task);
	page_write(regs->irq_flags, flags);
out:
	/* B, pairs with the guest driver's reading irq_seq before and after. */
	__atomic_store_n(&regs->irq_seq, regs->irq_seq + 1, __ATOMIC_RELEASE);
}
