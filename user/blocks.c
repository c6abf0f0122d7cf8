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
 * - What a thread did outside of the region that is looked at is another process's, so that all of it
 *   still has its part of the energy.
 * - When the whole machine is recorded, ticks that were left out because the CPU
 *   was idle are the idle process's, and those of a CPU that was offline have a line
 *   of their own.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "blocks.h"
#include "grow.h"
#include "index.h"

/*
 * Ticks of the recorder that are written down at most: so many, and so many for each byte of
 * the file, because one record can tell of hours.
 */
#define FILL_LEAST	(1u << 20)
#define FILL_PER_BYTE	64
#define FILL_MOST	(1u << 26)

/* The recorder is never awake for so long at a time. */
#define AWAKE_MOST_NS	60000000000ull

#define KNOWN		64
#define STRETCHES	32768

/* Finds processes and functions again; strings are the view's and compared by content. */
struct blocks_index {
	struct kjoule_index processes;
	uint32_t *slots;	/* function + 1 */
	uint32_t room;
	/* the process of a number and name, as long as nothing is told of any */
	struct known_process {
		uint32_t tgid, process;
		bool used;
	} known[KNOWN];
	uint64_t known_from, known_until;
	/* what was found last around an address: most samples hit few functions */
	struct stretch {
		uint64_t start;
		uint32_t len, process, function;
	} stretches[STRETCHES][2], last;
	/* the same for one address, where that is not known */
	struct {
		uint64_t ip;
		uint32_t tgid;
		uint32_t process;
		uint32_t function;
		struct named_part *part;
		bool kernel, used;
	} cache[4096];
};

int blocks_process(struct blocks *b, const struct blocks_process *like, uint32_t *out)
{
	uint64_t hash = kjoule_index_hash(like->pid, like->comm);
	struct blocks_process *p;
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_index_next(&b->index->processes, hash, &probe)) != KJOULE_INDEX_NONE) {
		p = &b->processes[i];
		if (p->pid == like->pid && p->kind == like->kind && p->outside == like->outside &&
		    !strcmp(p->comm, like->comm)) {
			*out = i;
			return 0;
		}
	}
	if (kjoule_index_add(&b->index->processes, hash, b->n_processes))
		return -ENOMEM;
	p = kjoule_grow(&b->processes, &b->n_processes, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = *like;
	*out = b->n_processes - 1;
	return 0;
}

static uint64_t hash(uint32_t process, const char *symbol, const char *object,
		     const struct grain_unit *unit)
{
	uint64_t h = (process ^ (uintptr_t)unit >> 4) + 0x9e3779b97f4a7c15ull;

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
		uint64_t at = hash(f->process, f->symbol, f->object, f->unit) & (room - 1);

		while (slots[at])
			at = (at + 1) & (room - 1);
		slots[at] = i + 1;
	}
	free(b->index->slots);
	b->index->slots = slots;
	b->index->room = room;
	return 0;
}

