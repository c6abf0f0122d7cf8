// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readings of single blocks; see vpm.h: their meter, blocks, start and stop, for netlink.c. Trials
 * are in trial.c, breakpoints in arm.c.
 */
#include <asm/insn.h>
#include <asm/irq_work.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "method/vpm/trial.h"
#include "sampler/target.h"
#include "session/pause.h"

/* Part of the ABI (Documentation/abi/device.rst), not tuned. */
#define MIN_READINGS	5	/* readings of the machine at rest */
#define INTERVALS	5	/* default, in sensing intervals */

static int vpm_measure_min_once(struct kjoule_vpm *v, s64 *raw)
{
	unsigned int us = div_u64(v->src->ready_ns, NSEC_PER_USEC), tries;
	unsigned long flags;
	int err;

	local_irq_save(flags);
	err = v->src->ops->start(v->src, v->domain);
	local_irq_restore(flags);
	if (err)
		return err;
	/* a twentieth of the interval more or less: only creating a session waits for it */
	usleep_range(us, us + us / 20 + 1);
	for (tries = 0; tries < 20; tries++) {
		local_irq_save(flags);
		err = v->src->ops->read_started(v->src, v->domain, raw);
		local_irq_restore(flags);
		if (err != -EAGAIN)
			break;
		usleep_range(us / 20 + 1, us / 10 + 2);
	}
	return err;
}

static int vpm_measure_min(struct kjoule_vpm *v)
{
	unsigned int i;
	s64 raw;
	int err = 0;

	v->min_uw = U64_MAX;
	for (i = 0; i < MIN_READINGS && (!err || err == -ECANCELED); i++) {
		/* another user may read it at the same time */
		err = vpm_measure_min_once(v, &raw);
		if (!err)
			v->min_uw = min(v->min_uw, kjoule_vpm_uw(v, raw));
	}
	if (v->min_uw != U64_MAX)
		return 0;
	return err == -EAGAIN ? -EIO : err == -ECANCELED ? -EBUSY : err;
}

static unsigned int vpm_choose_domain(const struct kjoule_source *src)
{
	unsigned int i, first = src->n_domains;

	for (i = 0; i < src->n_domains; i++) {
		if (src->domains[i].quantity != KJOULE_QUANTITY_POWER)
			continue;
		if (src->domains[i].class == KJOULE_DOMAIN_PACKAGE)
			return i;
		first = min(first, i);
	}
	return first;
}

static int vpm_choose_meter(struct kjoule_vpm *v, const char *source, const char **why)
{
	v->src = kjoule_source_get_startable(source);
	if (!IS_ERR(v->src)) {
		v->domain = vpm_choose_domain(v->src);
		return 0;
	}
	*why = PTR_ERR(v->src) == -EOPNOTSUPP ? "that source is no meter that starts on command" :
	       source && *source ? "there is no such meter, or it does not work" :
	       "there is no meter that starts on command";
	return PTR_ERR(v->src);
}

static int vpm_init(struct kjoule_vpm *v, const char *source, u64 interval_ns, const char **why)
{
	int err = vpm_choose_meter(v, source, why);
	u64 least;

	if (err) {
		v->src = NULL;
		return err;
	}
	least = KJOULE_VPM_INTERVAL_MIN * v->src->ready_ns;
	if (!interval_ns)
		interval_ns = INTERVALS * v->src->ready_ns;
	if (interval_ns < least || interval_ns > KJOULE_VPM_INTERVAL_MAX_NS) {
		*why = "readings of blocks are 2 intervals of the meter to 60 s apart";
		return -ERANGE;
	}
	v->interval_ns = max(interval_ns, KJOULE_VPM_TRIAL_GAP_NS);
	v->cpu = kcalloc(v->n, sizeof(*v->cpu), GFP_KERNEL_ACCOUNT);
	if (!v->cpu || !zalloc_cpumask_var(&v->allowed, GFP_KERNEL_ACCOUNT))
		return -ENOMEM;
	err = vpm_measure_min(v);
	if (err)
		*why = "the meter does not answer";
	return err;
}

