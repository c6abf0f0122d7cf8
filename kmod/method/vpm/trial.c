// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trial: wait for a hit at a block, start the meter, pause the program until the reading is
 * ready. A thread of the session does one after the other (vpm.c starts and ends it). Hits are
 * handled in the breakpoint's exception and in an interrupt right after it. Steps, with fields of
 * the record:
 *
 *	prepared	breakpoints are created on the block's first instruction, and on where it is
 *			to be stopped; wait for the kernel work that this causes
 *	armed_ns	they are enabled
 *	hit_ns		the first hit starts the meter, and disables that breakpoint
 *	stop_ns		the CPU is paused, interrupts off, until the reading is ready
 *	ready_ns	done
 *
 * Half of the trials stop at the block's end (delayed), the others at its second instruction; all
 * else is alike: two exceptions, a disabled breakpoint, and the time from the second exception to
 * the pause. So the differences of energy and time between the halves are those of the block alone.
 * Every PAUSED_EVERY-th trial starts the meter when the CPU is paused already: the power of a
 * paused CPU, which equation 4 calls idle.
 *
 * None is begun during CPU hotplug, and hotplug before its end makes a reading unusable: it
 * contains that CPU's power, and the program may have passed the block's end there, without a
 * breakpoint.
 *
 * A function ends at its return address, read from the stack at the first hits; a trial waits for
 * one return address. The program may pass it on other paths, each time with an exception, of which
 * a trial allows KJOULE_VPM_PASSES. Waits are bounded: for a hit by HIT_TIMEOUT_MS, pauses by
 * PAUSE_INTERVALS and SPINS_MAX.
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/tick.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "compat/compat.h"
#include "method/vpm/trial.h"
#include "sampler/sampler.h"
#include "session/pause.h"

/*
 * The first two are part of the ABI (Documentation/abi/device.rst); none is tuned. A block that is
 * hit less often than once a second has hardly any readings; one that has not ended after four
 * sensing intervals has no use for its reading, and a meter is ready after one. A check only finds
 * what no exception reports: a process that has ended, a CPU that went offline.
 */
#define HIT_TIMEOUT_MS	1000	/* limit of the wait for a hit */
#define END_INTERVALS	4	/* sensing intervals until the block has ended */
#define PAUSE_INTERVALS	2	/* likewise until the reading is ready */
#define CHECK_MS	20	/* minimum between two checks for a hit */

/*
 * Trials. Not tuned; with one in eight "scripts/bench attribution --part variation" is within its
 * bound (Documentation/accuracy.rst).
 */
#define PAUSED_EVERY	8

/*
 * Callers below 1/RARE of the most frequent one are awaited less often: those of a program's
 * beginning, never hit again, made a third of the trials fail. Not tuned beyond that.
 */
#define RARE		4

/*
 * Limit of a busy-wait in case the clock does not advance: without the read of the meter 0.2 s,
 * measured with clock_gettime() and PAUSE in user space of the build machine.
 */
#define SPINS_MAX	(1U << 22)

/* The interval doubles with each failed trial, up to this many times: part of the ABI. */
#define BACK_OFF	6U

static u64 trial_random_below(u64 limit)
{
	return mul_u64_u64_shr(get_random_u64(), limit, 64);
}

static u64 task_waited_ns(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_INFO
	return task->sched_info.run_delay;
#else
	return 0;
#endif
}

/* Switches that make a reading unusable: all of them if the time of other tasks is not known. */
static u64 task_switches(const struct task_struct *task)
{
	return task->nvcsw + (IS_ENABLED(CONFIG_SCHED_INFO) ? 0 : task->nivcsw);
}

/* Idle time since boot of all CPUs but @hit_cpu; constant if it is not known. */
static u64 trial_others_idle_us(unsigned int hit_cpu)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_online_cpu(cpu) {
		if (cpu != hit_cpu)
			sum += get_cpu_idle_time_us(cpu, NULL) + get_cpu_iowait_time_us(cpu, NULL);
	}
	return sum;
}

