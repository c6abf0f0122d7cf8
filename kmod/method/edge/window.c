// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edge windows, one after the other; see edge.h. The CPUs of a package take part each with a timer
 * of its own, with which edge.c has them begin. One of them leads: it looks for the edges, says
 * when the next window's hold begins, and lets the others go.
 *
 * A window w, all times CLOCK_MONOTONIC:
 *
 *	a	the leader sees the counter move; the CPUs run
 *	b	each CPU's timer expires, as agreed: it spins with interrupts off, in an interrupt
 *		of its own, so that other timers are not held up by this one
 *	c	the leader sees the counter move again, and lets all go
 *
 * c is the a of the next window, unless the CPUs may be held for a smaller part of the time than
 * that takes: then they run for some periods, and the leader alone looks for the next a, a
 * little before it is expected. Every SPIN_EVERY-th time all are held for one period more: a
 * window in which nothing but spinning is.
 *
 * Every wait is bounded. Who is held goes on by itself after HOLD_PERIODS, the leader gives up
 * an edge after EDGE_PERIODS. A window that went wrong is written as failed, counted, and the
 * next one begins.
 *
 *  leader					held CPU
 *  ------					--------
 *						take part in w	(U)
 *  see who takes part in w	(V)
 *  released = w - 1 is seen	(S)
 *  write outcome of w, plan of w + 1
 *  store-release released = w	(W)		read released	(X)
 *						read outcome and plan
 *						read released again	(Y)
 *
 * U pairs with V: who was seen to take part was held before the edge. W pairs with X. Outcome and
 * plan have two places each, by the lowest bit of w. S pairs with Y: who is so late that he has
 * read something of the window after the next one, sees from the second look that the next one is
 * over, too, and takes part in one that is not.
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

#define EDGE_PERIODS	2	/* the leader waits so long for an edge */
#define HOLD_PERIODS	6	/* nobody is held for longer, whatever becomes of the leader */
#define SPIN_EVERY	16	/* windows */
#define GAP_MAX		64	/* periods between two windows; the next edge is not far off then */

/* Of the period: the shortest and the longest time in which a window's program runs. */
#define RUN_MIN_256TH	26
#define RUN_MAX_256TH	243

/* The time without windows doubles with each that fails, so many times. */
#define BACK_OFF	6

/* Two looks that are further apart than this part of a period do not time the counter's move. */
#define LOOKS_APART	64

/* Should the clock stand while all CPUs spin: so many rounds are a second or some. */
#define ROUNDS_MOST	(1U << 23)

static u64 window_energy_uj(const struct kjoule_edges *edges, u64 total)
{
	const struct kjoule_domain *d = edge_domain(edges);

	return kjoule_counter_scale(total, d->unit_mult, d->unit_shift);
}

/* Read the counter. Return: true if it has moved since the reading before. */
static bool window_read_counter(struct kjoule_edge *e)
{
	const struct kjoule_edges *edges = e->edges;
	u64 counts;

	if (edges->src->ops->read_energy(edges->src, edges->domain, &e->raw))
		return false;
	counts = kjoule_counter_since(&e->counter, e->raw, edge_domain(edges)->width);
	if (!counts)
		return false;
	/* more than can have been spent since the last look: it was set back */
	if (counts > kjoule_meter_most(edge_domain(edges), 2 * GAP_MAX * e->period_ns))
		e->unsure = true;
	kjoule_counter_add(&e->counter, e->raw, counts);
	return true;
}

