// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edge windows, one after the other; see edge.h. Each CPU of a package has a timer, started by
 * edge.c. The leader polls for counter updates (edges), publishes when the CPUs are paused next,
 * and releases them. A window w, in fields of its record:
 *
 *	begin_ns	the leader sees the counter updated; the CPUs run
 *	pause_ns	each CPU's timer expires, as published: it busy-waits with interrupts off,
 *			in irq_work, so that other timers of the CPU are not delayed by this one
 *	end_ns		the leader sees the next update, and releases all CPUs
 *
 * The end is the begin of the next window, unless that exceeds the duty: then the CPUs run for some
 * periods, and the leader alone polls for the next begin. After every SPIN_EVERY-th window all CPUs
 * are paused for one more period. Waits are bounded: pauses by PAUSE_PERIODS, polls by
 * EDGE_PERIODS.
 *
 *  leader					paused CPU
 *  ------					--------
 *						take part in w	(U)
 *  check all take part in w	(V)
 *  released = w - 1 is seen	(S)
 *  write outcome of w, plan of w + 1
 *  store-release released = w	(W)		read released	(X)
 *						read outcome and plan
 *						read released again	(Y)
 *
 * U (window_arrive()) pairs with V (window_all_arrived()): a CPU that is seen to take part was
 * paused before the edge. W (window_release()) pairs with X (window_wait_released()). Outcome and
 * plan have two places each, by the lowest bit of w. S pairs with Y: a CPU so late that it reads
 * values of the window after the next one sees it from its second read of @released, and takes part
 * in a later one.
 */
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "compat/compat.h"
#include "counter/counter.h"
#include "method/edge/window.h"
#include "sampler/sampler.h"

/*
 * Limits of waits, in update periods: of the leader's for an edge, which comes within one; of a
 * pause of any CPU, even without a leader. A leader may wait twice, for a window and a spin: six
 * are more than any pause that has a leader.
 */
#define EDGE_PERIODS	2
#define PAUSE_PERIODS	6

/*
 * Windows. Spins have the power of a pause, and none of the program. Not tuned; with sixteen
 * "scripts/bench attribution --part edge" is within its bounds (Documentation/accuracy.rst).
 */
#define SPIN_EVERY	16

/*
 * Limit between two windows, in periods, to predict the next edge: window_margin_ns() adds 1/256 of
 * a period for each, a quarter of a period at the limit.
 */
#define GAP_MAX		64

/*
 * The shortest and the longest time in which a window's program runs, in 256ths of the period: 10
 * and 95 %. Not tuned: a wide range makes windows differ, and the rest is for CPUs to be paused in.
 */
#define RUN_MIN_256TH	26
#define RUN_MAX_256TH	243

/*
 * The gap doubles with each failed window, up to this many times: CPUs are paused for 1/64 of their
 * share then if there are no edges. Not tuned.
 */
#define BACK_OFF	6

/*
 * Two reads further apart than period / READS_APART, 1.6 % of it, do not time an update precisely.
 * Not tuned: usual reads are far closer, those around an interrupt by a hypervisor are not.
 */
#define READS_APART	64

/*
 * Limit of a busy-wait in case the clock does not advance, above PAUSE_PERIODS: without the read of
 * the counter 0.4 s, measured with clock_gettime() and PAUSE in user space of the build machine.
 */
#define SPINS_MAX	(1U << 23)

static u64 window_energy_uj(const struct kjoule_edges *edges, u64 total)
{
	const struct kjoule_domain *d = edge_domain(edges);

	return kjoule_counter_scale(total, d->unit_mult, d->unit_shift);
}

static bool window_read_counter(struct kjoule_edge *e)
{
	const struct kjoule_edges *edges = e->edges;
	u64 counts;

	if (edges->src->ops->read_energy(edges->src, edges->domain, &e->raw))
		return false;
	counts = kjoule_counter_since(&e->counter, e->raw, edge_domain(edges)->width);
	if (!counts)
		return false;
	/* more than can have been spent since the last read: it was reset */
	if (counts > kjoule_meter_max_counts(edge_domain(edges), 2 * GAP_MAX * e->period_ns))
		e->unsure = true;
	kjoule_counter_add(&e->counter, e->raw, counts);
	return true;
}

