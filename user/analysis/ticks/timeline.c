// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes each CPU's records; see timeline.h. Records have the low 32 bits of their tick and only
 * grow, so the difference to the one before gives the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/ticks/timeline.h"
#include "lib/base/array.h"
#include "lib/base/cpus.h"
#include "lib/base/hash_index.h"
#include "lib/control/control.h"
#include "lib/control/ring.h"
#include "lib/file/recording.h"

struct timeline_walk {
	struct timeline *tl;
	size_t index;		/* of the CPU */
	struct timeline_cpu *cpu;	/* good until another one is begun */
	bool keep;		/* samples and their records */
	bool again;		/* only samples */
	struct timeline_sample now;	/* the last sample */
	double slowness;	/* 1 / its frequency */
	size_t hint[KJOULE_MAX_DOMAINS];	/* a series of this domain + 1 */
	uint64_t tick;		/* of the last record */
	uint64_t next;		/* after the last tick that was sampled, missed or skipped */
	uint64_t max_tick;
	uint32_t pid, tgid;
	size_t open;		/* a hole without an end so far, + 1 */
	bool sampled;		/* following records belong to the last sample */
	bool any;		/* there was a record */
};

/* Advance to the tick with these low bits. Return: false if impossible. */
static bool timeline_advance(struct timeline_walk *w, uint32_t low)
{
	uint64_t tick = w->tick + (uint32_t)(low - (uint32_t)w->tick);

	if (tick > w->max_tick) {
		w->tl->disorder++;
		return false;
	}
	w->tick = tick;
	if (w->open) {
		w->cpu->holes[w->open - 1].to = tick;
		w->open = 0;
	}
	return true;
}

/* A sample into @w->now. Return: false if its tick is impossible */
static inline bool sample_decode(struct timeline_walk *w, const struct kjoule_sample *rec)
{
	struct timeline_sample *s = &w->now;

	if (!timeline_advance(w, rec->tick))
		return false;
	w->next = w->tick + 1;
	if (rec->freq_khz && !w->again) {
		/* mostly that of the one before */
		if (rec->freq_khz != s->freq_khz)
			w->slowness = 1.0 / rec->freq_khz;
		w->cpu->slowness += w->slowness;
		w->cpu->clocked++;
	}
	*s = (struct timeline_sample){ .tick = w->tick, .ip = rec->ip, .pid = w->pid,
				       .tgid = w->tgid, .freq_khz = rec->freq_khz,
				       .late_ns = rec->delay_ns, .flags = rec->rec.flags };
	w->sampled = true;
	if (rec->delay_ns > w->tl->max_late_ns)
		w->tl->max_late_ns = rec->delay_ns;
	return true;
}

static int timeline_add_sample(struct timeline_walk *w, const struct kjoule_sample *rec)
{
	struct timeline_sample *s;

	if (!sample_decode(w, rec))
		return 0;
	if (w->keep) {
		s = kjoule_array_grow(&w->cpu->samples, &w->cpu->n_samples, sizeof(*s));
		if (!s)
			return -ENOMEM;
		*s = w->now;
	}
	return 1;
}

uint64_t timeline_due(const struct kjoule_session_info *s, uint64_t tick)
{
	return s->t0_ns + tick * s->interval_ns + kjoule_jitter(s->seed, s->first_tick + tick,
								s->jitter_ns);
}

uint64_t timeline_first(const struct kjoule_session_info *s, uint64_t time_ns)
{
	uint64_t tick = time_ns > s->t0_ns ? (time_ns - s->t0_ns) / s->interval_ns : 0;

	/* the next tick would overflow */
	if (time_ns > UINT64_MAX - 2 * s->interval_ns)
		return UINT64_MAX;
	/* jitter delays a tick by less than an interval */
	tick = tick ? tick - 1 : 0;
	while (timeline_due(s, tick) < time_ns)
		tick++;
	return tick;
}

/* The first tick that is due at a time or after it. */
static uint64_t tick_due_after(const struct kjoule_session_info *s, uint64_t time_ns)
{
	uint64_t tick;

	if (!s || time_ns <= s->t0_ns)
		return 0;
	tick = (time_ns - s->t0_ns + s->interval_ns - 1) / s->interval_ns;
	/* the one before may be later by jitter */
	return tick && timeline_due(s, tick - 1) >= time_ns ? tick - 1 : tick;
}

