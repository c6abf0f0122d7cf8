// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions on this machine: how late ticks are and how far apart on the CPUs, and how often
 * each energy counter moves. Part of silicon_summary, see summary.h. The reader here takes
 * records by their size and leaves out what it does not know, so that it goes on with
 * modules that tell more.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kjoule.h>

#include "../kmod/guest.h"
#include "../kmod/ring.h"
#include "session.h"
#include "summary.h"

#define TICKS_NS	1000000
#define MISSED_ENOUGH	5	/* percent of ticks */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the values. */
struct spread spread_of(uint64_t *v, uint64_t n)
{
	if (!n)
		return (struct spread){ 0 };
	qsort(v, n, sizeof(*v), by_value);
	return (struct spread){ n, v[n / 20], v[n / 2], v[n - 1 - n / 20], v[n - 1 - n / 100],
				v[n - 1] };
}

/* What a session of all CPUs has seen: how late each tick was, on each CPU. */
struct grid {
	uint32_t *late;		/* [tick][ring], 2^32 - 1: none */
	uint64_t ticks;
	unsigned int rings;
};

static void see_tick(const struct session *se, unsigned int ring, uint64_t tick,
		     const struct kjoule_record *rec, void *data)
{
	struct grid *g = data;

	(void)se;
	if (rec->type == KJOULE_RECORD_SAMPLE && tick < g->ticks && ring < g->rings)
		g->late[tick * g->rings + ring] = ((const struct kjoule_sample *)rec)->delay_ns;
}

static void judge(const struct grid *g, struct ticks *t)
{
	uint64_t *late = malloc(g->ticks * g->rings * sizeof(*late));
	uint64_t *skew = malloc(g->ticks * sizeof(*skew));
	uint64_t n = 0, n_skew = 0, tick;
	bool *seen = calloc(g->rings, sizeof(*seen));
	unsigned int ring;

	for (tick = 0; late && skew && seen && tick < g->ticks; tick++) {
		uint32_t low = UINT32_MAX, high = 0, there = 0;

		for (ring = 0; ring < g->rings; ring++) {
			uint32_t l = g->late[tick * g->rings + ring];

			if (l == UINT32_MAX)
				continue;
			seen[ring] = true;
			there++;
			late[n++] = l;
			low = l < low ? l : low;
			high = l > high ? l : high;
		}
		if (there > 1)
			skew[n_skew++] = high - low;
	}
	for (ring = 0; seen && ring < g->rings; ring++)
		t->cpus_seen += seen[ring];
	t->late_ns = spread_of(late, n);
	t->skew_ns = spread_of(skew, n_skew);
	free(late);
	free(skew);
	free(seen);
}

static void measure(struct nl *nl, struct ticks *t, uint64_t interval_ns, unsigned int seconds)
{
	static struct nl_stats stats[NL_MAX_CPUS];
	struct grid g = { .ticks = seconds * 1000000000ULL / interval_ns };
	struct session se;
	uint64_t tick_ns = 0;
	int err, n, i;

	err = session_open(&se, nl, interval_ns, NULL, 0);
	if (err) {
		snprintf(t->why, sizeof(t->why), "session-new: %s",
			 nl->why[0] ? nl->why : strerror(-err));
		return;
	}
	g.rings = se.d.n;
	g.late = malloc(g.ticks * g.rings * sizeof(*g.late));
	if (g.late) {
		memset(g.late, 0xff, g.ticks * g.rings * sizeof(*g.late));
		err = session_run(&se, seconds * 1000, see_tick, &g);
	}
	if (!g.late || err) {
		snprintf(t->why, sizeof(t->why), "session-start: %s",
			 nl->why[0] ? nl->why : strerror(-err));
		goto out;
	}
	n = nl_stats(nl, se.info.id, stats, NL_MAX_CPUS);
	for (i = 0; i < n && i < NL_MAX_CPUS; i++) {
		t->due += stats[i].due;
		t->produced += stats[i].taken;
		t->missed += stats[i].missed;
		t->lost += stats[i].lost;
		tick_ns += stats[i].tick_ns;
	}
	t->tick_ns = t->produced ? (double)tick_ns / t->produced : 0;
	t->interval_ns = interval_ns;
	t->cpus = se.d.n;
	t->done = true;
	judge(&g, t);
out:
	free(g.late);
	session_close(&se);
}