/* Busy-wait for a counter update. Return: its time, 0 if there was none until @until. */
static u64 window_wait_edge(struct kjoule_edge *e, u64 until)
{
	u64 now = ktime_get_ns(), before;
	u32 loops = 0;
	bool updated;

	do {
		before = now;
		updated = window_read_counter(e);
		now = ktime_get_ns();
		if (updated) {
			/* the CPU was interrupted, for example by the firmware or a hypervisor */
			e->unsure |= now - before > e->period_ns / READS_APART;
			return now;
		}
		cpu_relax();
	} while (now < until && ++loops < SPINS_MAX && !READ_ONCE(e->stopping));
	return 0;
}

static u64 window_timeout_ns(const struct kjoule_edge *e)
{
	return EDGE_PERIODS * edge_domain(e->edges)->update_period_ns;
}

static u64 window_random_below(struct kjoule_edge *e, u32 number, u32 salt, u64 limit)
{
	return kjoule_jitter(e->edges->seed + salt * 0x100000001ULL + e->scope, number,
			     min_t(u64, limit, U32_MAX));
}

/* Where the CPU is paused: written before the pause, so that statistics are not open during it. */
static void window_find_ip(struct edge_cpu *c)
{
	int flags = kjoule_sampler_find_ip(c->sampler);

	c->ip = c->sampler->ip;
	c->flags = flags < 0 ? 0 : flags;
}

static void window_arrive(struct edge_cpu *c)
{
	/* U, pairs with V in window_all_arrived() */
	smp_store_release(&c->arrived, c->number);
}

static void window_write(struct edge_cpu *c, struct kjoule_window *w, u8 flags)
{
	w->tick = c->sampler->tick;
	w->scope = c->edge->scope;
	w->domain = c->edge->edges->domain;
	kjoule_sampler_emit(c->sampler, KJOULE_RECORD_WINDOW, flags, w, sizeof(*w));
}

/* Flags of the interrupted code that are defined today: none may be a flag of a window. */
#define IP_FLAGS	(KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_PRECISE | KJOULE_SAMPLE_IDLE | \
			 KJOULE_SAMPLE_FREQ_REQUESTED | KJOULE_SAMPLE_IP_HIDDEN)
static_assert(!(IP_FLAGS & (KJOULE_WINDOW_LEADER | KJOULE_WINDOW_SPIN | KJOULE_WINDOW_FAILED)));

static void window_write_outcome(struct edge_cpu *c, const struct edge_outcome *o, u64 begin_total,
				 u64 end_total)
{
	const struct kjoule_edges *edges = c->edge->edges;
	bool leads = c == c->edge->leader;
	/* without an edge the record has only the time that the CPU was paused or polled */
	u64 begin_ns = o->begin_ns ?: c->pause_ns;
	struct kjoule_window w = {
		.number = c->number,
		.poll_ns = leads && c->edge->poll_ns ? c->edge->poll_ns : begin_ns,
		.begin_ns = begin_ns,
		.run_ns = min(max(c->run_ns, begin_ns), c->pause_ns),
		.pause_ns = c->pause_ns,
		.end_ns = o->end_ns,
		.begin_uj = leads ? window_energy_uj(edges, begin_total) : 0,
		.end_uj = leads ? window_energy_uj(edges, end_total) : 0,
		.ip = c->ip,
	};

	window_write(c, &w, (c->flags & IP_FLAGS) | (leads ? KJOULE_WINDOW_LEADER : 0) |
		     (o->failed ? KJOULE_WINDOW_FAILED : 0));
}

/* A window without running code, from @begin_ns on; written by the leader only. */
static void window_write_spin(struct edge_cpu *c, u64 begin_ns, u64 end_ns, u64 begin_total,
			      u64 end_total, bool failed)
{
	const struct kjoule_edges *edges = c->edge->edges;
	struct kjoule_window w = {
		.number = c->number,
		.poll_ns = begin_ns,
		.begin_ns = begin_ns,
		.run_ns = begin_ns,
		.pause_ns = begin_ns,
		.end_ns = end_ns,
		.begin_uj = window_energy_uj(edges, begin_total),
		.end_uj = window_energy_uj(edges, end_total),
	};

	window_write(c, &w, KJOULE_WINDOW_LEADER | KJOULE_WINDOW_SPIN |
		     (failed ? KJOULE_WINDOW_FAILED : 0));
}

static enum hrtimer_restart window_timer_fn(struct hrtimer *timer)
{
	struct edge_cpu *c = container_of(timer, struct edge_cpu, timer);

	/* the code interrupted here continues after the pause */
	c->pause_ns = ktime_get_ns();
	if (!READ_ONCE(c->edge->stopping)) {
		window_find_ip(c);
		irq_work_queue(&c->work);
	}
	return HRTIMER_NORESTART;
}

