// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sorts samples into processes and functions; see blocks.h. The conventions:
 *
 * - A process is a process id with a name; after an exec it is another one.
 * - A missed tick belongs to the sample before it or the one after it, half of a
 *   gap each: what ran while interrupts were off is most likely one of the two.
 * - Lost samples have a line of their own; nothing is invented for them.
 * - The recorder pays for what is more because of it, and nobody else does: it is
 *   part of what the measurement costs.
 * - When the whole machine is recorded, ticks that were left out because the CPU
 *   was idle are the idle process's.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "blocks.h"
#include "grow.h"

/*
 * So many missed ticks in a row are given to the code beside them: interrupts were off.
 * More are nobody's.
 */
#define MADE_UP_MOST	16

/* Ticks without samples, of all CPUs, that are written down at most; more are left silent. */
#define FILL_MOST	(1u << 26)

/* The recorder is never awake for so long at a time. */
#define AWAKE_MOST_NS	60000000000ull

/* Finds processes and functions again; strings are the view's and compared by content. */
struct blocks_index {
	uint32_t *slots;	/* function + 1 */
	uint32_t room;
	/* what was found last for an address: most samples hit few of them */
	struct {
		uint64_t ip;
		uint32_t tgid;
		uint32_t process;
		uint32_t function;
		bool kernel, used;
	} cache[4096];
};

static int find_process(struct blocks *b, uint32_t pid, const char *comm, enum cpm_kind kind,
			uint32_t *out)
{
	struct blocks_process *p;

	for (uint32_t i = b->n_processes; i-- > 0;) {
		p = &b->processes[i];
		if (p->pid == pid && p->kind == kind && !strcmp(p->comm, comm)) {
			*out = i;
			return 0;
		}
	}
	p = kjoule_grow(&b->processes, &b->n_processes, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (struct blocks_process){ pid, comm, kind };
	*out = b->n_processes - 1;
	return 0;
}

static uint64_t hash(uint32_t process, const char *symbol, const char *object)
{
	uint64_t h = process + 0x9e3779b97f4a7c15ull;

	for (; *symbol; symbol++)
		h = (h ^ (unsigned char)*symbol) * 0x100000001b3ull;
	for (; *object; object++)
		h = (h ^ (unsigned char)*object) * 0x100000001b3ull;
	return h ^ h >> 31;
}

static int rehash(struct blocks *b)
{
	uint32_t room = b->index->room ? 2 * b->index->room : 1024;
	uint32_t *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_functions; i++) {
		const struct blocks_function *f = &b->functions[i];
		uint64_t at = hash(f->process, f->symbol, f->object) & (room - 1);

		while (slots[at])
			at = (at + 1) & (room - 1);
		slots[at] = i + 1;
	}
	free(b->index->slots);
	b->index->slots = slots;
	b->index->room = room;
	return 0;
}

static int find_function(struct blocks *b, uint32_t process, const char *symbol,
			 const char *object, bool kernel, uint32_t *out)
{
	struct blocks_function *f;
	uint64_t at;

	if (2 * (b->n_functions + 1) > b->index->room && rehash(b))
		return -ENOMEM;
	at = hash(process, symbol, object) & (b->index->room - 1);
	while (b->index->slots[at]) {
		f = &b->functions[b->index->slots[at] - 1];
		if (f->process == process && !strcmp(f->symbol, symbol) &&
		    !strcmp(f->object, object)) {
			*out = b->index->slots[at] - 1;
			return 0;
		}
		at = (at + 1) & (b->index->room - 1);
	}
	f = kjoule_grow(&b->functions, &b->n_functions, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct blocks_function){ process, symbol, object, kernel, 0 };
	*out = b->n_functions - 1;
	b->index->slots[at] = b->n_functions;
	return 0;
}

/* A line that stands for something that is no program. */
static int find_pseudo(struct blocks *b, const char *name, enum cpm_kind kind, uint32_t *out)
{
	uint32_t process;
	int ret = find_process(b, 0, name, kind, &process);

	return ret ? ret : find_function(b, process, name, "", false, out);
}

