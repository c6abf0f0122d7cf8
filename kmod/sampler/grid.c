// SPDX-License-Identifier: GPL-2.0-only
/*
 * Along the grid of ticks, see grid.h: when the next one is due, and what is booked and read where
 * no tick is taken. For tick.c, park.c and sampler.c; calls none of them.
 */
#include <linux/math64.h>

#include "sampler/grid.h"
#include "sampler/sampler.h"

/**
 * kjoule_tick_due() - when the next tick may be taken
 * @s:		the sampler
 * @now:	CLOCK_MONOTONIC
 * @took:	what the last tick took, 0 if there was none
 *
 * Later than it is due when that has passed, or when ticks have taken much of the CPU. Those
 * left out are booked with the one that is taken next.
 *
 * Context: interrupts off, on the sampler's CPU.
 * Return: the time to which the timer is to be set.
 */
noinline u64 kjoule_tick_due(struct kjoule_sampler *s, u64 now, u64 took)
{
	u64 until = s->load->left_ns < 0 ? kjoule_load_until(s->load, now, took) : now;
	u64 count = kjoule_grid_elapsed(s, until);

	return kjoule_grid_due(s->plan, s->tick + count,
			       s->grid_ns + count * s->plan->interval_ns);
}

/**
 * kjoule_sampler_miss() - ticks from the next one on did not happen
 * @s:		the sampler
 * @count:	how many
 * @flags:	KJOULE_GAP_*
 *
 * Context: see grid.h; the books are open.
 */
void kjoule_sampler_miss(struct kjoule_sampler *s, u64 count, u8 flags)
{
	struct kjoule_gap *gap;

	gap = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_GAP, flags, sizeof(*gap), s->tick);
	if (gap) {
		gap->tick = s->tick;
		gap->count = count;
	}
	s->ring.page->missed += count;
	kjoule_grid_expect(s, s->plan, s->tick + count, s->grid_ns + count * s->plan->interval_ns);
}

/**
 * kjoule_sampler_count_idle() - the CPU has been idle until now
 * @s:		parked
 * @now:	CLOCK_MONOTONIC
 *
 * The ticks due meanwhile are booked, and it is parked from @now on.
 *
 * Context: see grid.h; the books are open.
 */
void kjoule_sampler_count_idle(struct kjoule_sampler *s, u64 now)
{
	u64 count = kjoule_grid_elapsed(s, now);
	struct kjoule_idle *rec;

	if (count) {
		rec = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_IDLE, 0, sizeof(*rec), s->tick);
		if (rec) {
			rec->tick = s->tick;
			rec->count = count;
			rec->begin_ns = s->idle_recorded_ns;
			rec->end_ns = now;
			s->idle_recorded_ns = now;
		}
		s->ring.page->skipped += count;
		kjoule_grid_expect(s, s->plan, s->tick + count,
				   s->grid_ns + count * s->plan->interval_ns);
	}
	s->ring.page->idle_ns += now - s->idle_counted_ns;
	s->idle_counted_ns = now;
}

/**
 * kjoule_sampler_read_meters() - read energy at another time than a tick's
 * @s:		the sampler; ticks due by @now have been booked
 * @now:	CLOCK_MONOTONIC
 * @older_ns:	only meters that were read at least so long ago
 * @in_switch:	the scheduler may hold its lock: leave out what may not be read then
 *
 * Context: see grid.h, on the sampler's CPU; the books are open.
 */
void kjoule_sampler_read_meters(struct kjoule_sampler *s, u64 now, u64 older_ns, bool in_switch)
{
	u64 due, last;
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		struct kjoule_meter *m = s->meter[i];

		if (in_switch && m->src->ticks_only)
			continue;
		if (!kjoule_meter_is_mine(m, s->cpu, now) || now - m->read_ns < older_ns)
			continue;
		kjoule_sampler_read_meter(s, m, now);
		/* its time is told from the last tick that was due; before the first is none */
		if (!m->updated || !s->tick)
			continue;
		last = s->tick - 1;
		due = kjoule_grid_due(s->plan, last, s->grid_ns - s->plan->interval_ns);
		kjoule_meter_write(m, &s->ring, last, min_t(u64, now - due, U32_MAX));
	}
}
