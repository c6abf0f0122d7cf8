// SPDX-License-Identifier: GPL-2.0-only
/*
 * Skips ticks on idle CPUs, so as not to wake them only to sample. At a switch to the idle task the
 * samplers of the CPU cancel their timers, before the idle governor chooses a state by the next
 * timer (the cpu_idle tracepoint would be too late); at the switch back they are set to the next
 * tick of the grid. Called by switch.c.
 *
 * A meter that only one CPU can read is read while any CPU that shares it is busy: its owner ticks
 * meanwhile, even if it is idle. Busy CPUs count themselves in their meters; a CPU that becomes
 * busy kicks the owner if its tick is stopped, and the owner checks at each tick whether any is
 * left.
 *
 * All of this runs on the CPU in question with interrupts off, inside the scheduler: it must not
 * wake a task, allocate or print. The reader is woken by irq_work.
 */
#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "sampler/grid.h"
#include "sampler/load.h"
#include "sampler/idle.h"
#include "sampler/sampler.h"

DEFINE_PER_CPU(struct hlist_head, kjoule_idle_samplers);

/* Energy is not read around idle times much shorter than the interval. */
static u64 idle_min_ns(const struct kjoule_sampler *s)
{
	return s->plan->interval_ns / 4;
}

static bool idle_ticks_are_needed(const struct kjoule_sampler *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (READ_ONCE(s->meter[i]->owner) == s->cpu &&
		    atomic_read(&s->meter[i]->busy_cpus) > s->busy)
			return true;
	}
	return false;
}

static void idle_kick(struct kjoule_sampler *s)
{
	if (!atomic_xchg(&s->kick_pending, 1) && smp_call_function_single_async(s->cpu, &s->kick))
		atomic_set(&s->kick_pending, 0);	/* offline: rechecked when back online */
}

/* Count this CPU as idle. An owner that ticks for it checks at each of its ticks. */
static void idle_set_idle(struct kjoule_sampler *s)
{
	unsigned int i;

	if (!s->busy)
		return;
	s->busy = false;
	for (i = 0; i < s->n_meters; i++) {
		if (s->meter[i]->has_owner)
			atomic_dec(&s->meter[i]->busy_cpus);
	}
}

static bool idle_may_stop_tick(struct kjoule_sampler *s)
{
	WRITE_ONCE(s->idle, true);
	smp_mb();	/* W, pairs with V in idle_set_busy(): it counts first or sees @idle */
	if (idle_ticks_are_needed(s))
		WRITE_ONCE(s->idle, false);
	s->ticks_while_idle = !s->idle;
	return s->idle;
}

/**
 * kjoule_idle_enter() - the CPU is idle: cancel the timer, unless it has to tick for others
 * @s:		of this CPU, its tick is not stopped
 * @now:	CLOCK_MONOTONIC
 * @in_switch:	the scheduler holds its lock
 */
void kjoule_idle_enter(struct kjoule_sampler *s, u64 now, bool in_switch)
{
	unsigned int i;
	u64 count;

	idle_set_idle(s);
	if (!idle_may_stop_tick(s))
		return;
	hrtimer_try_to_cancel(&s->timer);
	kjoule_stats_begin_write(s->ring.page);
	/* due but not taken: the code that the tick would sample is gone */
	count = kjoule_grid_elapsed(s, now);
	if (count)
		kjoule_sampler_miss(s, count, 0);
	kjoule_sampler_read_meters(s, now, idle_min_ns(s), in_switch);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(s->ring.page);
	for (i = 0; i < s->n_meters; i++)
		kjoule_meter_release(s->meter[i], s->cpu);
	s->tick_stopped = true;
	s->idle_counted_ns = now;
	s->idle_recorded_ns = now;
}