static int block_of(struct blocks *b, struct view *v, const struct timeline_sample *s,
		    uint32_t *out)
{
	bool kernel = s->flags & KJOULE_SAMPLE_KERNEL;
	struct view_place place;
	const char *comm;
	uint32_t process, slot;
	enum cpm_kind kind;
	int ret;

	if (s->flags & KJOULE_SAMPLE_IDLE)
		return find_pseudo(b, "[idle]", CPM_IDLE, out);
	comm = view_comm(v, s->tgid, s->tgid, view_time(v, s->tick, s->late_ns));
	kind = s->tgid && s->tgid == v->rec.meta.recorder_pid ? CPM_MARGINAL : CPM_BUSY;
	ret = find_process(b, s->tgid, comm, kind, &process);
	if (ret)
		return ret;
	slot = (s->ip ^ s->ip >> 12 ^ process) % 4096;
	if (b->index->cache[slot].used && b->index->cache[slot].ip == s->ip &&
	    b->index->cache[slot].process == process && b->index->cache[slot].kernel == kernel &&
	    s->ip) {
		*out = b->index->cache[slot].function;
	} else {
		view_resolve(v, s, &place);
		ret = find_function(b, process, place.symbol, place.object, kernel, out);
		if (ret)
			return ret;
		b->index->cache[slot].used = true;
		b->index->cache[slot].ip = s->ip;
		b->index->cache[slot].process = process;
		b->index->cache[slot].kernel = kernel;
		b->index->cache[slot].function = *out;
	}
	b->functions[*out].precise += !!(s->flags & KJOULE_SAMPLE_PRECISE);
	return 0;
}

/* One CPU's ticks being written down in order. */
struct lane {
	struct cpm_tick *ticks;
	uint32_t *freq;
	size_t n, room;
};

static int put(struct lane *l, uint64_t tick, uint32_t block, bool made_up, uint32_t freq)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 4096;
		void *ticks = realloc(l->ticks, room * sizeof(*l->ticks)), *f;

		if (!ticks)
			return -ENOMEM;
		l->ticks = ticks;
		f = realloc(l->freq, room * sizeof(*l->freq));
		if (!f)
			return -ENOMEM;
		l->freq = f;
		l->room = room;
	}
	l->ticks[l->n] = (struct cpm_tick){ tick, block, made_up };
	l->freq[l->n++] = freq;
	return 0;
}

struct fill {
	const struct timeline_cpu *cpu;
	size_t gap, hole;	/* the next of each */
	bool system;
	uint32_t idle, lost, missed;
	bool later;		/* which half of an odd gap is the larger one */
};

/*
 * Ticks [from, to) have no sample. Each is in a gap, in a hole or silent; what
 * is silent was idle or not the target. @before and @after are the samples'
 * blocks at the ticks beside, UINT32_MAX where there is none.
 */
static int fill(struct blocks *b, struct fill *f, struct lane *l, uint64_t from, uint64_t to,
		uint32_t before, uint32_t after)
{
	const struct timeline_cpu *cpu = f->cpu;
	uint64_t lost = 0;
	int ret = 0;

	while (f->hole < cpu->n_holes && cpu->holes[f->hole].from < to) {
		const struct timeline_hole *h = &cpu->holes[f->hole++];

		b->lost += h->samples;
		b->lost_unknown |= !h->known;
		lost += f->system && !h->known ? h->to - h->from : h->samples;
	}
	if (to - from > FILL_MOST - b->filled)
		return 0;
	b->filled += to - from;
	for (uint64_t tick = from; tick < to && !ret;) {
		const struct timeline_gap *g;
		uint64_t end = to, half;

		while (f->gap < cpu->n_gaps &&
		       cpu->gaps[f->gap].first + cpu->gaps[f->gap].count <= tick)
			f->gap++;
		g = f->gap < cpu->n_gaps ? &cpu->gaps[f->gap] : NULL;
		if (g && g->first <= tick) {
			end = g->first + g->count < to ? g->first + g->count : to;
			if (g->count > MADE_UP_MOST) {
				/* a CPU that was offline, a machine that stood: nobody knows */
				for (; tick < end && f->system && !ret; tick++)
					ret = put(l, tick, f->missed, true, 0);
				tick = end;
				continue;
			}
			half = (end - tick + f->later) / 2;
			f->later ^= (end - tick) & 1;
			for (uint64_t i = 0, n = end - tick; i < n && !ret; i++, tick++) {
				uint32_t block = i < half ? (tick - i == from ? before : UINT32_MAX) :
						 (end == to ? after : UINT32_MAX);

				if (block == UINT32_MAX && !f->system)
					continue;
				if (block == UINT32_MAX)
					block = before != UINT32_MAX ? before : f->idle;
				ret = put(l, tick, block, true, 0);
				b->made_up++;
			}
			continue;
		}
		if (g && g->first < to)
			end = g->first;
		/* Silent: nothing to write down but what was lost, or idle. */
		if (!f->system && !lost) {
			tick = end;
			continue;
		}
		for (; tick < end && !ret; tick++) {
			if (lost) {
				lost--;
				ret = put(l, tick, f->lost, true, 0);
			} else if (f->system) {
				ret = put(l, tick, f->idle, true, 0);
			} else {
				break;
			}
		}
	}
	return ret;
}

