/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler: one pinned timer per CPU on a grid that all CPUs of a session
 * share, and what happens at a tick. It is told what to sample by a
 * kjoule_plan and writes into rings; it knows neither sessions nor front ends.
 */
#ifndef KJOULE_SAMPLER_H
#define KJOULE_SAMPLER_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/pid.h>
#include <linux/wait.h>

#include "counter.h"
#include "ring.h"
#include "source.h"

/* Below, a CPU could be kept busy by ticks alone; above, 32 bits of nanoseconds run out. */
#define KJOULE_INTERVAL_MIN_NS	(10 * 1000ULL)
#define KJOULE_INTERVAL_MAX_NS	(4 * 1000 * 1000 * 1000ULL)

/**
 * struct kjoule_plan - what the ticks of a session do; fixed while they run
 * @t0_ns:		CLOCK_MONOTONIC at which tick 0 is due, jitter left out
 * @interval_ns:	between ticks
 * @jitter_ns:		tick k is due kjoule_jitter(seed, k, jitter_ns) late; < @interval_ns
 * @seed:		of the jitter
 * @target:		thread group that is sampled, NULL for whatever runs
 * @kernel_ip:		kernel addresses may be shown
 * @wakeup_bytes:	wake the reader when a ring has got so many more
 * @energy:		energy source or NULL
 * @frequency:		frequency source or NULL
 * @reader:		where the reader waits
 */
struct kjoule_plan {
	u64 t0_ns;
	u64 interval_ns;
	u64 jitter_ns;
	u64 seed;
	struct pid *target;
	bool kernel_ip;
	u64 wakeup_bytes;
	struct kjoule_source *energy;
	struct kjoule_source *frequency;
	wait_queue_head_t *reader;
};

/*
 * The books of one CPU at one moment: the fields of the same name in struct
 * kjoule_ring_head, and besides how late the latest tick has been and how many
 * bytes had been written (for kjoule_ring_waiting()).
 */
struct kjoule_books {
	u64 due;
	u64 produced;
	u64 missed;
	u64 parked;
	u64 filtered;
	u64 records;
	u64 lost;
	u64 samples;
	u64 tick_ns;
	u64 source_errors;
	u64 late_max_ns;
	u64 head;
};

/**
 * struct kjoule_sampler - a CPU's timer, ring and state between two ticks
 * @timer:	expires at @due_ns
 * @plan:	what to do at a tick
 * @cpu:	whose ticks
 * @leader:	it writes the energy of its package
 * @running:	between start and stop
 * @tick:	k of the next tick
 * @grid_ns:	when it is due, jitter left out
 * @due_ns:	when it is due
 * @overruns:	ticks in a row that lasted past the next one's due time
 * @freq_khz:	as of the last tick
 * @cycles:	as read at the last tick
 * @cycles_known: they could be
 * @task_known:	@pid and @tgid have been told to the reader
 * @pid:	of the last sample
 * @tgid:	of the last sample
 * @started:	domains whose counter has been read before
 * @moved:	domains whose move has not been written yet
 * @checked_at: head of the ring when it was last looked at whether the mark is reached
 * @woken_at:	head of the ring when the reader was last woken
 * @late_max_ns: the latest that a tick has been
 * @counter:	energy since the start, of the leader
 * @ring:	where the records go
 * @wake:	wakes the reader outside the timer's context
 *
 * Written by the tick on @cpu with interrupts off, or by who has cancelled the timer.
 */
struct kjoule_sampler {
	struct hrtimer timer;
	const struct kjoule_plan *plan;
	unsigned int cpu;
	bool leader;
	bool running;
	u64 tick;
	u64 grid_ns;
	u64 due_ns;
	u32 overruns;
	u32 freq_khz;
	struct kjoule_cycles cycles;
	bool cycles_known;
	bool task_known;
	u32 pid;
	u32 tgid;
	u32 started;
	u32 moved;
	u64 checked_at;
	u64 woken_at;
	u64 late_max_ns;
	struct kjoule_counter counter[KJOULE_MAX_DOMAINS];
	struct kjoule_ring_buffer ring;
	struct irq_work wake;
};

int kjoule_sampler_init(struct kjoule_sampler *s, const struct kjoule_plan *plan,
			unsigned int cpu, bool leader, u64 ring_bytes);
void kjoule_sampler_exit(struct kjoule_sampler *s);
int kjoule_sampler_start(struct kjoule_sampler *s);
void kjoule_sampler_pause(struct kjoule_sampler *s);
void kjoule_sampler_resume(struct kjoule_sampler *s);
void kjoule_sampler_stop(struct kjoule_sampler *s, u64 stop_ns);
void kjoule_sampler_books(struct kjoule_sampler *s, struct kjoule_books *books);
void kjoule_sampler_set_state(struct kjoule_sampler *s, u32 state);
u32 kjoule_jitter(u64 seed, u64 tick, u32 limit);

#endif /* KJOULE_SAMPLER_H */