/**
 * kjoule_vpm_new() - create the readings of a session
 * @vpm:	result
 * @source:	name of the meter, NULL or "" for the first one that starts on command
 * @interval_ns: mean time between the end of a trial and the next arming; 0 for the default, and at
 *		 least KJOULE_VPM_TRIAL_GAP_NS
 * @target:	the session's; kept
 * @sampler:	the session's samplers; kept, with the array
 * @n:		their number
 * @why:	set to the reason of an error
 * Context: process, sleeps for some sensing intervals.
 * Return: 0, -ERANGE (@interval_ns), -EOPNOTSUPP (no such meter, hardware breakpoints or irq_work
 * interrupts), -ENOENT, -ENODEV, -EINTR (see kjoule_source_get()), -EINVAL (another method of the
 * session pauses CPUs), -EBUSY (another session does, or the meter is in use), -ENOMEM, or the
 * meter's error
 */
int kjoule_vpm_new(struct kjoule_vpm **vpm, const char *source, u64 interval_ns,
		   const struct kjoule_target *target, struct kjoule_sampler **sampler,
		   unsigned int n, const char **why)
{
	struct kjoule_vpm *v;
	int err;

	if (!IS_ENABLED(CONFIG_HAVE_HW_BREAKPOINT) || !IS_ENABLED(CONFIG_X86) ||
	    !arch_irq_work_has_interrupt() || hrtimer_resolution != 1) {
		*why = "readings of blocks need x86 breakpoints and high-resolution timers";
		return -EOPNOTSUPP;
	}
	err = kjoule_pause_claim(sampler, why);
	if (err)
		return err;
	v = kzalloc(sizeof(*v), GFP_KERNEL_ACCOUNT);
	if (!v) {
		kjoule_pause_release();
		return -ENOMEM;
	}
	mutex_init(&v->lock);
	kjoule_vpm_trials_init(v);
	v->target = target;
	v->sampler = sampler;
	v->n = n;
	err = vpm_init(v, source, interval_ns, why);
	if (err)
		kjoule_vpm_free(v);
	else
		*vpm = v;
	return err;
}

/** kjoule_vpm_free() - undo kjoule_vpm_new() */
void kjoule_vpm_free(struct kjoule_vpm *v)
{
	unsigned int i;

	for (i = 0; i < v->n_blocks; i++)
		put_pid(v->block[i].pid);
	mutex_destroy(&v->lock);
	kjoule_source_put(v->src);
	free_cpumask_var(v->allowed);
	kfree(v->cpu);
	kfree(v);
	kjoule_pause_release();
}

static int vpm_check_place(const struct kjoule_vpm_place *p, const char **why)
{
	if (!p->start || p->start >= TASK_SIZE_MAX || p->next >= TASK_SIZE_MAX ||
	    p->end >= TASK_SIZE_MAX)
		*why = "a block is in user space";
	else if (p->next <= p->start || p->next - p->start > MAX_INSN_SIZE)
		*why = "a block's second instruction is right behind the first";
	else if (p->end == p->start || p->end == p->next)
		*why = "a block has more than one instruction";
	else
		return 0;
	return -EINVAL;
}

/* Find the block's process and program. Return: 0 with a reference, -ESRCH or -EINVAL */
static int vpm_find_process(const struct kjoule_vpm *v, u32 nr, struct vpm_block *b,
			    const char **why)
{
	struct pid *pid = find_get_pid(nr);
	struct task_struct *task;
	int err = 0;

	rcu_read_lock();
	task = pid ? pid_task(pid, PIDTYPE_TGID) : NULL;
	if (!task) {
		*why = "no process with that pid";
		err = -ESRCH;
	} else if (!kjoule_target_has_process(v->target, task)) {
		*why = "the block's process is not in the session's target";
		err = -EINVAL;
	} else {
		b->exec_id = READ_ONCE(task->self_exec_id);
	}
	rcu_read_unlock();
	if (err)
		put_pid(pid);
	else
		b->pid = pid;
	return err;
}

