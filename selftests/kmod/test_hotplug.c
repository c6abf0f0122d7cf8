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
#include <string.h>

#include "../ktap.h"
#include "books.h"
#include "guest.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	1000000

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static struct nl_stats stats[NL_MAX_CPUS];

static bool begin(uint64_t jitter_ns)
{
	return session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS, .jitter_ns = jitter_ns },
			     &info, &d, walk);
}

static void end(const char *name)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_books(name, &nl, &info, &d, walk);
}

static void forget(void)
{
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

/* Samples since CPU 1 came back, and how many of them were taken in their own interval. */
static uint64_t back_ns, since, on_time;

static void see(struct walk *w, uint64_t tick, const struct kjoule_sample *s)
{
	if (w->cpu != 1 || walk_due_ns(w->session, tick) < back_ns)
		return;
	since++;
	on_time += s->late_ns < INTERVAL_NS;
}

/* Off and on again, while it ticks. */
static void check_off_and_on(uint64_t jitter_ns, const char *name)
{
	uint64_t off_ns, missed;
	unsigned int i;

	if (!begin(jitter_ns))
		return;
	sleep_ms(50);
	if (!cpu_online(1, false)) {
		ktap_not_ok("%s: CPU 1 goes offline", name);
		return;
	}
	off_ns = now_ns();
	drain_map(&d, walk);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	ktap_check(books_balance(&stats[0]) & books_balance(&stats[1]), "%s: while it is offline the books balance", name);
	missed = stats[0].due;
	sleep_ms(200);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	ktap_check(stats[0].due > missed + 100, "%s: the other CPU ticks on", name);
	ktap_check(cpu_online(1, true), "%s: the CPU comes back while a session is on it", name);
	back_ns = now_ns();
	since = on_time = 0;
	walk[1].on_sample = see;
	for (i = 0; i < 100 && since < 150; i++) {
		sleep_ms(20);
		drain_map(&d, walk);
	}
	end(name);
	missed = (back_ns - off_ns) / INTERVAL_NS - 60;	/* it was on before the write came back */
	if (!ktap_check(walk[1].gap_ticks >= missed - missed / 3 && walk[1].gaps, "%s: the ticks without it are told as a gap", name))
		ktap_diag("%" PRIu64 " in gaps, about %" PRIu64 " gone", walk[1].gap_ticks, missed);
	if (!ktap_check(since >= 150 && on_time > since / 2, "%s: its ticks come back on the grid", name))
		ktap_diag("%" PRIu64 " samples, %" PRIu64 " on time", since, on_time);
	forget();
}

static void check_stop_offline(void)
{
	uint64_t due;

	if (!begin(0))
		return;
	sleep_ms(50);
	cpu_online(1, false);
	sleep_ms(50);
	end("stopped with a CPU offline");
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	due = stats[1].due;
	ktap_check(due == stats[0].due, "the CPU that is offline ends with the same tick");
	cpu_online(1, true);
	sleep_ms(50);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	ktap_check(stats[1].due == due && ring_unread(&d.ring[1]) == 0, "it does not tick when it comes back");
	forget();
}

static void check_start_offline(void)
{
	struct nl_session s;
	int err;

	if (nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS }, &s)) {
		ktap_not_ok("a session of both CPUs");
		return;
	}
	cpu_online(1, false);
	err = nl_session_do(&nl, KJOULE_CMD_SESSION_START, s.id, NULL);
	ktap_check(err == -ENXIO && nl.why[0], "start with a CPU gone offline: ENXIO, with words");
	cpu_online(1, true);
	sleep_ms(20);
	nl_stats(&nl, s.id, stats, NL_MAX_CPUS);
	ktap_check(!stats[1].produced && books_balance(&stats[0]) & books_balance(&stats[1]),
		   "it does not tick when the CPU comes back");
	ktap_check(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, s.id, &s) && s.state != KJOULE_SESSION_RUNNING,
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
		good &= cpu_online(1, false) & cpu_online(1, true);
		drain_map(&d, walk);
	}
	ktap_check(good, "off and on five times in a row");
	end("off and on five times");
	forget();
}

int main(void)
{
	struct busy load;

	if (session_count() < 0)
		ktap_skip_all("the module is not loaded");
	if (cpu_count() < 2 || !cpu_online(1, true))
		ktap_skip_all("no second CPU that can be taken off");
	if (nl_open(&nl) || !busy_start(&load, 2)) {
		ktap_not_ok("a netlink family and a load");
		return ktap_end();
	}
	check_off_and_on(0, "off and on");
	check_off_and_on(INTERVAL_NS / 2, "off and on, with jitter");
	check_repeated();
	check_stop_offline();
	check_start_offline();
	busy_stop(&load);
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
