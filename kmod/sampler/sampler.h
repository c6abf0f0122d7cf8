/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler: one pinned timer per CPU on a grid that all CPUs of a session share, and its ticks.
 * It gets a kjoule_plan and writes into rings; it knows neither sessions nor front ends.
 */
#ifndef KJOULE_SAMPLER_H
#define KJOULE_SAMPLER_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/pid.h>
#include <linux/smp.h>
#include <linux/wait.h>

#include "counter/meter.h"
#include "ring/ring.h"
#include "sampler/load.h"
#include "sampler/pending.h"
#include "sampler/stack_access.h"
#include "sampler/target.h"
#include "source/source.h"

/*
 * Below, ticks of 1.4 us or more (Documentation/accuracy.rst) and the interrupt would take much of
 * a CPU, see load.c; above, 32 bits of nanoseconds overflow.
 */
#define KJOULE_INTERVAL_MIN_NS	(10 * 1000ULL)
#define KJOULE_INTERVAL_MAX_NS	(4 * 1000 * 1000 * 1000ULL)

/**
 * struct kjoule_plan - parameters of a session's ticks; constant while they run
 * @t0_ns:		CLOCK_MONOTONIC at which tick 0 is due, without jitter
 * @interval_ns:	between ticks
 * @jitter_ns:		tick k is delayed by kjoule_jitter(seed, k, jitter_ns); < @interval_ns
 * @seed:		of the jitter
 * @target:		which tasks are sampled
 * @skips_idle:		ticks are skipped on idle CPUs
 * @kernel_ip:		kernel addresses may be shown
 * @chain:		KJOULE_FLAG_* of records that follow samples, see callchain.h
 * @chain_depth:	maximum frames of each kind
 * @stack_bytes:	of the user stack
 * @stacks:		tasks whose user stacks may be copied
 * @wakeup_bytes:	wake the reader when a ring has this many bytes
 * @frequency:		frequency source or NULL
 * @reader:		where the reader waits
 * @pending:		pending events
 */
struct kjoule_plan {
	u64 t0_ns;
	u64 interval_ns;
	u64 jitter_ns;
	u64 seed;
	struct kjoule_target target;
	bool skips_idle;
	bool kernel_ip;
	u32 chain;
	u32 chain_depth;
	u32 stack_bytes;
	struct kjoule_stack_access stacks;
	u64 wakeup_bytes;
	struct kjoule_source *frequency;
	wait_queue_head_t *reader;
	struct kjoule_pending *pending;
};

/*
 * Statistics of one CPU: the fields of struct kjoule_ring_head, the longest sampling delay, and the
 * records that wait for the reader.
 */
struct kjoule_stats {
	u64 due;
	u64 taken;
	u64 missed;
	u64 skipped;
	u64 filtered;
	u64 records;
	u64 lost;
	u64 samples;
	u64 tick_ns;
	u64 source_errors;
	u64 idle_ns;
	u64 stacks_withheld;
	u64 delay_max_ns;
	u64 waiting;
};

/* Ticks with a sampling delay of 0 ns, 1 ns, 2 to 3 ns, 4 to 7 ns, ... to 2^32 - 1 ns. */
#define KJOULE_DELAY_BUCKETS	33

/**
 * struct kjoule_sampler - a CPU's timer, ring and state between two ticks
 * @timer:	expires at @due_ns
 * @plan:	what to do at a tick
 * @cpu:	whose ticks
 * @running:	between start and stop
 * @suspended:	KJOULE_GAP_*: why there are no ticks at the moment
 * @tick_stopped:	the CPU is idle and the timer off
 * @idle_counted_ns:	idle time is counted up to here
 * @idle_recorded_ns:	skipped ticks have a record up to here
 * @idle_node:	in idle.c's list of this CPU
 * @busy:	the CPU is not idle: counted in @busy_cpus of its meters
 * @idle:	the tick is stopped, or about to be: a busy CPU kicks it for meters that only it can
 *		read
 * @ticks_while_idle:	the CPU is idle but ticks for others
 * @kick_pending:	@kick is queued
 * @kick_running:	@kick runs
 * @kick:	has its CPU recheck whether it has to tick
 * @tick:	k of the next tick
 * @grid_ns:	when it is due, without jitter
 * @due_ns:	when it is due
 * @load:	time of ticks on the CPU, of all sessions
 * @freq_khz:	as of the last tick
 * @cycles:	as read at the last tick
 * @fresh:	as read at this tick
 * @ip:		of the interrupted code
 * @cycles_known: @cycles is valid
 * @task_known:	@pid and @tgid are in the last task record
 * @pid:	of the last sample
 * @tgid:	of the last sample
 * @check_at:	head of the ring at which to check the wake-up mark
 * @woken_at:	head of the ring when the reader was last woken
 * @near_full:	the ring was nearly full, and not half empty since
 * @full_bytes:	bytes that waited then, until the event is posted
 * @freq_failures: failed reads of the frequency source in a row
 * @lost_pending: a source-lost event is pending
 * @delay_max_ns: the longest sampling delay
 * @delay_ticks:	ticks with a sampling delay below 2^i ns, and not below half of that
 * @meters_known:	the CPU was online in this session: who shares @meter is known
 * @n_meters:	number of @meter
 * @meter:	energy counters that it may have to read; shared with other samplers
 * @ring:	where the records go
 * @wake:	wakes the reader, and posts pending events, outside the timer's context
 *
 * Written by the tick on @cpu with interrupts off, or by code that has cancelled the timer.
 */
