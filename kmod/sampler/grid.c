// SPDX-License-Identifier: GPL-2.0-only
/*
 * The grid of ticks; see grid.h: when the next one is due, what is counted if ticks are missed, and
 * readings of energy between ticks. For tick.c, idle.c and sampler.c; calls none of them.
 */
#include <linux/math64.h>

#include "sampler/grid.h"
#include "sampler/sampler.h"

/*
 * kjoule_tick_due() - the time of the next tick: later than due if that has passed, or if ticks
 * have used much of the CPU; those left out count as missed. @took: duration of the last tick, or
 * 0.
 */
noinline u64 kjoule_tick_due(struct kjoule_sampler *s, u64 now, u64 took)
{
	u64 until = s->load->left_ns < 0 ? kjoule_load_until(s->load, now, took) : now;
	u64 count = kjoule_grid_elapsed(s, until);

	return kjoule_grid_due(s->plan, s->tick + count,
			       s->grid_ns + count * s->plan->interval_ns);
}

/*
 * kjoule_sampler_miss() - count ticks from the next one on as missed. Context: see grid.h; between
 * kjoule_stats_begin_write() and _end_write().
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

/*
 * kjoule_sampler_count_idle() - count the CPU as idle until now. @s: its tick is stopped. Ticks due
 * meanwhile are counted as skipped. Context: see grid.h; between kjoule_stats_begin_write() and
 * _end_write().
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
 * kjoule_sampler_read_meters() - read energy between two ticks
 * @s:		the sampler; ticks due by @now have been counted
 * @now:	CLOCK_MONOTONIC
 * @older_ns:	only meters not read for this time
 * @in_switch:	the scheduler may hold its lock: leave out sources with ticks_only
 * Context: see grid.h, on the sampler's CPU; between kjoule_stats_begin_write() and _end_write().
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
		/*
		 * a record's time is relative to the last due tick; there is none before the first
		 */
		if (!m->updated || !s->tick)
			continue;
		last = s->tick - 1;
		due = kjoule_grid_due(s->plan, last, s->grid_ns - s->plan->interval_ns);
		kjoule_meter_write(m, &s->ring, last, min_t(u64, now - due, U32_MAX));
	}
}
