// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readings of single blocks; see vpm.h. A thread of the session's arms the breakpoints and takes
 * them away again: a debug register is in use only while somebody is waited for. What happens at a
 * hit is done in the breakpoint's exception and in an interrupt right after it.
 *
 * A round, with what its record tells in brackets:
 *
 *	armed		[armed_ns] breakpoints on the block's first instruction, and on where it is
 *			to be stopped
 *	started		[hit_ns] the first hit: the meter is started. That breakpoint takes itself
 *			away with its first hit
 *	stopped		[stop_ns] the program is held, interrupts off, until the reading is ready
 *	done		[ready_ns]
 *
 * Half of the rounds stop at the block's end (delayed), the other half at its second instruction.
 * Everything else is alike: two exceptions, a breakpoint that goes, and the time from the second
 * one to the hold. So the differences of energy and of time between the two halves are those of the
 * block alone, and the block's latency needs no asking. Every HELD_EVERY-th round starts the meter
 * when the program is held already: that is the power of holding, which equation 4 calls idle.
 *
 * A function ends where it returns to. That is learnt from the stack at the first hits; a round
 * awaits one return address, and is given up where the function was called from elsewhere.
 *
 * Every wait is bounded: an arming by PATIENCE_MS, a hold by HOLD_INTERVALS and by ROUNDS_MOST.
 */
#include <asm/irq_work.h>
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/hw_breakpoint.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/swait.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "compat/compat.h"
#include "counter.h"
#include "grid.h"
#include "hold.h"
#include "sampler.h"
#include "source.h"
#include "vpm.h"

#define PATIENCE_MS	1000	/* until somebody comes by */
#define END_INTERVALS	4	/* sensing intervals until the block has ended */
#define HOLD_INTERVALS	2	/* and until the reading is ready */
#define HELD_EVERY	8	/* rounds */
#define RESTS		5	/* readings when the session is made */
#define INTERVALS	5	/* sensing intervals between two armings, if nothing is said */

/* Where a block is left may be passed by others, too: so many exceptions a round. */
#define STOPS_MOST	64

/* Places that a function is called from. */
#define CALLERS		8

/* Should the clock stand: so many looks are some tenths of a second. */
#define ROUNDS_MOST	(1U << 22)

/* The time between two armings doubles with each that fails, so many times. */
#define BACK_OFF	6U

enum round { ROUND_DELAYED, ROUND_UNDELAYED, ROUND_HELD, ROUND_LEARN };

enum state {
	STATE_OFF,
	STATE_ARMED,
	STATE_STARTING,		/* somebody is at the first instruction */
	STATE_STARTED,
	STATE_STOPPED,
	STATE_DONE,
	STATE_ELSEWHERE,	/* called from elsewhere, or by somebody else */
	STATE_FAILED,
};

/**
 * struct vpm_block - a block of the session
 * @pid:	of its process
 * @exec_id:	of the program that it was then; another one has other code there
 * @place:	where; its pid is of no use here
 * @end:	where it returns to, as far as was learnt
 * @met:	how often each of these was
 * @n_ends:	how many of @end
 */
