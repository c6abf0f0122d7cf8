// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks of CPUs and of the recorder; see blocks_streams.h. The conventions:
 *
 * - A missed tick belongs to the sample before it or the one after it, half of a gap each: code
 *   with interrupts off is most likely one of the two.
 * - Lost samples have a row of their own; nothing is invented for them.
 * - The recorder pays for what is added by it: it is part of the cost of the measurement.
 * - Ticks of other processes are the bystanders', who pay for nothing while the target runs.
 * - When the whole machine is recorded, ticks that were skipped while idle are the idle process's,
 *   and those of a CPU that was offline have a row of their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/blocks_costs.h"
#include "attribute/blocks_interrupts.h"
#include "attribute/blocks_streams.h"
#include "attribute/blocks_lookup.h"
#include "lib/base/array.h"
#include "recording/view_samples.h"

/* Limit of the recorder's ticks, and for each byte of the file: one record can be for hours. */
#define FILL_LEAST	(1u << 20)
#define FILL_PER_BYTE	64
#define FILL_MOST	(1u << 26)

static uint64_t filled_ticks_limit(const struct view *v)
{
	uint64_t most = FILL_LEAST + FILL_PER_BYTE * v->rec.file_bytes;

	return most < FILL_MOST ? most : FILL_MOST;
}

/* A CPU's stream being written. */
struct maker {
	struct missed_ticks gaps;
	struct missed_ticks_stream *stream;
	struct blocks_near *near;		/* BLOCKS_NEAR of them, of all CPUs */
	uint64_t next;				/* the tick after the last that was written */
	uint32_t before;	/* the block of the last sample, UINT32_MAX: there was none */
	uint64_t *met;				/* a bit for each block seen here */
	size_t met_room;
	uint32_t *order;			/* these, in their order */
	size_t n_order;
};

static bool maker_has_block(const struct maker *m, uint32_t block)
{
	return block / 64 < m->met_room && m->met[block / 64] >> block % 64 & 1;
}

/* Note a block's first sample on this CPU. */
static int maker_add_block(struct maker *m, uint32_t block)
{
	uint32_t *item;

	if (block / 64 >= m->met_room) {
		size_t room = 2 * (block / 64) + 16;
		uint64_t *met = realloc(m->met, room * sizeof(*met));

		if (!met)
			return -ENOMEM;
		memset(met + m->met_room, 0, (room - m->met_room) * sizeof(*met));
		m->met = met;
		m->met_room = room;
	}
	item = kjoule_array_grow(&m->order, &m->n_order, sizeof(*item));
	if (!item)
		return -ENOMEM;
	*item = block;
	m->met[block / 64] |= 1ull << block % 64;
	return 0;
}

/* A sample of a tick that was not written yet. */
static int maker_put_sample(struct blocks *b, struct maker *m, const struct timeline_sample *s,
			    uint32_t block)
{
	int ret = 0;

	if (s->tick > m->next)
		ret = missed_ticks_attribute(&m->gaps, m->stream, m->next, s->tick,
					     m->before, block);
	m->next = s->tick + 1;
	/* due while the CPU was paused, and taken after it: tick and sample are the pause's */
	if (!ret && missed_ticks_is_paused(&m->gaps, s->tick)) {
		/* of an idle CPU none was counted */
		if (!(s->flags & KJOULE_SAMPLE_IDLE)) {
			b->functions[block].samples--;
			b->functions[block].precise -= !!(s->flags & KJOULE_SAMPLE_PRECISE);
		}
		return missed_ticks_put_paused(&m->gaps, m->stream, s->tick, s->tick + 1);
	}
	m->before = block;
	ret = ret ? ret : blocks_delay_add(b, block, s);
	return ret ?
	       ret :
	       missed_ticks_put(m->stream, &(struct cpm_tick){ .tick = s->tick, .block = block },
				s->freq_khz);
}

static void blocks_add_took_ns(struct blocks_function *f, uint32_t took_ns)
{
	f->timed += took_ns > 0;
	f->took_ns += took_ns;
}

