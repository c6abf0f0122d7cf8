// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ticks. All CPUs tick at the same times t0 + k * interval, so that samples with the same k are
 * simultaneous. The order inside a tick matters: energy before the instruction pointer, as in the
 * ALEA paper (section 3.3.1).
 *
 * Nothing here allocates, prints or takes a lock. Ticks that could not be taken in time are counted
 * and written as a gap record, never taken later. The timer is started and stopped by sampler.c and
 * idle.c.
 */
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <asm/irq_regs.h>

#include "counter/meter.h"
#include "sampler/callchain.h"
#include "sampler/grid.h"
#include "sampler/idle.h"
#include "sampler/sampler.h"

/* Read the mean busy frequency since the last tick; the last one if always idle. */
static __always_inline void tick_read_frequency(struct kjoule_sampler *s, struct kjoule_source *src)
{
	u64 cycles, reference;

	if (!src->ops->read_cycles) {
		s->freq_khz = src->ops->read_khz(src);
		return;
	}
	if (unlikely(src->ops->read_cycles(src, &s->fresh))) {
		kjoule_sampler_cycles_failed(s);
		return;
	}
	cycles = s->fresh.cycles - s->cycles.cycles;
	reference = s->fresh.reference - s->cycles.reference;
	s->cycles = s->fresh;
	if (unlikely(!s->cycles_known))
		s->cycles_known = true;
	else if (likely(reference))
		s->freq_khz = kjoule_counter_mean_khz(cycles, reference, src->reference_khz);
}

static __always_inline bool tick_write_task(struct kjoule_sampler *s,
					    const struct task_struct *task)
{
	struct kjoule_task *rec;

	if (likely(s->pid == task->pid && s->tgid == task->tgid && s->task_known))
		return true;
	rec = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_TASK, 0, sizeof(*rec), s->tick);
	s->task_known = rec;
	if (!rec)
		return false;
	s->pid = task->pid;
	s->tgid = task->tgid;
	rec->pid = s->pid;
	rec->tgid = s->tgid;
	rec->reserved = 0;
	return true;
}

/* Find the interrupted code: @s->ip and KJOULE_SAMPLE_*; at a switch it is the scheduler. */
static __always_inline u8 tick_find_ip(struct kjoule_sampler *s, const struct kjoule_plan *plan,
				       bool in_switch)
{
	struct kjoule_source *freq = plan->frequency;
	struct pt_regs *regs = in_switch ? NULL : get_irq_regs();
	u8 flags = 0;

	s->ip = 0;
	if (in_switch) {
		s->ip = (unsigned long)schedule;
		flags |= KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_SWITCH;
	} else if (likely(regs)) {
		s->ip = instruction_pointer(regs);
		if (!user_mode(regs))
			flags |= KJOULE_SAMPLE_KERNEL;
	}
	if (is_idle_task(current))
		flags |= KJOULE_SAMPLE_IDLE;
	if (freq) {
		if (freq->requested_only)
			flags |= KJOULE_SAMPLE_FREQ_REQUESTED;
		if (regs && freq->ops->precise_ip && !freq->ops->precise_ip(freq, regs, &s->ip))
			flags |= KJOULE_SAMPLE_PRECISE;
	}
	/* a precise IP may be in the kernel even if the registers are not */
	if (unlikely(!plan->kernel_ip &&
		     ((flags & KJOULE_SAMPLE_KERNEL) || s->ip >= TASK_SIZE_MAX))) {
		flags |= KJOULE_SAMPLE_IP_HIDDEN;
		s->ip = 0;
	}
	return flags;
}

/**
 * kjoule_sampler_find_ip() - find the interrupted task and code
 * @s:	its @ip is set, 0 if hidden or not the target
 *
 * Writes a task record if the task is another than before.
 * Context: hard interrupt of a timer on the sampler's CPU.
 * Return: KJOULE_SAMPLE_*, or -ENOENT if the current task is not in the target
 */
int kjoule_sampler_find_ip(struct kjoule_sampler *s)
{
	int flags = -ENOENT;

	s->ip = 0;
	kjoule_stats_begin_write(s->ring.page);
	if (kjoule_target_is_current(&s->plan->target) && tick_write_task(s, current))
		flags = tick_find_ip(s, s->plan, false);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(s->ring.page);
	return flags;
}

static __always_inline void tick_write_sample(struct kjoule_sampler *s,
					      const struct kjoule_plan *plan,
					      u32 tick, u32 delay_ns, bool in_switch)
{
	struct kjoule_sample *rec;
	u8 flags;

	if (!tick_write_task(s, current)) {
		kjoule_ring_count_lost(&s->ring, KJOULE_RECORD_SAMPLE, tick);
		return;
	}
	flags = tick_find_ip(s, plan, in_switch);
	rec = kjoule_ring_reserve_fast(&s->ring, KJOULE_RECORD_SAMPLE, flags, sizeof(*rec),
				       tick);
	if (!rec)
		return;
	rec->tick = tick;
	rec->delay_ns = delay_ns;
	rec->freq_khz = s->freq_khz;
	rec->ip = s->ip;
	s->ring.page->samples++;
	if (unlikely(plan->chain) && !in_switch)
		kjoule_callchain_write(&s->ring, plan, tick);
}

