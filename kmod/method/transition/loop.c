// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times loops while a frequency changes; see transition.h. Runs in the probe's thread, timed with
 * interrupts off for a slice. In a slice the end of a loop is the start of the next one, so that a
 * change falls into one of them; a loop is stored in the next one's time, at the same cost for all.
 *
 *	lead		this many loops at the first frequency or more, at random up to twice as
 *			many: the request has a random phase to any grid of the hardware
 *	request		with a loop right before and after it; with way "fast" nothing else comes
 *			before it in this slice
 *	loops		until the change was detected and confirmed by the requested number, or
 *			until the timeout
 *
 * A change is detected only to end the job, by STREAK loops in a row that match the second
 * frequency. User space evaluates the times.
 */
#include <linux/cpufreq.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "compat/compat.h"
#include "method/transition/transition.h"

/*
 * Part of the ABI (Documentation/abi/netlink.rst). Ends jobs only: user space places the change by
 * all loops, with the result of "scripts/bench latency" in Documentation/accuracy.rst.
 */
#define STREAK		10U

/* Limit of the way to the first frequency, if the time-out is shorter. Only failures take it. */
#define SETTLE_NS	200000000ULL

/* Discarded loops: they fill the caches. Not tuned: a loop's code and data are a few lines. */
#define COLD		3U

/* Loops after one that takes half as long again as the one before, in its slice. Not tuned. */
#define AFTER			2U

/*
 * With so few to a slice loops are long, and our code is negligible: all are counted. Not tuned:
 * with more to a slice, one loop of four or more is not counted.
 */
#define LONG_LOOPS		4U

/*
 * Loops in a row that may be longer than one loop: steps of a change may fall into several. Not
 * tuned: it bounds the time with interrupts off, of a job with a wrong number of additions.
 */
#define TOO_LONG		3U

/**
 * struct run - a job under way
 * @t:		the probe
 * @job:	the job
 * @deadline:	CLOCK_MONOTONIC
 * @off_ns:	when interrupts were disabled
 * @start_ns:	of the last loop
 * @last_ns:	its duration
 * @ran:	the last loop is not stored yet
 * @at_ns:	start of the next loop
 * @usual_ns:	duration of the last loop that was not long
 * @after:	loops since a long one
 * @origin_ns:	origin of start times
 * @keep:	loops are stored
 * @counter:	of cycles, NULL: none, or it could not be read
 * @last:	cycles of the last loop
 * @at:		the counter at @at_ns
 * @first:	the next loop is the first one of a slice after a break
 * @uncounted:	the last one was
 * @want:	limits that loops are compared with
 * @streak:	loops in a row that matched
 * @streaked:	it was long enough
 * @more:	loops to go once there are STREAK of them
 * @left:	loops to go
 * @too_long:	loops in a row that took too long
 */
struct run {
	struct kjoule_transition *t;
	struct kjoule_transition_job *job;
	u64 deadline, off_ns, start_ns, last_ns, at_ns, usual_ns, origin_ns;
	struct kjoule_source *counter;
	struct kjoule_cycles last, at;
	u32 after;
	bool ran, keep, first, uncounted, streaked;
	const struct kjoule_transition_limits *want;
	u32 streak, more, left, too_long;
};

static noinline void loop_run_adds(u32 n)
{
	unsigned long sum = 0;

	for (n /= 16; n; n--)
		asm volatile("add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
			     "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
			     "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
			     "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0"
			     : "+r" (sum) : : "cc");
}

static u64 loop_now_ns(void)
{
	return ktime_get_mono_fast_ns();
}

static void loop_read_cycles(struct run *r)
{
	lockdep_assert_irqs_disabled();
	if (r->counter && unlikely(r->counter->ops->read_cycles(r->counter, &r->at)))
		r->counter = NULL;
}