static int maker_put_samples(struct blocks *b, struct view *v, struct maker *m,
			     const struct timeline_sample *s, size_t n)
{
	bool packed = !m->stream->apart && !m->gaps.pauses->n;
	int ret = 0;

	for (const struct timeline_sample *end = s + n; s != end && !ret; s++) {
		struct blocks_near *near = blocks_near_slot(m->near, s);
		uint32_t block = near->function;

		if (s->tick < m->next)
			continue;	/* a tick has one sample */
		if (blocks_is_near(near, s, view_time(v, s->tick, s->late_ns))) {
			b->functions[block].samples++;
			b->functions[block].precise += !!(s->flags & KJOULE_SAMPLE_PRECISE);
		} else {
			ret = blocks_of_sample(b, v, s, near, &block);
		}
		if (!ret && !maker_has_block(m, block))
			ret = maker_add_block(m, block);
		if (ret)
			break;
		if (s->callers)
			blocks_add_took_ns(&b->functions[block],
					   m->gaps.cpu->callers[s->callers - 1].took_ns);
		/* mostly it is the next tick */
		if (!packed || s->tick != m->next) {
			ret = maker_put_sample(b, m, s, block);
			continue;
		}
		m->before = block;
		m->next++;
		ret = blocks_delay_add(b, block, s);
		if (ret)
			break;
		if (!tick_stream_more(&m->stream->packed, s->tick, block, s->freq_khz))
			ret = tick_stream_put(&m->stream->packed,
					      &(struct cpm_tick){ .tick = s->tick, .block = block },
					      s->freq_khz);
	}
	return ret;
}

/* The samples of all CPUs. Return: 0 or -errno */
static int makers_put_all_samples(struct blocks *b, struct view *v, struct maker *makers)
{
	const struct timeline_sample *samples;
	struct view_samples *of;
	size_t cpu, n;
	int ret = 0;

	if (v->load) {
		while ((ret = view_load_next(v->load, &cpu, &samples, &n)) > 0) {
			ret = maker_put_samples(b, v, &makers[cpu], samples, n);
			if (ret)
				return ret;
		}
		if (!ret)
			view_load_end(v);
		return ret;
	}
	for (size_t i = 0; i < v->tl.n_cpus && !ret; i++) {
		ret = view_samples_open(v, i, &of);
		while (!ret && (ret = view_samples_batch(of, &samples, &n)) > 0)
			ret = maker_put_samples(b, v, &makers[i], samples, n);
		view_samples_close(of);
	}
	return ret;
}

/* Renumber blocks as if CPUs had been read one after another: @before of them were there before. */
static int makers_order_blocks(struct blocks *b, const struct maker *makers, size_t n_makers,
			       uint32_t before)
{
	uint32_t *to = malloc((b->n_functions + 1) * sizeof(*to)), n = before;
	bool same = true;
	int ret = to ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < b->n_functions && !ret; i++)
		to[i] = i < before ? i : UINT32_MAX;
	for (size_t i = 0; i < n_makers && !ret; i++)
		for (size_t k = 0; k < makers[i].n_order; k++)
			if (to[makers[i].order[k]] == UINT32_MAX)
				to[makers[i].order[k]] = n++;
	for (uint32_t i = 0; i < b->n_functions && !ret; i++)
		same &= to[i] == i;
	if (!ret && !same)
		ret = blocks_reorder(b, to);
	for (size_t i = 0; i < n_makers && !ret && !same; i++)
		ret = missed_ticks_rename(makers[i].stream, to, b->n_functions);
	free(to);
	return ret;
}

/* Windows and readings after the session's end were read too late. */
static void timeline_drop_unexpected(struct timeline *tl)
{
	for (size_t i = 0; i < tl->n_cpus; i++) {
		tl->disorder += tl->cpus[i].n_windows + tl->cpus[i].n_readings;
		tl->cpus[i].n_windows = tl->cpus[i].n_readings = 0;
	}
}

