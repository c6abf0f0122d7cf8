// SPDX-License-Identifier: GPL-2.0-only
/*
 * An idle CPU is not woken only to sample it. When the scheduler switches to
 * the idle task the samplers of that CPU take their timers off, before the idle
 * governor looks for the next timer and chooses a state by it (the cpu_idle tracepoint
 * would be too late); when it switches back they are set to the next tick of the
 * common grid. The ticks between are booked as parked. Called by switch.c.
 *
 * A meter that only one CPU can read has to be read while any of those that share it is not
 * idle. So that CPU ticks meanwhile, even if it is idle itself. Each that is not idle counts
 * itself in its meters; a CPU that comes back from idle kicks the one that reads them, if that is
 * parked, and that one checks at each of its ticks whether any is left.
 *
 * All of this happens on the CPU in question with interrupts off, inside the
 * scheduler: nothing here may wake a task, allocate or print. That a reader has to be
 * woken goes through irq_work.
 */
#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "sampler/grid.h"
#include "sampler/load.h"
#include "sampler/park.h"
#include "sampler/sampler.h"

DEFINE_PER_CPU(struct hlist_head, kjoule_parking);

/* Energy is not read around idle times much shorter than the interval. */
static u64 park_min_idle_ns(const struct kjoule_sampler *s)
{
	return s->plan->interval_ns / 4;
}

/* Does a busy CPU depend on this one's readings of energy? */
static bool park_is_needed(const struct kjoule_sampler *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (READ_ONCE(s->meter[i]->owner) == s->cpu &&
		    atomic_read(&s->meter[i]->awake) > s->awake)
			return true;
	}
	return false;
}

static void park_kick(struct kjoule_sampler *s)
{
	if (!atomic_xchg(&s->kicked, 1) && smp_call_function_single_async(s->cpu, &s->kick))
		atomic_set(&s->kicked, 0);	/* offline: rechecked when it is back online */
}

/* Count this CPU as idle. A keeper that ticks for it checks at each of its ticks. */
static void park_count_idle(struct kjoule_sampler *s)
{
	unsigned int i;

	if (!s->awake)
		return;
	s->awake = false;
	for (i = 0; i < s->n_meters; i++) {
		if (s->meter[i]->kept)
			atomic_dec(&s->meter[i]->awake);
	}
}

/* May this idle CPU stop its ticks, or do other CPUs need them? */
static bool park_may_begin(struct kjoule_sampler *s)
{
	WRITE_ONCE(s->asleep, true);
	smp_mb();	/* W, pairs with V in park_count_busy(): it counts first or sees @asleep */
	if (park_is_needed(s))
		WRITE_ONCE(s->asleep, false);
	s->held = !s->asleep;
	return s->asleep;
}

/**
 * kjoule_park_enter() - the CPU is idle: take the timer off, unless it has to tick for others
 * @s:		of this CPU, not parked
 * @now:	CLOCK_MONOTONIC
 * @in_switch:	the scheduler holds its lock
 *
 * Context: interrupts off, on the sampler's CPU.
 */
void kjoule_park_enter(struct kjoule_sampler *s, u64 now, bool in_switch)
{
	unsigned int i;
	u64 count;

	park_count_idle(s);
	if (!park_may_begin(s))
		return;
	hrtimer_try_to_cancel(&s->timer);
	kjoule_books_open(s->ring.page);
	/* due but not taken: the code that the tick would sample is gone */
	count = kjoule_grid_elapsed(s, now);
	if (count)
		kjoule_sampler_miss(s, count, 0);
	kjoule_sampler_read_meters(s, now, park_min_idle_ns(s), in_switch);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	for (i = 0; i < s->n_meters; i++)
		kjoule_meter_release(s->meter[i], s->cpu);
	s->parked = true;
	s->parked_ns = now;
	s->told_ns = now;
}

