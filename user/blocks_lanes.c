// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks of CPUs and of the recorder; see blocks_lanes.h. The conventions:
 *
 * - A missed tick belongs to the sample before it or the one after it, half of a
 *   gap each: what ran while interrupts were off is most likely one of the two.
 * - Lost samples have a line of their own; nothing is invented for them.
 * - The recorder pays for what is more because of it, and nobody else does: it is
 *   part of what the measurement costs.
 * - When the whole machine is recorded, ticks that were left out because the CPU
 *   was idle are the idle process's, and those of a CPU that was offline have a line
 *   of their own.
 */
#include <errno.h>
#include <stdlib.h>
#include "blocks_costs.h"
#include "blocks_lanes.h"
#include "blocks_lookup.h"
#include "grow.h"

/*
 * Ticks of the recorder that are written down at most: so many, and so many for each byte of
 * the file, because one record can tell of hours.
 */
#define FILL_LEAST	(1u << 20)
#define FILL_PER_BYTE	64
#define FILL_MOST	(1u << 26)

/* The recorder is never awake for so long at a time. */
#define AWAKE_MOST_NS	60000000000ull

static uint64_t fill_most(const struct view *v)
{
	uint64_t most = FILL_LEAST + FILL_PER_BYTE * v->rec.file_bytes;

	return most < FILL_MOST ? most : FILL_MOST;
}

static int make_lane(struct blocks *b, struct view *v, const struct timeline_cpu *cpu,
		     const struct fill *who, struct fill_lane *l)
{
	struct fill f = *who;
	uint32_t before = UINT32_MAX, block;
	const struct timeline_sample *s;
	struct view_samples *samples;
	uint64_t next = 0;
	int ret = view_samples_open(v, cpu - v->tl.cpus, &samples);

	f.cpu = cpu;
	f.holds = &b->windows.cpus[cpu - v->tl.cpus];
	while (!ret && (ret = view_samples_next(samples, &s)) > 0) {
		ret = 0;
		if (s->tick < next)
			continue;	/* a tick has one sample */
		ret = blocks_of_sample(b, v, s, &block);
		if (!ret && s->tick > next)
			ret = fill_ticks(&f, l, next, s->tick, before, block);
		/* taken when it was let go */
		if (!ret && fill_held(&f, s->tick)) {
			next = s->tick + 1;
			ret = fill_held_run(&f, l, s->tick, next);
			continue;
		}
		if (!ret)
			ret = fill_put(l, &(struct cpm_tick){ .tick = s->tick, .block = block },
				  s->freq_khz);
		before = block;
		next = s->tick + 1;
	}
	view_samples_close(samples);
	if (!ret && cpu->next_tick > next)
		ret = fill_ticks(&f, l, next, cpu->next_tick, before, UINT32_MAX);
	b->made_up += f.made_up;
	b->nobodys += f.nobodys;
	b->lost += f.lost_samples;
	b->lost_unknown |= f.lost_unknown;
	return ret;
}

/* Which ticks of each CPU have a sample, asked for in their order. */
struct sampled {
	const struct view *v;
	struct view_samples **of;		/* opened when the first is asked for */
	const struct timeline_sample **now;	/* NULL: none is left */
};

/* Return: 1, 0, or -errno */
static int has_sample(struct sampled *s, size_t cpu, uint64_t tick)
{
	int ret = 1;

	if (!s->of[cpu]) {
		ret = view_samples_open(s->v, cpu, &s->of[cpu]);
		ret = ret ? ret : view_samples_next(s->of[cpu], &s->now[cpu]);
	}
	while (ret > 0 && s->now[cpu] && s->now[cpu]->tick < tick)
		ret = view_samples_next(s->of[cpu], &s->now[cpu]);
	if (ret <= 0)
		s->now[cpu] = NULL;
	return ret < 0 ? ret : s->now[cpu] && s->now[cpu]->tick == tick;
}

static void sampled_exit(struct sampled *s)
{
	for (size_t i = 0; s->of && i < s->v->tl.n_cpus; i++)
		view_samples_close(s->of[i]);
	free(s->of);
	free(s->now);
}