/* Return: enum kjoule_quantity, or -1 if the session has no such source */
static int source_quantity(const struct kjoule_session_info *s, uint32_t source, uint32_t domain)
{
	if (!s)
		return KJOULE_QUANTITY_ENERGY;
	if (source >= s->n_sources)
		return -1;
	for (uint32_t i = 0; i < s->sources[source].n_domains; i++)
		if (s->sources[source].domains[i].index == domain)
			return s->sources[source].domains[i].quantity;
	return -1;
}

/* A file may have one for each possible source, domain and CPU: an index keeps this linear. */
static struct timeline_series *series_find(struct timeline_walk *w, uint32_t source,
					   uint32_t domain, uint32_t scope)
{
	struct timeline *tl = w->tl;
	struct timeline_series *s;
	size_t at = w->hint[domain], probe = 0;
	uint64_t hash;
	uint32_t i;

	/* try the last one first */
	s = at ? &tl->series[at - 1] : NULL;
	if (s && s->source == source && s->domain == domain && s->scope == scope)
		return s;
	hash = kjoule_hash_text((uint64_t)source << 48 ^ (uint64_t)domain << 32 ^ scope, "");
	while ((i = kjoule_hash_index_next(&tl->series_index, hash, &probe)) !=
	       KJOULE_HASH_INDEX_NONE) {
		s = &tl->series[i];
		if (s->source == source && s->domain == domain && s->scope == scope) {
			w->hint[domain] = i + 1;
			return s;
		}
	}
	if (kjoule_hash_index_add(&tl->series_index, hash, tl->n_series))
		return NULL;
	s = kjoule_array_grow(&tl->series, &tl->n_series, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct timeline_series){ .source = source, .domain = domain, .scope = scope,
				       .quantity = source_quantity(tl->session, source, domain) };
	w->hint[domain] = tl->n_series;
	return s;
}

static int series_add_reading(struct timeline_walk *w, uint32_t source, uint32_t domain,
			      uint32_t scope, const struct timeline_reading *reading)
{
	const struct kjoule_session_info *session = w->tl->session;
	struct timeline_reading *r;
	struct timeline_series *s;

	if (domain >= KJOULE_MAX_DOMAINS || source_quantity(session, source, domain) < 0 ||
	    (session && scope != TIMELINE_NO_SCOPE && !kjoule_cpus_has(&session->cpus, scope))) {
		w->tl->disorder++;
		return 0;
	}
	s = series_find(w, source, domain, scope);
	r = s ? kjoule_array_grow(&s->readings, &s->n, sizeof(*r)) : NULL;
	if (!r)
		return -ENOMEM;
	*r = *reading;
	return 0;
}

/*
 * A reading at a tick comes before the tick's sample. One that comes after it, or after the tick
 * was missed or skipped, was made between ticks, at an edge of idle time; so was one that is later
 * than a tick usually is, if the tick had no sample.
 */
static int timeline_add_energy(struct timeline_walk *w, const struct kjoule_energy *rec)
{
	const struct kjoule_session_info *s = w->tl->session;
	const uint64_t *uj = (const uint64_t *)rec->energy_uj;
	struct timeline_reading r = { 0 };
	bool between;
	int ret = 0;

	if (!timeline_advance(w, rec->tick) || w->again)
		return 0;
	between = w->next > w->tick || (s && rec->delay_ns > s->interval_ns / 2);
	if (!between && rec->delay_ns > w->tl->max_late_ns)
		w->tl->max_late_ns = rec->delay_ns;
	r.tick = w->tick + between;
	r.time_ns = s ? timeline_due(s, w->tick) + rec->delay_ns : 0;
	for (uint32_t domains = rec->domains; domains && !ret; domains &= domains - 1) {
		r.value = *uj++;
		ret = series_add_reading(w, rec->rec.flags, __builtin_ctz(domains), rec->scope, &r);
	}
	return ret;
}

/* Values come from a thread, with times of their own and not in the order of ticks. */
static int timeline_add_value(struct timeline_walk *w, const struct kjoule_value *rec)
{
	struct timeline_reading r = {
		.tick = tick_due_after(w->tl->session, rec->time_ns),
		.time_ns = rec->time_ns,
		.value = rec->value,
	};

	if (w->again)
		return 0;
	if (r.tick > w->max_tick && w->max_tick != UINT64_MAX && r.tick - w->max_tick > 2) {
		w->tl->disorder++;
		return 0;
	}
	return series_add_reading(w, rec->rec.flags, rec->domain, TIMELINE_NO_SCOPE, &r);
}

