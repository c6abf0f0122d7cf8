// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samplers: start, stop, CPU hotplug, and statistics. Ticks are in tick.c, idle CPUs in idle.c.
 *
 * The timer and the state are changed on the sampler's own CPU with interrupts off, so that they
 * never run concurrently with a tick or a switch to idle.
 */
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include <linux/kjoule_netlink.h>

#include "compat/compat.h"
#include "sampler/grid.h"
#include "sampler/idle.h"
#include "sampler/sampler.h"

static void sampler_release_meters(struct kjoule_sampler *s)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++)
		kjoule_meter_release(s->meter[i], s->cpu);
}

static void sampler_wake_work(struct irq_work *work)
{
	struct kjoule_sampler *s = container_of(work, struct kjoule_sampler, wake);

	wake_up_interruptible(s->plan->reader);
	kjoule_pending_post(s->plan->pending);
}

/**
 * kjoule_sampler_init() - initialise a sampler for a CPU
 * @s:		zeroed
 * @plan:	what to sample; may be completed until kjoule_sampler_start()
 * @cpu:	its CPU
 * @ring_bytes:	data of the ring, a power of two
 * Return: 0 or -ENOMEM
 */
int kjoule_sampler_init(struct kjoule_sampler *s, const struct kjoule_plan *plan,
			unsigned int cpu, u64 ring_bytes)
{
	s->plan = plan;
	s->cpu = cpu;
	s->load = kjoule_load_of(cpu);
	init_irq_work(&s->wake, sampler_wake_work);
	kjoule_idle_init(s);
	hrtimer_setup(&s->timer, kjoule_tick, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	return kjoule_ring_alloc(&s->ring, cpu, ring_bytes);
}

/** kjoule_sampler_exit() - undo kjoule_sampler_init() */
void kjoule_sampler_exit(struct kjoule_sampler *s)
{
	irq_work_sync(&s->wake);
	kjoule_ring_free(&s->ring);
}

/*
 * Read the counters before the first tick; the first CPU of a meter does. Failures are counted as
 * in a tick.
 */
static void sampler_read_baseline(struct kjoule_sampler *s)
{
	struct kjoule_source *frequency = s->plan->frequency;
	u64 now = ktime_get_ns();
	unsigned int i;

	kjoule_stats_begin_write(s->ring.page);
	for (i = 0; i < s->n_meters; i++) {
		if (kjoule_meter_is_mine(s->meter[i], s->cpu, now))
			kjoule_sampler_read_meter(s, s->meter[i], now);
	}
	if (frequency && frequency->ops->read_cycles) {
		s->cycles_known = !frequency->ops->read_cycles(frequency, &s->cycles);
		if (!s->cycles_known)
			kjoule_sampler_cycles_failed(s);
	}
	kjoule_stats_end_write(s->ring.page);
}

static void sampler_start_timer(struct kjoule_sampler *s)
{
	hrtimer_start(&s->timer, ns_to_ktime(s->due_ns), HRTIMER_MODE_ABS_PINNED_HARD);
}

static void sampler_start_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;

	sampler_read_baseline(s);
	kjoule_grid_expect(s, s->plan, 0, s->plan->t0_ns);
	s->running = true;
	if (s->plan->skips_idle)
		kjoule_idle_add(s);
	if (!s->tick_stopped)
		sampler_start_timer(s);
}

/*
 * kjoule_sampler_start() - start the ticks. Context: process, the CPU hotplug lock is held. Return:
 * 0, or -ENXIO if the CPU is offline.
 */
int kjoule_sampler_start(struct kjoule_sampler *s)
{
	return smp_call_function_single(s->cpu, sampler_start_on_cpu, s, 1);
}

/*
 * kjoule_sampler_start_suspended() - start on an offline CPU. kjoule_sampler_resume() starts the
 * ticks when the CPU comes online. Context: process, the CPU hotplug lock is held.
 */
void kjoule_sampler_start_suspended(struct kjoule_sampler *s)
{
	kjoule_grid_expect(s, s->plan, 0, s->plan->t0_ns);
	s->suspended = KJOULE_GAP_OFFLINE;
	s->running = true;
}

/* Read the meters a last time: an idle CPU has not read them for a while. */
static void sampler_halt_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;
	u64 now = ktime_get_ns();

	kjoule_stats_begin_write(s->ring.page);
	if (s->tick_stopped)
		kjoule_sampler_count_idle(s, now);
	kjoule_sampler_read_meters(s, now, 0, false);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(s->ring.page);
	if (s->plan->skips_idle)
		kjoule_idle_remove(s);
	/* no tick runs: this is its CPU, with interrupts off */
	hrtimer_try_to_cancel(&s->timer);
	sampler_release_meters(s);
}