static u64 trial_others_busy_ns(const struct kjoule_vpm *v, u64 now)
{
	u64 all = (num_online_cpus() - 1) * (now - v->hit_ns);

	return all - min(all, (trial_others_idle_us(v->hit_cpu) - v->idle_us) * NSEC_PER_USEC);
}

static struct kjoule_sampler *trial_local_sampler(const struct kjoule_vpm *v)
{
	unsigned int i;

	for (i = 0; i < v->n; i++) {
		struct kjoule_sampler *s = v->sampler[i];

		if (s->cpu == smp_processor_id())
			return s->running && !s->suspended ? s : NULL;
	}
	return NULL;
}

/* Return: false if the record was lost. */
static bool trial_write_reading(struct kjoule_vpm *v, struct kjoule_sampler *s, u64 ready_ns,
				u64 uw, u64 busy_ns)
{
	struct kjoule_vpm_reading rec = {
		.tick = s->tick,
		.number = v->number,
		.block = v->cur - v->block,
		.pid = v->pid,
		.tgid = v->tgid,
		.armed_ns = v->armed_ns,
		.hit_ns = v->hit_ns,
		.stop_ns = v->stop_ns,
		.ready_ns = ready_ns,
		.others_ns = v->waited_ns,
		.power_uw = uw,
		.busy_ns = busy_ns,
	};

	return !kjoule_sampler_emit(s, KJOULE_RECORD_READING, v->flags, &rec, sizeof(rec));
}

static void trial_count_reading(struct kjoule_vpm *v)
{
	v->stats.readings++;
	v->stats.unusable += !!(v->flags & (KJOULE_READING_DISTURBED | KJOULE_READING_LATE));
	atomic_set(&v->state, STATE_DONE);
}

/* Busy-wait until the meter has the reading. Return: 0 or -errno. */
static int trial_wait_reading(struct kjoule_vpm *v, s64 *raw)
{
	u64 until = ktime_get_ns() + PAUSE_INTERVALS * v->src->ready_ns;
	u32 loops = 0;
	int err;

	do {
		err = v->src->ops->read_started(v->src, v->domain, raw);
		cpu_relax();
	} while (err == -EAGAIN && ktime_get_ns() < until && ++loops < SPINS_MAX);
	return err;
}

static void trial_count_pause(struct kjoule_vpm *v, u64 ns)
{
	v->stats.paused_ns += ns;
	if (ns > v->stats.paused_max_ns)
		v->stats.paused_max_ns = ns;
}

static void trial_pause_cpu(struct kjoule_vpm *v)
{
	struct kjoule_sampler *s = trial_local_sampler(v);
	u64 begin = ktime_get_ns(), ready_ns, busy_ns = 0;
	s64 raw = 0;
	int err = 0;

	/* the task migrated since the exception, or the ring is not available */
	if (!s || smp_processor_id() != v->hit_cpu || current != v->task)
		goto failed;
	if (v->kind == TRIAL_PAUSED) {
		v->idle_us = trial_others_idle_us(v->hit_cpu);
		v->hit_ns = begin;
		v->stop_ns = begin;
		err = v->src->ops->start(v->src, v->domain);
	}
	if (!err && !(v->flags & KJOULE_READING_LATE))
		err = trial_wait_reading(v, &raw);
	ready_ns = ktime_get_ns();
	trial_count_pause(v, ready_ns - begin);
	/* hotplug: the CPU drew power, and ran without breakpoints */
	if (kjoule_pause_hotplug_count() != v->hotplug_count)
		v->flags |= KJOULE_READING_DISTURBED;
	/* the idle times are comparable for the same CPUs only */
	if (!(v->flags & (KJOULE_READING_LATE | KJOULE_READING_DISTURBED)))
		busy_ns = trial_others_busy_ns(v, ready_ns);
	if (err || !trial_write_reading(v, s, ready_ns, kjoule_vpm_uw(v, raw), busy_ns))
		goto failed;
	trial_count_reading(v);
	return;
failed:
	atomic_set(&v->state, STATE_FAILED);
}