struct vpm_block {
	struct pid *pid;
	u64 exec_id;
	struct kjoule_vpm_place place;
	u64 end[CALLERS];
	u32 met[CALLERS];
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
 * @interval_ns: between two armings, on the average
 * @rest_uw:	the least that it showed when the session was made
 * @whom:	the session's target
 * @n:		samplers of the session
 * @sampler:	these
 * @cpu:	one for each
 * @lock:	held for changes of @n_blocks
 * @n_blocks:	how many of @block
 * @block:	these
 * @thread:	that arms; NULL while it does not run
 * @wait:	where it waits for the end of a round; hard interrupts wake it
 * @work:	done right after the exception that stops, on the same CPU
 * @books:	written by the thread, and by @work
 * @state:	of the round
 * @round:	what kind it is
 * @number:	of it
 * @fails:	rounds in a row that failed
 * @at:		the block
 * @end:	where that is expected to end
 * @armed_ns:	see above; so are the next ones
 * @hit_ns:	see above
 * @stop_ns:	see above
 * @sp:		stack pointer at the hit
 * @task:	who came by
 * @switches:	of that task until then
 * @waited:	for a CPU, until then; from the stop on, since then
 * @where:	the CPU
 * @flags:	KJOULE_READING_*
 *
 * What is of a round is written by the thread before it arms and after it has disarmed, and
 * between by who takes the state from one to the next, on one CPU with interrupts off.
 */
struct kjoule_vpm {
	struct kjoule_source *src;
	unsigned int domain;
	u64 interval_ns;
	u64 rest_uw;
	const struct kjoule_whom *whom;
	unsigned int n;
	struct kjoule_sampler **sampler;
	struct vpm_cpu *cpu;
	struct mutex lock;	/* see above */
	unsigned int n_blocks;
	struct vpm_block block[KJOULE_VPM_BLOCKS];
	struct task_struct *thread;
	struct swait_queue_head wait;
	struct irq_work work;
	struct kjoule_vpm_books books;
	atomic_t state;
	enum round round;
	u32 number;
	unsigned int fails;
	struct vpm_block *at;
	u64 end;
	u64 armed_ns;
	u64 hit_ns;
	u64 stop_ns;
	u64 sp;
	struct task_struct *task;
	u64 switches;
	u64 waited;
	unsigned int where;
	u8 flags;
};

static u64 scale_uw(const struct kjoule_vpm *v, s64 raw)
{
	const struct kjoule_domain *d = &v->src->domains[v->domain];

	return raw < 0 ? 0 : kjoule_counter_scale(raw, d->unit_mult, d->unit_shift);
}

static u64 random_below(u64 limit)
{
	return mul_u64_u64_shr(get_random_u64(), limit, 64);
}

/* How long it has waited for a CPU: others ran there, or interrupts of theirs. */
static u64 waited_ns(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_INFO
	return task->sched_info.run_delay;
#else
	return 0;
#endif
}

/* Those after which a reading is of no use: where it is not known for how long others ran, all. */
static u64 switches_of(const struct task_struct *task)
{
	return task->nvcsw + (IS_ENABLED(CONFIG_SCHED_INFO) ? 0 : task->nivcsw);
}

/* Return: the sampler of this CPU, NULL if it has none that may write. */
static struct kjoule_sampler *sampler_here(const struct kjoule_vpm *v)
{
	unsigned int i;

	for (i = 0; i < v->n; i++) {
		struct kjoule_sampler *s = v->sampler[i];

		if (s->cpu == smp_processor_id())
			return s->running && !s->away ? s : NULL;
	}
	return NULL;
}

/* Return: false if there is no room for it. */
static bool write_reading(struct kjoule_vpm *v, struct kjoule_sampler *s, u64 ready_ns, u64 uw)
{
	struct kjoule_vpm_reading *rec;

	kjoule_books_open(s->ring.page);
	rec = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_READING, v->flags, sizeof(*rec), s->tick);
	if (rec) {
		rec->tick = s->tick;
		rec->number = v->number;
		rec->block = v->at - v->block;
		rec->reserved = 0;
		rec->pid = current->pid;
		rec->tgid = current->tgid;
		rec->armed_ns = v->armed_ns;
		rec->hit_ns = v->hit_ns;
		rec->stop_ns = v->stop_ns;
		rec->ready_ns = ready_ns;
		rec->others_ns = v->waited;
		rec->power_uw = uw;
	}
	kjoule_sampler_wake_reader(s);
	kjoule_sampler_publish(s);
	kjoule_books_close(s->ring.page);
	return rec;
}

/* Hold the CPU until the meter has it. Return: 0, or -errno. */
static int await_reading(struct kjoule_vpm *v, s64 *raw)
{
	u64 until = ktime_get_ns() + HOLD_INTERVALS * v->src->ready_ns;
	u32 rounds = 0;
	int err;

	do {
		err = v->src->ops->read_started(v->src, v->domain, raw);
		cpu_relax();
	} while (err == -EAGAIN && ktime_get_ns() < until && ++rounds < ROUNDS_MOST);
	return err;
}