int blocks_find(struct blocks *b, const struct blocks_function *like, uint32_t *out)
{
	struct blocks_function *f;
	uint64_t at;

	if (2 * (b->n_functions + 1) > b->index->room && rehash(b))
		return -ENOMEM;
	at = hash(like->process, like->symbol, like->object, like->unit) & (b->index->room - 1);
	while (b->index->slots[at]) {
		f = &b->functions[b->index->slots[at] - 1];
		if (f->process == like->process && f->unit == like->unit && !strcmp(f->symbol, like->symbol) &&
		    !strcmp(f->object, like->object)) {
			*out = b->index->slots[at] - 1;
			return 0;
		}
		at = (at + 1) & (b->index->room - 1);
	}
	f = kjoule_grow(&b->functions, &b->n_functions, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = *like;
	*out = b->n_functions - 1;
	b->index->slots[at] = b->n_functions;
	return 0;
}

int blocks_function(struct blocks *b, uint32_t process, const char *symbol, const char *object,
		    bool kernel, uint32_t *out)
{
	return blocks_find(b, &(struct blocks_function){ .process = process, .symbol = symbol, .object = object,
							   .kernel = kernel }, out);
}

/* A line that stands for something that is no program, and so is in no region. */
static int find_pseudo(struct blocks *b, const char *name, enum cpm_kind kind, uint32_t *out)
{
	struct blocks_process like = { .comm = name, .kind = kind, .outside = true };
	uint32_t process;
	int ret = blocks_process(b, &like, &process);

	return ret ? ret : blocks_function(b, process, name, "", false, out);
}

/* Where stretches of code are kept, two of each 128 bytes: the one that was met last comes first. */
static struct stretch *stretches_of(struct blocks *b, uint64_t ip, uint32_t process)
{
	uint64_t key = (ip >> 7 ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15ull;

	return b->index->stretches[key >> 49];
}

static bool is_inside(const struct stretch *s, uint64_t ip, uint32_t process)
{
	return ip - s->start < s->len && s->process == process;
}

/* Return: NULL if it is not known */
static const struct stretch *find_stretch(struct blocks *b, uint64_t ip, uint32_t process)
{
	const struct stretch *two;

	/* a function runs for some samples at a time */
	if (is_inside(&b->index->last, ip, process))
		return &b->index->last;
	two = stretches_of(b, ip, process);
	if (!is_inside(two, ip, process) && !is_inside(++two, ip, process))
		return NULL;
	b->index->last = *two;
	return two;
}

static void keep_stretch(struct blocks *b, uint64_t ip, const struct stretch *stretch)
{
	struct stretch *two = stretches_of(b, ip, stretch->process);

	two[1] = two[0];
	two[0] = *stretch;
}

/* The block of an address of a process. */
static int block_at(struct blocks *b, struct view *v, const struct timeline_sample *s, uint32_t process,
		    uint32_t *out, struct named_part **part)
{
	bool kernel = s->flags & KJOULE_SAMPLE_KERNEL;
	const struct grain_unit *unit;
	struct view_place place;
	int ret;

	*part = NULL;
	view_resolve(v, s, &place);
	if (!b->grain) {
		ret = blocks_function(b, process, place.symbol, place.object, kernel, out);
		if (!ret && place.same_len && place.same_len < UINT32_MAX)
			keep_stretch(b, s->ip, &(struct stretch){ place.same_start, place.same_len, process, *out });
		return ret;
	}
	ret = grain_find(b->grain, &place, kernel, &unit, part);
	return ret ? ret : blocks_find(b, &(struct blocks_function){ .process = process, .symbol = unit->name,
								       .object = unit->object, .kernel = kernel,
								       .unit = unit }, out);
}

/* The units of regions, one for each path. */
static int make_regions(struct blocks *b, const struct view *v)
{
	const struct kjoule_regions *r = v->regions;

	b->regions = calloc(r->n_paths, sizeof(*b->regions));
	if (!b->regions)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_paths; i++)
		b->regions[i] = (struct grain_unit){ .kind = GRAIN_REGION, .name = r->paths[i].text, .object = "",
						     .function = "", .depth = r->paths[i].depth };
	return 0;
}

static int block_of_region(struct blocks *b, const struct timeline_sample *s, uint32_t process, uint32_t region,
			   uint32_t *out)
{
	const struct grain_unit *unit = &b->regions[region];
	int ret = blocks_find(b, &(struct blocks_function){ .process = process, .symbol = unit->name,
							      .object = "", .unit = unit, .region = region }, out);

	if (ret)
		return ret;
	b->functions[*out].samples++;
	b->functions[*out].precise += !!(s->flags & KJOULE_SAMPLE_PRECISE);
	return 0;
}

const struct kjoule_regions_count *blocks_marks(const struct blocks *b, const struct kjoule_regions *r,
						uint32_t function)
{
	const struct blocks_function *f = &b->functions[function];

	if (!f->unit || f->unit->kind != GRAIN_REGION || f->region <= KJOULE_REGIONS_UNKNOWN)
		return NULL;
	return kjoule_regions_count(r, b->processes[f->process].pid, f->region);
}

/* The process that a sample is of. */
static int process_of(struct blocks *b, const struct view *v, const struct timeline_sample *s, uint64_t time_ns,
		      bool outside, uint32_t *process)
{
	struct known_process *k = &b->index->known[s->tgid % KNOWN];
	struct blocks_process like = { .pid = s->tgid, .kind = CPM_BUSY, .outside = outside };
	int ret;

	if (time_ns < b->index->known_from || time_ns >= b->index->known_until) {
		memset(b->index->known, 0, sizeof(b->index->known));
		kjoule_maps_quiet(v->maps, time_ns, &b->index->known_from, &b->index->known_until);
	}
	if (k->used && k->tgid == s->tgid && !outside) {
		*process = k->process;
		return 0;
	}
	like.comm = view_comm(v, s->tgid, s->tgid, time_ns);
	if (s->tgid && s->tgid == v->rec.meta.recorder_pid)
		like.kind = CPM_MARGINAL;
	ret = blocks_process(b, &like, process);
	if (!ret && !outside)
		*k = (struct known_process){ s->tgid, *process, true };
	return ret;
}

static int block_of(struct blocks *b, struct view *v, const struct timeline_sample *s,
		    uint32_t *out)
{
	bool kernel = s->flags & KJOULE_SAMPLE_KERNEL, outside = false;
	uint64_t time_ns = view_time(v, s->tick, s->late_ns);
	uint32_t region = KJOULE_REGIONS_OUTSIDE;
	struct named_part *part;
	const struct stretch *stretch;
	uint32_t process, slot;
	int ret;

	if (s->flags & KJOULE_SAMPLE_IDLE)
		return find_pseudo(b, "[idle]", CPM_IDLE, out);
	if (v->region || b->regions)
		region = kjoule_regions_find(v->regions, s->pid, time_ns);
	if (v->region)
		outside = !kjoule_regions_inside(v->regions, region, v->region);
	ret = process_of(b, v, s, time_ns, outside, &process);
	if (ret)
		return ret;
	if (b->regions)
		return block_of_region(b, s, process, region, out);
	if (v->by_process) {
		ret = blocks_function(b, process, b->processes[process].comm, "", false, out);
		if (!ret)
			b->functions[*out].samples++;
		return ret;
	}
	slot = (s->ip ^ s->ip >> 12 ^ process) % 4096;
	stretch = kernel ? NULL : find_stretch(b, s->ip, process);
	if (stretch) {
		*out = stretch->function;
		part = NULL;
	} else if (b->index->cache[slot].used && b->index->cache[slot].ip == s->ip &&
	    b->index->cache[slot].process == process && b->index->cache[slot].kernel == kernel &&
	    s->ip) {
		*out = b->index->cache[slot].function;
		part = b->index->cache[slot].part;
	} else {
		ret = block_at(b, v, s, process, out, &part);
		if (ret)
			return ret;
		b->index->cache[slot].part = part;
		b->index->cache[slot].used = true;
		b->index->cache[slot].ip = s->ip;
		b->index->cache[slot].process = process;
		b->index->cache[slot].kernel = kernel;
		b->index->cache[slot].function = *out;
	}
	if (part && !outside)
		part->samples++;
	b->functions[*out].samples++;
	b->functions[*out].precise += !!(s->flags & KJOULE_SAMPLE_PRECISE);
	return 0;
}

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
		ret = block_of(b, v, s, &block);
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

/* Harmonic mean: what takes so many cycles takes on average so long as at this frequency. */
static double mean_khz(const struct timeline_cpu *cpu)
{
	return cpu->clocked ? cpu->clocked / cpu->slowness : 0;
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

/*
 * The part of the time that interrupts other than ours take, where no sample can fall, and how
 * far off that may be: twice the standard error.
 */
static void other_interrupts(const struct view *v, double *part, double *error)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	double khz = 0, slower = 1;
	size_t n = 0;

	for (size_t i = 0; i < v->tl.n_cpus; i++) {
		double k = mean_khz(&v->tl.cpus[i]);

		khz += k;
		n += k > 0;
	}
	if (cal->freq_khz > 0 && n)
		slower = cal->freq_khz / (khz / n);
	*part = cal->other_part * slower;
	*error = isnan(cal->other_error) ? 0 : 2 * cal->other_error * slower;
	/* More than a fifth is no figure to correct with, nor is less than nothing. */
	if (!(*part >= 0 && *part < 0.2)) {
		*error += fabs(*part);
		*part = 0;
	}
	*error = fmin(fmax(*error, 0), 1);
}

/* The edge windows, with what interrupts take around the holds. */
static int make_windows(struct blocks *b, const struct view *v, bool raw)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	struct windows_cost cost = { 0 };
	double error;

	if (!raw && cal->ticks) {
		cost.entry_ns = fmax(cal->tick_ns - cal->handler_ns, 0);
		cost.tick_ns = fmax(cal->tick_ns, 0);
		other_interrupts(v, &cost.other, &error);
		/* as long as the report believes them */
		cost.entry_ns = fmin(cost.entry_ns, v->rec.meta.session.interval_ns);
		cost.tick_ns = fmin(cost.tick_ns, v->rec.meta.session.interval_ns);
	}
	return windows_new(&v->tl, &cost, &b->windows);
}