/*
 * kjoule_sampler_halt() - no more ticks, before kjoule_sampler_stop(). Context: process, sleeps;
 * without CPU hotplug of @s.
 */
void kjoule_sampler_halt(struct kjoule_sampler *s)
{
	if (s->running && !s->suspended)
		smp_call_function_single(s->cpu, sampler_halt_on_cpu, s, 1);
}

static void sampler_suspend_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;

	sampler_halt_on_cpu(s);
	s->tick_stopped = false;
}

/*
 * kjoule_sampler_suspend() - suspend the ticks, which are missed from now on. @reason: one of
 * KJOULE_GAP_*. Context: process, sleeps; without other CPU hotplug of @s.
 */
void kjoule_sampler_suspend(struct kjoule_sampler *s, u8 reason)
{
	if (!s->suspended)
		smp_call_function_single(s->cpu, sampler_suspend_on_cpu, s, 1);
	s->suspended |= reason;
}

static void sampler_resume_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;
	u64 now = ktime_get_ns(), count = kjoule_grid_elapsed(s, now);

	kjoule_stats_begin_write(s->ring.page);
	if (count)
		kjoule_sampler_miss(s, count, s->suspended);
	s->suspended = 0;
	/* restart: counters may have changed while the CPU was offline */
	s->cycles_known = false;
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(s->ring.page);
	if (s->plan->skips_idle)
		kjoule_idle_add(s);
	if (!s->tick_stopped)
		sampler_start_timer(s);
}

/*
 * kjoule_sampler_resume() - resume the ticks along the grid, unless another reason still applies;
 * those due meanwhile are missed. Context: process, sleeps; without other CPU hotplug of @s.
 */
void kjoule_sampler_resume(struct kjoule_sampler *s, u8 reason)
{
	if (s->suspended == reason)
		smp_call_function_single(s->cpu, sampler_resume_on_cpu, s, 1);
	else
		s->suspended &= ~reason;
}

/**
 * kjoule_sampler_stop() - finish the statistics
 * @s:		halted
 * @stop_ns:	ticks due until then and not taken are counted as missed or skipped
 */
void kjoule_sampler_stop(struct kjoule_sampler *s, u64 stop_ns)
{
	u64 count;

	if (!s->running)
		return;
	s->running = false;
	/* the timer is stopped, so that nothing raises the wake work any more */
	hrtimer_cancel(&s->timer);
	kjoule_idle_sync(s);
	irq_work_sync(&s->wake);
	preempt_disable();	/* readers of the statistics spin while they are written */
	kjoule_stats_begin_write(s->ring.page);
	if (s->tick_stopped)
		kjoule_sampler_count_idle(s, stop_ns);
	count = kjoule_grid_elapsed(s, stop_ns);
	if (count)
		kjoule_sampler_miss(s, count, s->suspended);
	kjoule_ring_flush_lost(&s->ring);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(s->ring.page);
	preempt_enable();
}

struct change {
	struct kjoule_sampler *sampler;
	struct kjoule_meter *meter, *old;
};

static void sampler_add_meter_on_cpu(void *data)
{
	struct change *change = data;
	struct kjoule_sampler *s = change->sampler;
	unsigned int i;

	if (s->busy && change->meter->has_owner)
		atomic_inc(&change->meter->busy_cpus);
	for (i = 0; i < s->n_meters; i++) {
		if (s->meter[i] != change->old)
			continue;
		kjoule_meter_release(change->old, s->cpu);
		if (s->busy && change->old->has_owner)
			atomic_dec(&change->old->busy_cpus);
		WRITE_ONCE(s->meter[i], change->meter);
		return;
	}
	s->meter[i] = change->meter;
	smp_store_release(&s->n_meters, i + 1);		/* pairs with msg_put_scopes() */
}

/*
 * kjoule_sampler_add_meter() - add or replace a meter that the CPU may have to read. @old: one of
 * its own that @m replaces, or NULL. Context: process, sleeps; the session is locked, so that the
 * CPU does not go offline.
 */
void kjoule_sampler_add_meter(struct kjoule_sampler *s, struct kjoule_meter *m,
			      struct kjoule_meter *old)
{
	struct change change = { .sampler = s, .meter = m, .old = old };

	/* outside of ticks only if the timer runs */
	if (s->running && !s->suspended)
		smp_call_function_single(s->cpu, sampler_add_meter_on_cpu, &change, 1);
	else
		sampler_add_meter_on_cpu(&change);
}