static void book_hold(struct kjoule_vpm *v, u64 ns)
{
	v->books.held_ns += ns;
	if (ns > v->books.longest_ns)
		v->books.longest_ns = ns;
}

static void hold(struct kjoule_vpm *v)
{
	struct kjoule_sampler *s = sampler_here(v);
	u64 begin = ktime_get_ns(), ready_ns;
	s64 raw = 0;
	int err = 0;

	/* it went on to another CPU between the exception and here, or the ring is not there */
	if (!s || smp_processor_id() != v->where || current != v->task)
		goto failed;
	if (v->round == ROUND_HELD) {
		v->hit_ns = begin;
		v->stop_ns = begin;
		err = v->src->ops->start(v->src, v->domain);
	}
	if (!err && !(v->flags & KJOULE_READING_LATE))
		err = await_reading(v, &raw);
	ready_ns = ktime_get_ns();
	book_hold(v, ready_ns - begin);
	if (err || !write_reading(v, s, ready_ns, scale_uw(v, raw)))
		goto failed;
	v->books.readings++;
	v->books.spoilt += !!(v->flags & (KJOULE_READING_MOVED | KJOULE_READING_LATE));
	atomic_set(&v->state, STATE_DONE);
	return;
failed:
	atomic_set(&v->state, STATE_FAILED);
}

/* Right after the exception, on its CPU. */
static void work(struct irq_work *work)
{
	struct kjoule_vpm *v = container_of(work, struct kjoule_vpm, work);

	if (atomic_read(&v->state) == STATE_STOPPED)
		hold(v);
	swake_up_one(&v->wait);
}

/* Of what is met the most hardly anything is forgotten: the place that was met least makes room. */
static void learn(struct vpm_block *b, u64 end)
{
	u32 i, least = 0;

	for (i = 0; i < b->n_ends; i++) {
		if (b->end[i] == end) {
			b->met[i]++;
			return;
		}
		if (b->met[i] < b->met[least])
			least = i;
	}
	if (b->n_ends < CALLERS)
		least = b->n_ends;
	b->end[least] = end;
	b->met[least] = 1;
	WRITE_ONCE(b->n_ends, max(b->n_ends, least + 1));
}

static bool is_wanted(const struct kjoule_vpm *v)
{
	return task_tgid(current) == v->at->pid && current->self_exec_id == v->at->exec_id &&
	       kjoule_whom_runs(v->whom);
}

/* Where it will return to, if it is at the first instruction of a function. */
static bool finds_end(struct kjoule_vpm *v, const struct pt_regs *regs)
{
	const void __user *sp = (void __user *)user_stack_pointer((struct pt_regs *)regs);
	u64 end = 0;

	if (v->at->place.end)
		return true;
	/* what is not the head of a function has anything there */
	if (copy_from_user_nofault(&end, sp, user_64bit_mode((struct pt_regs *)regs) ? 8 : 4) ||
	    !end || end >= TASK_SIZE_MAX || end == v->at->place.start || end == v->at->place.next)
		return false;
	learn(v->at, end);
	return end == v->end || v->round == ROUND_LEARN || v->round == ROUND_HELD;
}

