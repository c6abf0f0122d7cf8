// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CPU that goes offline takes its ticks with it and nothing else: they are booked as
 * missed, and when it is back so are its ticks, on the grid that they left.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000

static unsigned int second;	/* the CPU that goes; in a session after the first one */
static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static struct nl_stats stats[NL_MAX_CPUS];

static bool begin(uint64_t jitter_ns)
{
	return session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
							 .jitter_ns = jitter_ns,
							 .cpus = 1ULL << cpu_first() |
							 1ULL << second }, &info, &d, walk);
}

static void end(const char *name)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_stats(name, &nl, &info, &d, walk);
}

static void forget(void)
{
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

/*
 * How late the second CPU's ticks were before it went and since it is back. A tick of a
 * timer that has lost the grid is still the latest one due, so it is late by less than an
 * interval: by as much as the timer is off or more, each time, unless it came so late that ticks
 * before it were missed. On the grid, however busy the machine, some are soon: so of those
 * right after another one the soonest tenth tells.
 */
#define MAX_TICKS	4096
#define ENOUGH		150

struct lateness {
	uint64_t ns[MAX_TICKS];
	unsigned int n;
};

static struct lateness before, since;
static uint64_t off_ns, back_ns, last_tick;

static void see(struct walk *w, uint64_t tick, const struct kjoule_sample *s)
{
	uint64_t due_ns = walk_due_ns(w->session, tick), before_it = last_tick;
	struct lateness *l = due_ns >= back_ns ? &since : &before;

	last_tick = tick;
	if (tick != before_it + 1)
		return;
	if (due_ns + s->delay_ns < off_ns || due_ns >= back_ns)
		l->ns[l->n++ % MAX_TICKS] = s->delay_ns;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The lateness that @tenths of ten do not exceed. */
static uint64_t quantile(struct lateness *l, unsigned int tenths)
{
	unsigned int n = l->n < MAX_TICKS ? l->n : MAX_TICKS;

	qsort(l->ns, n, sizeof(l->ns[0]), by_value);
	return n ? l->ns[n * tenths / 10] : 0;
}

/* Off and on again, while it ticks. */
static void check_off_and_on(uint64_t jitter_ns, const char *name)
{
	uint64_t gone_ns, on_ns, missed, was, is;
	unsigned int i;

	if (!begin(jitter_ns))
		return;
	before.n = since.n = 0;
	off_ns = back_ns = UINT64_MAX;
	walk[1].on_sample = see;
	for (i = 0; i < 500 && before.n < ENOUGH; i++) {
		sleep_ms(20);
		drain_map(&d, walk);
	}
	off_ns = now_ns();
	if (!cpu_online(second, false)) {
		ktap_not_ok("%s: CPU %u goes offline", name, second);
		return;
	}
	gone_ns = now_ns();
	drain_map(&d, walk);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	ktap_check(stats_balance(&stats[0]) & stats_balance(&stats[1]), "%s: while it is offline the statistics agree", name);
	missed = stats[0].due;
	sleep_ms(200);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	ktap_check(stats[0].due > missed + 100, "%s: the other CPU ticks on", name);
	on_ns = now_ns();
	ktap_check(cpu_online(second, true), "%s: the CPU comes back while a session is on it", name);
	back_ns = now_ns();
	for (i = 0; i < 500 && since.n < ENOUGH; i++) {
		sleep_ms(20);
		drain_map(&d, walk);
	}
	end(name);
	missed = (on_ns - gone_ns) / INTERVAL_NS - 2;	/* the first and the last in part */
	if (!ktap_check(walk[1].gap_ticks >= missed && walk[1].gaps, "%s: the ticks without it are reported as a gap", name))
		ktap_diag("%" PRIu64 " in gaps, at least %" PRIu64 " gone", walk[1].gap_ticks,
			  missed);
	was = quantile(&before, 1);
	is = quantile(&since, 1);
	ktap_check(before.n >= ENOUGH && since.n >= ENOUGH && is < was + INTERVAL_NS / 10,
		   "%s: its ticks come back on the grid", name);
	ktap_diag("%s: %u ticks before, a tenth of them at most %" PRIu64 " ns late, half %" PRIu64
		  "; %u since, %" PRIu64
		  " and %" PRIu64, name, before.n, was, quantile(&before, 5), since.n, is,
		  quantile(&since, 5));
	forget();
}

static void check_stop_offline(void)
{
	uint64_t due;

	if (!begin(0))
		return;
	sleep_ms(50);
	cpu_online(second, false);
	sleep_ms(50);
	end("stopped with a CPU offline");
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	due = stats[1].due;
	ktap_check(due == stats[0].due, "the CPU that is offline ends with the same tick");
	cpu_online(second, true);
	sleep_ms(50);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	ktap_check(stats[1].due == due && ring_unread(&d.ring[1]) == 0, "it does not tick when it comes back");
	forget();
}

static void check_start_offline(void)
{
	struct nl_session s;
	int err;

	if (nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
						    .cpus = 1ULL << cpu_first() | 1ULL << second },
			   &s)) {
		ktap_not_ok("a session of both CPUs");
		return;
	}
	cpu_online(second, false);
	err = nl_session_do(&nl, KJOULE_CMD_SESSION_START, s.id, NULL);
	ktap_check(err == -ENXIO && nl.why[0], "start with a CPU gone offline: ENXIO, with words");
	cpu_online(second, true);
	sleep_ms(20);
	nl_stats(&nl, s.id, stats, NL_MAX_CPUS);
	ktap_check(!stats[1].taken && stats_balance(&stats[0]) & stats_balance(&stats[1]),
		   "it does not tick when the CPU comes back");
	ktap_check(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, s.id, &s) &&
		   s.state != KJOULE_SESSION_RUNNING,
		   "the session does not run");
	ktap_check_equal(0, nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s.id, NULL), "it can be deleted");
}

