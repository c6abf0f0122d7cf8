// SPDX-License-Identifier: GPL-2.0-only
/*
 * An idle CPU is not woken to be told that it is idle. When the scheduler switches to
 * the idle task the samplers of that CPU take their timers off, before the idle
 * governor looks for the next timer and chooses a state by it (the cpu_idle tracepoint
 * would be too late); when it switches back they are set to the next tick of the
 * common grid. The ticks between are booked as parked.
 *
 * All of this happens on the CPU in question with interrupts off, inside the
 * scheduler: nothing here may wake a task, allocate or print. That a reader has to be
 * woken goes through irq_work.
 */
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "grid.h"
#include "load.h"
#include "park.h"
#include "sampler.h"
#include "tracepoint.h"

/* The samplers of a CPU that leave it alone; touched on it only, with interrupts off. */
static DEFINE_PER_CPU(struct hlist_head, parking);

/* Idle time that is short against the interval is not worth readings of energy at its edges. */
static u64 worth_reading_ns(const struct kjoule_sampler *s)
{
	return s->plan->interval_ns / 4;
}

/* Does another CPU's reading of energy hang on this one? */
static bool is_needed(const struct kjoule_sampler *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (READ_ONCE(s->meter[i]->owner) == s->cpu && s->meter[i]->cpus > 1)
			return true;
	}
	return false;
}

static void park(struct kjoule_sampler *s, u64 now)
{
	unsigned int i;
	u64 count;

	if (is_needed(s))
		return;
	hrtimer_try_to_cancel(&s->timer);
	kjoule_books_open(s->ring.page);
	/* due but not taken yet: the code that it would have met is gone */
	count = kjoule_grid_elapsed(s, now);
	if (count)
		kjoule_sampler_miss(s, count, 0);
	kjoule_sampler_read_meters(s, now, worth_reading_ns(s), true);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	for (i = 0; i < s->n_meters; i++)
		kjoule_meter_release(s->meter[i], s->cpu);
	s->parked = true;
	s->parked_ns = now;
	s->told_ns = now;
}

static void unpark(struct kjoule_sampler *s, u64 now)
{
	if (!s->parked)
		return;
	kjoule_books_open(s->ring.page);
	kjoule_sampler_book_parked(s, now);
	s->parked = false;
	kjoule_sampler_read_meters(s, now, worth_reading_ns(s), true);
	kjoule_sampler_wake_reader(s);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	/* who wakes often gets no more ticks from it than the load allows */
	hrtimer_start(&s->timer, ns_to_ktime(kjoule_tick_due(s, now, 0)),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* The boot CPU's idle task and its like; not tasks that inject idle time. */
static bool is_idle(const struct task_struct *task)
{
	return !task->pid;
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
	if (hlist_unhashed(&s->parking))
		return;
	if (s->parked && is_needed(s))
		unpark(s, ktime_get_ns());
	else if (!s->parked && is_idle(current))
		park(s, ktime_get_ns());
}

static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	struct kjoule_sampler *s;
	struct hlist_head *head;
	u64 now;

	if (likely(!is_idle(prev) && !is_idle(next)))
		return;
	head = this_cpu_ptr(&parking);
	if (hlist_empty(head))
		return;
	now = ktime_get_ns();
	hlist_for_each_entry(s, head, parking) {
		if (is_idle(next))
			park(s, now);
		else
			unpark(s, now);
	}
	kjoule_load_take(kjoule_load_of(smp_processor_id()), ktime_get_ns() - now);
}

static struct kjoule_probe probe[] = {
	{ .name = "sched_switch", .function = on_switch },
};

static struct kjoule_probes probes = { .n = ARRAY_SIZE(probe), .probe = probe };

/**
 * kjoule_park_init() - make ready
 *
 * Context: module init.
 */
void kjoule_park_init(void)
{
	kjoule_probes_init(&probes);
}

/**
 * kjoule_park_exit() - undo kjoule_park_init()
 *
 * Context: module exit.
 */
void kjoule_park_exit(void)
{
	kjoule_probes_exit(&probes);
}

/**
 * kjoule_park_get() - from now on switches to idle are seen
 *
 * Context: process, sleeps.
 * Return: 0, -EOPNOTSUPP if the kernel does not tell of switches, or -errno.
 */
int kjoule_park_get(void)
{
	return kjoule_probes_get(&probes);
}

/**
 * kjoule_park_put() - undo kjoule_park_get()
 *
 * Context: process, sleeps.
 */
void kjoule_park_put(void)
{
	kjoule_probes_put(&probes);
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
	hlist_add_head(&s->parking, this_cpu_ptr(&parking));
	if (is_idle(current))
		park(s, ktime_get_ns());
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
}
