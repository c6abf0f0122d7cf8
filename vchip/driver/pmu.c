// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPUs' cycle and instruction counters as the perf PMU "vchip": per task and per
 * CPU, user and kernel apart, 64 bits, free running and without an interrupt, so it
 * counts and does not sample.
 */

#include <linux/bits.h>
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "compat/compat.h"
#include "vchip.h"

/* attr.config */
#define EVENT_MASK		0xffULL
#define EVENT_CYCLES		1
#define EVENT_INSTRUCTIONS	2
#define CONFIG_USER		BIT_ULL(8)
#define CONFIG_KERNEL		BIT_ULL(9)
#define CONFIG_VALID		(EVENT_MASK | CONFIG_USER | CONFIG_KERNEL)

static const struct vchip *pmu_chip;
static struct pmu *vchip_pmu, *mailbox_pmu;

/* hw.config keeps only what is counted: the event, and which of the two modes. */
static u64 event_config(const struct perf_event_attr *attr)
{
	u64 modes = attr->config & (CONFIG_USER | CONFIG_KERNEL);

	if (!modes)
		modes = CONFIG_USER | CONFIG_KERNEL;
	if (attr->exclude_user)
		modes &= ~CONFIG_USER;
	if (attr->exclude_kernel)
		modes &= ~CONFIG_KERNEL;
	return (attr->config & EVENT_MASK) | modes;
}

/* This CPU's counter for the event. */
static u64 event_counter(const struct perf_event *event)
{
	const struct vchip_cpu *regs = vchip_cpu(pmu_chip, smp_processor_id());
	u64 config = event->hw.config;
	bool cycles = (config & EVENT_MASK) == EVENT_CYCLES;
	u64 count = 0;

	if (config & CONFIG_USER)
		count += READ_ONCE(*(cycles ? &regs->cycles_user : &regs->instr_user));
	if (config & CONFIG_KERNEL)
		count += READ_ONCE(*(cycles ? &regs->cycles_kernel : &regs->instr_kernel));
	return count;
}

/*
 * Interrupts are off or perf's context lock is held, on the event's CPU. A reader in an
 * interrupt may come between, as kjoule's sampler does: the reader that advances prev_count counts.
 */
static void vchip_event_read(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now;

	do {
		prev = local64_read(&hwc->prev_count);
		now = event_counter(event);
	} while (local64_cmpxchg(&hwc->prev_count, prev, now) != prev);
	local64_add(now - prev, &event->count);
}

static void vchip_event_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, event_counter(event));
	event->hw.state = 0;
}

/**
 * vchip_counting_stop() - take in what was counted, and count no more
 * @event:	of a PMU that reads a counter which cannot be stopped
 * @flags:	as perf has them
 */
void vchip_counting_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	event->pmu->read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/**
 * vchip_counting_add() - there is always room for one more
 * @event:	as above
 * @flags:	as perf has them
 *
 * Return: 0.
 */
int vchip_counting_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		event->pmu->start(event, flags);
	return 0;
}

/**
 * vchip_counting_del() - take it from its CPU
 * @event:	as above
 * @flags:	as perf has them
 */
void vchip_counting_del(struct perf_event *event, int flags)
{
	event->pmu->stop(event, PERF_EF_UPDATE);
}

static bool full;
module_param(full, bool, 0600);
MODULE_PARM_DESC(full, "for tests: the PMU has no room for another counter");

static int vchip_event_add(struct perf_event *event, int flags)
{
	if (READ_ONCE(full))
		return -EAGAIN;
	return vchip_counting_add(event, flags);
}

static int not_on = -1;
module_param(not_on, int, 0600);
MODULE_PARM_DESC(not_on, "for tests: a CPU of which the PMU counts nothing, -1: none");

static int vchip_event_init(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type != event->pmu->type)
		return -ENOENT;
	if (event->cpu >= 0 && event->cpu == READ_ONCE(not_on))
		return -EINVAL;
	if (attr->config & ~CONFIG_VALID || attr->config1 || attr->config2)
		return -EINVAL;
	if ((attr->config & EVENT_MASK) != EVENT_CYCLES &&
	    (attr->config & EVENT_MASK) != EVENT_INSTRUCTIONS)
		return -EINVAL;
	if (is_sampling_event(event) || has_branch_stack(event))
		return -EOPNOTSUPP;
	if (attr->exclude_idle || attr->exclude_host)
		return -EINVAL;
	event->hw.config = event_config(attr);
	if (!(event->hw.config & (CONFIG_USER | CONFIG_KERNEL)))
		return -EINVAL;
	return 0;
}

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(user, "config:8");
PMU_FORMAT_ATTR(kernel, "config:9");

