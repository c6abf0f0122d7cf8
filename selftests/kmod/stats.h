/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a test of a session begins, and the results with which it ends: the module's statistics
 * against each other, against the clock, against the head pages and against what the test
 * itself has read. Included once, by the test's own file, as ktap.h is.
 */
#ifndef KJOULE_SELFTESTS_STATS_H
#define KJOULE_SELFTESTS_STATS_H

#include <inttypes.h>
#include <string.h>

#include "../ktap.h"
#include "nl.h"
#include "ring.h"

/* A session that runs, with its rings mapped. */
static inline bool session_begin(struct nl *nl, const struct nl_config *c, struct nl_session *info,
				 struct device *d, struct walk *walk)
{
	int err = nl_session_new(nl, c, info) ?: device_open(d, info->id) ?: device_map(d) ?:
		  nl_session_do(nl, KJOULE_CMD_SESSION_START, info->id, info);
	unsigned int i;

	if (err) {
		ktap_not_ok("a session: %s %s", strerrorname_np(-err), nl->why);
		return false;
	}
	for (i = 0; i < d->n; i++)
		walk_begin(&walk[i], info, d->ring[i].cpu);
	return true;
}

/* One line of the statistics that has to hold on each CPU; tells where it does not. */
static inline bool stats_agree(const struct nl_stats *s, const char *what, uint64_t want,
			       uint64_t got)
{
	if (want != got)
		ktap_diag("session %u, CPU %u: %s: %" PRIu64 " and %" PRIu64, s->session, s->cpu,
			  what, want, got);
	return want == got;
}

/* What holds at any moment, and while nothing is read: no number may have been forgotten. */
static inline bool stats_balance(const struct nl_stats *s)
{
	return stats_agree(s, "due, and taken + missed + skipped", s->due,
			   s->taken + s->missed + s->skipped) &
	       stats_agree(s, "records, and consumed + lost + waiting", s->records,
			   s->consumed + s->lost + s->waiting) &
	       (s->samples + s->filtered <= s->taken && s->consumed <= s->records &&
		s->waiting <= s->records);
}

static inline bool head_agrees(const struct nl_stats *s, const struct kjoule_ring_head *h,
			       uint64_t bytes)
{
	return stats_agree(s, "due of head page", s->due, h->due) &
	       stats_agree(s, "taken of head page", s->taken, h->taken) &
	       stats_agree(s, "missed of head page", s->missed, h->missed) &
	       stats_agree(s, "skipped of head page", s->skipped, h->skipped) &
	       stats_agree(s, "filtered of head page", s->filtered, h->filtered) &
	       stats_agree(s, "records of head page", s->records, h->records) &
	       stats_agree(s, "lost of head page", s->lost, h->lost) &
	       stats_agree(s, "samples of head page", s->samples, h->samples) &
	       stats_agree(s, "CPU of head page", s->cpu, h->cpu) &
	       stats_agree(s, "state of head page", KJOULE_SESSION_STOPPED, h->state) &
	       stats_agree(s, "seq of head page is even", 0, h->seq & 1) &
	       stats_agree(s, "head, and bytes read", h->head, bytes);
}

/* Ticks that are due from t0 until the stop, on every CPU; jitter moves the last one. */
static inline bool due_agrees(const struct nl_stats *s, const struct nl_session *info)
{
	uint64_t due = 0;

	if (info->stop_ns >= info->t0_ns)
		due = (info->stop_ns - info->t0_ns) / info->interval_ns + 1;
	if (due && info->jitter_ns && walk_due_ns(info, due - 1) > info->stop_ns)
		due--;
	return stats_agree(s, "ticks due by the clock, and by the statistics", due, s->due);
}

/* What was read, with what it says about itself, is all there was. */
static inline bool records_agree(const struct nl_stats *s, const struct walk *w)
{
	bool good = stats_agree(s, "consumed, and records read", s->consumed, w->records) &
		    stats_agree(s, "lost, and reported as lost", s->lost, w->lost_records) &
		    stats_agree(s, "samples, and samples read", s->samples, w->samples) &
		    stats_agree(s, "waiting after all was read", 0, s->waiting);

	if (w->delay_max_ns > s->delay_max_ns) {
		ktap_diag("CPU %u: late by %" PRIu64 " in a record, at most %" PRIu64
			  " in the statistics", s->cpu, w->delay_max_ns, s->delay_max_ns);
		good = false;
	}
	if (w->lost_before)	/* no tick was seen after the last loss */
		return good;
	if (w->session->target != KJOULE_TARGET_SYSTEM)
		return good & stats_agree(s, "filtered, and ticks without a sample",
					  s->filtered + w->lost_samples,
					  w->filtered + (s->due - w->next));
	return good & stats_agree(s, "due, and ticks reported", s->due, w->next) &
	       stats_agree(s, "missed + skipped, and ticks in gaps", s->missed + s->skipped,
			   w->gap_ticks) &
	       stats_agree(s, "taken, and samples read or lost", s->taken,
			   w->samples + w->lost_samples);
}

/* All of it, for a session that is stopped and whose rings were read to their end. */
static inline void check_stats(const char *name, struct nl *nl, struct nl_session *info,
			       const struct device *d, const struct walk *walk)
{
	static struct nl_stats stats[NL_MAX_CPUS];
	bool balance = true, heads = true, due = true, records = true, order = true;
	int n = nl_stats(nl, info->id, stats, NL_MAX_CPUS), i;

	nl_session_do(nl, KJOULE_CMD_SESSION_GET, info->id, info);
	ktap_check(n == (int)d->n && n > 0, "%s: statistics of all CPUs", name);
	for (i = 0; i < n; i++) {
		balance &= stats_balance(&stats[i]);
		due &= due_agrees(&stats[i], info);
		records &= records_agree(&stats[i], &walk[i]);
		if (d->mapped)
			heads &= head_agrees(&stats[i], d->ring[i].head, walk[i].bytes);
		if (walk[i].fault[0])
			ktap_diag("CPU %u: %s", walk[i].cpu, walk[i].fault);
		order &= !walk[i].fault[0];
	}
	ktap_check(balance, "%s: due = taken + missed + skipped, records = consumed + lost + waiting", name);
	ktap_check(records, "%s: what was read, lost and left out is all there was", name);
	ktap_check(order, "%s: records are in order, ticks without holes, times go on", name);
	ktap_check(due, "%s: ticks due are those of the clock", name);
	if (d->mapped)
		ktap_check(heads, "%s: the head pages tell the same", name);
}

#endif