static void sampler_recheck_on_cpu(void *data)
{
	kjoule_idle_recheck(data);
}

/*
 * kjoule_sampler_owner_changed() - recheck whether an idle CPU has to tick, because it is the only
 * reader of a meter. Context: process, sleeps; the session is kept running by the caller.
 */
void kjoule_sampler_owner_changed(struct kjoule_sampler *s)
{
	if (s->plan->skips_idle && !s->suspended)
		smp_call_function_single(s->cpu, sampler_recheck_on_cpu, s, 1);
}

struct sweep {
	struct kjoule_sampler *sampler;
	struct kjoule_meter *meter;
	bool done;
};

static void sampler_sweep_on_cpu(void *data)
{
	struct sweep *sweep = data;
	struct kjoule_sampler *s = sweep->sampler;
	u64 now = ktime_get_ns();

	/* a CPU that neither skips ticks nor goes offline reads at its next tick */
	sweep->done = !s->tick_stopped && !s->suspended;
	if (!s->tick_stopped || !kjoule_meter_is_mine(sweep->meter, s->cpu, now))
		return;
	sweep->done = true;
	kjoule_stats_begin_write(s->ring.page);
	kjoule_sampler_count_idle(s, now);
	kjoule_sampler_read_meters(s, now, 0, false);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(s->ring.page);
	sampler_release_meters(s);
}

/*
 * kjoule_sampler_sweep() - have an idle CPU read a meter without a reader. @s: shares the meter.
 * Wakes the CPU if its tick is stopped, so that the counters of an idle package do not wrap unseen.
 * Context: process; the session is kept running by the caller. Return: true if it was read, or will
 * be at the CPU's next tick.
 */
bool kjoule_sampler_sweep(struct kjoule_sampler *s, struct kjoule_meter *m)
{
	struct sweep sweep = { .sampler = s, .meter = m };

	if (smp_call_function_single(s->cpu, sampler_sweep_on_cpu, &sweep, 1))
		return false;
	return sweep.done;
}

/*
 * kjoule_sampler_emit() - write a record between two ticks. @record: the record; its header is
 * filled in here. Context: on the sampler's CPU with interrupts off: the ring's producer, as the
 * tick. Return: 0, or -ENOSPC if there was no room (counted as lost).
 */
int kjoule_sampler_emit(struct kjoule_sampler *s, u8 type, u8 flags, const void *record, u16 size)
{
	struct kjoule_record *rec;

	lockdep_assert_irqs_disabled();
	kjoule_stats_begin_write(s->ring.page);
	rec = kjoule_ring_reserve(&s->ring, type, flags, size, s->tick);
	if (rec)
		memcpy(rec + 1, record + sizeof(*rec), size - sizeof(*rec));
	kjoule_sampler_wake_reader(s);
	kjoule_sampler_publish(s);
	kjoule_stats_end_write(s->ring.page);
	return rec ? 0 : -ENOSPC;
}

/** kjoule_sampler_get_stats() - consistent statistics as of the last tick */
void kjoule_sampler_get_stats(struct kjoule_sampler *s, struct kjoule_stats *stats)
{
	const struct kjoule_ring_head *page = s->ring.page;
	u64 head;
	u32 seq;

	do {
		while ((seq = READ_ONCE(page->seq)) & 1)
			cpu_relax();
		smp_rmb();	/* F, pairs with E in kjoule_stats_begin_write() and _end_write() */
		stats->due = page->due;
		stats->taken = page->taken;
		stats->missed = page->missed;
		stats->skipped = page->skipped;
		stats->filtered = page->filtered;
		stats->records = page->records;
		stats->lost = page->lost;
		stats->samples = page->samples;
		stats->tick_ns = page->tick_ns;
		stats->source_errors = page->source_errors;
		stats->idle_ns = page->idle_ns;
		stats->stacks_withheld = page->stacks_withheld;
		head = page->head;
		stats->delay_max_ns = s->delay_max_ns;
		smp_rmb();	/* F, pairs with E in kjoule_stats_begin_write() and _end_write() */
	} while (READ_ONCE(page->seq) != seq);
	stats->waiting = kjoule_ring_waiting(&s->ring, head, stats->records - stats->lost);
}

/** kjoule_sampler_set_state() - publish the session's state to readers of the ring */
void kjoule_sampler_set_state(struct kjoule_sampler *s, u32 state)
{
	WRITE_ONCE(s->ring.page->state, state);
}