static int make_lane(struct blocks *b, struct view *v, const struct timeline_cpu *cpu,
		     const struct fill *who, struct lane *l)
{
	struct fill f = { .cpu = cpu, .idle = who->idle, .lost = who->lost, .missed = who->missed,
			  .system = v->rec.meta.session.target == KJOULE_TARGET_SYSTEM };
	uint32_t before = UINT32_MAX, block;
	uint64_t next = 0;
	int ret = 0;

	for (size_t i = 0; i < cpu->n_samples && !ret; i++) {
		const struct timeline_sample *s = &cpu->samples[i];

		if (s->tick < next)
			continue;	/* a tick has one sample */
		ret = block_of(b, v, s, &block);
		if (!ret && s->tick > next)
			ret = fill(b, &f, l, next, s->tick, before, block);
		if (!ret)
			ret = put(l, s->tick, block, false, s->freq_khz);
		before = block;
		next = s->tick + 1;
	}
	if (!ret && cpu->next_tick > next)
		ret = fill(b, &f, l, next, cpu->next_tick, before, UINT32_MAX);
	return ret;
}

static size_t package_index(const struct view *v, uint32_t package)
{
	for (size_t i = 0; i < v->tl.n_packages; i++)
		if (v->tl.packages[i].package == package)
			return i;
	return 0;
}

static bool has_sample(const struct timeline_cpu *cpu, uint64_t tick)
{
	size_t low = 0, high = cpu->n_samples;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cpu->samples[mid].tick < tick)
			low = mid + 1;
		else
			high = mid;
	}
	return low < cpu->n_samples && cpu->samples[low].tick == tick;
}

/*
 * The recorder itself, when only a process is sampled: it has noted when it was
 * awake. A CPU's own sample at such a tick is better evidence and comes first.
 */
static int make_recorder_lane(struct blocks *b, struct view *v, uint32_t block)
{
	uint64_t interval = v->rec.meta.session.interval_ns, t0 = v->rec.meta.session.t0_ns;
	struct lane l = { 0 };
	uint64_t next = 0;
	int ret = 0;

	for (size_t i = 0; i < v->rec.n_awake && !ret; i++) {
		const struct kjoule_awake *w = &v->rec.awake[i];
		const struct timeline_cpu *cpu = NULL;
		uint64_t tick;

		for (size_t c = 0; c < v->tl.n_cpus; c++)
			if (v->tl.cpus[c].cpu == w->cpu)
				cpu = &v->tl.cpus[c];
		if (w->end_ns <= t0 || w->begin_ns >= w->end_ns ||
		    w->end_ns - w->begin_ns > AWAKE_MOST_NS)
			continue;
		tick = w->begin_ns > t0 ? (w->begin_ns - t0 + interval - 1) / interval : 0;
		for (; tick < v->tl.end_tick && !ret; tick++) {
			if (t0 + tick * interval >= w->end_ns)
				break;
			if (tick < next || (cpu && has_sample(cpu, tick)))
				continue;
			if (b->filled++ >= FILL_MOST)
				break;
			ret = put(&l, tick, block, true, 0);
			next = tick + 1;
		}
	}
	b->ticks[b->input.n_lanes] = l.ticks;
	b->freq[b->input.n_lanes] = l.freq;
	b->lanes[b->input.n_lanes] = (struct profile_lane){
		.lane = { l.ticks, l.n }, .freq_khz = l.freq, .shadow = true,
		/* it is kept on one CPU mostly; of several packages the first one's pays */
		.package = package_index(v, kjoule_recording_package(&v->rec, v->rec.awake[0].cpu)) };
	b->input.n_lanes++;
	return ret;
}

