// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The statistics are consistent: at any moment, at several rates, read through mmap and through
 * read(), for the whole machine and for one process, for two sessions at once. What was
 * consumed is counted here, not taken from the module.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 90
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

/* A session that is being read. */
struct run {
	struct nl nl;
	struct nl_session info;
	struct device d;
	struct walk walk[NL_MAX_CPUS];
	long (*drain)(struct device *d, struct walk *walk);
};

static bool run_begin(struct run *r, const struct nl_config *c, bool map)
{
	unsigned int i;
	int err;

	memset(r, 0, sizeof(*r));
	r->drain = map ? drain_map : drain_read;
	err = nl_open(&r->nl) ?: nl_session_new(&r->nl, c, &r->info) ?:
	      device_open(&r->d, r->info.id);
	if (!err && map)
		err = device_map(&r->d);
	if (err) {
		ktap_not_ok("a session that can be read: %s %s", strerrorname_np(-err), r->nl.why);
		return false;
	}
	for (i = 0; i < r->d.n; i++)
		walk_begin(&r->walk[i], &r->info, r->d.ring[i].cpu);
	return true;
}

static bool run_start(struct run *r)
{
	int err = nl_session_do(&r->nl, KJOULE_CMD_SESSION_START, r->info.id, &r->info);

	if (err)
		ktap_not_ok("start: %s %s", strerrorname_np(-err), r->nl.why);
	return !err;
}

/* While it runs: the module's statistics agree, and say what the test has consumed so far. */
static bool balanced_now(struct run *r)
{
	struct nl_stats stats[NL_MAX_CPUS];
	int n = nl_stats(&r->nl, r->info.id, stats, NL_MAX_CPUS), i;
	bool good = n == (int)r->d.n;

	for (i = 0; i < n; i++)
		good &= stats_balance(&stats[i]) & stats_agree(&stats[i], "consumed while running, and records read",
							       stats[i].consumed,
							       r->walk[i].records);
	return good;
}