static struct attribute *vchip_format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_user.attr,
	&format_attr_kernel.attr,
	NULL
};

static const struct attribute_group vchip_format_group = {
	.name	= "format",
	.attrs	= vchip_format_attrs,
};

/*
 * The mode is part of an event's name as well, so that both spellings work with perf:
 * vchip/instructions/u is perf's modifier, vchip/instructions:u/ one of these.
 */
PMU_EVENT_ATTR_STRING(cycles, vchip_cycles, "event=0x01");
PMU_EVENT_ATTR_STRING(cycles:u, vchip_cycles_u, "event=0x01,user=1");
PMU_EVENT_ATTR_STRING(cycles:k, vchip_cycles_k, "event=0x01,kernel=1");
PMU_EVENT_ATTR_STRING(instructions, vchip_instructions, "event=0x02");
PMU_EVENT_ATTR_STRING(instructions:u, vchip_instructions_u, "event=0x02,user=1");
PMU_EVENT_ATTR_STRING(instructions:k, vchip_instructions_k, "event=0x02,kernel=1");

static struct attribute *vchip_event_attrs[] = {
	&vchip_cycles.attr.attr,
	&vchip_cycles_u.attr.attr,
	&vchip_cycles_k.attr.attr,
	&vchip_instructions.attr.attr,
	&vchip_instructions_u.attr.attr,
	&vchip_instructions_k.attr.attr,
	NULL
};

static const struct attribute_group vchip_events_group = {
	.name	= "events",
	.attrs	= vchip_event_attrs,
};

static const struct attribute_group *vchip_pmu_groups[] = {
	&vchip_format_group,
	&vchip_events_group,
	NULL
};

/*
 * Stands for the PMUs that wake something up, or take locks, when they are read: it must not be
 * read inside the scheduler, as when a CPU comes back from idle: preemption is off there for idle,
 * for the run queue's lock and for the tracepoint. An interprocessor call to a CPU that polls in
 * idle runs in the idle task too, but with preemption off for idle alone, or for idle and a lock of
 * perf, which reads counters there. Since 7.2 it is not off for a tracepoint: this finds nothing
 * there, and the test is skipped.
 */
static void mailbox_event_read(struct perf_event *event)
{
	WARN_ON_ONCE(is_idle_task(current) && !in_hardirq() && preempt_count() > 2);
	vchip_event_read(event);
}

static int mailbox_event_init(struct perf_event *event)
{
	return event->cpu < 0 ? -ENOENT : vchip_event_init(event);
}

static struct pmu *new_pmu(const char *name, bool of_tasks)
{
	struct pmu *pmu = kzalloc(sizeof(*pmu), GFP_KERNEL);

	if (!pmu)
		return NULL;
	pmu->module		= THIS_MODULE;
	pmu->task_ctx_nr	= of_tasks ? perf_sw_context : perf_invalid_context;
	pmu->capabilities	= PERF_PMU_CAP_NO_INTERRUPT;
	pmu->attr_groups	= of_tasks ? vchip_pmu_groups : NULL;
	pmu->event_init		= of_tasks ? vchip_event_init : mailbox_event_init;
	pmu->add		= vchip_event_add;
	pmu->del		= vchip_counting_del;
	pmu->start		= vchip_event_start;
	pmu->stop		= vchip_counting_stop;
	pmu->read		= of_tasks ? vchip_event_read : mailbox_event_read;
	if (!perf_pmu_register(pmu, name, -1))
		return pmu;
	kfree(pmu);
	return NULL;
}

static void drop_pmu(struct pmu *pmu)
{
	perf_pmu_unregister(pmu);
	if (VCHIP_PMU_OUTLIVES_MODULE)
		kmemleak_not_leak(pmu);
	else
		kfree(pmu);
}

/**
 * vchip_pmu_init() - register the PMUs "vchip" and "vchip_mailbox"
 * @chip:	the chip
 *
 * Events of the first live in perf's software context, the only one that is both per task and
 * open to more than one PMU; nothing here can run out of counters. The second has the same, of CPUs
 * only, and minds where it is read.
 *
 * Return: 0 or -ENOMEM.
 */
int vchip_pmu_init(struct vchip *chip)
{
	pmu_chip = chip;
	vchip_pmu = new_pmu("vchip", true);
	if (!vchip_pmu)
		return -ENOMEM;
	mailbox_pmu = new_pmu("vchip_mailbox", false);
	if (mailbox_pmu)
		return 0;
	drop_pmu(vchip_pmu);
	return -ENOMEM;
}

/**
 * vchip_pmu_exit() - unregister
 * @chip:	the chip
 */
void vchip_pmu_exit(struct vchip *chip)
{
	drop_pmu(mailbox_pmu);
	drop_pmu(vchip_pmu);
}