/*
 * kjoule_vpm_add() - add a block to be read. A block that no task of the target can hit would use
 * up trials without a reading. In a system-wide session all processes are in the target, and its
 * creator may sample each of them anyway. Context: process, sleeps; in the caller's pid namespace.
 * Return: its number, from 0; -EINVAL (invalid address, or not in the session's target), -ESRCH (no
 * such process), -ENOSPC (too many blocks, or breakpoints are in use), or perf's error.
 */
int kjoule_vpm_add(struct kjoule_vpm *v, const struct kjoule_vpm_place *place, const char **why)
{
	struct vpm_block b = { .place = *place };
	int ret = vpm_check_place(place, why) ?: vpm_find_process(v, place->pid, &b, why);

	if (ret)
		return ret;
	mutex_lock(&v->lock);
	if (v->n_blocks == KJOULE_VPM_BLOCKS) {
		*why = "there are too many blocks";
		ret = -ENOSPC;
	} else if (!v->n_blocks) {
		/* later blocks: running trials may use the registers */
		ret = kjoule_vpm_check_breakpoints(v, place, why);
	}
	if (ret) {
		put_pid(b.pid);
	} else {
		v->block[v->n_blocks] = b;
		ret = v->n_blocks;
		/* pairs with Z in trial_choose_block() */
		smp_store_release(&v->n_blocks, v->n_blocks + 1);
	}
	mutex_unlock(&v->lock);
	return ret;
}

/** kjoule_vpm_run() - start the trials. Return: 0, or -errno of the thread */
int kjoule_vpm_run(struct kjoule_vpm *v)
{
	struct task_struct *thread;

	if (v->thread)
		return 0;
	thread = kthread_run(kjoule_vpm_run_trials, v, "kjoule-vpm");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	v->thread = thread;
	return 0;
}

/*
 * kjoule_vpm_halt() - stop the trials. At the return there is no breakpoint, and no CPU is paused.
 */
void kjoule_vpm_halt(struct kjoule_vpm *v)
{
	if (!v->thread)
		return;
	kthread_stop(v->thread);
	v->thread = NULL;
}

/*
 * kjoule_vpm_get_stats() - statistics of the trials. Until it has been halted its numbers may be a
 * trial apart.
 */
void kjoule_vpm_get_stats(struct kjoule_vpm *v, struct kjoule_vpm_stats *stats)
{
	*stats = (struct kjoule_vpm_stats){
		.trials = READ_ONCE(v->stats.trials),
		.readings = READ_ONCE(v->stats.readings),
		.learnt = READ_ONCE(v->stats.learnt),
		.no_hit = READ_ONCE(v->stats.no_hit),
		.no_end = READ_ONCE(v->stats.no_end),
		.mismatched = READ_ONCE(v->stats.mismatched),
		.overrun = READ_ONCE(v->stats.overrun),
		.unusable = READ_ONCE(v->stats.unusable),
		.failed = READ_ONCE(v->stats.failed),
		.aborted = READ_ONCE(v->stats.aborted),
		.skipped = READ_ONCE(v->stats.skipped),
		.paused_ns = READ_ONCE(v->stats.paused_ns),
		.paused_max_ns = READ_ONCE(v->stats.paused_max_ns),
	};
}

/** kjoule_vpm_get_meter() - properties of the meter */
void kjoule_vpm_get_meter(const struct kjoule_vpm *v, struct kjoule_vpm_meter *meter)
{
	const struct kjoule_domain *d = &v->src->domains[v->domain];

	*meter = (struct kjoule_vpm_meter){
		.name = v->src->name,
		.interval_ns = v->interval_ns,
		.ready_ns = v->src->ready_ns,
		.max_uw = d->max_power_uw,
		.min_uw = v->min_uw,
	};
}