/* Harmonic mean: what takes so many cycles takes on average so long as at this frequency. */
static double mean_khz(const struct timeline_cpu *cpu)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < cpu->n_samples; i++) {
		if (!cpu->samples[i].freq_khz)
			continue;
		sum += 1.0 / cpu->samples[i].freq_khz;
		n++;
	}
	return n ? n / sum : 0;
}

/* What a tick sees of itself, on the mean of a CPU. */
static double own_tick_cost(const struct view *v, const struct timeline_cpu *cpu)
{
	for (size_t i = 0; i < v->rec.n_stats; i++)
		if (v->rec.stats[i].cpu == cpu->cpu && v->rec.stats[i].produced)
			return fmin((double)v->rec.stats[i].tick_ns / v->rec.stats[i].produced,
				    v->rec.meta.session.interval_ns);
	return v->rec.cal.handler_ns;
}

/* What a tick saw of itself is another than in the calibration by more than this: it cost another. */
#define SPREADS		3

/*
 * A tick's whole cost on a CPU, as calibrated. What it saw of itself may differ in the
 * recording, with caches above all; where it does not clearly, that says nothing: a few
 * microseconds are short against how a virtual machine lets time pass.
 */
static double tick_cost(const struct view *v, const struct timeline_cpu *cpu)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	double khz = mean_khz(cpu), own = own_tick_cost(v, cpu), scale = 1, more;

	if (!cal->ticks)
		return own;
	if (cal->freq_khz > 0 && khz > 0)
		scale = cal->freq_khz / khz;
	more = own - cal->handler_ns * scale;
	if (fabs(more) < SPREADS * cal->handler_spread_ns * scale)
		more = 0;
	return fmin(cal->tick_ns * scale + more, v->rec.meta.session.interval_ns);
}

static int make_lanes(struct blocks *b, struct view *v, bool raw)
{
	struct fill who = { 0 };
	int ret;

	b->lanes = calloc(v->tl.n_cpus + 2, sizeof(*b->lanes));
	b->ticks = calloc(v->tl.n_cpus + 2, sizeof(*b->ticks));
	b->freq = calloc(v->tl.n_cpus + 2, sizeof(*b->freq));
	if (!b->lanes || !b->ticks || !b->freq)
		return -ENOMEM;
	b->input.n_lanes = v->tl.n_cpus;
	ret = find_pseudo(b, "[other]", CPM_IDLE, &b->other);
	if (!ret)
		ret = find_pseudo(b, "[idle]", CPM_IDLE, &who.idle);
	if (!ret)
		ret = find_pseudo(b, "[lost]", CPM_BUSY, &who.lost);
	if (!ret)
		ret = find_pseudo(b, "[missed]", CPM_IDLE, &who.missed);
	for (size_t i = 0; i < v->tl.n_cpus && !ret; i++) {
		const struct timeline_cpu *cpu = &v->tl.cpus[i];
		struct lane l = { 0 };

		ret = make_lane(b, v, cpu, &who, &l);
		b->ticks[i] = l.ticks;
		b->freq[i] = l.freq;
		b->lanes[i] = (struct profile_lane){
			.lane = { l.ticks, l.n },
			.package = package_index(v, cpu->package),
			.freq_khz = l.freq,
			.tick_ns = raw ? 0 : tick_cost(v, cpu),
			.idle_tick_ns = raw ? 0 : own_tick_cost(v, cpu),
			.usual_khz = mean_khz(cpu),
		};
	}
	if (!ret && v->rec.meta.session.target == KJOULE_TARGET_PROCESS && v->rec.n_awake) {
		ret = find_pseudo(b, "[kjoule record]", CPM_MARGINAL, &b->recorder);
		if (!ret)
			ret = make_recorder_lane(b, v, b->recorder);
	}
	b->input.silent_block = v->rec.meta.session.target == KJOULE_TARGET_SYSTEM ? who.idle : b->other;
	return ret;
}