void ticks_measure(struct nl *nl, struct summary *s, unsigned int seconds)
{
	struct busy load;

	measure(nl, &s->idle, TICKS_NS, seconds);
	if (!busy_start(&load, s->cpus)) {
		snprintf(s->loaded.why, sizeof(s->loaded.why), "no busy processes: %s",
			 strerror(errno));
		return;
	}
	measure(nl, &s->loaded, TICKS_NS, seconds);
	busy_stop(&load);
}

/* Moves of one domain, as one CPU reads it. */
struct moves {
	uint64_t *gap_ns;
	uint64_t n, max;
	uint64_t last_ns;	/* of the last move, 0 if what came since is not known */
	uint64_t first_ns, first_uj, end_ns, end_uj;
	uint64_t holes, back;
	bool begun;
};

struct watch {
	struct moves moves[NL_MAX_CPUS][MAX_DOMAINS];
	const struct source *source;
};

/* Could a counter have moved twice while ticks were missing, without our seeing it? */
static bool hides_moves(const struct domain *d, const struct kjoule_record *rec,
			uint64_t interval_ns)
{
	uint64_t gap_ns;

	if (rec->type == KJOULE_RECORD_LOST)
		return true;
	gap_ns = ((const struct kjoule_gap *)rec)->count * interval_ns;
	return d->period_ns ? gap_ns > d->period_ns / 2 : gap_ns > 2 * interval_ns;
}

static void see_domain(struct moves *m, uint64_t now, uint64_t uj)
{
	if (!m->begun) {	/* the first record tells all domains, moved or not */
		m->begun = true;
		m->first_ns = now;
		m->first_uj = uj;
	} else {
		m->back += uj < m->end_uj;
		if (m->last_ns && m->n < m->max)
			m->gap_ns[m->n++] = now - m->last_ns;
		m->last_ns = now;
	}
	m->end_ns = now;
	m->end_uj = uj;
}

static void see_energy(const struct session *se, unsigned int ring, uint64_t tick,
		       const struct kjoule_record *rec, void *data)
{
	const struct kjoule_energy *e = (const void *)rec;
	struct watch *w = data;
	unsigned int i, at = 0;

	if (rec->type == KJOULE_RECORD_GAP || rec->type == KJOULE_RECORD_LOST) {
		for (i = 0; i < MAX_DOMAINS; i++) {
			if (!w->moves[ring][i].last_ns ||
			    !hides_moves(&w->source->domain[i], rec, se->info.interval_ns))
				continue;
			w->moves[ring][i].holes++;
			w->moves[ring][i].last_ns = 0;
		}
	}
	if (rec->type != KJOULE_RECORD_ENERGY)
		return;
	for (i = 0; i < MAX_DOMAINS; i++) {
		if (!(e->domains & 1U << i) || sizeof(*e) + 8 * (at + 1) > rec->size)
			continue;
		see_domain(&w->moves[ring][i], walk_due_ns(&se->info, tick) + e->delay_ns,
			   e->energy_uj[at++]);
	}
}

/* One CPU of each package and die, as bits of a mask. Return: the mask's bytes. */
static unsigned int package_mask(uint8_t *mask, unsigned int size)
{
	unsigned int cpu, seen = 0, bytes = 0, i;
	char key[64], known[64][64], a[24], b[24], path[96];

	for (cpu = 0; cpu < cpu_possible() && cpu / 8 < size && seen < 64; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
		if (!file_read(path, a, sizeof(a)))	/* offline */
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/die_id", cpu);
		file_read(path, b, sizeof(b));
		snprintf(key, sizeof(key), "%s/%s", a, b);
		for (i = 0; i < seen && strcmp(known[i], key); i++)
			;
		if (i < seen)
			continue;
		memcpy(known[seen++], key, sizeof(key));
		mask[cpu / 8] |= 1 << cpu % 8;
		bytes = cpu / 8 + 1;
	}
	return bytes;
}

/*
 * Ticks of so fine a time that the shortest period can be seen, but not finer than a machine bears.
 */
