// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel that patches itself puts a breakpoint over an instruction for a moment.
 * QEMU before 8.1 can miss the write that takes it away again: a block that another
 * CPU is just translating is not known yet, so it is not thrown away, and that CPU
 * meets a breakpoint that memory no longer has. Linux finds none there and tries
 * again, forever. What gives it away is the same breakpoint many times with no
 * interrupt between; the cure is to have QEMU forget all translations.
 */
#include "heal.h"

#include <stdio.h>

#include "profile.h"

#define INT3		0xcc
#define TIMES		300

static qemu_plugin_id_t plugin;
static void (*set_up)(qemu_plugin_id_t id);
static uint32_t (*interrupts_of)(unsigned int vcpu);
static struct {
	uint64_t vaddr;
	uint32_t irq_seq;
	uint32_t times;
} __attribute__((aligned(64))) last[VCHIP_MAX_CPUS];

void heal_init(qemu_plugin_id_t id, void (*install)(qemu_plugin_id_t id),
	       uint32_t (*interrupts)(unsigned int vcpu))
{
	interrupts_of = interrupts;
	plugin = id;
	set_up = install;
}

static void on_breakpoint(unsigned int vcpu, void *data)
{
	uint64_t vaddr = (uint64_t)(uintptr_t)data;
	uint32_t irq_seq;

	if (vcpu >= VCHIP_MAX_CPUS)
		return;
	irq_seq = interrupts_of ? interrupts_of(vcpu) : 0;

	if (last[vcpu].vaddr != vaddr || last[vcpu].irq_seq != irq_seq) {
		last[vcpu].vaddr = vaddr;
		last[vcpu].irq_seq = irq_seq;
		last[vcpu].times = 0;
	}
	if (++last[vcpu].times < TIMES)
		return;
	last[vcpu].times = 0;
	fprintf(stderr, "heal: CPU %u is stuck at a breakpoint that is gone (%llx): all blocks are translated anew\n",
		vcpu, (unsigned long long)vaddr);
	qemu_plugin_reset(plugin, set_up);
}

void heal_watch(struct qemu_plugin_insn *insn, const void *bytes, size_t size, uint64_t vaddr)
{
	if (size == 1 && *(const uint8_t *)bytes == INT3 && vaddr >> 63)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_breakpoint, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)vaddr);
}