static int make_readings(struct blocks *b, struct view *v)
{
	const struct kjoule_source_info *src = kjoule_recording_source(&v->rec, KJOULE_KIND_ENERGY);
	size_t n = 0, at = 0;

	for (uint32_t i = 0; src && i < src->n_domains && b->n_domains < PROFILE_DOMAINS; i++)
		b->domains[b->n_domains++] = &src->domains[i];
	for (size_t p = 0; p < v->tl.n_packages; p++)
		for (unsigned int d = 0; d < b->n_domains; d++)
			n += v->tl.packages[p].n_readings[b->domains[d]->index];
	b->packages = calloc(v->tl.n_packages + 1, sizeof(*b->packages));
	b->readings = calloc(n + 1, sizeof(*b->readings));
	if (!b->packages || !b->readings)
		return -ENOMEM;
	for (size_t p = 0; p < v->tl.n_packages; p++) {
		for (unsigned int d = 0; d < b->n_domains; d++) {
			uint32_t index = b->domains[d]->index;
			const struct timeline_reading *r = v->tl.packages[p].readings[index];

			b->packages[p].readings[d] = b->readings + at;
			b->packages[p].n_readings[d] = v->tl.packages[p].n_readings[index];
			for (size_t i = 0; i < v->tl.packages[p].n_readings[index]; i++)
				b->readings[at++] = (struct cpm_reading){ r[i].tick, r[i].uj };
		}
	}
	return 0;
}

/* The part of the time that interrupts other than ours take, where no sample can fall. */
static double other_part(const struct view *v)
{
	double part = v->rec.cal.other_part, khz = 0;
	size_t n = 0;

	for (size_t i = 0; i < v->tl.n_cpus; i++) {
		double k = mean_khz(&v->tl.cpus[i]);

		khz += k;
		n += k > 0;
	}
	if (v->rec.cal.freq_khz > 0 && n)
		part *= v->rec.cal.freq_khz / (khz / n);
	/* More than a fifth is no figure to correct with. */
	return part < 0.2 ? part : 0;
}

/* Twice the standard error of what a tick was calibrated to take and to spend. */
static double calibration_error(const struct view *v)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	double time = cal->ticks ? cal->tick_error_ns / cal->tick_ns : 0, energy = 0;

	for (uint32_t d = 0; d < cal->n_domains; d++)
		if (cal->irq_uw[d] > 0 && isfinite(cal->irq_error_uw[d]))
			energy = fmax(energy, cal->irq_error_uw[d] / cal->irq_uw[d]);
	return 2 * hypot(time, energy);
}

int blocks_new(struct view *v, bool raw, struct blocks *b)
{
	int ret = -ENOMEM;

	memset(b, 0, sizeof(*b));
	b->recorder = UINT32_MAX;
	b->index = calloc(1, sizeof(*b->index));
	if (b->index)
		ret = make_lanes(b, v, raw);
	if (!ret)
		ret = make_readings(b, v);
	if (!ret) {
		b->kinds = calloc(b->n_functions + 1, sizeof(*b->kinds));
		ret = b->kinds ? 0 : -ENOMEM;
	}
	if (ret) {
		blocks_free(b);
		return ret;
	}
	for (uint32_t i = 0; i < b->n_functions; i++)
		b->kinds[i] = b->processes[b->functions[i].process].kind;
	b->input.interval_ns = v->rec.meta.session.interval_ns;
	b->input.jitter = (double)v->rec.meta.session.jitter_ns / v->rec.meta.session.interval_ns;
	b->input.end_tick = v->tl.end_tick;
	b->input.other = raw ? 0 : other_part(v);
	b->input.calibration_error = calibration_error(v);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		uint32_t index = b->domains[d]->index;
		bool known = !raw && index < v->rec.cal.n_domains;

		b->input.irq_w[d] = known ? v->rec.cal.irq_uw[index] * 1e-6 : NAN;
		b->input.idle_uj[d] = known ? v->rec.cal.idle_uj[index] : NAN;
	}
	b->input.lanes = b->lanes;
	b->input.n_packages = v->tl.n_packages;
	b->input.packages = b->packages;
	b->input.n_domains = b->n_domains;
	b->input.n_blocks = b->n_functions;
	b->input.kinds = b->kinds;
	b->input.steps = raw ? 1 : CPM_STEPS;
	return 0;
}

void blocks_free(struct blocks *b)
{
	for (size_t i = 0; i < b->input.n_lanes; i++) {
		free(b->ticks[i]);
		free(b->freq[i]);
	}
	free(b->ticks);
	free(b->freq);
	free(b->lanes);
	free(b->packages);
	free(b->readings);
	free(b->kinds);
	free(b->functions);
	free(b->processes);
	if (b->index)
		free(b->index->slots);
	free(b->index);
	memset(b, 0, sizeof(*b));
}