static void window_restart_timer(struct edge_cpu *c, u64 ns)
{
	if (!READ_ONCE(c->edge->stopping))
		hrtimer_start(&c->timer, ns_to_ktime(ns), HRTIMER_MODE_ABS_PINNED_HARD);
}

static void window_join_next(struct edge_cpu *c)
{
	struct kjoule_edge *e = c->edge;
	u32 released;
	u64 pause_at;

	do {
		/* X, pairs with W in window_release() */
		released = smp_load_acquire(&e->released);
		pause_at = READ_ONCE(e->pause_at_ns[(released + 1) & 1]);
		smp_rmb();	/* Y, pairs with S in window_release() */
	} while (READ_ONCE(e->released) != released);
	c->number = released + 1;
	window_restart_timer(c, pause_at);
}

/* Busy-wait until the window is over. Return: true if @o is its outcome. */
static bool window_wait_released(struct edge_cpu *c, u64 until, struct edge_outcome *o)
{
	struct kjoule_edge *e = c->edge;
	u32 released, loops = 0;

	/* X, pairs with W in window_release() */
	while ((s32)(smp_load_acquire(&e->released) - c->number) < 0) {
		if (READ_ONCE(e->stopping) || ktime_get_ns() > until || ++loops > SPINS_MAX)
			return false;
		cpu_relax();
	}
	o->begin_ns = READ_ONCE(e->outcome[c->number & 1].begin_ns);
	o->end_ns = READ_ONCE(e->outcome[c->number & 1].end_ns);
	o->failed = READ_ONCE(e->outcome[c->number & 1].failed);
	smp_rmb();	/* Y, pairs with S in window_release() */
	released = READ_ONCE(e->released);
	return released == c->number;
}

static void window_count_pause(struct edge_cpu *c, u64 begin, u64 end)
{
	WRITE_ONCE(c->paused_ns, c->paused_ns + (end - begin));
	if (end - begin > c->paused_max_ns)
		WRITE_ONCE(c->paused_max_ns, end - begin);
}

static void window_follow_work(struct irq_work *work)
{
	struct edge_cpu *c = container_of(work, struct edge_cpu, work);
	struct kjoule_edge *e = c->edge;
	u64 now = ktime_get_ns(), end, period_ns = edge_domain(e->edges)->update_period_ns;
	struct edge_outcome o;
	bool released_in_time;

	/* skip a window that is over already */
	/* X, pairs with W in window_release() */
	if ((s32)(smp_load_acquire(&e->released) - c->number) < 0) {
		window_arrive(c);
		released_in_time = window_wait_released(c, now + PAUSE_PERIODS * period_ns, &o);
		end = ktime_get_ns();
		window_count_pause(c, c->pause_ns, end);
		if (!released_in_time) {
			if (READ_ONCE(e->stopping))
				return;
			o = (struct edge_outcome){ .end_ns = end, .failed = true };
		}
		window_write_outcome(c, &o, 0, 0);
	}
	/* without a leader retry later; that pause counts against the duty as well */
	if ((s32)(READ_ONCE(e->released) - c->number) < 0)
		window_restart_timer(c, now + max(2 * PAUSE_PERIODS * window_timeout_ns(e),
						  div_u64((ktime_get_ns() - now) * 1000,
							  e->edges->duty)));
	else
		window_join_next(c);
	c->run_ns = ktime_get_ns();
}

static bool window_all_arrived(const struct kjoule_edge *e, u64 end_ns)
{
	const struct kjoule_edges *edges = e->edges;
	unsigned int i;

	for (i = 0; i < edges->n; i++) {
		const struct edge_cpu *c = &edges->cpu[i];

		if (READ_ONCE(c->edge) != e)
			continue;
		/* V, pairs with U in window_arrive() */
		if (smp_load_acquire(&c->arrived) != e->leader->number ||
		    c->pause_ns > end_ns)
			return false;
	}
	return true;
}

static u64 window_run_ns(struct kjoule_edge *e, u32 number)
{
	u64 shortest = e->period_ns * RUN_MIN_256TH / 256;
	u64 longest = e->period_ns * RUN_MAX_256TH / 256;

	return shortest + window_random_below(e, number, 1, longest - shortest);
}

/*
 * Periods in which no CPU is paused, to meet the duty on average. All in 256ths of a period: after
 * a gap g the leader polls for the edge for margin + g / 256, see window_margin_ns(). With the
 * pause h and the window w, paused for one part in d, that makes g + w = d (h + margin + g / 256).
 * If the mean gap is below one period some gaps are 0, and no edge is polled for after these.
 */