/* A CPU's records, NULL if it has none; the CPUs are in order. */
static const struct timeline_cpu *cpu_of(const struct timeline *tl, uint32_t cpu)
{
	size_t low = 0, high = tl->n_cpus;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (tl->cpus[mid].cpu < cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return low < tl->n_cpus && tl->cpus[low].cpu == cpu ? &tl->cpus[low] : NULL;
}

static int fill_awake(struct blocks *b, struct fill_lane *l, uint64_t tick, uint32_t block)
{
	b->filled++;
	return fill_run(l, tick, tick + 1, (struct cpm_tick){ .block = block, .made_up = true });
}

/*
 * The recorder itself, when only a process is sampled: it has noted when it was
 * awake. A CPU's own sample at such a tick is better evidence and comes first.
 */
static int make_recorder_lane(struct blocks *b, struct view *v, bool apart, uint32_t block)
{
	uint64_t interval = v->rec.meta.session.interval_ns, t0 = v->rec.meta.session.t0_ns;
	uint64_t most = fill_most(v);
	struct fill_lane *l = &b->ticks[b->input.n_lanes];
	struct sampled sampled = { v, calloc(v->tl.n_cpus + 1, sizeof(*sampled.of)),
				   calloc(v->tl.n_cpus + 1, sizeof(*sampled.now)) };
	uint64_t next = 0;
	int ret = sampled.of && sampled.now ? 0 : -ENOMEM;

	l->apart = apart;
	for (size_t i = 0; i < v->rec.n_awake && !ret; i++) {
		const struct kjoule_awake *w = &v->rec.awake[i];
		const struct timeline_cpu *cpu = cpu_of(&v->tl, w->cpu);
		uint64_t tick;

		if (w->end_ns <= t0 || w->begin_ns >= w->end_ns ||
		    w->end_ns - w->begin_ns > AWAKE_MOST_NS)
			continue;
		tick = w->begin_ns > t0 ? (w->begin_ns - t0 + interval - 1) / interval : 0;
		/* a tick is looked at once, however often the file tells of it */
		for (tick = tick < next ? next : tick; tick < v->tl.end_tick && !ret; tick++) {
			if (t0 + tick * interval >= w->end_ns)
				break;
			if (b->filled >= most) {
				b->left_out++;
				break;
			}
			next = tick + 1;
			ret = cpu ? has_sample(&sampled, cpu - v->tl.cpus, tick) : 0;
			if (ret > 0)
				ret = 0;
			else if (!ret)
				ret = fill_awake(b, l, tick, block);
		}
	}
	sampled_exit(&sampled);
	if (!ret)
		ret = fill_seal(l);
	b->lanes[b->input.n_lanes++] = (struct profile_lane){ .lane = fill_lane(l), .freq_khz = l->freq,
							       .shadow = true };
	return ret;
}
static int by_begin(const void *a, const void *b)
{
	const struct mixture_range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Ticks of which it is not known what ran, though something stands for them. Idle CPUs that say nothing are idle. */
static int find_unknown(struct blocks *b, bool system, uint32_t idle)
{
	size_t n = 0;

	for (size_t l = 0; l < b->input.n_lanes; l++) {
		struct lane_cursor c;

		lane_begin(&c, &b->lanes[l].lane, NULL);
		while (lane_next(&c)) {
			const struct cpm_tick *t = &c.t;
			struct mixture_range *u;

			if (b->lanes[l].shadow || !t->made_up || (system && t->block == idle))
				continue;
			u = kjoule_grow(&b->unknown, &n, sizeof(*u));
			if (!u)
				return -ENOMEM;
			*u = (struct mixture_range){ t->tick, t->tick + t->more + 1 };
		}
	}
	b->input.n_unknown = 0;
	if (n)
		qsort(b->unknown, n, sizeof(*b->unknown), by_begin);
	for (size_t i = 0; i < n; i++) {
		struct mixture_range *last = b->input.n_unknown ? &b->unknown[b->input.n_unknown - 1] : NULL;

		if (last && b->unknown[i].from <= last->to)
			last->to = b->unknown[i].to > last->to ? b->unknown[i].to : last->to;
		else
			b->unknown[b->input.n_unknown++] = b->unknown[i];
	}
	b->input.unknown = b->unknown;
	return 0;
}

int blocks_lanes_make(struct blocks *b, struct view *v, bool raw)
{
	struct fill who = { .system = v->rec.meta.session.target == KJOULE_TARGET_SYSTEM };
	bool apart = view_has_callers(v);
	int ret;

	b->lanes = calloc(v->tl.n_cpus + 2, sizeof(*b->lanes));
	b->ticks = calloc(v->tl.n_cpus + 2, sizeof(*b->ticks));
	if (!b->lanes || !b->ticks)
		return -ENOMEM;
	b->input.n_lanes = v->tl.n_cpus;
	ret = blocks_pseudo(b, "[other]", CPM_IDLE, &b->other);
	if (!ret)
		ret = blocks_pseudo(b, "[idle]", CPM_IDLE, &who.idle);
	if (!ret)
		ret = blocks_pseudo(b, "[lost]", CPM_BUSY, &who.lost);
	if (!ret)
		ret = blocks_pseudo(b, "[missed]", CPM_IDLE, &who.missed);
	if (!ret)
		ret = blocks_pseudo(b, "[offline]", CPM_IDLE, &who.offline);
	if (!ret)
		ret = blocks_pseudo(b, "[suspended]", CPM_IDLE, &who.suspended);
	if (!ret)
		ret = blocks_pseudo(b, "[held]", CPM_BUSY, &b->held);
	who.other = b->other;
	who.held = b->held;
	who.session = &v->rec.meta.session;
	for (size_t i = 0; i < v->tl.n_cpus && !ret; i++) {
		const struct timeline_cpu *cpu = &v->tl.cpus[i];
		struct fill_lane *l = &b->ticks[i];

		l->apart = apart;
		ret = make_lane(b, v, cpu, &who, l);
		if (!ret)
			ret = fill_seal(l);
		b->lanes[i] = (struct profile_lane){
			.lane = fill_lane(l),
			.freq_khz = l->freq,
			.tick_ns = raw ? 0 : blocks_tick_cost(v, cpu),
			.idle_tick_ns = raw ? 0 : blocks_own_tick_cost(v, cpu),
			.usual_khz = blocks_mean_khz(cpu),
		};
	}
	if (!ret && !who.system && v->rec.n_awake) {
		ret = blocks_pseudo(b, "[kjoule record]", CPM_MARGINAL, &b->recorder);
		if (!ret)
			ret = make_recorder_lane(b, v, apart, b->recorder);
	}
	b->input.silent_block = who.system ? who.idle : b->other;
	b->input.others_busy = !who.system &&
			       !(v->rec.meta.session.flags & KJOULE_FLAG_WAKE_IDLE);
	return ret ? ret : find_unknown(b, who.system, who.idle);
}