/* Spin until the counter moves. Return: when that was, 0 if not until @until. */
static u64 window_wait_edge(struct kjoule_edge *e, u64 until)
{
	u64 now = ktime_get_ns(), before;
	u32 rounds = 0;
	bool moved;

	do {
		before = now;
		moved = window_read_counter(e);
		now = ktime_get_ns();
		if (moved) {
			/* something else has had the CPU, such as the firmware or a hypervisor */
			e->unsure |= now - before > e->period_ns / LOOKS_APART;
			return now;
		}
		cpu_relax();
	} while (now < until && ++rounds < ROUNDS_MOST && !READ_ONCE(e->stopping));
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

/* Where it is held: written before the hold, so that the books are not open while it lasts. */
static void window_find_ip(struct edge_cpu *c)
{
	int flags = kjoule_sampler_place(c->sampler);

	c->ip = c->sampler->ip;
	c->flags = flags < 0 ? 0 : flags;
}

static void window_arrive(struct edge_cpu *c)
{
	smp_store_release(&c->arrived, c->number);	/* U, pairs with V */
}

static void window_write(struct edge_cpu *c, struct kjoule_window *w, u8 flags)
{
	w->tick = c->sampler->tick;
	w->scope = c->edge->scope;
	w->domain = c->edge->edges->domain;
	kjoule_sampler_emit(c->sampler, KJOULE_RECORD_WINDOW, flags, w, sizeof(*w));
}

/* Of where it was held: those that are known today, which no flag of a window may be among. */
#define PLACE_FLAGS	(KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_PRECISE | KJOULE_SAMPLE_IDLE | \
			 KJOULE_SAMPLE_FREQ_REQUESTED | KJOULE_SAMPLE_IP_HIDDEN)
static_assert(!(PLACE_FLAGS & (KJOULE_WINDOW_LEADER | KJOULE_WINDOW_SPIN | KJOULE_WINDOW_FAILED)));

/* What a CPU knows of a window that is over. */
static void window_write_outcome(struct edge_cpu *c, const struct edge_outcome *o, u64 a_total,
				 u64 c_total)
{
	const struct kjoule_edges *edges = c->edge->edges;
	bool leads = c == c->edge->leader;
	/* without an edge it is only told from when until when it was held, or looked for one */
	u64 a_ns = o->a_ns ?: c->b_ns;
	struct kjoule_window w = {
		.number = c->number,
		.seek_ns = leads && c->edge->seek_ns ? c->edge->seek_ns : a_ns,
		.a_ns = a_ns,
		.from_ns = min(max(c->from_ns, a_ns), c->b_ns),
		.b_ns = c->b_ns,
		.c_ns = o->c_ns,
		.a_uj = leads ? window_energy_uj(edges, a_total) : 0,
		.c_uj = leads ? window_energy_uj(edges, c_total) : 0,
		.ip = c->ip,
	};

	window_write(c, &w, (c->flags & PLACE_FLAGS) | (leads ? KJOULE_WINDOW_LEADER : 0) |
		     (o->failed ? KJOULE_WINDOW_FAILED : 0));
}

/* Nothing but spinning from @a_ns on, for the leader alone to tell. */
static void window_write_spin(struct edge_cpu *c, u64 a_ns, u64 c_ns, u64 a_total, u64 c_total,
			      bool failed)
{
	const struct kjoule_edges *edges = c->edge->edges;
	struct kjoule_window w = {
		.number = c->number,
		.seek_ns = a_ns,
		.a_ns = a_ns,
		.from_ns = a_ns,
		.b_ns = a_ns,
		.c_ns = c_ns,
		.a_uj = window_energy_uj(edges, a_total),
		.c_uj = window_energy_uj(edges, c_total),
	};

	window_write(c, &w, KJOULE_WINDOW_LEADER | KJOULE_WINDOW_SPIN |
		     (failed ? KJOULE_WINDOW_FAILED : 0));
}

static enum hrtimer_restart window_timer_fn(struct hrtimer *timer)
{
	struct edge_cpu *c = container_of(timer, struct edge_cpu, timer);

