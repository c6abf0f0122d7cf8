// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pollers; see poller.h. Each slow source has its own thread: a device that answers late, or hangs,
 * delays its own readings only, and each source has its own period. The thread stays on the
 * session's CPUs, so that with interrupts off it is the producer of the ring of its CPU, as the
 * tick is.
 *
 * It takes no lock of a session: its reads may wait for CPU hotplug, which waits for sessions. A
 * waiter for it must hold none either. The wait at a session's stop is bounded: a reading that
 * takes too long is aborted, that is, discarded. The thread itself ends later.
 */
#include <linux/freezer.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "counter/meter.h"
#include "sampler/poller.h"
#include "sampler/sampler.h"

static struct kjoule_sampler *poller_local_sampler(struct kjoule_poller *p)
{
	unsigned int cpu = smp_processor_id(), low = 0, high = p->n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (p->sampler[middle]->cpu == cpu)
			return p->sampler[middle];
		if (p->sampler[middle]->cpu < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/*
 * Hotplug resets a thread's affinity when the last of its CPUs goes offline; set it again when one
 * is back.
 */
static void poller_restore_affinity(struct kjoule_poller *p)
{
	if (!cpumask_subset(current->cpus_ptr, p->cpus))
		set_cpus_allowed_ptr(current, p->cpus);
}

static int poller_write_value(struct kjoule_poller *p, struct kjoule_value *rec)
{
	struct kjoule_sampler *s;
	unsigned long flags;
	int err = -ENXIO;

	poller_restore_affinity(p);
	local_irq_save(flags);
	s = READ_ONCE(p->aborted) ? NULL : poller_local_sampler(p);
	if (s) {
		rec->tick = s->tick;
		err = kjoule_sampler_emit(s, KJOULE_RECORD_VALUE, p->number, rec, sizeof(*rec));
	}
	local_irq_restore(flags);
	return err;
}

/* Add a counter's raw value; @value is the total in the domain's unit. */
static int poller_add_counter(struct kjoule_poller *p, unsigned int i, u64 raw, u64 now, s64 *value)
{
	const struct kjoule_domain *d = &p->src->domains[i];
	struct kjoule_counter *c = &p->counter[i];
	u64 range = d->range ?: d->width < 64 ? (1ULL << d->width) - 1 : 0;
	u64 most = U64_MAX;
	bool updated = true;

	if (!(p->known & BIT(i))) {
		if (range && raw > range)
			return -ERANGE;
		kjoule_counter_start(c, raw);
		p->known |= BIT(i);
	} else {
		/* a step back: a wrap or a reset */
		if (raw < c->last_raw && range)
			most = kjoule_meter_max_counts(d, now - p->updated_ns[i]);
		updated = raw != c->last_raw;
		if (!kjoule_counter_add_range(c, raw, range, most))
			return -ERANGE;
	}
	if (updated)
		p->updated_ns[i] = now;
	*value = min_t(u64, kjoule_counter_scale(c->total, d->unit_mult, d->unit_shift), S64_MAX);
	return 0;
}

static int poller_read_domain(struct kjoule_poller *p, unsigned int i)
{
	const struct kjoule_domain *d = &p->src->domains[i];
	struct kjoule_value rec = { .domain = i, .time_ns = ktime_get_ns() };
	bool counter = p->src->kind == KJOULE_KIND_ENERGY;
	s64 raw;
	int err;

	err = p->src->ops->read_value(p->src, i, &raw);
	rec.duration_ns = min_t(u64, ktime_get_ns() - rec.time_ns, U32_MAX);
	if (err)
		return err;
	if (counter)
		err = poller_add_counter(p, i, raw, rec.time_ns, &rec.value);
	else
		rec.value = kjoule_gauge_scale(raw, d->unit_mult, d->unit_shift);
	if (err)
		return err;
	if (counter && p->has_recorded & BIT(i) && p->recorded[i] == rec.value)
		return 0;
	err = poller_write_value(p, &rec);
	if (!err) {
		WRITE_ONCE(p->recorded[i], rec.value);
		/* T, pairs with U in kjoule_poller_get_value() */
		smp_store_release(&p->has_recorded, p->has_recorded | BIT(i));
	}
	/* losses are counted by the ring; a counter's next record has the sum */
	return err == -ENOSPC ? 0 : err;
}

/*
 * Do not count once aborted: kjoule_session_stop_pollers() waits for RCU readers, as for @aborted
 * above.
 */
static void poller_count(struct kjoule_poller *p, u64 *number)
{
	rcu_read_lock();
	if (!READ_ONCE(p->aborted))
		WRITE_ONCE(*number, *number + 1);
	rcu_read_unlock();
}

static void poller_read_source(struct kjoule_poller *p)
{
	u64 begin = ktime_get_ns(), errors = p->stats.errors;
	unsigned int i;

	poller_restore_affinity(p);
	for (i = 0; i < p->src->n_domains && !READ_ONCE(p->aborted); i++) {
		if (poller_read_domain(p, i)) {
			poller_count(p, &p->stats.errors);
			atomic64_inc(&p->src->errors);
		}
	}
	if (READ_ONCE(p->aborted))
		return;
	p->failures = p->stats.errors != errors ? p->failures + 1 : 0;
	if (p->failures == KJOULE_SOURCE_LOST_READS)
		kjoule_poller_lost(p);
	if (ktime_get_ns() - begin > p->period_ns)
		poller_count(p, &p->stats.overruns);
	poller_count(p, &p->stats.reads);
}

static bool poller_should_stop(const struct kjoule_poller *p)
{
	return READ_ONCE(p->stopping) || kthread_should_stop();
}

/* Sleep until @due; false when the thread is to end. */
static bool poller_sleep_until(struct kjoule_poller *p, u64 due)
{
	ktime_t expires = ns_to_ktime(due);
	bool frozen;

	for (;;) {
		if (kthread_freezable_should_stop(&frozen) || READ_ONCE(p->stopping))
			return false;
		/* after a suspend counters restart from their current value */
		if (frozen)
			p->known = 0;
		if (ktime_get_ns() >= due)
			return true;
		/* the freezer wakes the thread */
		set_current_state(TASK_INTERRUPTIBLE);
		if (!poller_should_stop(p))
			schedule_hrtimeout_range(&expires, NSEC_PER_USEC * 50, HRTIMER_MODE_ABS);
		__set_current_state(TASK_RUNNING);
	}
}

static int poller_thread(void *data)
{
	struct kjoule_poller *p = data;
	u64 due, now;

	set_freezable();
	/* M, pairs with N in kjoule_poller_start(): the samplers run */
	wait_event_freezable(p->wait, smp_load_acquire(&p->running) || poller_should_stop(p));
	if (!p->running)
		goto out;
	for (due = ktime_get_ns(); poller_sleep_until(p, due);) {
		poller_read_source(p);
		/* keep to the grid, so that periods do not drift; skip missed ones */
		due += p->period_ns;
		now = ktime_get_ns();
		if (due < now)
			due += (div64_u64(now - due, p->period_ns) + 1) * p->period_ns;
	}
	/* a last reading at the session's end */
	poller_read_source(p);
out:
	complete_all(&p->done);
	return 0;
}

/**
 * kjoule_poller_create() - create the thread that reads a slow source; it waits to be started
 * @src:	the source; kept by the caller until the poller is destroyed
 * @number:	of the source in the session
 * @period_ns:	between two readings
 * @sampler:	samplers of the session; the array is kept by the caller as well
 * @n:		their number
 * Return: the poller, or an ERR_PTR: -ENOMEM, -EINTR
 */
struct kjoule_poller *kjoule_poller_create(struct kjoule_source *src, u8 number, u64 period_ns,
					   struct kjoule_sampler *const *sampler, unsigned int n)
{
	struct kjoule_poller *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	struct task_struct *thread;
	unsigned int i;
	int err;

	if (!p)
		return ERR_PTR(-ENOMEM);
	if (!zalloc_cpumask_var(&p->cpus, GFP_KERNEL_ACCOUNT)) {
		err = -ENOMEM;
		goto err_free;
	}
	p->src = src;
	p->number = number;
	p->period_ns = period_ns;
	p->sampler = sampler;
	p->n = n;
	init_completion(&p->done);
	init_waitqueue_head(&p->wait);
	for (i = 0; i < n; i++)
		cpumask_set_cpu(sampler[i]->cpu, p->cpus);
	thread = kthread_create(poller_thread, p, "kjoule/%s", src->name);
	if (IS_ERR(thread)) {
		err = PTR_ERR(thread);
		goto err_free_cpus;
	}
	/* fails while none of them is online; see poller_restore_affinity() */
	set_cpus_allowed_ptr(thread, p->cpus);
	/* the thread may end before it is stopped */
	p->thread = get_task_struct(thread);
	/* wake it now: a thread that was never woken looks hung */
	wake_up_process(thread);
	return p;

err_free_cpus:
	free_cpumask_var(p->cpus);
err_free:
	kfree(p);
	return ERR_PTR(err);
}

/** kjoule_poller_start() - start the readings */
void kjoule_poller_start(struct kjoule_poller *p)
{
	smp_store_release(&p->running, true);	/* N, pairs with M in poller_thread() */
	wake_up(&p->wait);
}

/*
 * kjoule_poller_finish() - request a last reading; may be repeated. @p: started or not; may have
 * been asked.
 */
void kjoule_poller_finish(struct kjoule_poller *p)
{
	WRITE_ONCE(p->stopping, true);
	wake_up_process(p->thread);
}

/**
 * kjoule_poller_wait() - wait for the last reading
 * @p:		after kjoule_poller_finish()
 * @until:	time-out in jiffies: then the current reading is aborted
 * Context: process, sleeps; without a session's lock and the CPU hotplug lock.
 * Return: true if it has finished. After an abort, nothing is written or counted any more once
 * synchronize_rcu() has returned
 */
bool kjoule_poller_wait(struct kjoule_poller *p, unsigned long until)
{
	long timeout = max_t(long, until - jiffies, 0);

	if (wait_for_completion_timeout(&p->done, READ_ONCE(p->aborted) ? 0 : timeout))
		return true;
	if (!xchg(&p->aborted, true))
		WRITE_ONCE(p->lost_pending, true);
	return false;
}

/*
 * kjoule_poller_join() - wait for the thread to end, without a time-out. Context: as
 * kjoule_poller_wait(), serialised by the caller; not if others would wait for it, unless
 * kjoule_poller_wait() has returned true.
 */
void kjoule_poller_join(struct kjoule_poller *p)
{
	if (!p->joined)
		kthread_stop(p->thread);
	p->joined = true;
}

/*
 * kjoule_poller_destroy() - undo kjoule_poller_create(). @p: the poller, or NULL. Context: as
 * kjoule_poller_join().
 */
void kjoule_poller_destroy(struct kjoule_poller *p)
{
	if (!p)
		return;
	kjoule_poller_join(p);
	put_task_struct(p->thread);
	free_cpumask_var(p->cpus);
	kfree(p);
}

/**
 * kjoule_poller_get_value() - the last recorded value of a domain
 * @p:		the poller
 * @domain:	below the source's n_domains
 * @value:	set in the unit of the domain's quantity; a counter's since its first reading
 * Return: 0, or -ENODATA while there is no record
 */
int kjoule_poller_get_value(const struct kjoule_poller *p, unsigned int domain, s64 *value)
{
	/* U, pairs with T in poller_read_domain() */
	if (!(smp_load_acquire(&p->has_recorded) & BIT(domain)))
		return -ENODATA;
	*value = READ_ONCE(p->recorded[domain]);
	return 0;
}

/** kjoule_poller_get_stats() - statistics so far */
void kjoule_poller_get_stats(const struct kjoule_poller *p, struct kjoule_poller_stats *stats)
{
	stats->reads = READ_ONCE(p->stats.reads);
	/* an aborted reading counts as an error */
	stats->errors = READ_ONCE(p->stats.errors) + READ_ONCE(p->aborted);
	stats->overruns = READ_ONCE(p->stats.overruns);
}