static uint64_t fine_interval(const struct source *source)
{
	uint64_t period = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < MAX_DOMAINS; i++) {
		if (source->domain[i].there && source->domain[i].period_ns &&
		    source->domain[i].period_ns < period)
			period = source->domain[i].period_ns;
	}
	if (period == UINT64_MAX)
		return 100000;
	period /= 20;
	return period < 20000 ? 20000 : period > 1000000 ? 1000000 : period;
}

static void note_periods(struct summary *s, const struct session *se, struct watch *w)
{
	unsigned int ring, i;

	for (ring = 0; ring < se->d.n; ring++) {
		for (i = 0; i < MAX_DOMAINS && s->n_periods < MAX_PERIODS; i++) {
			struct moves *m = &w->moves[ring][i];

			if (!m->begun || !s->energy->domain[i].there)
				continue;
			s->period[s->n_periods++] = (struct period){
				.domain = &s->energy->domain[i], .cpu = se->d.ring[ring].cpu,
				.ns = spread_of(m->gap_ns, m->n),
				.resolution_ns = se->info.interval_ns, .holes = m->holes,
				.back = m->back, .energy_uj = m->end_uj - m->first_uj,
				.time_ns = m->end_ns - m->first_ns,
			};
		}
	}
}

/*
 * Times between moves at one interval between ticks. Return: whether enough ticks were
 * taken, or there is nothing to be had from longer ones.
 */
static bool try_periods(struct nl *nl, struct summary *s, uint64_t interval_ns,
			unsigned int seconds, bool last)
{
	static struct watch w;
	static struct nl_stats stats[NL_MAX_CPUS];
	uint64_t due = 0, missed = 0;
	uint8_t mask[128] = { 0 };
	unsigned int ring, i;
	bool enough = true;
	struct session se;
	struct busy load;
	int err, n;

	memset(&w, 0, sizeof(w));
	w.source = s->energy;
	err = session_open(&se, nl, interval_ns, mask, package_mask(mask, sizeof(mask)));
	if (err) {
		snprintf(s->no_periods, sizeof(s->no_periods), "session-new: %s",
			 nl->why[0] ? nl->why : strerror(-err));
		return true;
	}
	for (ring = 0; ring < se.d.n; ring++) {
		for (i = 0; i < MAX_DOMAINS; i++) {
			struct moves *m = &w.moves[ring][i];

			m->max = s->energy->domain[i].there ?
				 seconds * 1000000000ULL / interval_ns + 1000 : 0;
			m->gap_ns = m->max ? malloc(m->max * sizeof(*m->gap_ns)) : NULL;
			m->max = m->gap_ns ? m->max : 0;
		}
	}
	/* something for the counters to count; an idle package need not move its own */
	busy_start(&load, 1);
	err = session_run(&se, seconds * 1000, see_energy, &w);
	busy_stop(&load);
	if (err)
		snprintf(s->no_periods, sizeof(s->no_periods), "session-start: %s",
			 nl->why[0] ? nl->why : strerror(-err));
	n = err ? 0 : nl_stats(nl, se.info.id, stats, NL_MAX_CPUS);
	for (i = 0; (int)i < n; i++) {
		due += stats[i].due;
		missed += stats[i].missed;
	}
	enough = err || last || missed <= due / 100 * MISSED_ENOUGH;
	if (!err && enough)
		note_periods(s, &se, &w);
	for (ring = 0; ring < se.d.n; ring++) {
		for (i = 0; i < MAX_DOMAINS; i++)
			free(w.moves[ring][i].gap_ns);
	}
	session_close(&se);
	return enough;
}

void periods_measure(struct nl *nl, struct summary *s, unsigned int seconds)
{
	uint64_t interval_ns;
	unsigned int tries;

	if (!s->energy) {
		sources_lack(s, KJOULE_KIND_ENERGY, s->no_periods, sizeof(s->no_periods));
		return;
	}
	/* ticks that are missed for want of time hide moves: fewer of them may be more */
	interval_ns = fine_interval(s->energy);
	for (tries = 1; !try_periods(nl, s, interval_ns, seconds, tries == 3); tries++)
		interval_ns *= 2;
	if (!s->no_periods[0] && !s->n_periods)
		snprintf(s->no_periods, sizeof(s->no_periods), "%s reported no energy",
			 s->energy->name);
}
