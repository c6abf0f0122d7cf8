// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows one CPU's records after another; see timeline.h. Records carry the low
 * 32 bits of their tick and only grow, so the difference to the one before gives
 * the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kjoule.h"
#include "recording.h"
#include "grow.h"
#include "timeline.h"

struct walk {
	struct timeline *tl;
	struct timeline_cpu *cpu;
	struct timeline_package *package;
	uint64_t tick;		/* of the last record */
	uint64_t max_tick;
	uint32_t pid, tgid;
	struct timeline_hole *open;	/* a hole whose end has not been seen */
};

/* Move on to the tick with these low bits. Return: false if that can not be. */
static bool advance(struct walk *w, uint32_t low)
{
	uint64_t tick = w->tick + (uint32_t)(low - (uint32_t)w->tick);

	if (tick > w->max_tick) {
		w->tl->disorder++;
		return false;
	}
	w->tick = tick;
	if (w->open) {
		w->open->to = tick;
		w->open = NULL;
	}
	return true;
}

static int add_sample(struct walk *w, const struct kjoule_sample *rec)
{
	struct timeline_sample *s;

	if (!advance(w, rec->tick))
		return 0;
	s = kjoule_grow(&w->cpu->samples, &w->cpu->n_samples, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->tick = w->tick;
	s->ip = rec->ip;
	s->pid = w->pid;
	s->tgid = w->tgid;
	s->freq_khz = rec->freq_khz;
	s->late_ns = rec->late_ns;
	s->flags = rec->rec.flags;
	if (rec->late_ns > w->tl->max_late_ns)
		w->tl->max_late_ns = rec->late_ns;
	return 0;
}

static int add_energy(struct walk *w, const struct kjoule_energy *rec)
{
	const uint64_t *uj = (const uint64_t *)rec->energy_uj;
	uint32_t domains = rec->domains;

	if (!advance(w, rec->tick))
		return 0;
	if (rec->late_ns > w->tl->max_late_ns)
		w->tl->max_late_ns = rec->late_ns;
	for (; domains; domains &= domains - 1, uj++) {
		unsigned int d = __builtin_ctz(domains);
		struct timeline_reading *r;

		r = kjoule_grow(&w->package->readings[d], &w->package->n_readings[d], sizeof(*r));
		if (!r)
			return -ENOMEM;
		r->tick = w->tick;
		r->uj = *uj;
	}
	return 0;
}

static int add_gap(struct walk *w, const struct kjoule_gap *rec)
{
	struct timeline_gap *g;

	if (!rec->count || !advance(w, rec->tick))
		return 0;
	if (rec->count - 1 > w->max_tick - w->tick) {
		w->tl->disorder++;
		return 0;
	}
	g = kjoule_grow(&w->cpu->gaps, &w->cpu->n_gaps, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->first = w->tick;
	g->count = rec->count;
	w->tick += rec->count - 1;
	return 0;
}

static int add_lost(struct walk *w, const struct kjoule_lost *rec)
{
	bool in_file = rec->rec.flags & KJOULE_LOST_IN_FILE;
	struct timeline_hole *h;

	if (!in_file && !advance(w, rec->tick))
		return 0;
	h = kjoule_grow(&w->cpu->holes, &w->cpu->n_holes, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->from = w->tick;
	h->to = w->tick;
	h->samples = rec->samples;
	h->known = !in_file;
	w->open = h;
	if (in_file)
		w->pid = w->tgid = TIMELINE_NO_TASK;
	return 0;
}

static int add_record(struct walk *w, const struct kjoule_record *rec)
{
	switch (rec->type) {
	case KJOULE_RECORD_SAMPLE:
		return add_sample(w, (const struct kjoule_sample *)rec);
	case KJOULE_RECORD_TASK:
		w->pid = ((const struct kjoule_task *)rec)->pid;
		w->tgid = ((const struct kjoule_task *)rec)->tgid;
		return 0;
	case KJOULE_RECORD_ENERGY:
		return add_energy(w, (const struct kjoule_energy *)rec);
	case KJOULE_RECORD_GAP:
		return add_gap(w, (const struct kjoule_gap *)rec);
	case KJOULE_RECORD_LOST:
		return add_lost(w, (const struct kjoule_lost *)rec);
	}
	return 0;
}

static struct timeline_package *package(struct timeline *tl, uint32_t id)
{
	struct timeline_package *p;

	for (size_t i = 0; i < tl->n_packages; i++)
		if (tl->packages[i].package == id)
			return &tl->packages[i];
	p = kjoule_grow(&tl->packages, &tl->n_packages, sizeof(*p));
	if (p)
		p->package = id;
	return p;
}

int timeline_add(struct timeline *tl, uint32_t cpu, uint32_t package_id, const void *records,
		 size_t len, uint64_t max_tick)
{
	struct walk w = { .tl = tl, .max_tick = max_tick,
			  .pid = TIMELINE_NO_TASK, .tgid = TIMELINE_NO_TASK };
	const struct kjoule_record *rec;
	size_t off = 0;
	int ret = 0;

	w.package = package(tl, package_id);
	w.cpu = kjoule_grow(&tl->cpus, &tl->n_cpus, sizeof(*w.cpu));
	if (!w.package || !w.cpu)
		return -ENOMEM;
	w.cpu->cpu = cpu;
	w.cpu->package = package_id;
	while (!ret && (ret = kjoule_record_next(records, len, &off, &rec)) > 0)
		ret = add_record(&w, rec);
	if (ret == -EBADMSG) {
		tl->damaged += len - off;
		ret = 0;
	}
	w.cpu->next_tick = off ? w.tick + 1 : 0;
	if (w.cpu->next_tick > tl->end_tick)
		tl->end_tick = w.cpu->next_tick;
	return ret;
}

static int by_tick(const void *a, const void *b)
{
	const struct timeline_reading *x = a, *y = b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	return (x->uj > y->uj) - (x->uj < y->uj);
}

/* Readings of a package may come from several CPUs, one after another. */
static void order_readings(struct timeline *tl, struct timeline_package *p, unsigned int d)
{
	struct timeline_reading *r = p->readings[d];
	size_t n = 0;

	if (!p->n_readings[d])
		return;
	qsort(r, p->n_readings[d], sizeof(*r), by_tick);
	for (size_t i = 0; i < p->n_readings[d]; i++) {
		if (n && r[i].uj < r[n - 1].uj) {
			tl->backwards++;
			continue;
		}
		r[n++] = r[i];
	}
	p->n_readings[d] = n;
}

static void find_skew(struct timeline *tl)
{
	size_t *at = calloc(tl->n_cpus + 1, sizeof(*at));

	if (!at)
		return;
	for (;;) {
		uint64_t tick = UINT64_MAX;
		uint32_t lo = UINT32_MAX, hi = 0;
		unsigned int seen = 0;

		for (size_t c = 0; c < tl->n_cpus; c++)
			if (at[c] < tl->cpus[c].n_samples &&
			    tl->cpus[c].samples[at[c]].tick < tick)
				tick = tl->cpus[c].samples[at[c]].tick;
		if (tick == UINT64_MAX)
			break;
		for (size_t c = 0; c < tl->n_cpus; c++) {
			const struct timeline_sample *s;

			if (at[c] == tl->cpus[c].n_samples)
				continue;
			s = &tl->cpus[c].samples[at[c]];
			if (s->tick != tick)
				continue;
			if (s->late_ns < lo)
				lo = s->late_ns;
			if (s->late_ns > hi)
				hi = s->late_ns;
			seen++;
			at[c]++;
		}
		if (seen > 1 && hi - lo > tl->max_skew_ns)
			tl->max_skew_ns = hi - lo;
	}
	free(at);
}

void timeline_finish(struct timeline *tl)
{
	for (size_t i = 0; i < tl->n_packages; i++)
		for (unsigned int d = 0; d < TIMELINE_DOMAINS; d++)
			order_readings(tl, &tl->packages[i], d);
	if (tl->n_cpus > 1)
		find_skew(tl);
}

void timeline_free(struct timeline *tl)
{
	for (size_t i = 0; i < tl->n_cpus; i++) {
		free(tl->cpus[i].samples);
		free(tl->cpus[i].gaps);
		free(tl->cpus[i].holes);
	}
	for (size_t i = 0; i < tl->n_packages; i++)
		for (unsigned int d = 0; d < TIMELINE_DOMAINS; d++)
			free(tl->packages[i].readings[d]);
	free(tl->cpus);
	free(tl->packages);
	memset(tl, 0, sizeof(*tl));
}