/* So is a CPU while a reading of a block is waited for. */
static int add_readings(struct blocks *b, const struct view *v)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;
	uint64_t begin = s->t0_ns, end = timeline_due(s, v->tl.end_tick) + WINDOWS_LONGEST_NS;

	for (size_t i = 0; i < v->tl.n_cpus; i++) {
		const struct timeline_cpu *cpu = &v->tl.cpus[i];
		struct windows_cpu *c = &b->windows.cpus[i];
		uint64_t until = 0;

		for (size_t k = 0; k < cpu->n_readings; k++) {
			const struct kjoule_vpm_reading *r = &cpu->readings[k];
			struct windows_hold *h;

			if (r->stop_ns < until || r->stop_ns == r->ready_ns || r->ready_ns - r->stop_ns > WINDOWS_LONGEST_NS ||
			    r->ready_ns < begin || r->ready_ns > end)
				continue;
			h = kjoule_grow(&c->holds, &c->n, sizeof(*h));
			if (!h)
				return -ENOMEM;
			*h = (struct windows_hold){ r->stop_ns, r->ready_ns };
			until = r->ready_ns;
			b->n_readings++;
		}
	}
	return 0;
}

static int make_lanes(struct blocks *b, struct view *v, bool raw)
{
	struct fill who = { .system = v->rec.meta.session.target == KJOULE_TARGET_SYSTEM };
	bool apart = view_has_callers(v);
	int ret;

	b->lanes = calloc(v->tl.n_cpus + 2, sizeof(*b->lanes));
	b->ticks = calloc(v->tl.n_cpus + 2, sizeof(*b->ticks));
	if (!b->lanes || !b->ticks)
		return -ENOMEM;
	b->input.n_lanes = v->tl.n_cpus;
	ret = find_pseudo(b, "[other]", CPM_IDLE, &b->other);
	if (!ret)
		ret = find_pseudo(b, "[idle]", CPM_IDLE, &who.idle);
	if (!ret)
		ret = find_pseudo(b, "[lost]", CPM_BUSY, &who.lost);
	if (!ret)
		ret = find_pseudo(b, "[missed]", CPM_IDLE, &who.missed);
	if (!ret)
		ret = find_pseudo(b, "[offline]", CPM_IDLE, &who.offline);
	if (!ret)
		ret = find_pseudo(b, "[suspended]", CPM_IDLE, &who.suspended);
	if (!ret)
		ret = find_pseudo(b, "[held]", CPM_BUSY, &b->held);
	if (!ret)
		ret = make_windows(b, v, raw);
	if (!ret && !b->windows.n)
		ret = add_readings(b, v);
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
			.tick_ns = raw ? 0 : tick_cost(v, cpu),
			.idle_tick_ns = raw ? 0 : own_tick_cost(v, cpu),
			.usual_khz = mean_khz(cpu),
		};
	}
	if (!ret && !who.system && v->rec.n_awake) {
		ret = find_pseudo(b, "[kjoule record]", CPM_MARGINAL, &b->recorder);
		if (!ret)
			ret = make_recorder_lane(b, v, apart, b->recorder);
	}
	b->input.silent_block = who.system ? who.idle : b->other;
	b->input.others_busy = !who.system &&
			       !(v->rec.meta.session.flags & KJOULE_FLAG_WAKE_IDLE);
	return ret ? ret : find_unknown(b, who.system, who.idle);
}

