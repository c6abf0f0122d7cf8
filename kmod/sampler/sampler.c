// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samplers from their making to their end: start, stop, a CPU that goes offline and
 * comes back, and the books. What happens at a tick is in tick.c, what becomes of the
 * timer while a CPU is idle in park.c.
 *
 * The timer and the state are changed on the sampler's own CPU, by functions called
 * there with interrupts off, so that they never meet a tick or a switch to idle.
 */
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include <linux/kjoule_netlink.h>

#include "compat/compat.h"
#include "sampler/grid.h"
#include "sampler/park.h"
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
	kjoule_notices_kick(s->plan->notices);
}

/**
 * kjoule_sampler_init() - make ready for a CPU
 * @s:		to be filled, zeroed
 * @plan:	what to sample; may be completed until kjoule_sampler_start()
 * @cpu:	which CPU
 * @ring_bytes:	data of the ring, a power of two
 *
 * Context: process, sleeps.
 * Return: 0 or -ENOMEM.
 */
int kjoule_sampler_init(struct kjoule_sampler *s, const struct kjoule_plan *plan,
			unsigned int cpu, u64 ring_bytes)
{
	s->plan = plan;
	s->cpu = cpu;
	s->load = kjoule_load_of(cpu);
	init_irq_work(&s->wake, sampler_wake_work);
	kjoule_park_prepare(s);
	hrtimer_setup(&s->timer, kjoule_tick, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	return kjoule_ring_alloc(&s->ring, cpu, ring_bytes);
}

/**
 * kjoule_sampler_exit() - undo kjoule_sampler_init()
 * @s:	stopped
 *
 * Context: process, sleeps.
 */
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

	kjoule_books_open(s->ring.page);
	for (i = 0; i < s->n_meters; i++) {
		if (kjoule_meter_is_mine(s->meter[i], s->cpu, now))
			kjoule_sampler_read_meter(s, s->meter[i], now);
	}
	if (frequency && frequency->ops->read_cycles) {
		s->cycles_known = !frequency->ops->read_cycles(frequency, &s->cycles);
		if (!s->cycles_known)
			kjoule_sampler_cycles_failed(s);
	}
	kjoule_books_close(s->ring.page);
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
	if (s->plan->parks)
		kjoule_park_add(s);
	if (!s->parked)
		sampler_start_timer(s);
}

/**
 * kjoule_sampler_start() - begin to tick
 * @s:	initialised, its plan complete
 *
 * Context: process, the caller holds off CPU hotplug.
 * Return: 0, or -ENXIO if the CPU is offline.
 */
int kjoule_sampler_start(struct kjoule_sampler *s)
{
	return smp_call_function_single(s->cpu, sampler_start_on_cpu, s, 1);
}

/**
 * kjoule_sampler_start_away() - begin without the CPU, which is offline
 * @s:	initialised, its plan complete
 *
 * kjoule_sampler_return() lets it tick when the CPU comes.
 *
 * Context: process, the caller holds off CPU hotplug.
 */
void kjoule_sampler_start_away(struct kjoule_sampler *s)
{
	kjoule_grid_expect(s, s->plan, 0, s->plan->t0_ns);
	s->away = KJOULE_GAP_OFFLINE;
	s->running = true;
}

/* Read the meters a last time: an idle CPU has not read them for a while. */
static void sampler_pause_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;
	u64 now = ktime_get_ns();

	kjoule_books_open(s->ring.page);
	if (s->parked)
		kjoule_sampler_book_parked(s, now);
	kjoule_sampler_read_meters(s, now, 0, false);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	if (s->plan->parks)
		kjoule_park_remove(s);
	/* no tick runs: this is its CPU, with interrupts off */
	hrtimer_try_to_cancel(&s->timer);
	sampler_release_meters(s);
}

/**
 * kjoule_sampler_pause() - the session is about to stop: no more ticks
 * @s:	running or not
 *
 * Context: process, sleeps; the caller keeps the CPU from coming and going.
 */
void kjoule_sampler_pause(struct kjoule_sampler *s)
{
	if (s->running && !s->away)
		smp_call_function_single(s->cpu, sampler_pause_on_cpu, s, 1);
}

static void sampler_leave_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;

	sampler_pause_on_cpu(s);
	s->parked = false;
}