/* Numbers in a head page belong together whenever seq is even and stays. */
static bool head_balanced(const struct kjoule_ring_head *h)
{
	uint64_t due, sum;
	uint32_t seq;

	do {
		seq = __atomic_load_n(&h->seq, __ATOMIC_ACQUIRE);
		due = __atomic_load_n(&h->due, __ATOMIC_RELAXED);
		sum = __atomic_load_n(&h->taken, __ATOMIC_RELAXED) +
		      __atomic_load_n(&h->missed, __ATOMIC_RELAXED) +
		      __atomic_load_n(&h->skipped, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || __atomic_load_n(&h->seq, __ATOMIC_RELAXED) != seq);
	return due == sum;
}

/* Read for so long; count the moments at which the statistics did not agree. */
static unsigned int run_read(struct run *r, unsigned int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL;
	unsigned int bad = 0, i;

	while (now_ns() < end) {
		struct pollfd p = { .fd = r->d.fd, .events = POLLIN };

		poll(&p, 1, 20);
		if (r->drain(&r->d, r->walk) < 0)
			bad++;
		bad += !balanced_now(r);
		for (i = 0; i < r->d.n && r->d.mapped; i++)
			bad += !head_balanced(r->d.ring[i].head);
	}
	return bad;
}

static void run_end(struct run *r, const char *name)
{
	nl_session_do(&r->nl, KJOULE_CMD_SESSION_STOP, r->info.id, &r->info);
	r->drain(&r->d, r->walk);
	check_stats(name, &r->nl, &r->info, &r->d, r->walk);
	device_close(&r->d);
	nl_close(&r->nl);
}

/* What the whole machine did at this rate. */
static void check_rate(uint64_t interval_ns, bool map, uint64_t jitter_ns, bool busy,
		       const char *name)
{
	struct run r;
	unsigned int bad, i;
	uint64_t samples = 0, due = 0;

	if (!run_begin(&r, &(struct nl_config){ .interval_ns = interval_ns,
						.jitter_ns = jitter_ns }, map) ||
	    !run_start(&r))
		return;
	bad = run_read(&r, 1000);
	run_end(&r, name);
	ktap_check_equal(0, bad, "at no moment while it ran did they fail");
	for (i = 0; i < r.d.n; i++) {
		samples += r.walk[i].samples;
		due += r.walk[i].next;
	}
	/* an idle CPU's ticks may be left out */
	if (!ktap_check(due >= 900000000 / interval_ns * r.d.n && samples > (busy ? due / 10 : 0),
			"%s: ticks came at the rate that was asked for", name))
		ktap_diag("%" PRIu64 " due, %" PRIu64 " samples", due, samples);
}

/* Whose samples came: one bit for each thread of a busy process, and all others. */
struct seen {
	const struct busy *b;
	unsigned int threads, others;
};

static void see_task(struct walk *w, uint64_t tick, const struct kjoule_sample *s)
{
	struct seen *seen = w->data;
	unsigned int i;

	(void)tick;
	(void)s;
	if (w->tgid != (uint32_t)seen->b->pid) {
		seen->others++;
		return;
	}
	for (i = 0; i < seen->b->threads; i++) {
		if (w->pid == (uint32_t)seen->b->tid[i])
			seen->threads |= 1U << i;
	}
}

static void watch(struct run *r, struct seen *seen)
{
	unsigned int i;

	for (i = 0; i < r->d.n; i++) {
		r->walk[i].on_sample = see_task;
		r->walk[i].data = seen;
	}
}

static void check_process(bool map, const char *name)
{
	struct busy target, other;
	struct seen seen = { .b = &target };
	uint64_t filtered = 0;
	unsigned int bad, i;
	struct run r;

	if (!busy_start(&target, 2) || !busy_start(&other, 1) ||
	    !run_begin(&r,
		       &(struct nl_config){ .interval_ns = 1000000, .target = KJOULE_TARGET_PROCESS,
					    .pid = target.pid }, map) || !run_start(&r)) {
		ktap_not_ok("%s: processes and a session", name);
		return;
	}
	watch(&r, &seen);
	bad = run_read(&r, 400);
	if (!busy_add_thread(&target))
		ktap_not_ok("%s: one more thread", name);
	bad += run_read(&r, 600);
	for (i = 0; i < 200 && seen.threads != 7; i++)
		bad += run_read(&r, 50);
	run_end(&r, name);
	for (i = 0; i < r.d.n; i++)
		filtered += r.walk[i].filtered;
	ktap_check_equal(0, bad, "at no moment while it ran did they fail");
	ktap_check_equal(7, seen.threads, "every thread of the process was seen, one that came later too");
	ktap_check_equal(0, seen.others, "and no others");
	ktap_check(filtered, "%s: ticks of others were left out", name);
	busy_stop(&target);
	busy_stop(&other);
}

static void check_exit(void)
{
	struct seen seen = { 0 };
	uint64_t before = 0, after = 0;
	struct busy target;
	struct run r;
	unsigned int i;

	if (!busy_start(&target, 2) ||
	    !run_begin(&r,
		       &(struct nl_config){ .interval_ns = 250000, .target = KJOULE_TARGET_PROCESS,
					    .pid = target.pid }, true) || !run_start(&r)) {
		ktap_not_ok("a process that ends: a session");
		return;
	}
	seen.b = &target;
	watch(&r, &seen);
	run_read(&r, 200);
	busy_stop(&target);
	r.drain(&r.d, r.walk);
	for (i = 0; i < r.d.n; i++)
		before += r.walk[i].samples;
	run_read(&r, 200);
	for (i = 0; i < r.d.n; i++)
		after += r.walk[i].samples;
	ktap_check(before && before == after, "a process that ends: its samples end with it");
	run_end(&r, "a process that ends");
}

/* Two sessions with sockets, rates and targets of their own do not disturb each other. */
static void check_two(void)
{
	struct seen seen = { 0 };
	struct busy target;
	int second = cpu_second();
	unsigned int bad, i;
	struct run a, b;

	if (second < 0 || second > 63) {
		ktap_skip("two sessions at once", "one CPU only: bring another one online");
		return;
	}
	if (!busy_start(&target, 1) ||
	    !run_begin(&a, &(struct nl_config){ .interval_ns = 1000000 }, true) ||
	    !run_begin(&b,
		       &(struct nl_config){ .interval_ns = 300000, .target = KJOULE_TARGET_PROCESS,
						.pid = target.pid, .cpus = 1ULL << second },
		       false)) {
		ktap_not_ok("two sessions");
		return;
	}
	seen.b = &target;
	watch(&b, &seen);
	ktap_check_equal(2, session_count(), "two sessions at once are counted");
	run_start(&a);
	run_start(&b);
	for (i = 0, bad = 0; i < 10; i++)
		bad += run_read(&a, 50) + run_read(&b, 50);
	run_end(&a, "the first of two sessions");
	bad += run_read(&b, 100);
	run_end(&b, "the second of two sessions");
	ktap_check_equal(0, bad, "at no moment while they ran did they fail");
	ktap_check_equal(0, seen.others, "the process's session has no other process's samples");
	busy_stop(&target);
}

/* A session that was never started, or was stopped before its first tick, has empty statistics. */
static void check_nothing(void)
{
	struct nl_stats stats[NL_MAX_CPUS];
	struct run r;

	if (!run_begin(&r, &(struct nl_config){ .interval_ns = 4000000000 }, true))
		return;
	ktap_check(nl_stats(&r.nl, r.info.id, stats, NL_MAX_CPUS) == (int)r.d.n && !stats[0].due &&
		   !stats[0].records && !stats[0].waiting && stats_balance(&stats[0]),
		   "the statistics of a session that was not started are empty");
	run_start(&r);
	run_end(&r, "stopped before its first tick");
}

int main(void)
{
	struct busy load;

	need_module();
	if (!busy_start(&load, cpu_count())) {
		ktap_not_ok("busy processes");
		return ktap_end();
	}
	check_rate(1000000, true, 0, true, "1 kHz through mmap");
	check_rate(250000, true, 0, true, "4 kHz through mmap");
	check_rate(1000000, false, 0, true, "1 kHz through read");
	check_rate(250000, false, 0, true, "4 kHz through read");
	check_rate(1000000, true, 999999, true, "1 kHz with jitter");
	busy_stop(&load);
	check_rate(1000000, true, 0, false, "1 kHz on idle CPUs");
	check_process(true, "a process through mmap");
	check_process(false, "a process through read");
	check_exit();
	check_two();
	check_nothing();
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