/* Twice the standard error of what a tick was calibrated to take, and to spend in these columns. */
static double calibration_error(const struct view *v, const struct meters *m)
{
	const struct kjoule_calibration *cal = &v->rec.cal;
	double time = cal->ticks ? cal->tick_error_ns / cal->tick_ns : 0, energy = 0;

	for (unsigned int i = 0; i < m->n; i++) {
		int d = m->calibrated[i];

		if (d >= 0 && cal->irq_uw[d] > 0 && isfinite(cal->irq_error_uw[d]))
			energy = fmax(energy, cal->irq_error_uw[d] / cal->irq_uw[d]);
	}
	return 2 * hypot(time, energy);
}

/* The column of a domain of the session's first source; -1 if the report has none. */
static int column_of(const struct view *v, const struct meters *m, uint32_t domain)
{
	const struct kjoule_source_info *src = &v->rec.meta.session.sources[0];

	for (uint32_t i = 0; i < src->n_domains && v->rec.meta.session.n_sources; i++)
		for (unsigned int c = 0; c < m->n; c++)
			if (src->domains[i].index == domain && !m->source[c] &&
			    !strcmp(src->domains[i].name, m->info[c].name))
				return c;
	return -1;
}

/* Give each package the edge windows of its CPUs. */
static void place_windows(struct blocks *b, const struct view *v)
{
	for (size_t i = 0; i < b->meters.n_packages; i++) {
		struct profile_package *p = &b->meters.packages[i];

		for (size_t l = 0; l < p->n_lanes && !p->windows; l++) {
			const struct windows_scope *s = p->lanes[l] < v->tl.n_cpus ?
				windows_of(&b->windows, &v->tl.cpus[p->lanes[l]]) : NULL;
			int column = s ? column_of(v, &b->meters, s->domain) : -1;

			if (column < 0)
				continue;
			p->windows = s->windows;
			p->n_windows = s->n;
			p->window_domain = column;
		}
	}
}