static int blocks_make_cpu_streams(struct blocks *b, struct view *v, const struct missed_ticks *who)
{
	struct maker *makers = calloc(v->tl.n_cpus + 1, sizeof(*makers));
	struct blocks_near *near = calloc(BLOCKS_NEAR, sizeof(*near));
	uint32_t before = b->n_functions;
	bool first = v->load;
	int ret = makers && near ? 0 : -ENOMEM;

	for (size_t i = 0; i < v->tl.n_cpus && !ret; i++) {
		makers[i] = (struct maker){ .gaps = *who, .stream = &b->ticks[i], .near = near,
					    .before = UINT32_MAX };
		makers[i].gaps.cpu = &v->tl.cpus[i];
		makers[i].gaps.pauses = &b->windows.cpus[i];
		b->ticks[i].apart = view_has_callers(v);
		b->ticks[i].packed.counts = &b->counts;
	}
	if (!ret)
		ret = makers_put_all_samples(b, v, makers);
	if (blocks_delay_end(b) && !ret)
		ret = -ENOMEM;
	if (!ret && first)
		timeline_drop_unexpected(&v->tl);
	for (size_t i = 0; i < v->tl.n_cpus && !ret; i++) {
		struct maker *m = &makers[i];

		if (v->tl.cpus[i].next_tick > m->next)
			ret = missed_ticks_attribute(&m->gaps, m->stream, m->next,
						     v->tl.cpus[i].next_tick,
						     m->before, UINT32_MAX);
		if (!ret)
			ret = missed_ticks_seal(m->stream);
		b->interpolated += m->gaps.interpolated;
		b->unattributed += m->gaps.unattributed;
		b->lost += m->gaps.lost_samples;
		b->lost_unknown |= m->gaps.lost_unknown;
	}
	if (!ret && first)
		ret = makers_order_blocks(b, makers, v->tl.n_cpus, before);
	for (size_t i = 0; makers && i < v->tl.n_cpus; i++) {
		free(makers[i].met);
		free(makers[i].order);
	}
	free(near);
	free(makers);
	return ret;
}

/* Which ticks of each CPU have a sample, requested in order. */
struct sampled {
	const struct view *v;
	struct view_samples **of;		/* opened on first use */
	const struct timeline_sample **now;	/* NULL: none is left */
};

/* Return: 1, 0, or -errno */
static int sampled_has_tick(struct sampled *s, size_t cpu, uint64_t tick)
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

/* A CPU's records, NULL if it has none; CPUs are in order. */
static const struct timeline_cpu *timeline_find_cpu(const struct timeline *tl, uint32_t cpu)
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

static int recorder_put_tick(struct blocks *b, struct missed_ticks_stream *l, uint64_t tick,
			     uint32_t block)
{
	b->filled++;
	return missed_ticks_put_run(l, tick, tick + 1,
				    (struct cpm_tick){ .block = block, .interpolated = true });
}

/*
 * The recorder itself, when only a process is sampled: it noted its wakeups. A CPU's own sample at
 * such a tick is better evidence and comes first.
 */
static int recorder_make_stream(struct blocks *b, struct view *v, bool apart, uint32_t block)
{
	const struct kjoule_session_info *session = &v->rec.meta.session;
	uint64_t most = filled_ticks_limit(v);
	struct missed_ticks_stream *l = &b->ticks[b->input.n_streams];
	struct sampled sampled = { v, calloc(v->tl.n_cpus + 1, sizeof(*sampled.of)),
				   calloc(v->tl.n_cpus + 1, sizeof(*sampled.now)) };
	uint64_t next = 0;
	int ret = sampled.of && sampled.now ? 0 : -ENOMEM;

	l->apart = apart;
	l->packed.counts = &b->others;
	for (size_t i = 0; i < v->rec.n_wakeups && !ret; i++) {
		const struct kjoule_wakeup *w = &v->rec.wakeups[i];
		const struct timeline_cpu *cpu = timeline_find_cpu(&v->tl, w->cpu);
		uint64_t tick;

		if (w->end_ns <= session->t0_ns || !missed_ticks_wakeup_is_sound(w))
			continue;
		tick = timeline_first(session, w->begin_ns);
		/* a tick is checked once, however often the file has it */
		for (tick = tick < next ? next : tick; tick < v->tl.end_tick && !ret; tick++) {
			if (timeline_due(session, tick) >= w->end_ns)
				break;
			if (b->filled >= most) {
				b->left_out++;
				break;
			}
			next = tick + 1;
			ret = cpu ? sampled_has_tick(&sampled, cpu - v->tl.cpus, tick) : 0;
			if (ret > 0)
				ret = 0;
			else if (!ret)
				ret = recorder_put_tick(b, l, tick, block);
		}
	}
	sampled_exit(&sampled);
	if (!ret)
		ret = missed_ticks_seal(l);
	b->streams[b->input.n_streams++] =
		(struct profile_stream){ .stream = missed_ticks_stream(l), .freq_khz = l->freq,
					 .shadow = true };
	return ret;
}