/* Ticks in a row from @low on. Return: false if impossible */
static bool timeline_advance_over(struct timeline_walk *w, uint32_t low, uint64_t count)
{
	if (!count || !timeline_advance(w, low))
		return false;
	if (count - 1 > w->max_tick - w->tick) {
		w->tl->disorder++;
		return false;
	}
	return true;
}

static int timeline_add_skipped(struct timeline_walk *w, const struct kjoule_idle *rec)
{
	struct timeline_skipped *p;

	if (!timeline_advance_over(w, rec->tick, rec->count))
		return 0;
	p = w->again ? NULL : kjoule_array_grow(&w->cpu->skipped, &w->cpu->n_skipped, sizeof(*p));
	if (!p && !w->again)
		return -ENOMEM;
	if (p)
		*p = (struct timeline_skipped){ w->tick, rec->count, rec->begin_ns, rec->end_ns };
	w->tick += rec->count - 1;
	w->next = w->tick + 1;
	return 0;
}

static int timeline_add_gap(struct timeline_walk *w, const struct kjoule_gap *rec)
{
	struct timeline_gap *g;

	if (!timeline_advance_over(w, rec->tick, rec->count))
		return 0;
	g = w->again ? NULL : kjoule_array_grow(&w->cpu->gaps, &w->cpu->n_gaps, sizeof(*g));
	if (!g && !w->again)
		return -ENOMEM;
	if (g)
		*g = (struct timeline_gap){ .first = w->tick, .count = rec->count,
					    .offline = rec->rec.flags & KJOULE_GAP_OFFLINE,
					    .suspended = rec->rec.flags & KJOULE_GAP_SUSPENDED };
	w->tick += rec->count - 1;
	w->next = w->tick + 1;
	return 0;
}