int blocks_seal(struct blocks *b)
{
	uint8_t *kinds = calloc(b->n_functions + 1, sizeof(*kinds));

	if (!kinds)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_functions; i++)
		kinds[i] = b->processes[b->functions[i].process].kind;
	free(b->kinds);
	b->kinds = kinds;
	b->input.kinds = kinds;
	b->input.n_blocks = b->n_functions;
	return 0;
}

int blocks_names_new(struct blocks *b)
{
	memset(b, 0, sizeof(*b));
	b->other = b->recorder = b->held = UINT32_MAX;
	b->index = calloc(1, sizeof(*b->index));
	return b->index ? 0 : -ENOMEM;
}

int blocks_new(struct view *v, struct grain *grain, bool raw, struct blocks *b)
{
	int ret = -ENOMEM;

	memset(b, 0, sizeof(*b));
	b->recorder = UINT32_MAX;
	b->grain = grain;
	b->index = calloc(1, sizeof(*b->index));
	if (b->index)
		ret = v->by_region ? make_regions(b, v) : 0;
	if (!ret)
		ret = make_lanes(b, v, raw);
	if (!ret)
		ret = meters_new(v, &b->meters);
	if (!ret)
		ret = blocks_seal(b);
	if (ret) {
		blocks_free(b);
		return ret;
	}
	place_windows(b, v);
	if (v->rec.left_in_file)	/* it is a large one */
		meters_release(v, &b->meters);
	b->n_domains = b->meters.n;
	for (unsigned int d = 0; d < b->n_domains; d++)
		b->domains[d] = &b->meters.info[d];
	b->input.interval_ns = v->rec.meta.session.interval_ns;
	b->input.jitter = (double)v->rec.meta.session.jitter_ns / v->rec.meta.session.interval_ns;
	b->input.end_tick = v->tl.end_tick;
	if (!raw)
		other_interrupts(v, &b->input.other, &b->input.other_error);
	b->input.calibration_error = calibration_error(v, &b->meters);
	for (unsigned int d = 0; d < b->n_domains; d++) {
		int index = b->meters.calibrated[d];
		bool known = !raw && index >= 0;

		b->input.irq_w[d] = known ? v->rec.cal.irq_uw[index] * 1e-6 : NAN;
		b->input.idle_uj[d] = known ? v->rec.cal.idle_uj[index] : NAN;
	}
	b->input.session = &v->rec.meta.session;
	b->input.held = b->held;
	b->input.lanes = b->lanes;
	b->input.n_packages = b->meters.n_packages;
	b->input.packages = b->meters.packages;
	b->input.n_domains = b->n_domains;
	b->input.steps = raw ? 1 : CPM_STEPS;
	return 0;
}

void blocks_free(struct blocks *b)
{
	for (size_t i = 0; i < b->input.n_lanes; i++)
		fill_free(&b->ticks[i]);
	free(b->ticks);
	free(b->lanes);
	meters_free(&b->meters);
	windows_free(&b->windows);
	free(b->kinds);
	free(b->functions);
	free(b->regions);
	free(b->processes);
	for (size_t i = 0; i < b->n_names; i++)
		free(b->names[i]);
	free(b->names);
	free(b->loose);
	free(b->unknown);
	if (b->index) {
		kjoule_index_free(&b->index->processes);
		free(b->index->slots);
	}
	free(b->index);
	memset(b, 0, sizeof(*b));
}