/* The first instruction is about to run: the breakpoint's exception, interrupts off. */
static void on_start(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	struct kjoule_vpm *v = event->overflow_handler_context;

	if (atomic_cmpxchg(&v->state, STATE_ARMED, STATE_STARTING) != STATE_ARMED)
		return;
	if (!is_wanted(v) || !finds_end(v, regs)) {
		atomic_set(&v->state, STATE_ELSEWHERE);
		irq_work_queue(&v->work);
		return;
	}
	v->task = current;
	v->where = smp_processor_id();
	v->switches = switches_of(current);
	v->waited = v->round == ROUND_HELD ? 0 : waited_ns(current);
	v->sp = user_stack_pointer(regs);
	switch (v->round) {
	case ROUND_LEARN:
		atomic_set(&v->state, STATE_DONE);
		irq_work_queue(&v->work);
		return;
	case ROUND_HELD:
		atomic_set(&v->state, STATE_STOPPED);
		irq_work_queue(&v->work);
		return;
	default:
		break;
	}
	WRITE_ONCE(v->hit_ns, ktime_get_ns());
	if (v->src->ops->start(v->src, v->domain)) {
		atomic_set(&v->state, STATE_FAILED);
		irq_work_queue(&v->work);
		return;
	}
	atomic_set_release(&v->state, STATE_STARTED);	/* K, pairs with L */
}

/* A return of the same call? A recursion comes by with less of the stack. */
static bool is_same_call(const struct kjoule_vpm *v, struct pt_regs *regs)
{
	if (v->round != ROUND_DELAYED || v->at->place.end)
		return true;
	return user_stack_pointer(regs) > v->sp;
}

/* The block has ended, or its first instruction: likewise. */
static void on_stop(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	struct kjoule_vpm *v = event->overflow_handler_context;

	if (atomic_read_acquire(&v->state) != STATE_STARTED ||	/* L */
	    current != v->task || !is_wanted(v) || !is_same_call(v, regs))
		return;
	v->stop_ns = ktime_get_ns();
	/* of another clock */
	v->waited = min(waited_ns(current) - v->waited, v->stop_ns - v->hit_ns);
	if (v->where != smp_processor_id() || v->switches != switches_of(current))
		v->flags |= KJOULE_READING_MOVED;
	v->where = smp_processor_id();
	/* the reading was over before */
	if (v->stop_ns - v->hit_ns >= v->src->ready_ns)
		v->flags |= KJOULE_READING_LATE;
	atomic_set(&v->state, STATE_STOPPED);
	irq_work_queue(&v->work);
}