static __always_inline void tick_read_meters(struct kjoule_sampler *s, u64 now, u32 tick,
					     u32 delay_ns, bool in_switch)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		struct kjoule_meter *m = s->meter[i];

		if (in_switch && m->src->ticks_only)
			continue;
		if (!kjoule_meter_is_mine(m, s->cpu, now))
			continue;
		kjoule_sampler_read_meter(s, m, now);
		if (m->updated)
			kjoule_meter_write(m, &s->ring, tick, delay_ns);
	}
}

/* @plan and @page come from the caller: the compiler cannot know that writes leave them alone. */
static __always_inline void tick_take(struct kjoule_sampler *s, const struct kjoule_plan *plan,
				      struct kjoule_ring_head *page, u64 now, bool in_switch)
{
	u64 tick = s->tick, late = now > s->due_ns ? now - s->due_ns : 0;
	u32 delay_ns = min_t(u64, late, U32_MAX);

	if (late > s->delay_max_ns)
		s->delay_max_ns = late;
	s->delay_ticks[fls(delay_ns)]++;
	tick_read_meters(s, now, tick, delay_ns, in_switch);
	if (plan->frequency && !in_switch)
		tick_read_frequency(s, plan->frequency);
	if (kjoule_target_is_current(&plan->target))
		tick_write_sample(s, plan, tick, delay_ns, in_switch);
	else
		page->filtered++;
	page->taken++;
	kjoule_grid_expect(s, plan, tick + 1, s->grid_ns + plan->interval_ns);
}

static __always_inline void tick_take_due(struct kjoule_sampler *s, const struct kjoule_plan *plan,
					  struct kjoule_ring_head *page, u64 begin, bool in_switch)
{
	u64 behind;

	if (unlikely(begin >= s->grid_ns + plan->interval_ns)) {
		behind = kjoule_grid_behind(s, begin);
		if (behind)
			kjoule_sampler_miss(s, behind, 0);
	}
	tick_take(s, plan, page, begin, in_switch);
	kjoule_sampler_wake_reader(s);
}

/*
 * kjoule_tick_at_switch() - attribute a tick that the scheduler delayed to the last task. @s: its
 * tick is not stopped. The scheduler has interrupts off from before it chooses the next task until
 * that one runs. A timer that expires meanwhile would sample the next task, and a task that often
 * gives up the CPU would never be sampled while it does. Context: sched_switch, on the sampler's
 * CPU; its run queue is locked. Return: true if there was one; the timer finds it taken.
 */
bool kjoule_tick_at_switch(struct kjoule_sampler *s, u64 now)
{
	struct kjoule_ring_head *page = s->ring.page;
	u64 took;

	/* the timer is set later than due if ticks use much of the CPU */
	if (likely(now < (u64)ktime_to_ns(hrtimer_get_expires(&s->timer))) || now < s->due_ns)
		return false;
	kjoule_stats_begin_write(page);
	tick_take_due(s, s->plan, page, now, true);
	took = ktime_get_ns() - now;
	page->tick_ns += took;
	/* do not count time that a hypervisor took */
	kjoule_load_charge(s->load, took + kjoule_load_bare_ns);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(page);
	return true;
}

static noinline void tick_write_duration(struct kjoule_sampler *s, u32 tick, u64 took_ns)
{
	struct kjoule_duration *rec = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_DURATION, 0,
						      sizeof(*rec), tick);

	if (!rec)
		return;
	rec->tick = tick;
	rec->duration_ns = min_t(u64, took_ns, U32_MAX);
	rec->reserved = 0;
}

/*
 * kjoule_tick() - timer callback: take a tick. @timer: of the CPU's sampler. Context: hard
 * interrupt on the sampler's CPU. Return: HRTIMER_RESTART with the next tick set; HRTIMER_NORESTART
 * if the tick is stopped.
 */
enum hrtimer_restart kjoule_tick(struct hrtimer *timer)
{
	struct kjoule_sampler *s = container_of(timer, struct kjoule_sampler, timer);
	struct kjoule_ring_head *page = s->ring.page;
	const struct kjoule_plan *plan = s->plan;
	u64 begin = ktime_get_ns(), end, took, due, samples = page->samples;

	if (unlikely(begin < s->due_ns)) {
		/* taken at a switch */
		hrtimer_set_expires(timer, ns_to_ktime(kjoule_tick_due(s, begin, 0)));
		return HRTIMER_RESTART;
	}
	kjoule_stats_begin_write(page);
	tick_take_due(s, plan, page, begin, false);

	end = ktime_get_ns();
	took = end - begin;
	OPTIMIZER_HIDE_VAR(took);	/* avoid a second computation */
	page->tick_ns += took;
	if (unlikely(plan->chain) && page->samples != samples)
		tick_write_duration(s, s->tick - 1, took);
	due = s->due_ns;
	if (unlikely(kjoule_load_add(s->load, took)) || unlikely(end >= due))
		due = kjoule_tick_due(s, end, took);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(page);

	if (unlikely(s->ticks_while_idle) && kjoule_idle_at_tick(s))
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(due));
	return HRTIMER_RESTART;
}