/* irq_work: runs right after the exception, on its CPU. */
static void trial_pause_work(struct irq_work *work)
{
	struct kjoule_vpm *v = container_of(work, struct kjoule_vpm, work);

	if (atomic_read(&v->state) == STATE_STOPPED)
		trial_pause_cpu(v);
	swake_up_one(&v->wait);
}

static void block_learn_end(struct vpm_block *b, u64 end)
{
	u32 i, least = 0;

	for (i = 0; i < b->n_ends; i++) {
		if (b->end[i] == end) {
			b->hits[i]++;
			return;
		}
		if (b->hits[i] < b->hits[least])
			least = i;
	}
	if (b->n_ends < KJOULE_VPM_CALLERS)
		least = b->n_ends;
	b->end[least] = end;
	b->hits[least] = 1;
	WRITE_ONCE(b->n_ends, max(b->n_ends, least + 1));
}

static bool trial_wants_current(const struct kjoule_vpm *v)
{
	return task_tgid(current) == v->cur->pid && current->self_exec_id == v->cur->exec_id &&
	       kjoule_target_is_current(v->target);
}

/* Read the return address, valid at the first instruction of a function. */
static bool trial_find_end(struct kjoule_vpm *v, const struct pt_regs *regs)
{
	const void __user *sp = (void __user *)user_stack_pointer((struct pt_regs *)regs);
	u64 end = 0;

	if (v->cur->place.end)
		return true;
	/* elsewhere the stack has any value */
	if (copy_from_user_nofault(&end, sp, user_64bit_mode((struct pt_regs *)regs) ? 8 : 4) ||
	    !end || end >= TASK_SIZE_MAX || end == v->cur->place.start || end == v->cur->place.next)
		return false;
	block_learn_end(v->cur, end);
	return end == v->end || v->kind == TRIAL_LEARN || v->kind == TRIAL_PAUSED;
}

/* Breakpoint exception at the first instruction, interrupts off. */
static void trial_start_hit(struct perf_event *event, struct perf_sample_data *data,
			    struct pt_regs *regs)
{
	struct kjoule_vpm *v = event->overflow_handler_context;

	if (atomic_cmpxchg(&v->state, STATE_ARMED, STATE_STARTING) != STATE_ARMED)
		return;
	if (!trial_wants_current(v) || !trial_find_end(v, regs)) {
		atomic_set(&v->state, STATE_MISMATCHED);
		irq_work_queue(&v->work);
		return;
	}
	v->task = current;
	v->pid = current->pid;
	v->tgid = current->tgid;
	v->hit_cpu = smp_processor_id();
	v->switches = task_switches(current);
	v->migrations = current->se.nr_migrations;
	v->waited_ns = v->kind == TRIAL_PAUSED ? 0 : task_waited_ns(current);
	v->sp = user_stack_pointer(regs);
	switch (v->kind) {
	case TRIAL_LEARN:
		atomic_set(&v->state, STATE_DONE);
		irq_work_queue(&v->work);
		return;
	case TRIAL_PAUSED:
		atomic_set(&v->state, STATE_STOPPED);
		irq_work_queue(&v->work);
		return;
	default:
		break;
	}
	v->idle_us = trial_others_idle_us(v->hit_cpu);
	WRITE_ONCE(v->hit_ns, ktime_get_ns());
	if (v->src->ops->start(v->src, v->domain)) {
		atomic_set(&v->state, STATE_FAILED);
		irq_work_queue(&v->work);
		return;
	}
	atomic_set_release(&v->state, STATE_STARTED);	/* K, pairs with L in trial_stop_hit() */
}

/*
 * A return of the same call? A recursive call returns with a lower stack pointer. At an explicit
 * end the stack pointer may be any, so that an end within the block works: see the man page.
 */