static u32 window_gap_periods(struct kjoule_edge *e, u32 number)
{
	/* pause of a window, and its share of the windows with busy-waits only */
	u64 paused = 256 - (RUN_MIN_256TH + RUN_MAX_256TH) / 2 + 256 / SPIN_EVERY;
	u64 window = 256 + 256 / SPIN_EVERY, duty = e->edges->duty;
	u64 margin = div64_u64(256 * e->margin_ns, e->period_ns);
	u64 gap = 0;

	if (paused * 1000 > window * duty && 256 * duty > (margin + 1) * 1000)
		gap = div64_u64((paused * 1000 - window * duty) * 256,
				256 * duty - (margin + 1) * 1000);
	else if (paused * 1000 > window * duty)
		gap = 256;
	if (gap >= 256)
		gap = div64_u64(((paused + margin) * 1000 - window * duty) * 256,
				256 * duty - 1000);
	return min_t(u64, GAP_MAX, (gap + window_random_below(e, number, 2, 256)) / 256);
}

static u64 window_margin_ns(const struct kjoule_edge *e, u32 gap)
{
	return e->margin_ns + gap * e->period_ns / 256;
}

/*
 * Start to poll earlier after a missed edge: a slow CPU, or an irregular update period. One missed
 * edge outweighs 44 found ones. Not tuned: the limits keep polling between a 16th of a period, in
 * which a CPU may be late, and a half, where predicting edges no longer helps.
 */
static void window_learn_margin(struct kjoule_edge *e, bool found)
{
	if (found)
		e->margin_ns -= e->margin_ns / 64;
	else
		e->margin_ns *= 2;
	e->margin_ns = clamp(e->margin_ns, e->period_ns / 16, e->period_ns / 2);
}

/*
 * Finish the current window and publish the next one, @gap periods after the last edge @edge_ns.
 * The caller restarts the leader's own timer.
 */
static void window_release(struct kjoule_edge *e, const struct edge_outcome *o, u64 edge_ns,
			   u32 gap)
{
	u32 number = e->leader->number;

	/* S, pairs with Y in window_join_next() and window_wait_released(): order before reuse */
	smp_wmb();
	WRITE_ONCE(e->outcome[number & 1].begin_ns, o->begin_ns);
	WRITE_ONCE(e->outcome[number & 1].end_ns, o->end_ns);
	WRITE_ONCE(e->outcome[number & 1].failed, o->failed);
	WRITE_ONCE(e->pause_at_ns[(number + 1) & 1],
		   edge_ns + gap * e->period_ns + window_run_ns(e, number + 1));
	/* W, pairs with X in window_wait_released() */
	smp_store_release(&e->released, number);
	e->leader->number = number + 1;
}

/* Restart without a known edge. The gap makes up for the time paused without a result. */
static void window_restart(struct kjoule_edge *e, const struct edge_outcome *o, u64 paused_ns)
{
	u64 now = ktime_get_ns();
	u64 periods = div64_u64(paused_ns * 1000, e->edges->duty * e->period_ns) +
		      KJOULE_EDGE_LEAD_PERIODS;
	u32 gap = min_t(u64, periods << min(e->failures, BACK_OFF), 1000);

	e->failures++;
	window_release(e, o, now, gap);
	e->poll_ns = 0;
	e->polling = true;
	/* an edge comes in the period before that */
	window_restart_timer(e->leader, now + (gap - 1) * e->period_ns);
	e->leader->run_ns = ktime_get_ns();
}

static void window_poll_edge(struct kjoule_edge *e)
{
	struct edge_cpu *c = e->leader;
	u64 pause_at = e->pause_at_ns[c->number & 1], begin = ktime_get_ns();

	e->unsure = false;
	window_read_counter(e);
	e->unsure = false;
	e->begin_ns = window_wait_edge(e, max(pause_at, begin + e->period_ns + e->period_ns / 8));
	if (e->begin_ns >= pause_at)
		e->begin_ns = 0;
	window_learn_margin(e, e->begin_ns);
	c->run_ns = ktime_get_ns();
	window_count_pause(c, begin, c->run_ns);
	e->polling = false;
	e->poll_ns = begin;
	e->begin_total = e->counter.total;
	/* pause without an edge as well, like the other CPUs, to find the next one */
	window_restart_timer(c, max(pause_at, c->run_ns));
	c->run_ns = ktime_get_ns();
}

