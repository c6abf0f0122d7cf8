/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sampler's position on the grid of ticks, and its statistics. Shared by ticks (tick.c), idle
 * CPUs (idle.c), start and stop (sampler.c). Changed on the sampler's CPU with interrupts off, or
 * by code that has cancelled its timer and removed it from idle.c's list.
 */
#ifndef KJOULE_GRID_H
#define KJOULE_GRID_H

#include <linux/math64.h>

#include "sampler/sampler.h"

static inline u64 kjoule_grid_due(const struct kjoule_plan *plan, u64 tick, u64 grid_ns)
{
	return plan->jitter_ns ? grid_ns + kjoule_jitter(plan->seed, tick, plan->jitter_ns) :
				 grid_ns;
}

static inline void kjoule_grid_expect(struct kjoule_sampler *s, const struct kjoule_plan *plan,
				      u64 tick, u64 grid_ns)
{
	s->tick = tick;
	s->grid_ns = grid_ns;
	s->due_ns = kjoule_grid_due(plan, tick, grid_ns);
}

/* Ticks after the next one that are due by @now as well. */
static inline u64 kjoule_grid_behind(const struct kjoule_sampler *s, u64 now)
{
	const struct kjoule_plan *plan = s->plan;
	u64 behind;

	if (now < s->grid_ns + plan->interval_ns)
		return 0;
	behind = div64_u64(now - s->grid_ns, plan->interval_ns);
	/* with jitter, the last tick on the grid may still be to come */
	if (kjoule_grid_due(plan, s->tick + behind,
			    s->grid_ns + behind * plan->interval_ns) > now)
		behind--;
	return behind;
}

/* Ticks from the next one on that are due by @now. */
static inline u64 kjoule_grid_elapsed(const struct kjoule_sampler *s, u64 now)
{
	return now < s->due_ns ? 0 : 1 + kjoule_grid_behind(s, now);
}

/* Statistics are written between these two; see struct kjoule_ring_head.seq. */
static inline void kjoule_stats_begin_write(struct kjoule_ring_head *page)
{
	WRITE_ONCE(page->seq, page->seq + 1);
	smp_wmb();	/* E, pairs with F in kjoule_sampler_get_stats() and in user space */
}

static inline void kjoule_stats_end_write(struct kjoule_ring_head *page)
{
	smp_wmb();	/* E, pairs with F in kjoule_sampler_get_stats() */
	WRITE_ONCE(page->seq, page->seq + 1);
}

static inline void kjoule_sampler_publish(struct kjoule_sampler *s)
{
	s->ring.page->due = s->tick;
	kjoule_ring_commit(&s->ring);
}

/* Wake the reader or post an event if needed; usually nothing has to be checked. */
static inline void kjoule_sampler_wake_reader(struct kjoule_sampler *s)
{
	if (unlikely(s->ring.head >= s->check_at || s->ring.lost))
		kjoule_sampler_check_ring(s);
}

static inline void kjoule_sampler_read_meter(struct kjoule_sampler *s, struct kjoule_meter *m,
					     u64 now)
{
	u32 errors = kjoule_meter_read(m, now);

	if (unlikely(errors))
		kjoule_sampler_meter_failed(s, m, errors);
}

enum hrtimer_restart kjoule_tick(struct hrtimer *timer);
bool kjoule_tick_at_switch(struct kjoule_sampler *s, u64 now);
u64 kjoule_tick_due(struct kjoule_sampler *s, u64 now, u64 took);
void kjoule_sampler_miss(struct kjoule_sampler *s, u64 count, u8 flags);
void kjoule_sampler_count_idle(struct kjoule_sampler *s, u64 now);
void kjoule_sampler_read_meters(struct kjoule_sampler *s, u64 now, u64 older_ns, bool in_switch);

#endif