/**
 * kjoule_sampler_leave() - the CPU is going offline, or the machine to sleep
 * @s:		running; its ticks are missed from here on
 * @reason:	one of KJOULE_GAP_*
 *
 * Context: process, sleeps; the caller keeps the CPU from coming and going.
 */
void kjoule_sampler_leave(struct kjoule_sampler *s, u8 reason)
{
	if (!s->away)
		smp_call_function_single(s->cpu, sampler_leave_on_cpu, s, 1);
	s->away |= reason;
}

static void sampler_return_on_cpu(void *data)
{
	struct kjoule_sampler *s = data;
	u64 now = ktime_get_ns(), count = kjoule_grid_elapsed(s, now);

	kjoule_books_open(s->ring.page);
	if (count)
		kjoule_sampler_miss(s, count, s->away);
	s->away = 0;
	/* restart: counters may have changed while the CPU was offline */
	s->cycles_known = false;
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	if (s->plan->parks)
		kjoule_park_add(s);
	if (!s->parked)
		sampler_start_timer(s);
}

/**
 * kjoule_sampler_return() - the CPU is online again, or the machine awake
 * @s:		left before, for @reason or another one that still holds
 * @reason:	one of KJOULE_GAP_*
 *
 * What was due meanwhile is booked as missed, and the ticks go on along the grid.
 *
 * Context: process, sleeps; the caller keeps the CPU from coming and going.
 */
void kjoule_sampler_return(struct kjoule_sampler *s, u8 reason)
{
	if (s->away == reason)
		smp_call_function_single(s->cpu, sampler_return_on_cpu, s, 1);
	else
		s->away &= ~reason;
}

/**
 * kjoule_sampler_stop() - close the books
 * @s:		paused
 * @stop_ns:	ticks due until then and not taken are booked as missed, or parked
 *
 * Context: process, sleeps.
 */
void kjoule_sampler_stop(struct kjoule_sampler *s, u64 stop_ns)
{
	u64 count;

	if (!s->running)
		return;
	s->running = false;
	/* the timer is stopped, so that nothing raises the wake work any more */
	hrtimer_cancel(&s->timer);
	kjoule_park_finish(s);
	irq_work_sync(&s->wake);
	preempt_disable();	/* readers of the counters spin while they are open */
	kjoule_books_open(s->ring.page);
	if (s->parked)
		kjoule_sampler_book_parked(s, stop_ns);
	count = kjoule_grid_elapsed(s, stop_ns);
	if (count)
		kjoule_sampler_miss(s, count, s->away);
	kjoule_ring_tell_lost(&s->ring);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	preempt_enable();
}

struct join {
	struct kjoule_sampler *sampler;
	struct kjoule_meter *meter, *instead;
};

static void sampler_join_on_cpu(void *data)
{
	struct join *join = data;
	struct kjoule_sampler *s = join->sampler;
	unsigned int i;

	if (s->awake && join->meter->kept)
		atomic_inc(&join->meter->awake);
	for (i = 0; i < s->n_meters; i++) {
		if (s->meter[i] != join->instead)
			continue;
		kjoule_meter_release(join->instead, s->cpu);
		if (s->awake && join->instead->kept)
			atomic_dec(&join->instead->awake);
		WRITE_ONCE(s->meter[i], join->meter);
		return;
	}
	s->meter[i] = join->meter;
	smp_store_release(&s->n_meters, i + 1);		/* pairs with msg_put_scopes() */
}

/**
 * kjoule_sampler_join() - there is one more meter that it may have to read
 * @s:	the sampler, ticking or not
 * @m:	the meter
 * @instead: one of its own that @m takes the place of, or NULL
 *
 * Context: process, sleeps; the caller holds the session, so that the CPU does not go meanwhile.
 */
void kjoule_sampler_join(struct kjoule_sampler *s, struct kjoule_meter *m,
			 struct kjoule_meter *instead)
{
	struct join join = { .sampler = s, .meter = m, .instead = instead };

	/* outside of ticks only if the timer runs */
	if (s->running && !s->away)
		smp_call_function_single(s->cpu, sampler_join_on_cpu, &join, 1);
	else
		sampler_join_on_cpu(&join);
}