/* Average of the measured periods, without those that contain a second edge. */
static void window_learn_period(struct kjoule_edge *e, u64 ns)
{
	u64 nominal = edge_domain(e->edges)->update_period_ns;

	if (ns > nominal / 2 && ns < nominal + nominal / 2)
		e->period_ns += (s64)(ns - e->period_ns) / 16;
}

/* Keep all CPUs paused for one more period. Return: the edge at its end, 0 if there was none. */
static u64 window_spin(struct kjoule_edge *e, u64 begin_ns)
{
	u64 begin_total = e->counter.total, end_ns;
	bool unsure = e->unsure, failed;

	e->unsure = false;
	end_ns = window_wait_edge(e, begin_ns + window_timeout_ns(e));
	if (!end_ns && READ_ONCE(e->stopping))
		return 0;
	failed = !end_ns || unsure || e->unsure;
	window_write_spin(e->leader, begin_ns, end_ns ?: ktime_get_ns(), begin_total,
			  e->counter.total, failed);
	if (failed) {
		e->stats.failed++;
	} else {
		window_learn_period(e, end_ns - begin_ns);
		e->stats.spins++;
	}
	return end_ns;
}

static void window_pause(struct kjoule_edge *e)
{
	struct edge_cpu *c = e->leader;
	u64 begin = ktime_get_ns(), begin_total = e->begin_total, edge;
	struct edge_outcome o = { .begin_ns = e->begin_ns };
	bool unsure = e->unsure;
	u32 gap;

	window_arrive(c);
	/* an edge before the pause was not timed: the next one ends the window */
	e->unsure = false;
	window_read_counter(e);
	unsure |= e->unsure;
	e->unsure = false;
	o.end_ns = window_wait_edge(e, begin + window_timeout_ns(e));
	if (READ_ONCE(e->stopping)) {
		window_count_pause(c, c->pause_ns, ktime_get_ns());
		return;
	}
	if (!o.end_ns) {
		o.end_ns = ktime_get_ns();
		o.failed = true;
		e->stats.failed++;
		window_write_outcome(c, &o, begin_total, e->counter.total);
		window_count_pause(c, c->pause_ns, o.end_ns);
		window_restart(e, &o, o.end_ns - begin);
		return;
	}
	o.failed = !o.begin_ns || unsure || e->unsure || !window_all_arrived(e, o.end_ns);
	if (o.failed) {
		e->stats.failed++;
	} else {
		e->stats.windows++;
		e->failures = 0;
	}
	window_write_outcome(c, &o, begin_total, e->counter.total);
	if (!o.failed)
		window_learn_period(e, o.end_ns - o.begin_ns);

	edge = c->number % SPIN_EVERY ? o.end_ns : window_spin(e, o.end_ns);
	window_count_pause(c, c->pause_ns, ktime_get_ns());
	if (!edge) {
		window_restart(e, &o, ktime_get_ns() - begin);
		return;
	}
	gap = window_gap_periods(e, c->number);
	window_release(e, &o, edge, gap);
	e->poll_ns = 0;
	e->begin_ns = edge;
	e->begin_total = e->counter.total;
	e->polling = gap;
	if (gap)
		window_restart_timer(c, edge + gap * e->period_ns - window_margin_ns(e, gap));
	else
		window_restart_timer(c, e->pause_at_ns[c->number & 1]);
	c->run_ns = ktime_get_ns();
}

static void window_lead_work(struct irq_work *work)
{
	struct edge_cpu *c = container_of(work, struct edge_cpu, work);
	struct kjoule_edge *e = c->edge;

	if (e->polling)
		window_poll_edge(e);
	else
		window_pause(e);
}

/*
 * kjoule_edge_begin() - have a CPU take part from the next window on. @c: assigned to its package.
 * Context: on that CPU, interrupts off.
 */
void kjoule_edge_begin(struct edge_cpu *c)
{
	struct kjoule_edge *e = c->edge;
	bool leads = c == e->leader;

	c->number = e->released + 1;
	c->arrived = e->released;
	c->run_ns = ktime_get_ns();
	c->work = IRQ_WORK_INIT_HARD(leads ? window_lead_work : window_follow_work);
	hrtimer_setup(&c->timer, window_timer_fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	if (leads) {
		window_read_counter(e);
		kjoule_counter_start(&e->counter, e->raw);
		e->counter.total = 0;
		e->polling = true;
	}
	hrtimer_start(&c->timer,
		      ns_to_ktime(e->pause_at_ns[c->number & 1] - (leads ? e->period_ns : 0)),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}