static int unknown_range_by_begin(const void *a, const void *b)
{
	const struct mixture_range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Ticks of unknown code, though something stands for them. Idle CPUs without samples are idle. */
static int blocks_find_unknown_ticks(struct blocks *b, bool system, uint32_t idle)
{
	size_t n = 0;

	for (size_t l = 0; l < b->input.n_streams; l++) {
		struct tick_stream_cursor c;

		if (!tick_stream_unseen(&b->streams[l].stream))
			continue;
		tick_stream_begin(&c, &b->streams[l].stream, NULL);
		while (tick_stream_next(&c)) {
			const struct cpm_tick *t = &c.t;
			struct mixture_range *u;

			if (b->streams[l].shadow || !t->interpolated ||
			    (system && t->block == idle))
				continue;
			u = kjoule_array_grow(&b->unknown, &n, sizeof(*u));
			if (!u)
				return -ENOMEM;
			*u = (struct mixture_range){ t->tick, t->tick + t->more + 1 };
		}
	}
	b->input.n_unknown = 0;
	if (n)
		qsort(b->unknown, n, sizeof(*b->unknown), unknown_range_by_begin);
	for (size_t i = 0; i < n; i++) {
		struct mixture_range *last = b->input.n_unknown ?
					     &b->unknown[b->input.n_unknown - 1] : NULL;

		if (last && b->unknown[i].from <= last->to)
			last->to = b->unknown[i].to > last->to ? b->unknown[i].to : last->to;
		else
			b->unknown[b->input.n_unknown++] = b->unknown[i];
	}
	b->input.unknown = b->unknown;
	return 0;
}

int blocks_streams_make(struct blocks *b, struct view *v, bool raw)
{
	struct missed_ticks who = { .system = v->rec.meta.session.target == KJOULE_TARGET_SYSTEM };
	bool apart = view_has_callers(v);
	int ret;

	b->streams = calloc(v->tl.n_cpus + 2, sizeof(*b->streams));
	b->ticks = calloc(v->tl.n_cpus + 2, sizeof(*b->ticks));
	if (!b->streams || !b->ticks)
		return -ENOMEM;
	b->input.n_streams = v->tl.n_cpus;
	ret = blocks_pseudo(b, "[other]", CPM_IDLE, &b->other);
	b->input.others_busy = !who.system &&
			       !(v->rec.meta.session.flags & KJOULE_FLAG_WAKE_IDLE);
	if (!ret && b->input.others_busy)
		ret = blocks_pseudo(b, "[bystanders]", CPM_BYSTANDER, &b->bystander);
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
		ret = blocks_pseudo(b, BLOCKS_PAUSED_CPUS, CPM_BUSY, &b->paused);
	who.other = b->other;
	who.bystander = b->bystander;
	who.wakeups = v->rec.wakeups;
	who.n_wakeups = v->rec.n_wakeups;
	who.paused = b->paused;
	who.session = &v->rec.meta.session;
	if (!ret)
		ret = blocks_make_cpu_streams(b, v, &who);
	for (size_t i = 0; i < v->tl.n_cpus && !ret; i++) {
		const struct timeline_cpu *cpu = &v->tl.cpus[i];
		struct missed_ticks_stream *l = &b->ticks[i];

		b->streams[i] = (struct profile_stream){
			.stream = missed_ticks_stream(l),
			.freq_khz = l->freq,
			.tick_ns = raw ? 0 : blocks_tick_cost(v, cpu),
			.idle_tick_ns = raw ? 0 : blocks_own_tick_cost(v, cpu),
			.usual_khz = blocks_mean_khz(cpu),
		};
	}
	if (!ret && !who.system && v->rec.n_wakeups) {
		ret = blocks_pseudo(b, "[kjoule record]", CPM_MARGINAL, &b->recorder);
		if (!ret)
			ret = recorder_make_stream(b, v, apart, b->recorder);
	}
	b->input.unsampled_block = who.system ? who.idle : b->other;
	return ret ? ret : blocks_find_unknown_ticks(b, who.system, who.idle);
}