static bool trial_is_same_call(const struct kjoule_vpm *v, struct pt_regs *regs)
{
	if (v->kind != TRIAL_DELAYED || v->cur->place.end)
		return true;
	return user_stack_pointer(regs) > v->sp;
}

/*
 * Not the awaited end. If the block's own process hits it, the breakpoint has to stay for the
 * awaited one; once the meter runs, only the task in the block may end the trial.
 */
static void trial_pass_end(struct kjoule_vpm *v, struct perf_event *event, int state)
{
	if (task_tgid(current) != v->cur->pid)
		return;
	if (atomic_inc_return(&v->passes) <= KJOULE_VPM_PASSES) {
		/* perf has counted this hit already; the last one would disable the event */
		atomic_set(&event->event_limit, KJOULE_VPM_STOPS);
		return;
	}
	if (state == STATE_STARTED ? current != v->task : state != STATE_ARMED)
		return;
	if (atomic_cmpxchg(&v->state, state, STATE_OVERRUN) == state)
		irq_work_queue(&v->work);
}

/* Breakpoint exception at the block's end or its second instruction, interrupts off. */
static void trial_stop_hit(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	struct kjoule_vpm *v = event->overflow_handler_context;
	int state = atomic_read_acquire(&v->state);	/* L, pairs with K in trial_start_hit() */

	if (state != STATE_STARTED || current != v->task || !trial_wants_current(v) ||
	    !trial_is_same_call(v, regs)) {
		trial_pass_end(v, event, state);
		return;
	}
	v->stop_ns = ktime_get_ns();
	/* discard the time of another clock */
	v->waited_ns = min(task_waited_ns(current) - v->waited_ns, v->stop_ns - v->hit_ns);
	/* the task may have passed the end on a CPU without breakpoints */
	if (v->migrations != current->se.nr_migrations || v->switches != task_switches(current))
		v->flags |= KJOULE_READING_DISTURBED;
	v->hit_cpu = smp_processor_id();
	/* the reading was ready before the end */
	if (v->stop_ns - v->hit_ns >= v->src->ready_ns)
		v->flags |= KJOULE_READING_LATE;
	atomic_set(&v->state, STATE_STOPPED);
	irq_work_queue(&v->work);
}

static bool trial_is_over(const struct kjoule_vpm *v)
{
	return atomic_read(&v->state) > STATE_STOPPED;
}

/* Jiffies to the next check. A check during a reading would disturb it. */
static unsigned long trial_next_check(const struct kjoule_vpm *v, int state, u64 now)
{
	u64 end = END_INTERVALS * v->src->ready_ns, ran;

	if (state != STATE_STARTED)
		return nsecs_to_jiffies(max(end, CHECK_MS * (u64)NSEC_PER_MSEC)) + 1;
	ran = now - min(now, READ_ONCE(v->hit_ns));
	return nsecs_to_jiffies(end - min(end, ran)) + 1;
}

static void trial_wait(struct kjoule_vpm *v)
{
	u64 until = v->armed_ns + HIT_TIMEOUT_MS * NSEC_PER_MSEC, now = v->armed_ns;
	int state = STATE_ARMED;

	while (!kthread_should_stop()) {
		if (swait_event_timeout_exclusive(v->wait,
						  trial_is_over(v) || kthread_should_stop(),
						  trial_next_check(v, state, now)))
			return;
		now = ktime_get_ns();
		state = atomic_read(&v->state);
		if (state == STATE_ARMED && now > until)
			return;
		if (state == STATE_STARTED &&
		    now > READ_ONCE(v->hit_ns) + END_INTERVALS * v->src->ready_ns &&
		    now > v->armed_ns + END_INTERVALS * v->src->ready_ns)
			return;
	}
}

static bool block_is_alive(const struct vpm_block *b)
{
	struct task_struct *task;
	bool there;

	rcu_read_lock();
	task = pid_task(b->pid, PIDTYPE_TGID);
	there = task && READ_ONCE(task->self_exec_id) == b->exec_id &&
		atomic_read(&task->signal->live);
	rcu_read_unlock();
	return there;
}

