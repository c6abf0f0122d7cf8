/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readings of single blocks, from inside: what vpm.c (a session's blocks and meter), round.c
 * (a round from its arming to its reading) and arm.c (the breakpoints of one) share.
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

/* Places that a function is called from. */
#define KJOULE_VPM_CALLERS	8

/*
 * Where a block is to be stopped others pass, and its own program before the block begins. A
 * breakpoint there goes after so many exceptions in a row that are none of the block's process, and
 * a round is given up after so many that are.
 */
#define KJOULE_VPM_STOPS	64
#define KJOULE_VPM_PASSES	(1 << 13)

/*
 * Making breakpoints and releasing the last ones sets off work of the kernel for some of its clock
 * ticks: RCU waits for that many, and frees. So long it is given before the meter may be started,
 * and rounds are further apart than that at least, so that some of it is left to chance.
 */
#define KJOULE_VPM_SETTLE_NS	max(8ULL * TICK_NSEC, 32ULL * NSEC_PER_MSEC)
#define KJOULE_VPM_TRIAL_GAP_NS	(KJOULE_VPM_SETTLE_NS / 4 * 5)

enum vpm_trial { TRIAL_DELAYED, TRIAL_UNDELAYED, TRIAL_PAUSED, TRIAL_LEARN };

enum vpm_state {
	STATE_OFF,
	STATE_ARMED,
	STATE_STARTING,		/* somebody is at the first instruction */
	STATE_STARTED,
	STATE_STOPPED,
	STATE_DONE,
	STATE_MISMATCHED,	/* called from elsewhere, or by somebody else */
	STATE_OVERRUN,		/* its end was passed too often */
	STATE_FAILED,
};

/**
 * struct vpm_block - a block of the session
 * @pid:	of its process
 * @exec_id:	of the program that it was then; another one has other code there
 * @place:	where; its pid is of no use here
 * @end:	where it returns to, as far as was learnt
 * @hits:	how often each of these was: which one makes room for another, and is awaited seldom
 * @n_ends:	how many of @end
 */
struct vpm_block {
	struct pid *pid;
	u64 exec_id;
	struct kjoule_vpm_place place;
	u64 end[KJOULE_VPM_CALLERS];
	u32 hits[KJOULE_VPM_CALLERS];
	u32 n_ends;
};

/* Breakpoints of a CPU. */
struct vpm_cpu {
	struct perf_event *start;
	struct perf_event *stop;
};

/**
 * struct kjoule_vpm - the readings of a session
 * @src:	the meter
 * @domain:	of it
 * @interval_ns: between the end of a round and the next arming, on the average;
 *		 KJOULE_VPM_TRIAL_GAP_NS at the least
 * @min_uw:	the least that it showed when the session was made
 * @target:	the session's target
 * @n:		samplers of the session
 * @sampler:	these
 * @cpu:	one for each
 * @allowed:	where the process that is waited for may run
 * @lock:	held for changes of @n_blocks
 * @n_blocks:	how many of @block
 * @block:	these
 * @thread:	that arms; NULL while it does not run
 * @wait:	where it waits for the end of a round; hard interrupts wake it
 * @work:	done right after the exception that stops, on the same CPU
 * @stats:	written by the thread, and by @work
 * @state:	of the round
 * @passes:	of its end, that were not the one that is awaited
 * @kind:	what kind it is
 * @number:	of it
 * @failures:	rounds in a row that failed
 * @cur:		the block
 * @end:	where that is expected to end
 * @armed_ns:	see above; so are the next ones
 * @hit_ns:	see above
 * @stop_ns:	see above
 * @sp:		stack pointer at the hit
 * @task:	who came by; not to be looked at from elsewhere, it may be gone
 * @pid:	of it
 * @tgid:	of its process
 * @switches:	of that task until then
 * @migrations:	likewise
 * @waited_ns:	for a CPU, until then; from the stop on, since then
 * @idle_us:	of the other CPUs, all together, when the meter was started
 * @hit_cpu:	the CPU
 * @hotplug_count:	of CPUs, until the breakpoints are made
 * @flags:	KJOULE_READING_*
 *
 * What is of a round is written by the thread before it arms and after it has disarmed, and between
 * by who takes the state from one to the next, on one CPU with interrupts off.
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
 * struct vpm_trap - a breakpoint that a round wants on each CPU
 * @address:	where, 0: it wants none
 * @hit:	called in its exception, interrupts off
 */
struct vpm_trap {
	u64 address;
	perf_overflow_handler_t hit;
};

/**
 * kjoule_vpm_uw() - what the meter says, in its unit
 * @v:		any
 * @raw:	as read
 *
 * Context: any.
 * Return: power in microwatts.
 */
static inline u64 kjoule_vpm_uw(const struct kjoule_vpm *v, s64 raw)
{
	const struct kjoule_domain *d = &v->src->domains[v->domain];

	return raw < 0 ? 0 : kjoule_counter_scale(raw, d->unit_mult, d->unit_shift);
}

/* round.c, for vpm.c */
void kjoule_vpm_trials_init(struct kjoule_vpm *v);
int kjoule_vpm_run_trials(void *data);

/* arm.c, for the other two */
int kjoule_vpm_prepare(struct kjoule_vpm *v, const struct vpm_trap *start,
		       const struct vpm_trap *stop);
void kjoule_vpm_arm(struct kjoule_vpm *v);
void kjoule_vpm_disarm(struct kjoule_vpm *v);
int kjoule_vpm_check_breakpoints(struct kjoule_vpm *v, const struct kjoule_vpm_place *place,
				 const char **why);

#endif /* KJOULE_VPM_TRIAL_H */