static void park_end(struct kjoule_sampler *s, u64 now, bool in_switch)
{
	WRITE_ONCE(s->asleep, false);
	if (!s->parked)
		return;
	kjoule_books_open(s->ring.page);
	kjoule_sampler_book_parked(s, now);
	s->parked = false;
	kjoule_sampler_read_meters(s, now, park_min_idle_ns(s), in_switch);
	kjoule_sampler_wake_reader(s);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	/* frequent wakeups do not exceed the limit of the load */
	hrtimer_start(&s->timer, ns_to_ktime(kjoule_tick_due(s, now, 0)),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* Count this CPU as busy, and kick idle keepers of its meters. */
static void park_count_busy(struct kjoule_sampler *s)
{
	unsigned int i;

	s->awake = true;
	for (i = 0; i < s->n_meters; i++) {
		struct kjoule_sampler *keeper;

		if (!s->meter[i]->kept)
			continue;
		atomic_inc(&s->meter[i]->awake);
		smp_mb__after_atomic();	/* V, pairs with W in park_may_begin() */
		keeper = READ_ONCE(s->meter[i]->keeper);
		if (keeper && keeper != s && READ_ONCE(keeper->asleep))
			park_kick(keeper);
	}
}

/**
 * kjoule_park_leave() - the CPU is not idle any more
 * @s:		of this CPU
 * @now:	CLOCK_MONOTONIC
 *
 * Context: sched_switch, on the sampler's CPU; its run queue is locked.
 */
void kjoule_park_leave(struct kjoule_sampler *s, u64 now)
{
	s->held = false;
	park_count_busy(s);
	park_end(s, now, true);
}

static void park_end_for_ticks(struct kjoule_sampler *s, u64 now)
{
	s->held = true;
	park_end(s, now, false);
}

/*
 * Runs even if the kicking CPU is idle again: a tick follows, which reads, so that no further kick
 * is needed until then. Once @kicked and then @looking are clear, the sampler is not touched from
 * here.
 */
static void park_kick_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;
	u64 now = ktime_get_ns();

	WRITE_ONCE(s->looking, true);
	atomic_set_release(&s->kicked, 0);
	if (s->parked && !hlist_unhashed(&s->parking))
		park_end_for_ticks(s, now);
	kjoule_load_take(s->load, ktime_get_ns() - now + kjoule_load_bare_ns);
	smp_store_release(&s->looking, false);	/* Y, pairs with Z in kjoule_park_finish() */
}

/**
 * kjoule_park_recheck() - another CPU's reading may hang on this one now, or no more
 * @s:	of this CPU
 *
 * Context: interrupts off, on the sampler's CPU.
 */
void kjoule_park_recheck(struct kjoule_sampler *s)
{
	lockdep_assert_irqs_disabled();
	if (hlist_unhashed(&s->parking) || !kjoule_park_is_idle(current))
		return;
	if (!s->parked)
		kjoule_park_enter(s, ktime_get_ns(), false);
	else if (park_is_needed(s))
		park_end_for_ticks(s, ktime_get_ns());
}

/**
 * kjoule_park_at_tick() - check whether the ticks of an idle CPU are still needed
 * @s:	of this CPU, held
 *
 * Context: its timer's callback.
 * Return: true if it is parked now, and the timer is not to be set again.
 */
bool kjoule_park_at_tick(struct kjoule_sampler *s)
{
	u64 now;

	if (park_is_needed(s))
		return false;
	now = ktime_get_ns();
	kjoule_park_enter(s, now, false);
	kjoule_load_take(s->load, ktime_get_ns() - now);
	return s->parked;
}

/**
 * kjoule_park_prepare() - make a sampler ready to be left alone
 * @s:	that is being made
 *
 * Context: process.
 */
void kjoule_park_prepare(struct kjoule_sampler *s)
{
	INIT_CSD(&s->kick, park_kick_on_cpu, s);
}

/**
 * kjoule_park_finish() - wait for kicks that are in flight
 * @s:	paused, as are all others of its session
 *
 * Context: process, interrupts on.
 */
void kjoule_park_finish(struct kjoule_sampler *s)
{
	while (atomic_read_acquire(&s->kicked))
		cpu_relax();
	while (smp_load_acquire(&s->looking))	/* Z, pairs with Y in park_kick_on_cpu() */
		cpu_relax();
}

/**
 * kjoule_park_add() - leave this CPU alone while it is idle
 * @s:	of this CPU; it is parked at once if the CPU is idle now
 *
 * Context: interrupts off, on the sampler's CPU.
 */
void kjoule_park_add(struct kjoule_sampler *s)
{
	lockdep_assert_irqs_disabled();
	hlist_add_head(&s->parking, this_cpu_ptr(&kjoule_parking));
	if (kjoule_park_is_idle(current))
		kjoule_park_enter(s, ktime_get_ns(), false);
	else
		park_count_busy(s);
}

/**
 * kjoule_park_remove() - undo kjoule_park_add(); a parked sampler stays so
 * @s:	of this CPU
 *
 * Context: interrupts off, on the sampler's CPU.
 */
void kjoule_park_remove(struct kjoule_sampler *s)
{
	lockdep_assert_irqs_disabled();
	hlist_del_init(&s->parking);
	park_count_idle(s);
	WRITE_ONCE(s->asleep, false);
	s->held = false;
}