/* Called with interrupts off, on the CPU where the block began. */
static void trial_write_no_end(void *data)
{
	struct kjoule_vpm *v = data;
	struct kjoule_sampler *s = trial_local_sampler(v);

	if (s && trial_write_reading(v, s, v->stop_ns, 0, 0))
		trial_count_reading(v);
}

/*
 * Record a block that has not ended by now: the readings are of short runs, and user space has to
 * know of the long ones. Called disarmed.
 */
static void trial_report_no_end(struct kjoule_vpm *v)
{
	v->stop_ns = ktime_get_ns();
	v->waited_ns = 0;
	v->flags |= KJOULE_READING_LATE;
	/* the block may have ended on a CPU without breakpoints */
	if (kjoule_pause_hotplug_count() != v->hotplug_count)
		v->flags |= KJOULE_READING_DISTURBED;
	smp_call_function_single(v->hit_cpu, trial_write_no_end, v, true);
}

static void trial_count_outcome(struct kjoule_vpm *v, int err)
{
	v->stats.trials++;
	switch (err ? STATE_FAILED : atomic_read(&v->state)) {
	case STATE_ARMED:
		if (kthread_should_stop())
			v->stats.aborted++;
		else
			v->stats.no_hit++;
		break;
	case STATE_STARTING:
	case STATE_STARTED:
		if (kthread_should_stop())
			v->stats.aborted++;
		else
			v->stats.no_end++;
		break;
	case STATE_DONE:
		v->stats.learnt += v->kind == TRIAL_LEARN;
		break;
	case STATE_MISMATCHED:
		v->stats.mismatched++;
		break;
	case STATE_OVERRUN:
		v->stats.overrun++;
		break;
	default:
		v->stats.failed++;
		break;
	}
}

static enum vpm_trial trial_choose_kind(struct kjoule_vpm *v)
{
	if (!v->cur->place.end && !v->cur->n_ends)
		return TRIAL_LEARN;
	if (v->number % PAUSED_EVERY == PAUSED_EVERY - 1)
		return TRIAL_PAUSED;
	return get_random_u32() & 1 ? TRIAL_DELAYED : TRIAL_UNDELAYED;
}

/*
 * Choose one of the return addresses with equal probability: then readings are as frequent as calls
 * from there. Addresses below 1/RARE of the most frequent one are chosen less often: they may never
 * be hit again, and most trials would fail. Return: 0 if none is known
 */
static u64 block_choose_end(const struct vpm_block *b)
{
	u64 weight[KJOULE_VPM_CALLERS], all = 0, at;
	u32 most = 0, i;

	for (i = 0; i < b->n_ends; i++)
		most = max(most, b->hits[i]);
	for (i = 0; i < b->n_ends; i++) {
		weight[i] = min_t(u64, RARE * (u64)b->hits[i], most);
		all += weight[i];
	}
	if (!all)
		return 0;
	at = trial_random_below(all);
	for (i = 0; at >= weight[i]; i++)
		at -= weight[i];
	return b->end[i];
}

static void trial_sleep(u64 ns)
{
	ktime_t time = ns_to_ktime(ns);

	set_current_state(TASK_INTERRUPTIBLE);
	if (!kthread_should_stop())
		schedule_hrtimeout(&time, HRTIMER_MODE_REL);
	__set_current_state(TASK_RUNNING);
}

/*
 * Wait for the work that creating breakpoints causes, and for a random phase between two clock
 * ticks: RCU ends its wait at a fixed one. Return: 0, or -ENODEV if there was hotplug, or the
 * process ended
 */
static int trial_settle(struct kjoule_vpm *v)
{
	trial_sleep(KJOULE_VPM_SETTLE_NS + trial_random_below(TICK_NSEC));
	if (kjoule_pause_hotplug_count() != v->hotplug_count || !block_is_alive(v->cur) ||
	    kthread_should_stop())
		return -ENODEV;
	return 0;
}