static void check_repeated(void)
{
	unsigned int i;
	bool good = true;

	if (!begin(0))
		return;
	for (i = 0; i < 5; i++) {
		good &= cpu_online(second, false) & cpu_online(second, true);
		drain_map(&d, walk);
	}
	ktap_check(good, "off and on five times in a row");
	end("off and on five times");
	forget();
}

/* A session of the whole machine, made while a CPU is offline: it joins when it comes. */
static void check_joins(bool between)
{
	const char *name = between ? "a CPU that comes between making and start" :
			   "a CPU that comes while it runs";
	struct nl_config c = { .interval_ns = INTERVAL_NS };
	unsigned int i, at = 0;
	bool good;

	if (!cpu_online(second, false) || nl_session_new(&nl, &c, &info) ||
	    device_open(&d, info.id) || device_map(&d)) {
		ktap_not_ok("%s: a session: %s", name, nl.why);
		return;
	}
	if (between)
		cpu_online(second, true);
	nl_session_do(&nl, KJOULE_CMD_SESSION_START, info.id, &info);
	for (i = 0; i < d.n; i++) {
		walk_begin(&walk[i], &info, d.ring[i].cpu);
		if (d.ring[i].cpu == second)
			at = i;
	}
	ktap_check(at && info.cpus & 1ULL << second, "%s: it is one of the session's CPUs", name);
	if (!between) {
		for (i = 0; i < 20; i++) {
			sleep_ms(100);
			drain_map(&d, walk);
			nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
			if (stats[0].taken > 20)
				break;
		}
		for (i = 0, good = true; i < d.n; i++)
			good &= stats_balance(&stats[i]);
		ktap_check(good && stats[0].taken > 20 && !stats[at].taken, "%s: before, the others tick and the statistics agree", name);
		cpu_online(second, true);
	}
	back_ns = off_ns = now_ns();
	before.n = since.n = 0;
	walk[at].on_sample = see;
	for (i = 0; i < 500 && since.n < ENOUGH; i++) {
		sleep_ms(20);
		drain_map(&d, walk);
	}
	if (!ktap_check(since.n >= ENOUGH && quantile(&since, 1) < INTERVAL_NS / 10, "%s: it ticks, on the grid", name))
		ktap_diag("%u ticks, a tenth late by less than %" PRIu64 " ns", since.n,
			  quantile(&since, 1));
	ktap_check(between || walk[at].gap_ticks > 50, "%s: the ticks before that are reported as a gap", name);
	end(name);
	forget();
}

int main(void)
{
	struct busy load;

	need_module();
	second = need_hotplug();
	if (nl_open(&nl) || !busy_start(&load, 2)) {
		ktap_not_ok("a netlink family and a load");
		return ktap_end();
	}
	check_off_and_on(0, "off and on");
	check_off_and_on(INTERVAL_NS / 2, "off and on, with jitter");
	check_repeated();
	check_stop_offline();
	check_start_offline();
	check_joins(false);
	check_joins(true);
	busy_stop(&load);
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
