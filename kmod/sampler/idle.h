/* SPDX-License-Identifier: GPL-2.0-only */
/* Skipping ticks on idle CPUs; see idle.c. For the sampler's files. */
#ifndef KJOULE_IDLE_H
#define KJOULE_IDLE_H

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sched.h>

struct kjoule_sampler;

/*
 * The samplers of a CPU that skip ticks while it is idle; used on that CPU only, with interrupts
 * off.
 */
DECLARE_PER_CPU(struct hlist_head, kjoule_idle_samplers);

/* Is it the idle task of its CPU? Tasks that inject idle time are not. */
static inline bool kjoule_idle_is_task(const struct task_struct *task)
{
	return !task->pid;
}

void kjoule_idle_init(struct kjoule_sampler *s);
void kjoule_idle_sync(struct kjoule_sampler *s);
void kjoule_idle_add(struct kjoule_sampler *s);
void kjoule_idle_remove(struct kjoule_sampler *s);
void kjoule_idle_enter(struct kjoule_sampler *s, u64 now, bool in_switch);
void kjoule_idle_leave(struct kjoule_sampler *s, u64 now);
void kjoule_idle_recheck(struct kjoule_sampler *s);
bool kjoule_idle_at_tick(struct kjoule_sampler *s);

#endif