	/* what ran until now runs no more until it is let go */
	c->b_ns = ktime_get_ns();
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

/* The next window that it can take part in, and when it is to be held there. */
static void window_join_next(struct edge_cpu *c)
{
	struct kjoule_edge *e = c->edge;
	u32 released;
	u64 hold;

	do {
		released = smp_load_acquire(&e->released);	/* X, pairs with W */
		hold = READ_ONCE(e->hold_ns[(released + 1) & 1]);
		smp_rmb();	/* Y, pairs with S: the second look comes after the reading */
	} while (READ_ONCE(e->released) != released);
	c->number = released + 1;
	window_restart_timer(c, hold);
}

/* Be held until the window is over. Return: true if @o is what has become of it. */
static bool window_wait_released(struct edge_cpu *c, u64 until, struct edge_outcome *o)
{
	struct kjoule_edge *e = c->edge;
	u32 released, rounds = 0;

	while ((s32)(smp_load_acquire(&e->released) - c->number) < 0) {	/* X, pairs with W */
		if (READ_ONCE(e->stopping) || ktime_get_ns() > until || ++rounds > ROUNDS_MOST)
			return false;
		cpu_relax();
	}
	o->a_ns = READ_ONCE(e->outcome[c->number & 1].a_ns);
	o->c_ns = READ_ONCE(e->outcome[c->number & 1].c_ns);
	o->failed = READ_ONCE(e->outcome[c->number & 1].failed);
	smp_rmb();	/* Y, pairs with S */
	released = READ_ONCE(e->released);
	return released == c->number;
}

static void window_count_hold(struct edge_cpu *c, u64 begin, u64 end)
{
	WRITE_ONCE(c->held_ns, c->held_ns + (end - begin));
	if (end - begin > c->longest_ns)
		WRITE_ONCE(c->longest_ns, end - begin);
}

static void window_follow_work(struct irq_work *work)
{
	struct edge_cpu *c = container_of(work, struct edge_cpu, work);
	struct kjoule_edge *e = c->edge;
	u64 now = ktime_get_ns(), end, period_ns = edge_domain(e->edges)->update_period_ns;
	struct edge_outcome o;
	bool told;

	/* it may be too late for it */
	if ((s32)(smp_load_acquire(&e->released) - c->number) < 0) {	/* X, pairs with W */
		window_arrive(c);
		told = window_wait_released(c, now + HOLD_PERIODS * period_ns, &o);
		end = ktime_get_ns();
		window_count_hold(c, c->b_ns, end);
		if (!told) {
			if (READ_ONCE(e->stopping))
				return;
			o = (struct edge_outcome){ .c_ns = end, .failed = true };
		}
		window_write_outcome(c, &o, 0, 0);
	}
	/* where the leader is nowhere to be seen, look again later: that is held in vain as well */
	if ((s32)(READ_ONCE(e->released) - c->number) < 0)
		window_restart_timer(c, now + max(2 * HOLD_PERIODS * window_timeout_ns(e),
						  div_u64((ktime_get_ns() - now) * 1000,
							  e->edges->duty)));
	else
		window_join_next(c);
	c->from_ns = ktime_get_ns();
}

/* Had everybody been held when the counter moved? */
static bool window_all_arrived(const struct kjoule_edge *e, u64 c_ns)
{
	const struct kjoule_edges *edges = e->edges;
	unsigned int i;

	for (i = 0; i < edges->n; i++) {
		const struct edge_cpu *c = &edges->cpu[i];

		if (READ_ONCE(c->edge) != e)
			continue;
		if (smp_load_acquire(&c->arrived) != e->leader->number ||	/* V */
		    c->b_ns > c_ns)
			return false;
	}
	return true;
}

/* So long the program runs in a window, from its edge on. */
static u64 window_run_ns(struct kjoule_edge *e, u32 number)
{
	u64 shortest = e->period_ns * RUN_MIN_256TH / 256;
	u64 longest = e->period_ns * RUN_MAX_256TH / 256;

	return shortest + window_random_below(e, number, 1, longest - shortest);
}

/*
 * Periods in which nothing is held, so that the time held is what it may be on the average.
 * All in 256ths of a period: after a gap g the leader looks for the edge for margin + g / 256,
 * see window_margin_ns(). With the hold h and the window w, held for one part in d, that makes
 * g + w = d (h + margin + g / 256). Of gaps of less than a period on the average some are
 * none, and no edge is looked for after these.
 */
static u32 window_gap_periods(struct kjoule_edge *e, u32 number)
{
	/* the hold of a window, and its part of those with nothing else */
	u64 held = 256 - (RUN_MIN_256TH + RUN_MAX_256TH) / 2 + 256 / SPIN_EVERY;
	u64 window = 256 + 256 / SPIN_EVERY, duty = e->edges->duty;
	u64 margin = div64_u64(256 * e->margin_ns, e->period_ns);
	u64 gap = 0;

	if (held * 1000 > window * duty && 256 * duty > (margin + 1) * 1000)
		gap = div64_u64((held * 1000 - window * duty) * 256,
				256 * duty - (margin + 1) * 1000);
	else if (held * 1000 > window * duty)
		gap = 256;
	if (gap >= 256)
		gap = div64_u64(((held + margin) * 1000 - window * duty) * 256,
				256 * duty - 1000);
	return min_t(u64, GAP_MAX, (gap + window_random_below(e, number, 2, 256)) / 256);
}

/* So long before the edge is expected the leader begins to look for it. */
static u64 window_margin_ns(const struct kjoule_edge *e, u32 gap)
{
	return e->margin_ns + gap * e->period_ns / 256;
}

/* A slow CPU comes late to it, or the counter moves when it likes: then it begins earlier. */
static void window_learn_margin(struct kjoule_edge *e, bool found)
{
	if (found)
		e->margin_ns -= e->margin_ns / 64;
	else
		e->margin_ns *= 2;
	e->margin_ns = clamp(e->margin_ns, e->period_ns / 16, e->period_ns / 2);
}

/*
 * The present window is over, and the next one agreed on: @gap periods after @edge_ns, the last
 * edge. The leader's own timer is set by the caller.
 */
static void window_release(struct kjoule_edge *e, const struct edge_outcome *o, u64 edge_ns,
			   u32 gap)
{
	u32 number = e->leader->number;

	smp_wmb();	/* S, pairs with Y: before what was told two windows ago is gone */
	WRITE_ONCE(e->outcome[number & 1].a_ns, o->a_ns);
	WRITE_ONCE(e->outcome[number & 1].c_ns, o->c_ns);
	WRITE_ONCE(e->outcome[number & 1].failed, o->failed);
	WRITE_ONCE(e->hold_ns[(number + 1) & 1],
		   edge_ns + gap * e->period_ns + window_run_ns(e, number + 1));
	smp_store_release(&e->released, number);	/* W, pairs with X */
	e->leader->number = number + 1;
}

/* Begin anew: no edge is known. For what was held in vain, the CPUs run all the longer. */
static void window_restart(struct kjoule_edge *e, const struct edge_outcome *o, u64 held_ns)
{
	u64 now = ktime_get_ns();
	u64 periods = div64_u64(held_ns * 1000, e->edges->duty * e->period_ns) +
		      KJOULE_EDGE_LEAD_PERIODS;
	u32 gap = min_t(u64, periods << min(e->failures, BACK_OFF), 1000);

	e->failures++;
	window_release(e, o, now, gap);
	e->seek_ns = 0;
	e->seeking = true;
	/* somewhere in the period before there will be one */
	window_restart_timer(e->leader, now + (gap - 1) * e->period_ns);
	e->leader->from_ns = ktime_get_ns();
}

/* Look for the edge that the window begins with. */
static void window_seek_edge(struct kjoule_edge *e)
{
	struct edge_cpu *c = e->leader;
	u64 hold = e->hold_ns[c->number & 1], begin = ktime_get_ns();

	e->unsure = false;
	window_read_counter(e);
	e->unsure = false;
	e->a_ns = window_wait_edge(e, max(hold, begin + e->period_ns + e->period_ns / 8));
	/* the others are held already */
	if (e->a_ns >= hold)
		e->a_ns = 0;
	window_learn_margin(e, e->a_ns);
	c->from_ns = ktime_get_ns();
	window_count_hold(c, begin, c->from_ns);
	e->seeking = false;
	e->seek_ns = begin;
	e->a_total = e->counter.total;
	/* without an edge it is held all the same, like the others, to find the next one */
	window_restart_timer(c, max(hold, c->from_ns));
	c->from_ns = ktime_get_ns();
}

/* Of the periods seen; those of a window that has one more edge in it are not counted. */
static void window_learn_period(struct kjoule_edge *e, u64 ns)
{
	u64 nominal = edge_domain(e->edges)->update_period_ns;

	if (ns > nominal / 2 && ns < nominal + nominal / 2)
		e->period_ns += (s64)(ns - e->period_ns) / 16;
}

/* All are held for one period more. Return: the edge at its end, 0 if there was none. */
static u64 window_spin(struct kjoule_edge *e, u64 a_ns)
{
	u64 a_total = e->counter.total, c_ns;
	bool unsure = e->unsure, failed;

	e->unsure = false;
	c_ns = window_wait_edge(e, a_ns + window_timeout_ns(e));
	if (!c_ns && READ_ONCE(e->stopping))
		return 0;
	failed = !c_ns || unsure || e->unsure;
	window_write_spin(e->leader, a_ns, c_ns ?: ktime_get_ns(), a_total, e->counter.total,
			  failed);
	if (failed) {
		e->books.failed++;
	} else {
		window_learn_period(e, c_ns - a_ns);
		e->books.spins++;
	}
	return c_ns;
}

/* The leader holds the others and itself until the counter moves. */
static void window_hold(struct kjoule_edge *e)
{
	struct edge_cpu *c = e->leader;
	u64 begin = ktime_get_ns(), a_total = e->a_total, edge;
	struct edge_outcome o = { .a_ns = e->a_ns };
	bool unsure = e->unsure;
	u32 gap;

	window_arrive(c);
	/* an edge before the hold came at an unknown time: the next one ends the window */
	e->unsure = false;
	window_read_counter(e);
	unsure |= e->unsure;
	e->unsure = false;
	o.c_ns = window_wait_edge(e, begin + window_timeout_ns(e));
	if (READ_ONCE(e->stopping)) {
		window_count_hold(c, c->b_ns, ktime_get_ns());
		return;
	}
	if (!o.c_ns) {
		o.c_ns = ktime_get_ns();
		o.failed = true;
		e->books.failed++;
		window_write_outcome(c, &o, a_total, e->counter.total);
		window_count_hold(c, c->b_ns, o.c_ns);
		window_restart(e, &o, o.c_ns - begin);
		return;
	}
	o.failed = !o.a_ns || unsure || e->unsure || !window_all_arrived(e, o.c_ns);
	if (o.failed) {
		e->books.failed++;
	} else {
		e->books.windows++;
		e->failures = 0;
	}
	window_write_outcome(c, &o, a_total, e->counter.total);
	if (!o.failed)
		window_learn_period(e, o.c_ns - o.a_ns);

	edge = c->number % SPIN_EVERY ? o.c_ns : window_spin(e, o.c_ns);
	window_count_hold(c, c->b_ns, ktime_get_ns());
	if (!edge) {
		window_restart(e, &o, ktime_get_ns() - begin);
		return;
	}
	gap = window_gap_periods(e, c->number);
	window_release(e, &o, edge, gap);
	e->seek_ns = 0;
	e->a_ns = edge;
	e->a_total = e->counter.total;
	e->seeking = gap;
	if (gap)
		window_restart_timer(c, edge + gap * e->period_ns - window_margin_ns(e, gap));
	else
		window_restart_timer(c, e->hold_ns[c->number & 1]);
	c->from_ns = ktime_get_ns();
}

static void window_lead_work(struct irq_work *work)
{
	struct edge_cpu *c = container_of(work, struct edge_cpu, work);
	struct kjoule_edge *e = c->edge;

	if (e->seeking)
		window_seek_edge(e);
	else
		window_hold(e);
}

/**
 * kjoule_edge_begin() - have a CPU take part from the next window on
 * @c:	it, gathered
 *
 * Context: on that CPU, interrupts off.
 */
void kjoule_edge_begin(struct edge_cpu *c)
{
	struct kjoule_edge *e = c->edge;
	bool leads = c == e->leader;

	c->number = e->released + 1;
	c->arrived = e->released;
	c->from_ns = ktime_get_ns();
	c->work = IRQ_WORK_INIT_HARD(leads ? window_lead_work : window_follow_work);
	hrtimer_setup(&c->timer, window_timer_fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	if (leads) {
		window_read_counter(e);
		kjoule_counter_start(&e->counter, e->raw);
		e->counter.total = 0;
		e->seeking = true;
	}
	hrtimer_start(&c->timer,
		      ns_to_ktime(e->hold_ns[c->number & 1] - (leads ? e->period_ns : 0)),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}