static void sampler_recheck_on_cpu(void *data)
{
	kjoule_park_recheck(data);
}

/**
 * kjoule_sampler_owner_moved() - it has to read a meter from now on, or need not any more
 * @s:	running
 *
 * An idle CPU that is the only reader of a meter has to tick.
 *
 * Context: process, sleeps; the caller keeps the session running.
 */
void kjoule_sampler_owner_moved(struct kjoule_sampler *s)
{
	if (s->plan->parks && !s->away)
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

	/* a CPU that is neither parked nor going offline reads at its next tick */
	sweep->done = !s->parked && !s->away;
	if (!s->parked || !kjoule_meter_is_mine(sweep->meter, s->cpu, now))
		return;
	sweep->done = true;
	kjoule_books_open(s->ring.page);
	kjoule_sampler_book_parked(s, now);
	kjoule_sampler_read_meters(s, now, 0, false);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	sampler_release_meters(s);
}

/**
 * kjoule_sampler_sweep() - have an idle CPU read a meter without a reader
 * @s:	a sampler that shares it
 * @m:	the meter
 *
 * Wakes the CPU if it is parked. Needed where a whole package is idle for so long that its
 * counters could go round.
 *
 * Context: process; the caller keeps the session running.
 * Return: true if it has been read, or will be at the CPU's next tick.
 */
bool kjoule_sampler_sweep(struct kjoule_sampler *s, struct kjoule_meter *m)
{
	struct sweep sweep = { .sampler = s, .meter = m };

	if (smp_call_function_single(s->cpu, sampler_sweep_on_cpu, &sweep, 1))
		return false;
	return sweep.done;
}

/**
 * kjoule_sampler_emit() - write a record at another time than a tick's
 * @s:		running
 * @type:	KJOULE_RECORD_*
 * @flags:	of the record
 * @record:	the record; its head is filled in here
 * @size:	of it
 *
 * Context: on the sampler's CPU with interrupts off: the ring's producer, as the tick.
 * Return: 0, or -ENOSPC if there was no room (the ring has counted it as lost).
 */
int kjoule_sampler_emit(struct kjoule_sampler *s, u8 type, u8 flags, const void *record, u16 size)
{
	struct kjoule_record *rec;

	lockdep_assert_irqs_disabled();
	kjoule_books_open(s->ring.page);
	rec = kjoule_ring_reserve(&s->ring, type, flags, size, s->tick);
	if (rec)
		memcpy(rec + 1, record + sizeof(*rec), size - sizeof(*rec));
	kjoule_sampler_wake_reader(s);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	return rec ? 0 : -ENOSPC;
}

/**
 * kjoule_sampler_books() - the books as of the last tick, all of one moment
 * @s:		running or not
 * @books:	to be filled
 *
 * Context: process, sleeps.
 */
void kjoule_sampler_books(struct kjoule_sampler *s, struct kjoule_books *books)
{
	const struct kjoule_ring_head *page = s->ring.page;
	u64 head;
	u32 seq;

	do {
		while ((seq = READ_ONCE(page->seq)) & 1)
			cpu_relax();
		smp_rmb();	/* F, pairs with E in kjoule_books_open() and _close() */
		books->due = page->due;
		books->taken = page->taken;
		books->missed = page->missed;
		books->skipped = page->skipped;
		books->filtered = page->filtered;
		books->records = page->records;
		books->lost = page->lost;
		books->samples = page->samples;
		books->tick_ns = page->tick_ns;
		books->source_errors = page->source_errors;
		books->idle_ns = page->idle_ns;
		books->stacks_withheld = page->stacks_withheld;
		head = page->head;
		books->delay_max_ns = s->delay_max_ns;
		smp_rmb();	/* F, pairs with E in kjoule_books_open() and _close() */
	} while (READ_ONCE(page->seq) != seq);
	books->waiting = kjoule_ring_waiting(&s->ring, head, books->records - books->lost);
}

/**
 * kjoule_sampler_set_state() - show the session's state to readers of the ring
 * @s:		any
 * @state:	enum kjoule_session_state
 *
 * Context: any.
 */
void kjoule_sampler_set_state(struct kjoule_sampler *s, u32 state)
{
	WRITE_ONCE(s->ring.page->state, state);
}