/* It is there, but not yet armed. */
static struct perf_event *make_breakpoint(struct kjoule_vpm *v, unsigned int cpu, u64 address,
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

static void drop(struct perf_event **event)
{
	if (!IS_ERR_OR_NULL(*event))
		perf_event_release_kernel(*event);
	*event = NULL;
}

static void disarm(struct kjoule_vpm *v)
{
	unsigned int i;

	for (i = 0; i < v->n; i++) {
		drop(&v->cpu[i].start);
		drop(&v->cpu[i].stop);
	}
}

/* Return: 0, also if the CPU is not there, -errno */
static int prepare_cpu(struct kjoule_vpm *v, unsigned int i, u64 start, u64 stop)
{
	struct vpm_cpu *c = &v->cpu[i];
	unsigned int cpu = v->sampler[i]->cpu;

	/* there, and with a ring that may be written */
	if (!cpu_online(cpu) || READ_ONCE(v->sampler[i]->away))
		return 0;
	if (stop) {
		c->stop = make_breakpoint(v, cpu, stop, on_stop);
		if (IS_ERR(c->stop))
			return PTR_ERR(c->stop);
	}
	c->start = make_breakpoint(v, cpu, start, on_start);
	return PTR_ERR_OR_ZERO(c->start);
}

/* So many hits, and it is switched off. */
static void let_hit(struct perf_event *event, int times)
{
	atomic_set(&event->event_limit, times);
	perf_event_enable(event);
}

/* Those that stop first: who comes by then has both. */
static void enable(struct kjoule_vpm *v)
{
	unsigned int i;

	for (i = 0; i < v->n; i++) {
		if (v->cpu[i].stop)
			let_hit(v->cpu[i].stop, STOPS_MOST);
	}
	v->task = NULL;
	v->armed_ns = ktime_get_ns();
	v->hit_ns = v->armed_ns;
	atomic_set(&v->state, STATE_ARMED);
	for (i = 0; i < v->n; i++) {
		if (v->cpu[i].start)
			let_hit(v->cpu[i].start, 1);
	}
}

/*
 * Return: 0, or -errno if a breakpoint can not be had; one of a CPU that is just going is none.
 * -ENODEV: there is no CPU for it
 */
static int arm(struct kjoule_vpm *v, u64 start, u64 stop)
{
	unsigned int i, n = 0;
	int err = 0;

	for (i = 0; i < v->n && !err; i++) {
		err = prepare_cpu(v, i, start, stop);
		if (err == -ENODEV) {
			drop(&v->cpu[i].stop);
			drop(&v->cpu[i].start);
			err = 0;
		}
		n += !!v->cpu[i].start;
	}
	if (err)
		return err;
	if (!n)
		return -ENODEV;
	enable(v);
	return 0;
}

static bool is_over(const struct kjoule_vpm *v)
{
	return atomic_read(&v->state) > STATE_STOPPED;
}

/* Until the round is over, or nothing will come of it. */
static void await(struct kjoule_vpm *v)
{
	u64 until = v->armed_ns + PATIENCE_MS * NSEC_PER_MSEC;

	while (!kthread_should_stop()) {
		u64 now;
		int state;

		if (swait_event_timeout_exclusive(v->wait, is_over(v) || kthread_should_stop(),
						  HZ / 50 + 1))
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

static void book(struct kjoule_vpm *v, int state)
{
	switch (state) {
	case STATE_ARMED:
		v->books.unmet++;
		break;
	case STATE_STARTING:
	case STATE_STARTED:
		v->books.unended++;
		break;
	case STATE_ELSEWHERE:
		v->books.elsewhere++;
		break;
	case STATE_FAILED:
		v->books.failed++;
		break;
	}
}

static enum round choose_round(struct kjoule_vpm *v)
{
	if (!v->at->place.end && !v->at->n_ends)
		return ROUND_LEARN;
	if (v->number % HELD_EVERY == HELD_EVERY - 1)
		return ROUND_HELD;
	return get_random_u32() & 1 ? ROUND_DELAYED : ROUND_UNDELAYED;
}

/* One of the places that it returns to, each as often as it was met. Return: 0 if none is known */
static u64 choose_end(const struct vpm_block *b)
{
	u64 all = 0, at;
	u32 i;

	for (i = 0; i < b->n_ends; i++)
		all += b->met[i];
	if (!all)
		return 0;
	at = random_below(all);
	for (i = 0; at >= b->met[i]; i++)
		at -= b->met[i];
	return b->end[i];
}

static void take_reading(struct kjoule_vpm *v)
{
	struct vpm_block *b = v->at;
	u64 stop = 0;
	int err;

	v->round = choose_round(v);
	v->flags = v->round == ROUND_DELAYED ? KJOULE_READING_DELAYED :
		   v->round == ROUND_HELD ? KJOULE_READING_HELD : 0;
	v->end = b->place.end ?: choose_end(b);
	if (v->round == ROUND_DELAYED)
		stop = v->end;
	else if (v->round == ROUND_UNDELAYED)
		stop = b->place.next;
	err = arm(v, b->place.start, stop);
	if (!err)
		await(v);
	disarm(v);
	irq_work_sync(&v->work);
	/* no CPU of the session is there: as if it had not been tried */
	if (err == -ENODEV)
		return;
	if (err)
		v->books.failed++;
	else if (!kthread_should_stop())
		book(v, atomic_read(&v->state));
	v->fails = err || atomic_read(&v->state) == STATE_FAILED ? v->fails + 1 : 0;
	v->number++;
	atomic_set(&v->state, STATE_OFF);
}

/* One of the blocks whose process is there. Return: NULL if there is none */
static struct vpm_block *choose_block(struct kjoule_vpm *v)
{
	unsigned int n = smp_load_acquire(&v->n_blocks);	/* Z, pairs with the store of it */
	unsigned int first = n ? random_below(n) : 0, i;
	struct vpm_block *found = NULL;

	rcu_read_lock();
	for (i = 0; i < n && !found; i++) {
		struct vpm_block *b = &v->block[(first + i) % n];
		struct task_struct *task = pid_task(b->pid, PIDTYPE_TGID);

		if (task && READ_ONCE(task->self_exec_id) == b->exec_id &&
		    atomic_read(&task->signal->live))
			found = b;
	}
	rcu_read_unlock();
	return found;
}

static int arms(void *data)
{
	struct kjoule_vpm *v = data;

	/* or who is measured goes on before this thread is done, and is preempted in a reading */
	sched_set_fifo_low(current);
	while (!kthread_should_stop()) {
		u64 wait = v->interval_ns / 2 + random_below(v->interval_ns);
		ktime_t pause = ns_to_ktime(wait << min(v->fails, BACK_OFF));

		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule_hrtimeout(&pause, HRTIMER_MODE_REL);
		__set_current_state(TASK_RUNNING);
		if (kthread_should_stop())
			break;
		v->at = choose_block(v);
		if (v->at)
			take_reading(v);
	}
	return 0;
}

static int rest_once(struct kjoule_vpm *v, s64 *raw)
{
	unsigned int us = div_u64(v->src->ready_ns, NSEC_PER_USEC), tries;
	unsigned long flags;
	int err;

	local_irq_save(flags);
	err = v->src->ops->start(v->src, v->domain);
	local_irq_restore(flags);
	if (err)
		return err;
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

/* The least of some: that is nothing but the machine where nothing runs. */
static int measure_rest(struct kjoule_vpm *v)
{
	unsigned int i;
	s64 raw;
	int err = 0;

	v->rest_uw = U64_MAX;
	for (i = 0; i < RESTS && (!err || err == -ECANCELED); i++) {
		/* somebody may read it besides */
		err = rest_once(v, &raw);
		if (!err)
			v->rest_uw = min(v->rest_uw, scale_uw(v, raw));
	}
	if (v->rest_uw != U64_MAX)
		return 0;
	return err == -EAGAIN ? -EIO : err == -ECANCELED ? -EBUSY : err;
}

/* The package's power where it is told. */
static unsigned int choose_domain(const struct kjoule_source *src)
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

static int choose_meter(struct kjoule_vpm *v, const char *source, const char **why)
{
	v->src = kjoule_source_get_started(source);
	if (!IS_ERR(v->src)) {
		v->domain = choose_domain(v->src);
		return 0;
	}
	*why = PTR_ERR(v->src) == -EOPNOTSUPP ? "that source is no meter that starts on command" :
	       source && *source ? "there is no such meter, or it does not work" :
	       "there is no meter that starts on command";
	return PTR_ERR(v->src);
}

static int fill(struct kjoule_vpm *v, const char *source, u64 *interval_ns, const char **why)
{
	int err = choose_meter(v, source, why);
	u64 least;

	if (err) {
		v->src = NULL;
		return err;
	}
	least = KJOULE_VPM_LEAST * v->src->ready_ns;
	if (!*interval_ns)
		*interval_ns = INTERVALS * v->src->ready_ns;
	if (*interval_ns < least || *interval_ns > KJOULE_VPM_INTERVAL_MAX_NS) {
		*why = "readings of blocks are 2 intervals of the meter to 60 s apart";
		return -ERANGE;
	}
	v->interval_ns = *interval_ns;
	v->cpu = kcalloc(v->n, sizeof(*v->cpu), GFP_KERNEL_ACCOUNT);
	if (!v->cpu)
		return -ENOMEM;
	err = measure_rest(v);
	if (err)
		*why = "the meter does not answer";
	return err;
}

/**
 * kjoule_vpm_new() - make readings of blocks ready
 * @vpm:	set to what is made
 * @source:	name of the meter, NULL or "" for the first one that starts on command
 * @interval_ns: between two armings on the average; 0 is set to a default
 * @whom:	the session's target; stays
 * @sampler:	the session's samplers; they and the array stay
 * @n:		how many
 * @why:	set to the reason of a refusal
 *
 * Context: process, sleeps for some sensing intervals.
 * Return: 0, -ERANGE (@interval_ns), -EOPNOTSUPP (no such meter; no hardware breakpoints or
 * interrupts to oneself), -ENOENT, -ENODEV, -EINTR (see kjoule_source_get()), -EBUSY (another
 * session holds CPUs, or somebody else has the meter), -ENOMEM, or what the meter says.
 */
int kjoule_vpm_new(struct kjoule_vpm **vpm, const char *source, u64 *interval_ns,
		   const struct kjoule_whom *whom, struct kjoule_sampler **sampler, unsigned int n,
		   const char **why)
{
	struct kjoule_vpm *v;
	int err;

	if (!IS_ENABLED(CONFIG_HAVE_HW_BREAKPOINT) || !IS_ENABLED(CONFIG_X86) ||
	    !arch_irq_work_has_interrupt() || hrtimer_resolution != 1) {
		*why = "readings of blocks need x86 breakpoints and high-resolution timers";
		return -EOPNOTSUPP;
	}
	if (!kjoule_hold_take(why))
		return -EBUSY;
	v = kzalloc(sizeof(*v), GFP_KERNEL_ACCOUNT);
	if (!v) {
		kjoule_hold_give();
		return -ENOMEM;
	}
	mutex_init(&v->lock);
	init_swait_queue_head(&v->wait);
	v->work = IRQ_WORK_INIT_HARD(work);
	v->whom = whom;
	v->sampler = sampler;
	v->n = n;
	err = fill(v, source, interval_ns, why);
	if (err)
		kjoule_vpm_free(v);
	else
		*vpm = v;
	return err;
}

/**
 * kjoule_vpm_free() - undo kjoule_vpm_new()
 * @v:	halted, or NULL
 *
 * Context: process, sleeps.
 */
void kjoule_vpm_free(struct kjoule_vpm *v)
{
	unsigned int i;

	if (!v)
		return;
	for (i = 0; i < v->n_blocks; i++)
		put_pid(v->block[i].pid);
	mutex_destroy(&v->lock);
	kjoule_source_put(v->src);
	kfree(v->cpu);
	kfree(v);
	kjoule_hold_give();
}

static int check_place(const struct kjoule_vpm_place *p, const char **why)
{
	if (!p->start || p->start >= TASK_SIZE_MAX || p->next >= TASK_SIZE_MAX ||
	    p->end >= TASK_SIZE_MAX)
		*why = "a block is in user space";
	else if (p->next <= p->start || p->next - p->start > 15)
		*why = "a block's second instruction is right behind the first";
	else if (p->end == p->start || p->end == p->next)
		*why = "a block has more than one instruction";
	else
		return 0;
	return -EINVAL;
}

/* Could breakpoints be had there? Nothing else is known of the addresses. */
static int try_place(struct kjoule_vpm *v, const struct kjoule_vpm_place *p, const char **why)
{
	struct perf_event *event[2];
	int err = -ENODEV, ret = 0;
	unsigned int i, k;

	for (i = 0; i < v->n && err; i++) {
		if (!cpu_online(v->sampler[i]->cpu))
			continue;
		for (k = 0; k < 2; k++)
			event[k] = make_breakpoint(v, v->sampler[i]->cpu,
						   k ? p->next : p->start, on_stop);
		ret = PTR_ERR_OR_ZERO(event[0]) ?: PTR_ERR_OR_ZERO(event[1]);
		for (k = 0; k < 2; k++)
			drop(&event[k]);
		/* of a CPU that is just going nothing is known */
		err = ret == -ENODEV ? ret : 0;
	}
	if (ret == -ENOSPC || ret == -EBUSY)
		*why = "no two breakpoints are free; does a debugger have them?";
	else if (ret)
		*why = "no breakpoint can be had there";
	return ret;
}

/**
 * kjoule_vpm_add() - have readings of a block
 * @v:		running or not
 * @place:	where it is
 * @why:	set to the reason of a refusal
 *
 * Context: process, sleeps; the caller's pid namespace counts.
 * Return: its number, from 0; -EINVAL, -ESRCH (no such process), -ENOSPC (too many blocks, or
 * breakpoints are in use), or what perf says.
 */
int kjoule_vpm_add(struct kjoule_vpm *v, const struct kjoule_vpm_place *place, const char **why)
{
	int ret = check_place(place, why);
	struct task_struct *task;
	u64 exec_id = 0;
	struct pid *pid;

	if (ret)
		return ret;
	pid = find_get_pid(place->pid);
	rcu_read_lock();
	task = pid ? pid_task(pid, PIDTYPE_TGID) : NULL;
	if (task)
		exec_id = READ_ONCE(task->self_exec_id);
	else
		ret = -ESRCH;
	rcu_read_unlock();
	if (ret)
		*why = "no process with that pid";
	mutex_lock(&v->lock);
	if (!ret && v->n_blocks == KJOULE_VPM_BLOCKS) {
		*why = "there are too many blocks";
		ret = -ENOSPC;
	}
	/* of later ones the rounds may have the registers just now */
	if (!ret && !v->n_blocks)
		ret = try_place(v, place, why);
	if (!ret) {
		struct vpm_block *b = &v->block[v->n_blocks];

		b->pid = get_pid(pid);
		b->exec_id = exec_id;
		b->place = *place;
		ret = v->n_blocks;
		smp_store_release(&v->n_blocks, v->n_blocks + 1);	/* pairs with Z */
	}
	mutex_unlock(&v->lock);
	put_pid(pid);
	return ret;
}

/**
 * kjoule_vpm_run() - begin to arm
 * @v:	halted, or NULL
 *
 * Context: process, sleeps.
 * Return: 0 or -errno: there is no thread to be had.
 */
int kjoule_vpm_run(struct kjoule_vpm *v)
{
	struct task_struct *thread;

	if (!v || v->thread)
		return 0;
	thread = kthread_run(arms, v, "kjoule-vpm");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	v->thread = thread;
	return 0;
}

/**
 * kjoule_vpm_halt() - arm no more
 * @v:	running or not, or NULL
 *
 * No breakpoint is left, and nobody is held, at the return.
 *
 * Context: process, sleeps.
 */
void kjoule_vpm_halt(struct kjoule_vpm *v)
{
	if (!v || !v->thread)
		return;
	kthread_stop(v->thread);
	v->thread = NULL;
}

/**
 * kjoule_vpm_books() - what has become of the armings so far
 * @v:		any
 * @books:	to be filled
 *
 * Each number is right by itself; they may be of moments that are a round apart.
 *
 * Context: any.
 */
void kjoule_vpm_books(struct kjoule_vpm *v, struct kjoule_vpm_books *books)
{
	*books = (struct kjoule_vpm_books){
		.readings = READ_ONCE(v->books.readings),
		.unmet = READ_ONCE(v->books.unmet),
		.unended = READ_ONCE(v->books.unended),
		.elsewhere = READ_ONCE(v->books.elsewhere),
		.spoilt = READ_ONCE(v->books.spoilt),
		.failed = READ_ONCE(v->books.failed),
		.held_ns = READ_ONCE(v->books.held_ns),
		.longest_ns = READ_ONCE(v->books.longest_ns),
	};
}

/**
 * kjoule_vpm_meter() - what readings are made with
 * @v:		any
 * @meter:	to be filled
 *
 * Context: any.
 */
void kjoule_vpm_meter(const struct kjoule_vpm *v, struct kjoule_vpm_meter *meter)
{
	const struct kjoule_domain *d = &v->src->domains[v->domain];

	*meter = (struct kjoule_vpm_meter){
		.name = v->src->name,
		.ready_ns = v->src->ready_ns,
		.peak_uw = d->max_power_uw,
		.rest_uw = v->rest_uw,
	};
}
