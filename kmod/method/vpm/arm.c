// SPDX-License-Identifier: GPL-2.0-only
/*
 * The breakpoints of a trial; see trial.h. Created some clock ticks before it and released after
 * it, on those of the session's CPUs on which the block's process may run, by the thread of the
 * trials: a debug register is taken meanwhile, and enabled only during the trial.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>

#include "method/vpm/trial.h"
#include "sampler/sampler.h"

static struct perf_event *breakpoint_create(struct kjoule_vpm *v, unsigned int cpu, u64 address,
					    perf_overflow_handler_t handler)
{
#ifdef CONFIG_HAVE_HW_BREAKPOINT
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = address;
	attr.bp_len = sizeof(long);
	attr.bp_type = HW_BREAKPOINT_X;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return perf_event_create_kernel_counter(&attr, cpu, NULL, handler, v);
#else
	return ERR_PTR(-EOPNOTSUPP);
#endif
}

static void breakpoint_release(struct perf_event **event)
{
	if (!IS_ERR_OR_NULL(*event))
		perf_event_release_kernel(*event);
	*event = NULL;
}

/*
 * kjoule_vpm_disarm() - undo kjoule_vpm_prepare(), finished or not, and kjoule_vpm_arm(). No
 * handler runs any more at the return.
 */
void kjoule_vpm_disarm(struct kjoule_vpm *v)
{
	unsigned int i;

	for (i = 0; i < v->n; i++) {
		breakpoint_release(&v->cpu[i].start);
		breakpoint_release(&v->cpu[i].stop);
	}
}

/*
 * Find the CPUs that the block's process may run on: the union of its threads' affinities. A thread
 * whose affinity changes during a trial may not hit; the next trial has the new affinity.
 */
static void arm_find_allowed(struct kjoule_vpm *v)
{
	struct task_struct *leader, *t;

	cpumask_clear(v->allowed);
	rcu_read_lock();
	leader = pid_task(v->cur->pid, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, t) {
			cpumask_or(v->allowed, v->allowed, &t->cpus_mask);
			if (cpumask_subset(cpu_online_mask, v->allowed))
				break;
		}
	}
	rcu_read_unlock();
}

/* Return: 0, also if the CPU is offline, or -errno */
static int arm_prepare_cpu(struct kjoule_vpm *v, unsigned int i, const struct vpm_trap *start,
			   const struct vpm_trap *stop)
{
	struct vpm_cpu *c = &v->cpu[i];
	unsigned int cpu = v->sampler[i]->cpu;

	/* online, and its ring may be written */
	if (!cpu_online(cpu) || READ_ONCE(v->sampler[i]->suspended))
		return 0;
	if (stop->address) {
		c->stop = breakpoint_create(v, cpu, stop->address, stop->hit);
		if (IS_ERR(c->stop))
			return PTR_ERR(c->stop);
	}
	c->start = breakpoint_create(v, cpu, start->address, start->hit);
	return PTR_ERR_OR_ZERO(c->start);
}

/* perf disables the event after this many hits. */
static void breakpoint_enable(struct perf_event *event, int times)
{
	atomic_set(&event->event_limit, times);
	perf_event_enable(event);
}

/*
 * kjoule_vpm_arm() - enable the breakpoints. @v: kjoule_vpm_prepare() has succeeded. Stops are
 * enabled before starts, so that both are at the first hit of a start. The trial's state is
 * STATE_ARMED before that.
 */
void kjoule_vpm_arm(struct kjoule_vpm *v)
{
	unsigned int i;

	for (i = 0; i < v->n; i++) {
		if (v->cpu[i].stop)
			breakpoint_enable(v->cpu[i].stop, KJOULE_VPM_STOPS);
	}
	v->task = NULL;
	atomic_set(&v->passes, 0);
	v->armed_ns = ktime_get_ns();
	v->hit_ns = v->armed_ns;
	atomic_set(&v->state, STATE_ARMED);
	for (i = 0; i < v->n; i++) {
		if (v->cpu[i].start)
			breakpoint_enable(v->cpu[i].start, 1);
	}
}

/* Return: on how many CPUs of @cpus they are ready, or -errno */
static int arm_prepare_cpus(struct kjoule_vpm *v, const struct cpumask *cpus,
			    const struct vpm_trap *start, const struct vpm_trap *stop)
{
	unsigned int i;
	int err, n = 0;

	for (i = 0; i < v->n; i++) {
		if (!cpumask_test_cpu(v->sampler[i]->cpu, cpus))
			continue;
		err = arm_prepare_cpu(v, i, start, stop);
		if (err && err != -ENODEV)
			return err;
		if (err) {
			breakpoint_release(&v->cpu[i].stop);
			breakpoint_release(&v->cpu[i].start);
		}
		n += !!v->cpu[i].start;
	}
	return n;
}

/**
 * kjoule_vpm_prepare() - create disabled breakpoints on the session's CPUs
 * @v:		without any; with a block
 * @start:	disabled by its first hit
 * @stop:	optional: enabled before @start, until its last hit or kjoule_vpm_disarm()
 *
 * Each breakpoint of a CPU takes up to three interrupts there: to create, enable and release it. So
 * there are none on CPUs that the block's process may not run on, idle or not. If that leaves none,
 * all of them are prepared: a process that cannot run in the session counts as one that was not
 * hit.
 * Context: process, sleeps; followed by kjoule_vpm_disarm() in any case.
 * Return: 0, -ENODEV (no CPU for it), or -errno if no breakpoint is available
 */
int kjoule_vpm_prepare(struct kjoule_vpm *v, const struct vpm_trap *start,
		       const struct vpm_trap *stop)
{
	int n;

	arm_find_allowed(v);
	n = arm_prepare_cpus(v, v->allowed, start, stop);
	if (!n)
		n = arm_prepare_cpus(v, cpu_online_mask, start, stop);
	if (n < 0)
		return n;
	return n ? 0 : -ENODEV;
}

static void breakpoint_ignore_hit(struct perf_event *event, struct perf_sample_data *data,
				  struct pt_regs *regs)
{
}

/**
 * kjoule_vpm_check_breakpoints() - check that breakpoints are available
 * @v:		without any at the moment
 * @place:	their addresses
 * @why:	set to the reason of an error
 * Return: 0, also if no CPU of the session is online; -ENOSPC or -EBUSY (in use), or perf's error
 */
int kjoule_vpm_check_breakpoints(struct kjoule_vpm *v, const struct kjoule_vpm_place *place,
				 const char **why)
{
	struct perf_event *event[2];
	unsigned int i, k;
	int ret = 0;

	for (i = 0; i < v->n; i++) {
		if (!cpu_online(v->sampler[i]->cpu))
			continue;
		for (k = 0; k < 2; k++)
			event[k] = breakpoint_create(v, v->sampler[i]->cpu,
						     k ? place->next : place->start,
						     breakpoint_ignore_hit);
		ret = PTR_ERR_OR_ZERO(event[0]) ?: PTR_ERR_OR_ZERO(event[1]);
		for (k = 0; k < 2; k++)
			breakpoint_release(&event[k]);
		if (ret != -ENODEV)
			break;
		ret = 0;
	}
	if (ret == -ENOSPC || ret == -EBUSY)
		*why = "no two breakpoints are free; does a debugger have them?";
	else if (ret)
		*why = "no breakpoint is available there";
	return ret;
}