/* Do one trial; it begins KJOULE_VPM_SETTLE_NS before it arms, even if it does not arm. */
static void trial_do(struct kjoule_vpm *v)
{
	struct vpm_block *b = v->cur;
	struct vpm_trap start = { .address = b->place.start, .hit = trial_start_hit };
	struct vpm_trap stop = { .hit = trial_stop_hit };
	int err, settled;

	v->kind = trial_choose_kind(v);
	v->flags = v->kind == TRIAL_DELAYED ? KJOULE_READING_DELAYED :
		   v->kind == TRIAL_PAUSED ? KJOULE_READING_PAUSED : 0;
	v->end = b->place.end ?: block_choose_end(b);
	if (v->kind == TRIAL_DELAYED)
		stop.address = v->end;
	else if (v->kind == TRIAL_UNDELAYED)
		stop.address = b->place.next;
	v->hotplug_count = kjoule_pause_hotplug_count();
	err = kjoule_pause_is_allowed() ? kjoule_vpm_prepare(v, &start, &stop) : -ENODEV;
	settled = trial_settle(v);
	err = err ?: settled;
	if (!err) {
		kjoule_vpm_arm(v);
		trial_wait(v);
	}
	kjoule_vpm_disarm(v);
	irq_work_sync(&v->work);
	if (v->kind == TRIAL_DELAYED && atomic_read(&v->state) == STATE_STARTED &&
	    !kthread_should_stop() && block_is_alive(b))
		trial_report_no_end(v);
	/* no CPU, hotplug in progress, or no process: skip this trial */
	if (err == -ENODEV) {
		v->stats.skipped++;
		return;
	}
	trial_count_outcome(v, err);
	v->failures = err || atomic_read(&v->state) == STATE_FAILED ? v->failures + 1 : 0;
	v->number++;
	atomic_set(&v->state, STATE_OFF);
}

/* Choose a block whose process exists. Return: NULL if there is none */
static struct vpm_block *trial_choose_block(struct kjoule_vpm *v)
{
	/* Z, pairs with the release in kjoule_vpm_add() */
	unsigned int n = smp_load_acquire(&v->n_blocks);
	unsigned int first = n ? trial_random_below(n) : 0, i;

	for (i = 0; i < n; i++) {
		struct vpm_block *b = &v->block[(first + i) % n];

		if (block_is_alive(b))
			return b;
	}
	return NULL;
}

/* kjoule_vpm_trials_init() - initialise trials. @v: zeroed, except the parameters. */
void kjoule_vpm_trials_init(struct kjoule_vpm *v)
{
	init_swait_queue_head(&v->wait);
	v->work = IRQ_WORK_INIT_HARD(trial_pause_work);
}

/*
 * kjoule_vpm_run_trials() - the session's thread: one trial after the other. @data: struct
 * kjoule_vpm. At the return there is no breakpoint, and no CPU is paused. Context: a thread of its
 * own, until it is to stop.
 */
int kjoule_vpm_run_trials(void *data)
{
	struct kjoule_vpm *v = data;

	/*
	 * FIFO: else the measured task runs on before this thread is done, and is preempted by it
	 * during a reading
	 */
	sched_set_fifo_low(current);
	while (!kthread_should_stop()) {
		u64 least = max(v->interval_ns / 2, KJOULE_VPM_SETTLE_NS);
		u64 pause = least + trial_random_below(2 * (v->interval_ns - least));

		trial_sleep((pause << min(v->failures, BACK_OFF)) - KJOULE_VPM_SETTLE_NS);
		if (kthread_should_stop())
			break;
		v->cur = trial_choose_block(v);
		if (v->cur)
			trial_do(v);
		else
			trial_sleep(KJOULE_VPM_SETTLE_NS);
	}
	return 0;
}
