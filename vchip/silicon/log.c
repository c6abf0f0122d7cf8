// SPDX-License-Identifier: GPL-2.0-only
/*
 * Short memories of events on the chip: frequency grants, requests that come to nothing, system
 * management interrupts, and what cores may run at. Owns the rings; grants.c, smi.c and turbo.c
 * add, the oracle writes out.
 */
#include "log.h"

#include <inttypes.h>

#define ENTRIES		262144

struct grant {
	unsigned int cpu;
	uint32_t from_khz;
	uint32_t to_khz;
	uint64_t requested_ns;
	uint64_t granted_ns;
	uint32_t asked_khz;
	unsigned int steps_left;
};

struct refusal {
	unsigned int cpu;
	uint32_t khz;
	uint32_t asked_khz;
	uint64_t requested_ns;
	const char *why;
};

struct smi {
	unsigned int cpu;
	uint64_t end_ns;
	uint64_t ns;
	uint64_t task;
	uint64_t ip;
};

struct decision {
	unsigned int package;
	uint64_t ns;
	uint32_t khz;
	unsigned int active;
	uint32_t why;
	uint64_t mean_uw;
	int32_t temp_mc;
	uint64_t pkg_pj;
};

/* What was added and what was written out, by number; the entries are in an array of their own. */
struct ring {
	const char *what;
	uint64_t entries;
	uint64_t head;
	uint64_t tail;
};

/* All is written out: pages that were used once are used again. */
static void restart(struct ring *ring)
{
	ring->head = ring->tail = 0;
}

static struct grant grants[ENTRIES];
static struct refusal refusals[ENTRIES];
static struct smi smis[ENTRIES];
static struct decision turbos[ENTRIES];
static struct ring grant_ring = { "grants", ENTRIES, 0, 0 };
static struct ring refusal_ring = { "refusals", ENTRIES, 0, 0 };
static struct ring smi_ring = { "smi", ENTRIES, 0, 0 };
static struct ring turbo_ring = { "turbo", ENTRIES, 0, 0 };

void log_grant(const struct core *c, uint32_t from_khz, unsigned int steps_left,
	       uint64_t granted_ns)
{
	grants[grant_ring.head++ % ENTRIES] = (struct grant){
		.cpu = c->index,
		.from_khz = from_khz,
		.to_khz = chip->freq_khz[c->pstate],
		.requested_ns = c->requested_ns,
		.granted_ns = granted_ns,
		.asked_khz = chip->freq_khz[c->asked],
		.steps_left = steps_left,
	};
}

void log_refusal(const struct core *c, const char *why)
{
	refusals[refusal_ring.head++ % ENTRIES] = (struct refusal){
		c->index, chip->freq_khz[c->pstate], chip->freq_khz[c->asked], c->requested_ns, why,
	};
}

void log_smi(const struct core *c, uint64_t end_ns, uint64_t ns)
{
	smis[smi_ring.head++ % ENTRIES] = (struct smi){
		c->index, end_ns, ns, c->prev_task, c->prev ? c->prev->vaddr : 0,
	};
}

void log_turbo(const struct turbo *t, uint64_t now, int32_t temp_mc)
{
	turbos[turbo_ring.head++ % ENTRIES] = (struct decision){
		.package = t->package,
		.ns = now,
		.khz = chip->freq_khz[t->pstate],
		.active = t->at_work,
		.why = t->why,
		.mean_uw = (uint64_t)t->mean_uw,
		.temp_mc = temp_mc,
		.pkg_pj = page_read(page.pkg[t->package]->energy_pkg_pj),
	};
}

static void write_lost(FILE *file, struct ring *ring)
{
	if (ring->head - ring->tail <= ring->entries)
		return;
	fprintf(file, "lost,%s,%" PRIu64 "\n", ring->what, ring->head - ring->tail - ring->entries);
	ring->tail = ring->head - ring->entries;
}

void log_write(FILE *file)
{
	write_lost(file, &grant_ring);
	for (; grant_ring.tail != grant_ring.head; grant_ring.tail++) {
		const struct grant *g = &grants[grant_ring.tail % ENTRIES];

		fprintf(file, "grant,%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%u,%u\n", g->cpu, g->from_khz,
			g->to_khz, g->requested_ns, g->granted_ns, g->asked_khz, g->steps_left);
	}
	write_lost(file, &refusal_ring);
	for (; refusal_ring.tail != refusal_ring.head; refusal_ring.tail++) {
		const struct refusal *r = &refusals[refusal_ring.tail % ENTRIES];

		fprintf(file, "refusal,%u,%u,%u,%" PRIu64 ",%s\n", r->cpu, r->khz, r->asked_khz,
			r->requested_ns, r->why);
	}
	write_lost(file, &smi_ring);
	for (; smi_ring.tail != smi_ring.head; smi_ring.tail++) {
		const struct smi *s = &smis[smi_ring.tail % ENTRIES];

		fprintf(file, "smi,%u,%" PRIu64 ",%" PRIu64 ",%u,%u,0x%" PRIx64 "\n", s->cpu,
			s->end_ns, s->ns, (uint32_t)s->task, (uint32_t)(s->task >> 32), s->ip);
	}
	write_lost(file, &turbo_ring);
	for (; turbo_ring.tail != turbo_ring.head; turbo_ring.tail++) {
		const struct decision *t = &turbos[turbo_ring.tail % ENTRIES];

		fprintf(file, "turbo,%" PRIu64 ",%u,%u,%u,%" PRIu64 ",%d,%" PRIu64 ",%u\n", t->ns,
			t->khz, t->active, t->why, t->mean_uw, t->temp_mc, t->pkg_pj, t->package);
	}
	restart(&grant_ring);
	restart(&refusal_ring);
	restart(&smi_ring);
	restart(&turbo_ring);
}