static void idle_restart_tick(struct kjoule_sampler *s, u64 now, bool in_switch)
{
	WRITE_ONCE(s->idle, false);
	if (!s->tick_stopped)
		return;
	kjoule_stats_begin_write(s->ring.page);
	kjoule_sampler_count_idle(s, now);
	s->tick_stopped = false;
	kjoule_sampler_read_meters(s, now, idle_min_ns(s), in_switch);
	kjoule_sampler_wake_reader(s);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(s->ring.page);
	/* frequent wakeups stay within the limit of the load */
	hrtimer_start(&s->timer, ns_to_ktime(kjoule_tick_due(s, now, 0)),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* Count this CPU as busy, and kick idle owners of its meters. */
static void idle_set_busy(struct kjoule_sampler *s)
{
	unsigned int i;

	s->busy = true;
	for (i = 0; i < s->n_meters; i++) {
		struct kjoule_sampler *owner_sampler;

		if (!s->meter[i]->has_owner)
			continue;
		atomic_inc(&s->meter[i]->busy_cpus);
		smp_mb__after_atomic();	/* V, pairs with W in idle_may_stop_tick() */
		owner_sampler = READ_ONCE(s->meter[i]->owner_sampler);
		if (owner_sampler && owner_sampler != s && READ_ONCE(owner_sampler->idle))
			idle_kick(owner_sampler);
	}
}

/*
 * kjoule_idle_leave() - the CPU is busy again. Context: sched_switch, on the sampler's CPU; its run
 * queue is locked.
 */
void kjoule_idle_leave(struct kjoule_sampler *s, u64 now)
{
	s->ticks_while_idle = false;
	idle_set_busy(s);
	idle_restart_tick(s, now, true);
}

static void idle_tick_for_others(struct kjoule_sampler *s, u64 now)
{
	s->ticks_while_idle = true;
	idle_restart_tick(s, now, false);
}

/*
 * Runs even if the kicking CPU is idle again: a tick follows, which reads, so that no further kick
 * is needed until then. Once @kick_pending and then @kick_running are clear, this does not use the
 * sampler.
 */
static void idle_kick_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;
	u64 now = ktime_get_ns();

	WRITE_ONCE(s->kick_running, true);
	atomic_set_release(&s->kick_pending, 0);
	if (s->tick_stopped && !hlist_unhashed(&s->idle_node))
		idle_tick_for_others(s, now);
	kjoule_load_charge(s->load, ktime_get_ns() - now + kjoule_load_bare_ns);
	smp_store_release(&s->kick_running, false);	/* Y, pairs with Z in kjoule_idle_sync() */
}

/** kjoule_idle_recheck() - recheck whether another CPU needs this one's readings */
void kjoule_idle_recheck(struct kjoule_sampler *s)
{
	lockdep_assert_irqs_disabled();
	if (hlist_unhashed(&s->idle_node) || !kjoule_idle_is_task(current))
		return;
	if (!s->tick_stopped)
		kjoule_idle_enter(s, ktime_get_ns(), false);
	else if (idle_ticks_are_needed(s))
		idle_tick_for_others(s, ktime_get_ns());
}

/*
 * kjoule_idle_at_tick() - check whether the ticks of an idle CPU are still needed. @s: of this CPU,
 * ticking while idle. Context: its timer's callback. Return: true if the tick is stopped: do not
 * restart the timer.
 */
bool kjoule_idle_at_tick(struct kjoule_sampler *s)
{
	u64 now;

	if (idle_ticks_are_needed(s))
		return false;
	now = ktime_get_ns();
	kjoule_idle_enter(s, now, false);
	kjoule_load_charge(s->load, ktime_get_ns() - now);
	return s->tick_stopped;
}

/* kjoule_idle_init() - initialise a sampler for this. @s: that is being made. */
void kjoule_idle_init(struct kjoule_sampler *s)
{
	INIT_CSD(&s->kick, idle_kick_on_cpu, s);
}

/*
 * kjoule_idle_sync() - wait for pending kicks. @s: halted, as are all others of its session.
 * Context: process, interrupts on.
 */
void kjoule_idle_sync(struct kjoule_sampler *s)
{
	while (atomic_read_acquire(&s->kick_pending))
		cpu_relax();
	while (smp_load_acquire(&s->kick_running))	/* Z, pairs with Y in idle_kick_on_cpu() */
		cpu_relax();
}

/**
 * kjoule_idle_add() - skip ticks while this CPU is idle
 * @s:	of this CPU; its tick is stopped at once if the CPU is idle
 */
void kjoule_idle_add(struct kjoule_sampler *s)
{
	lockdep_assert_irqs_disabled();
	hlist_add_head(&s->idle_node, this_cpu_ptr(&kjoule_idle_samplers));
	if (kjoule_idle_is_task(current))
		kjoule_idle_enter(s, ktime_get_ns(), false);
	else
		idle_set_busy(s);
}

/** kjoule_idle_remove() - undo kjoule_idle_add(); a stopped tick stays so */
void kjoule_idle_remove(struct kjoule_sampler *s)
{
	lockdep_assert_irqs_disabled();
	hlist_del_init(&s->idle_node);
	idle_set_idle(s);
	WRITE_ONCE(s->idle, false);
	s->ticks_while_idle = false;
}
