/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by vpm.c (a session's blocks and meter), trial.c (a trial from arming to reading) and
 * arm.c (the breakpoints of a trial).
 */
#ifndef KJOULE_VPM_TRIAL_H
#define KJOULE_VPM_TRIAL_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/swait.h>

#include "counter/counter.h"
#include "method/vpm/vpm.h"
#include "source/source.h"

/* Return addresses that are awaited. Not tuned: the rarest one is replaced if there are more. */
#define KJOULE_VPM_CALLERS	8

/*
 * Other tasks, and the program itself before the block, also hit the breakpoint at a block's end.
 * It is disabled after this many hits in a row by other processes, and a trial is given up after
 * this many by the block's process: with 64 for both delayed trials of a program that passes the
 * address in a loop never ended. Not tuned beyond that: they bound the time spent on exceptions.
 */
#define KJOULE_VPM_STOPS	64
#define KJOULE_VPM_PASSES	(1 << 13)

/*
 * Creating breakpoints and releasing the last ones causes kernel work for some clock ticks: RCU
 * waits for that many, and frees. The meter is not started before this time (design.rst has the
 * error without it, 4 to 6 % of a run of 7.2 ms), and trials are further apart, so that a part of
 * the time is random.
 */
#define KJOULE_VPM_SETTLE_NS	max(8ULL * TICK_NSEC, 32ULL * NSEC_PER_MSEC)
#define KJOULE_VPM_TRIAL_GAP_NS	(KJOULE_VPM_SETTLE_NS / 4 * 5)

enum vpm_trial { TRIAL_DELAYED, TRIAL_UNDELAYED, TRIAL_PAUSED, TRIAL_LEARN };

enum vpm_state {
	STATE_OFF,
	STATE_ARMED,
	STATE_STARTING,		/* a task is at the first instruction */
	STATE_STARTED,
	STATE_STOPPED,
	STATE_DONE,
	STATE_MISMATCHED,	/* called from elsewhere, or by another task */
	STATE_OVERRUN,		/* the end's breakpoint was hit too often */
	STATE_FAILED,
};

/**
 * struct vpm_block - a block of the session
 * @pid:	of its process
 * @exec_id:	of its program; another program has other code there
 * @place:	addresses; its pid is not used here
 * @end:	return addresses, as far as known
 * @hits:	frequency of each: rare ones are replaced, and seldom awaited
 * @n_ends:	number of @end
 */
struct vpm_block {
	struct pid *pid;
	u64 exec_id;
	struct kjoule_vpm_place place;
	u64 end[KJOULE_VPM_CALLERS];
	u32 hits[KJOULE_VPM_CALLERS];
	u32 n_ends;
};

struct vpm_cpu {
	struct perf_event *start;
	struct perf_event *stop;
};

/**
 * struct kjoule_vpm - the readings of a session
 * @src:	the meter
 * @domain:	its domain
 * @interval_ns: mean time between the end of a trial and the next arming
 * @min_uw:	lowest reading when the session was created
 * @target:	of the session
 * @n:		number of samplers of the session
 * @sampler:	the samplers
 * @cpu:	one for each sampler
 * @allowed:	CPUs on which the block's process may run
 * @lock:	protects @n_blocks
 * @n_blocks:	number of @block
 * @block:	the blocks
 * @thread:	runs the trials; NULL if halted
 * @wait:	waits for the end of a trial; woken by hard interrupts
 * @work:	runs right after the exception that stops, on the same CPU
 * @stats:	written by the thread, and by @work
 * @state:	of the trial
 * @passes:	hits of its end that were not the awaited one
 * @kind:	of the trial
 * @number:	of the trial
 * @failures:	failed trials in a row
 * @cur:		its block
 * @end:	its expected end
 * @armed_ns:	see struct kjoule_vpm_reading
 * @hit_ns:	likewise
 * @stop_ns:	likewise
 * @sp:		stack pointer at the hit
 * @task:	the task that hit; not to be dereferenced by others
 * @pid:	its pid
 * @tgid:	its process
 * @switches:	of that task until then
 * @migrations:	likewise
 * @waited_ns:	its wait for a CPU until then; from the stop on, since then
 * @idle_us:	of all other CPUs when the meter was started
 * @hit_cpu:	CPU of the hit
 * @hotplug_count:	when the breakpoints were created
 * @flags:	KJOULE_READING_*
 *
 * Fields of a trial are written by the thread before it arms and after it has disarmed, and in
 * between by code that changes the state, on one CPU with interrupts off.
 */
struct kjoule_vpm {
	struct kjoule_source *src;
	unsigned int domain;
	u64 interval_ns;
	u64 min_uw;
	const struct kjoule_target *target;
	unsigned int n;
	struct kjoule_sampler **sampler;
	struct vpm_cpu *cpu;
	cpumask_var_t allowed;
	struct mutex lock;	/* see above */
	unsigned int n_blocks;
	struct vpm_block block[KJOULE_VPM_BLOCKS];
	struct task_struct *thread;
	struct swait_queue_head wait;
	struct irq_work work;
	struct kjoule_vpm_stats stats;
	atomic_t state;
	atomic_t passes;
	enum vpm_trial kind;
	u32 number;
	unsigned int failures;
	struct vpm_block *cur;
	u64 end;
	u64 armed_ns;
	u64 hit_ns;
	u64 stop_ns;
	u64 sp;
	struct task_struct *task;
	u32 pid;
	u32 tgid;
	u64 switches;
	u64 migrations;
	u64 waited_ns;
	u64 idle_us;
	unsigned int hit_cpu;
	int hotplug_count;
	u8 flags;
};

/**
 * struct vpm_trap - a breakpoint of a trial on each CPU
 * @address:	0: none
 * @hit:	called in its exception, interrupts off
 */
struct vpm_trap {
	u64 address;
	perf_overflow_handler_t hit;
};

/** kjoule_vpm_uw() - the meter's raw value in microwatts */
static inline u64 kjoule_vpm_uw(const struct kjoule_vpm *v, s64 raw)
{
	const struct kjoule_domain *d = &v->src->domains[v->domain];

	return raw < 0 ? 0 : kjoule_counter_scale(raw, d->unit_mult, d->unit_shift);
}

void kjoule_vpm_trials_init(struct kjoule_vpm *v);
int kjoule_vpm_run_trials(void *data);

int kjoule_vpm_prepare(struct kjoule_vpm *v, const struct vpm_trap *start,
		       const struct vpm_trap *stop);
void kjoule_vpm_arm(struct kjoule_vpm *v);
void kjoule_vpm_disarm(struct kjoule_vpm *v);
int kjoule_vpm_check_breakpoints(struct kjoule_vpm *v, const struct kjoule_vpm_place *place,
				 const char **why);

#endif