/* The fast clock may step back by a little. */
static u64 loop_elapsed_ns(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

static void loop_begin(struct run *r)
{
	loop_read_cycles(r);
	r->at_ns = loop_now_ns();
}

static void slice_begin(struct run *r)
{
	local_irq_disable();
	r->off_ns = loop_now_ns();
	r->after = AFTER;
	loop_begin(r);
}

static void slice_end(struct run *r)
{
	u64 ns = loop_elapsed_ns(r->off_ns, loop_now_ns());

	if (ns > r->job->irqs_off_ns) {
		r->job->irqs_off_ns = ns;
		r->job->irqs_off_from_ns = r->off_ns;
	}
	local_irq_enable();
	cond_resched();
}

/* Also executed before the first loop, which is not counted: the cost is always the same. */
static void loop_store(struct run *r)
{
	struct kjoule_transition *t = r->t;

	if (t->n == KJOULE_TRANSITION_LOOPS_MAX)
		return;
	t->loops[t->n] = (struct kjoule_loop){
		.start_ns = r->start_ns - r->origin_ns,
		.loop_ns = min_t(u64, r->last_ns, U32_MAX),
		.cycles = r->last.cycles,
		.reference = r->last.reference,
	};
	t->n += r->ran & r->keep & (r->uncounted ^ true);
}

static const struct kjoule_transition_limits none_is_like = { .lo_ns = 1 };

/* @want NULL: no loop matches */
static void loop_set_wanted(struct run *r, const struct kjoule_transition_limits *want)
{
	r->want = want ?: &none_is_like;
	r->streak = 0;
	r->streaked = false;
}

static bool loop_matches(const struct kjoule_transition_limits *want, u64 ns)
{
	return ns >= want->lo_ns && ns <= want->hi_ns;
}

/* Evaluate the last loop. Return: 0 to go on, 1 if done, or -errno */
static int loop_evaluate(struct run *r)
{
	u32 streak = loop_matches(r->want, r->last_ns) ? r->streak + 1 : 0;

	u32 counted = !r->uncounted;

	/* no branches: the cost is part of the next loop's time and must not vary */
	r->streak = streak * counted + r->streak * !counted;
	/* the loops to come only confirm the change, which was in time */
	if (unlikely(r->streak == STREAK && !r->streaked)) {
		r->streaked = true;
		r->left = min(r->left, r->more);
		r->deadline = r->at_ns + KJOULE_TRANSITION_TIMEOUT_NS;
	}
	if (r->at_ns > r->deadline)
		return -ETIME;
	r->left -= counted;
	return !r->left;
}

static int loop_account(struct run *r)
{
	loop_store(r);
	if (!r->ran)
		return 0;
	r->ran = false;
	return r->too_long > TOO_LONG ? -EDOM : loop_evaluate(r);
}

/* Interrupts are off. Return: as loop_account() of the loop before; no loop runs unless it is 0 */
static int loop_time_one(struct run *r)
{
	int ret = loop_account(r);

	if (ret)
		return ret;
	loop_run_adds(r->job->adds);
	r->start_ns = r->at_ns;
	r->last = r->at;
	loop_begin(r);
	r->last_ns = loop_elapsed_ns(r->start_ns, r->at_ns);
	r->last.cycles = r->at.cycles - r->last.cycles;
	r->last.reference = r->at.reference - r->last.reference;
	r->ran = true;
	r->uncounted = r->first;
	r->first = false;
	/* a change takes part of one loop; more of them in a row means long loops */
	r->too_long = r->last_ns > KJOULE_TRANSITION_LOOP_NS ? r->too_long + 1 : 0;
	if (r->usual_ns && 2 * r->last_ns > 3 * r->usual_ns && r->after) {
		r->after = 0;
	} else {
		r->usual_ns = r->last_ns;
		r->after++;
	}
	return 0;
}

/*
 * A change needs loops on both sides: do not end a slice right behind a long loop, which may
 * contain it, unless interrupts have been off for the maximum time.
 */
static bool slice_is_over(const struct run *r)
{
	u64 ns = r->at_ns + r->usual_ns - r->off_ns;

	return ns > r->job->slice_ns && (r->after >= AFTER || ns > KJOULE_TRANSITION_SLICE_NS);
}

/* Interrupts are off, and on afterwards. Return: 1 if done, or -errno */
static int loop_run_slices(struct run *r)
{
	int ret;

	for (;;) {
		if (unlikely(raw_smp_processor_id() != r->t->cpu)) {
			local_irq_enable();
			return -ENODEV;
		}
		do
			ret = loop_time_one(r);
		while (!ret && !slice_is_over(r));
		slice_end(r);
		if (ret >= 0 && (READ_ONCE(r->t->ending) || READ_ONCE(r->t->cancel)))
			ret = -ECANCELED;
		if (ret)
			return ret;
		r->job->breaks++;
		/*
		 * The first loop of a slice is shorter, because less of our code runs before it: it
		 * is not counted. Slices with long loops have only a few of them, and our code is
		 * negligible: all are counted.
		 */
		r->first = LONG_LOOPS * r->usual_ns < r->job->slice_ns;
		slice_begin(r);
	}
}

static int loop_run_count(struct run *r, u32 loops, const struct kjoule_transition_limits *want)
{
	r->left = loops;
	loop_set_wanted(r, want);
	slice_begin(r);
	return loop_run_slices(r);
}

/*
 * Request a frequency by limits on both sides. cpufreq would apply them in a work item; apply them
 * now. Sleeps.
 */
static int loop_request_limits(struct kjoule_transition *t, u32 khz)
{
	bool up = khz > t->min.pnode.prio;
	int err;

	/* keep min below max at all times */
	err = freq_qos_update_request(up ? &t->max : &t->min, khz);
	if (err >= 0)
		err = freq_qos_update_request(up ? &t->min : &t->max, khz);
	if (err < 0)
		return err;
	cpufreq_update_policy(t->cpu);
	return 0;
}

/* Called with interrupts off; the way "limits" enables them meanwhile. */
static int loop_request_khz(struct run *r, u32 khz)
{
	struct kjoule_transition *t = r->t;
	int err;

	if (t->way == KJOULE_TRANSITION_WAY_LIMITS) {
		slice_end(r);
		err = loop_request_limits(t, khz);
		slice_begin(r);
		return err;
	}
	if (raw_smp_processor_id() != t->cpu)
		return -ENODEV;
	if (!READ_ONCE(t->governed))
		return -EPERM;
	return cpufreq_driver_fast_switch(t->policy, khz) ? 0 : -EIO;
}

/* Switch to a frequency and wait until the loops match it. Return: 0, -ETIME or -errno */
static int loop_settle(struct run *r, u32 khz, const struct kjoule_transition_limits *want)
{
	int ret;

	slice_begin(r);
	ret = loop_request_khz(r, khz);
	if (ret) {
		slice_end(r);
		return ret;
	}
	r->left = U32_MAX;
	loop_set_wanted(r, want);
	r->more = 1;
	loop_begin(r);
	ret = loop_run_slices(r);
	return ret > 0 ? 0 : ret;
}

static int loop_calibrate(struct run *r)
{
	struct kjoule_transition_job *job = r->job;
	u64 least = U64_MAX;
	int ret;

	slice_begin(r);
	ret = loop_request_khz(r, job->to_khz);
	slice_end(r);
	if (ret)
		return ret;
	/* the minimum of some loops: others may have been disturbed */
	for (u32 i = 0; i < COLD; i++) {
		ret = loop_run_count(r, 1, NULL);
		if (ret < 0)
			return ret;
		least = min(least, r->last_ns);
	}
	if (least > KJOULE_TRANSITION_LOOP_NS)
		return -EDOM;
	/* without a known loop time, wait instead */
	r->deadline = loop_now_ns() + job->timeout_ns;
	while (loop_now_ns() < r->deadline) {
		ret = loop_run_count(r, COLD, NULL);
		if (ret < 0)
			break;
	}
	if (ret < 0 && ret != -ETIME)
		return ret;
	r->deadline = loop_now_ns() + KJOULE_TRANSITION_TIMEOUT_NS;
	r->keep = true;
	r->origin_ns = loop_now_ns();
	ret = loop_run_count(r, job->loops, NULL);
	job->outcome = ret > 0 ? KJOULE_TRANSITION_OUTCOME_DONE : KJOULE_TRANSITION_OUTCOME_TIMEOUT;
	return ret > 0 || ret == -ETIME ? 0 : ret;
}

static void loop_move_origin(struct run *r, u64 origin)
{
	struct kjoule_transition *t = r->t;

	for (u32 i = 0; i < t->n; i++)
		t->loops[i].start_ns -= origin - r->origin_ns;
	r->origin_ns = origin;
}

static int loop_follow_change(struct run *r)
{
	struct kjoule_transition_job *job = r->job;
	/* with interrupts on: this may sleep */
	u32 wait = get_random_u32() % job->adds;
	int ret;

	r->keep = true;
	r->origin_ns = loop_now_ns();
	ret = loop_run_count(r, job->lead + get_random_u32() % (job->lead + 1), NULL);
	if (ret < 0)
		return ret;
	/* the last loop before the request, in the same slice */
	r->left = 2;
	loop_set_wanted(r, NULL);
	slice_begin(r);
	loop_time_one(r);
	ret = loop_account(r);
	if (ret < 0) {
		slice_end(r);
		return ret;
	}
	job->requested_ns = loop_now_ns();
	ret = loop_request_khz(r, job->to_khz);
	job->request_ns = loop_elapsed_ns(job->requested_ns, loop_now_ns());
	if (ret) {
		slice_end(r);
		return ret;
	}
	loop_move_origin(r, job->requested_ns);
	r->deadline = job->requested_ns + job->timeout_ns;
	/* a change with a constant delay should not fall at the same place of a loop each time */
	loop_run_adds(wait);
	r->left = job->loops;
	loop_set_wanted(r, &job->to);
	r->more = max(job->confirm, STREAK + 1) - STREAK + 1;
	loop_begin(r);
	ret = loop_run_slices(r);
	if (ret > 0)
		job->outcome = r->streaked ? KJOULE_TRANSITION_OUTCOME_DONE :
						     KJOULE_TRANSITION_OUTCOME_LOOPS;
	return ret;
}

static int loop_measure_change(struct run *r)
{
	struct kjoule_transition_job *job = r->job;
	int ret = loop_settle(r, job->from_khz, &job->from);

	if (ret == -ETIME) {
		job->outcome = KJOULE_TRANSITION_OUTCOME_NOT_AT_FROM;
		return 0;
	}
	if (ret)
		return ret;
	r->deadline = loop_now_ns() + max_t(u64, job->timeout_ns, SETTLE_NS);
	ret = loop_follow_change(r);
	if (ret == -ETIME) {
		job->outcome = KJOULE_TRANSITION_OUTCOME_TIMEOUT;
		return 0;
	}
	return ret > 0 ? 0 : ret;
}

/*
 * kjoule_transition_run() - do a job. @t: its policy is held. Context: process, the probe's thread
 * on its CPU. Return: 0, -EPERM (another governor), -ENODEV (the thread is on another CPU), -EDOM
 * (a loop takes too long), -ECANCELED (the probe ends), -EIO (the driver refuses), or -errno of
 * freq QoS.
 */
int kjoule_transition_run(struct kjoule_transition *t, struct kjoule_transition_job *job)
{
	struct run r = {
		.t = t,
		.job = job,
		.deadline = loop_now_ns() + max_t(u64, job->timeout_ns, SETTLE_NS),
		.counter = t->counter,
	};
	int ret;

	t->n = 0;
	job->requested_ns = 0;
	job->request_ns = 0;
	job->irqs_off_ns = 0;
	job->irqs_off_from_ns = 0;
	job->breaks = 0;
	job->counter[0] = '\0';
	job->reference_khz = 0;
	ret = job->measure ? loop_measure_change(&r) : loop_calibrate(&r);
	for (u32 i = 0; i < t->n && !r.counter; i++) {
		t->loops[i].cycles = 0;
		t->loops[i].reference = 0;
	}
	if (r.counter) {
		strscpy(job->counter, r.counter->name, sizeof(job->counter));
		job->reference_khz = r.counter->reference_khz;
	}
	return ret;
}