static int timeline_add_lost(struct timeline_walk *w, const struct kjoule_lost *rec)
{
	bool in_file = rec->rec.flags & KJOULE_LOST_IN_FILE;
	struct timeline_hole *h;

	if (!in_file && !timeline_advance(w, rec->tick))
		return 0;
	if (in_file)
		w->pid = w->tgid = TIMELINE_NO_TASK;
	if (w->again)
		return 0;
	h = kjoule_array_grow(&w->cpu->holes, &w->cpu->n_holes, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->from = w->tick;
	h->to = w->tick;
	h->samples = rec->samples;
	h->known = !in_file;
	w->open = w->cpu->n_holes;
	return 0;
}

/* A chain, a stack or a tick's length: of the sample before it. */
static int timeline_add_callers(struct timeline_walk *w, const struct kjoule_record *rec)
{
	struct timeline_sample *s;
	struct timeline_callers *c;

	if (!w->sampled || !w->keep)
		return 0;
	s = &w->cpu->samples[w->cpu->n_samples - 1];
	if (!s->callers) {
		if (!kjoule_array_grow(&w->cpu->callers, &w->cpu->n_callers, sizeof(*c)))
			return -ENOMEM;
		s->callers = w->cpu->n_callers;
	}
	c = &w->cpu->callers[s->callers - 1];
	if (rec->type == KJOULE_RECORD_CHAIN)
		c->chain = (const struct kjoule_chain *)rec;
	else if (rec->type == KJOULE_RECORD_STACK)
		c->stack = (const struct kjoule_stack *)rec;
	else
		c->took_ns = ((const struct kjoule_duration *)rec)->duration_ns;
	return 0;
}

/* Skips impossible windows. Its tick is the next sample's: it has none of its own. */
static int timeline_add_window(struct timeline_walk *w, const struct kjoule_window *rec)
{
	struct timeline_window *t;

	if (w->again)
		return 0;
	if (rec->poll_ns > rec->begin_ns || rec->begin_ns > rec->run_ns ||
	    rec->run_ns > rec->pause_ns || rec->pause_ns > rec->end_ns ||
	    rec->begin_uj > rec->end_uj || rec->domain >= KJOULE_MAX_DOMAINS) {
		w->tl->disorder += !(rec->rec.flags & KJOULE_WINDOW_FAILED);
		return 0;
	}
	t = kjoule_array_grow(&w->cpu->windows, &w->cpu->n_windows, sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct timeline_window){
		.number = rec->number, .scope = rec->scope, .domain = rec->domain,
		.seek_ns = rec->poll_ns, .a_ns = rec->begin_ns, .from_ns = rec->run_ns,
		.b_ns = rec->pause_ns, .c_ns = rec->end_ns,
		.a_uj = rec->begin_uj, .c_uj = rec->end_uj, .ip = rec->ip,
		.pid = w->pid, .tgid = w->tgid, .flags = rec->rec.flags,
	};
	return 0;
}

static int timeline_add_block_reading(struct timeline_walk *w, const struct kjoule_vpm_reading *rec)
{
	struct kjoule_vpm_reading *r;

	if (w->again)
		return 0;
	if (rec->armed_ns > rec->hit_ns || rec->hit_ns > rec->stop_ns ||
	    rec->stop_ns > rec->ready_ns || rec->others_ns > rec->stop_ns - rec->hit_ns) {
		w->tl->disorder++;
		return 0;
	}
	r = kjoule_array_grow(&w->cpu->readings, &w->cpu->n_readings, sizeof(*r));
	if (!r)
		return -ENOMEM;
	memset(r, 0, sizeof(*r));
	memcpy(r, rec, rec->rec.size < sizeof(*r) ? rec->rec.size : sizeof(*r));
	return 0;
}

static int timeline_add_record(struct timeline_walk *w, const struct kjoule_record *rec)
{
	if (rec->type == KJOULE_RECORD_CHAIN || rec->type == KJOULE_RECORD_STACK ||
	    rec->type == KJOULE_RECORD_DURATION)
		return timeline_add_callers(w, rec);
	/* a chain may be what was lost, and the stack comes after that */
	if (rec->type != KJOULE_RECORD_LOST || (rec->flags & KJOULE_LOST_IN_FILE))
		w->sampled = false;
	switch (rec->type) {
	case KJOULE_RECORD_SAMPLE:
		return timeline_add_sample(w, (const struct kjoule_sample *)rec);
	case KJOULE_RECORD_TASK:
		w->pid = ((const struct kjoule_task *)rec)->pid;
		w->tgid = ((const struct kjoule_task *)rec)->tgid;
		return 0;
	case KJOULE_RECORD_ENERGY:
		return timeline_add_energy(w, (const struct kjoule_energy *)rec);
	case KJOULE_RECORD_GAP:
		return timeline_add_gap(w, (const struct kjoule_gap *)rec);
	case KJOULE_RECORD_LOST:
		return timeline_add_lost(w, (const struct kjoule_lost *)rec);
	case KJOULE_RECORD_IDLE:
		return timeline_add_skipped(w, (const struct kjoule_idle *)rec);
	case KJOULE_RECORD_VALUE:
		return timeline_add_value(w, (const struct kjoule_value *)rec);
	case KJOULE_RECORD_WINDOW:
		return timeline_add_window(w, (const struct kjoule_window *)rec);
	case KJOULE_RECORD_READING:
		return timeline_add_block_reading(w, (const struct kjoule_vpm_reading *)rec);
	}
	return 0;
}

int timeline_walk_new(struct timeline *tl, uint32_t cpu, uint32_t package, uint64_t max_tick,
		      bool keep, struct timeline_walk **out)
{
	struct timeline_walk *w = calloc(1, sizeof(*w));
	struct timeline_cpu *c = w ? kjoule_array_grow(&tl->cpus, &tl->n_cpus, sizeof(*c)) : NULL;

	*out = NULL;
	if (!c) {
		free(w);
		return -ENOMEM;
	}
	*out = w;
	c->cpu = cpu;
	c->package = package;
	*w = (struct timeline_walk){ .tl = tl, .index = tl->n_cpus - 1, .max_tick = max_tick,
				     .keep = keep, .pid = TIMELINE_NO_TASK,
				     .tgid = TIMELINE_NO_TASK };
	return 0;
}

int timeline_walk_again(struct timeline *tl, uint64_t max_tick, struct timeline_walk **out)
{
	int ret = timeline_walk_new(tl, 0, 0, max_tick, false, out);

	if (!ret)
		(*out)->again = true;
	return ret;
}

int timeline_walk_record(struct timeline_walk *w, const struct kjoule_record *rec)
{
	w->cpu = &w->tl->cpus[w->index];
	w->any = true;
	return timeline_add_record(w, rec);
}

const struct timeline_sample *timeline_walk_sample(const struct timeline_walk *w)
{
	return &w->now;
}

size_t timeline_walk_samples(struct timeline_walk *w, const struct kjoule_sample *recs, size_t n,
			     struct timeline_sample *out)
{
	size_t taken = 0;

	w->cpu = &w->tl->cpus[w->index];
	w->any |= n > 0;
	for (size_t i = 0; i < n; i++)
		if (sample_decode(w, &recs[i]))
			out[taken++] = w->now;
	return taken;
}

void timeline_walk_end(struct timeline_walk *w)
{
	struct timeline_cpu *cpu;

	if (!w)
		return;
	cpu = &w->tl->cpus[w->index];
	cpu->next_tick = w->any ? w->tick + 1 : 0;
	if (cpu->next_tick > w->tl->end_tick)
		w->tl->end_tick = cpu->next_tick;
	free(w);
}

int timeline_add(struct timeline *tl, uint32_t cpu, uint32_t package_id, const void *records,
		 size_t len, uint64_t max_tick)
{
	const struct kjoule_record *rec;
	struct timeline_walk *w;
	size_t off = 0;
	int ret = timeline_walk_new(tl, cpu, package_id, max_tick, true, &w);

	if (ret)
		return ret;
	while (ret >= 0 && (ret = kjoule_record_next(records, len, &off, &rec)) > 0)
		ret = timeline_walk_record(w, rec);
	if (ret == -EBADMSG) {
		tl->damaged += len - off;
		ret = 0;
	}
	timeline_walk_end(w);
	return ret;
}

static int reading_by_tick(const void *a, const void *b)
{
	const struct timeline_reading *x = a, *y = b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static int reading_by_time(const void *a, const void *b)
{
	const struct timeline_reading *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static bool readings_are_sorted(const struct timeline_reading *r, size_t n,
				int (*compare)(const void *a, const void *b))
{
	for (size_t i = 1; i < n; i++)
		if (compare(&r[i - 1], &r[i]) > 0)
			return false;
	return true;
}

/* Readings of a scope may come from several CPUs, one after another. */
static void readings_sort(struct timeline *tl, struct timeline_series *s)
{
	struct timeline_reading *r = s->readings;
	size_t n = 0;

	if (s->quantity != KJOULE_QUANTITY_ENERGY && s->quantity != KJOULE_QUANTITY_COUNT) {
		if (!readings_are_sorted(r, s->n, reading_by_time))
			qsort(r, s->n, sizeof(*r), reading_by_time);
		return;
	}
	if (!readings_are_sorted(r, s->n, reading_by_tick))
		qsort(r, s->n, sizeof(*r), reading_by_tick);
	for (size_t i = 0; i < s->n; i++) {
		if (n && r[i].value < r[n - 1].value) {
			tl->backwards++;
			continue;
		}
		r[n++] = r[i];
	}
	s->n = n;
}

void timeline_finish(struct timeline *tl)
{
	for (size_t i = 0; i < tl->n_series; i++)
		readings_sort(tl, &tl->series[i]);
	/* a walk may have found it */
	if (tl->n_cpus > 1 && !tl->skew_ticks)
		timeline_skew_find(tl);
}

uint64_t timeline_away(const struct timeline_cpu *cpu, bool suspended)
{
	uint64_t n = 0;

	for (size_t i = 0; i < cpu->n_gaps; i++)
		n += (suspended ? cpu->gaps[i].suspended :
		      cpu->gaps[i].offline && !cpu->gaps[i].suspended) ? cpu->gaps[i].count : 0;
	return n;
}

void timeline_free(struct timeline *tl)
{
	for (size_t i = 0; i < tl->n_cpus; i++) {
		free(tl->cpus[i].samples);
		free(tl->cpus[i].gaps);
		free(tl->cpus[i].skipped);
		free(tl->cpus[i].holes);
		free(tl->cpus[i].callers);
		free(tl->cpus[i].windows);
		free(tl->cpus[i].readings);
	}
	for (size_t i = 0; i < tl->n_series; i++)
		free(tl->series[i].readings);
	free(tl->cpus);
	free(tl->series);
	kjoule_hash_index_free(&tl->series_index);
	memset(tl, 0, sizeof(*tl));
}