struct kjoule_sampler {
	struct hrtimer timer;
	const struct kjoule_plan *plan;
	unsigned int cpu;
	bool running;
	u8 suspended;
	bool tick_stopped;
	u64 idle_counted_ns;
	u64 idle_recorded_ns;
	struct hlist_node idle_node;
	bool busy;
	bool idle;
	bool ticks_while_idle;
	atomic_t kick_pending;
	bool kick_running;
	call_single_data_t kick;
	u64 tick;
	u64 grid_ns;
	u64 due_ns;
	struct kjoule_load *load;
	u32 freq_khz;
	struct kjoule_cycles cycles;
	struct kjoule_cycles fresh;
	u64 ip;
	bool cycles_known;
	bool task_known;
	u32 pid;
	u32 tgid;
	u64 check_at;
	u64 woken_at;
	bool near_full;
	u64 full_bytes;
	u32 freq_failures;
	bool lost_pending;
	u64 delay_max_ns;
	u64 delay_ticks[KJOULE_DELAY_BUCKETS];
	bool meters_known;
	unsigned int n_meters;
	struct kjoule_meter *meter[KJOULE_METERS_MAX];
	struct kjoule_ring_buffer ring;
	struct irq_work wake;
};

int kjoule_sampler_init(struct kjoule_sampler *s, const struct kjoule_plan *plan,
			unsigned int cpu, u64 ring_bytes);
void kjoule_sampler_exit(struct kjoule_sampler *s);
int kjoule_sampler_start(struct kjoule_sampler *s);
void kjoule_sampler_start_suspended(struct kjoule_sampler *s);
void kjoule_sampler_halt(struct kjoule_sampler *s);
void kjoule_sampler_suspend(struct kjoule_sampler *s, u8 reason);
void kjoule_sampler_resume(struct kjoule_sampler *s, u8 reason);
void kjoule_sampler_stop(struct kjoule_sampler *s, u64 stop_ns);
void kjoule_sampler_owner_changed(struct kjoule_sampler *s);
void kjoule_sampler_add_meter(struct kjoule_sampler *s, struct kjoule_meter *m,
			      struct kjoule_meter *old);
bool kjoule_sampler_sweep(struct kjoule_sampler *s, struct kjoule_meter *m);
int kjoule_sampler_find_ip(struct kjoule_sampler *s);
int kjoule_sampler_emit(struct kjoule_sampler *s, u8 type, u8 flags, const void *record, u16 size);
void kjoule_sampler_get_stats(struct kjoule_sampler *s, struct kjoule_stats *stats);
void kjoule_sampler_set_state(struct kjoule_sampler *s, u32 state);

/*
 * kjoule_jitter() - intentional delay of a tick. The same on every CPU, so that samples of a tick
 * stay simultaneous. Two rounds of multiply and xor-shift, by 2^64 over the golden ratio and by
 * another odd number whose bits are mixed; part of the ABI, because readers must repeat it. Return:
 * 0 to @limit - 1 nanoseconds.
 */
static inline u32 kjoule_jitter(u64 seed, u64 tick, u32 limit)
{
	u64 x = (seed + tick) * 0x9e3779b97f4a7c15ULL;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return ((x >> 32) * limit) >> 32;
}

/*
 * kjoule_sampler_shares() - may a sampler have to read a meter?. Context: process; the session's
 * meters do not change.
 */
static inline bool kjoule_sampler_shares(const struct kjoule_sampler *s,
					 const struct kjoule_meter *m)
{
	unsigned int i;

	for (i = 0; i < s->n_meters; i++) {
		if (s->meter[i] == m)
			return true;
	}
	return false;
}

#endif
