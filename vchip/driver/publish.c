// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the silicon cannot see for itself, and the guest reports: which task runs on
 * each CPU, written at every switch, and where the exception and interrupt handlers
 * begin. The oracle attributes by the one, skid is undone by the other.
 */

#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <asm/desc.h>

#include "vchip.h"

static const struct vchip *publish_chip;
static struct tracepoint *sched_switch;
static enum cpuhp_state publish_hotplug;

static void publish_task(const struct task_struct *task)
{
	WRITE_ONCE(vchip_cpu(publish_chip, smp_processor_id())->task,
		   (u32)task->pid | (u64)task->tgid << 32);
}

/* The scheduler's, with interrupts off and the run queue locked. */
static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	publish_task(next);
}

static void publish_current(void *data)
{
	publish_task(current);
}

/* A dying CPU's last switch, to its idle task, is behind the point where tracing ends. */
static int publish_cpu_dead(unsigned int cpu)
{
	WRITE_ONCE(vchip_cpu(publish_chip, cpu)->task, 0);
	return 0;
}

/* sched_switch is not exported, but every tracepoint of the kernel can be met. */
static void find_sched_switch(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_switch"))
		sched_switch = tp;
}

static void publish_idt(struct vchip_idt *idt)
{
	const gate_desc *gates;
	struct desc_ptr table;
	unsigned int i, entries;

	store_idt(&table);
	gates = (const gate_desc *)table.address;
	entries = min_t(unsigned int, (table.size + 1) / sizeof(*gates), VCHIP_VECTORS);
	for (i = 0; i < VCHIP_VECTORS; i++)
		WRITE_ONCE(idt->entry[i], i < entries ? gate_offset(&gates[i]) : 0);
	/* C, pairs with the chip's load of idt->seq before it reads the entries */
	smp_store_release(&idt->seq, idt->seq + 1);
}

/**
 * vchip_publish_init() - publish the IDT, every CPU's task, and each switch from now on
 * @chip:	the chip
 *
 * Return: 0, -ENOENT if the kernel has no sched_switch tracepoint, or -errno.
 */
int vchip_publish_init(struct vchip *chip)
{
	int ret;

	publish_chip = chip;
	publish_idt(chip->idt);

	for_each_kernel_tracepoint(find_sched_switch, NULL);
	if (!sched_switch)
		return -ENOENT;
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "vchip/publish:dead", NULL,
					publish_cpu_dead);
	if (ret < 0)
		return ret;
	publish_hotplug = ret;
	ret = tracepoint_probe_register(sched_switch, on_sched_switch, NULL);
	if (ret) {
		cpuhp_remove_state_nocalls(publish_hotplug);
		return ret;
	}
	/* After the probe: a CPU that switches meanwhile has published its task itself. */
	on_each_cpu(publish_current, NULL, 1);
	return 0;
}

/**
 * vchip_publish_exit() - stop; no CPU is in the probe afterwards
 * @chip:	the chip
 */
void vchip_publish_exit(struct vchip *chip)
{
	unsigned int cpu;

	cpuhp_remove_state_nocalls(publish_hotplug);
	tracepoint_probe_unregister(sched_switch, on_sched_switch, NULL);
	tracepoint_synchronize_unregister();
	for (cpu = 0; cpu < chip->cpus; cpu++)
		WRITE_ONCE(vchip_cpu(chip, cpu)->task, 0);
}
