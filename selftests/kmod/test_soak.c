// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything at once and for long: a session at 4 kHz, a CPU that goes or comes every
 * second, sessions of all kinds, with sources and callers, made and destroyed throughout, processes
 * forked and ended. The kernel has nothing to complain of, every book balances, no total steps
 * back. KJOULE_SOAK_S says for how many seconds; the figure that is promised is for 300
 * (scripts/bench soak).
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 420
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "any_source.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define DEFAULT_S	30

static struct nl nl, nl_others;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static struct nl_stats stats[NL_MAX_CPUS];
static uint64_t total[NL_MAX_CPUS];
static unsigned int values, steps, steps_back;
static uint64_t random_state = 0x9e3779b97f4a7c15ULL;

static unsigned int random_below(unsigned int n)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % n;
}

/* A process that forks short-lived ones until it is killed. */
static pid_t start_forks(void)
{
	pid_t pid = fork(), child;
	volatile unsigned int i;

	if (pid)
		return pid;
	for (;;) {
		child = fork();
		if (!child) {
			for (i = 0; i < 300000; i++)
				;
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* The counter of the session that is there all the time: each CPU has its own. */
static void see_energy(struct walk *w, uint64_t tick, const struct kjoule_energy *e)
{
	(void)tick;
	steps++;
	steps_back += e->energy_uj[0] < total[e->scope];
	total[e->scope] = e->energy_uj[0];
	steps_back += e->scope != w->cpu;
}

static void see_value(struct walk *w, const struct kjoule_value *v)
{
	(void)w;
	values += v->value > 0;
}

struct others {
	unsigned int made, refused, unbalanced, failed;
};

/* One session of some kind, for a short time, ended one way or another. */
static void one_other(struct others *o, pid_t forks)
{
	static const uint32_t rings[] = { 4096, 65536, 1 << 20 };
	struct nl_config c = {
		.interval_ns = 50000 << random_below(8),
		.jitter_ns = random_below(2) ? 20000 : 0,
		.flags = random_below(2) ? KJOULE_FLAG_WAKE_IDLE : 0,
		.ring_bytes = rings[random_below(3)],
	};
	const struct nl_spec specs[] = { any_file(), any_counter() };
	struct nl_session s;
	struct device other;
	int err, n, i;

	c.specs = specs;
	c.n_specs = random_below(3);
	/* the smallest ring has no room for what belongs to four samples */
	if (c.ring_bytes > 4096 && random_below(2))
		c.flags |= KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN;
	if (c.ring_bytes > 4096 && !random_below(4)) {
		c.flags |= KJOULE_FLAG_USER_STACK;
		c.stack_bytes = 4096;
	}
	switch (random_below(3)) {
	case 0:
		c.target = KJOULE_TARGET_PROCESS;
		c.pid = forks;
		c.flags |= random_below(2) ? KJOULE_FLAG_INHERIT : 0;
		break;
	case 1:
		c.target = KJOULE_TARGET_THREAD;
		c.pid = getpid();
		break;
	}
	err = nl_session_new(&nl_others, &c, &s);
	close(specs[0].fd);
	if (err) {
		o->failed++;
		ktap_diag("session-new: %s %s", strerrorname_np(-err), nl_others.why);
		return;
	}
	o->made++;
	err = device_open(&other, s.id) ?: device_map(&other);
	if (!err)
		err = nl_session_do(&nl_others, KJOULE_CMD_SESSION_START, s.id, &s);
	/* a CPU may be on its way out at that moment */
	if (err == -ENXIO)
		o->refused++;
	else if (err)
		o->failed++;
	sleep_ms(random_below(60));
	if (!err && random_below(2)) {
		nl_session_do(&nl_others, KJOULE_CMD_SESSION_STOP, s.id, NULL);
		n = nl_stats(&nl_others, s.id, stats, NL_MAX_CPUS);
		for (i = 0; i < n; i++)
			o->unbalanced += !stats_balance(&stats[i]);
	}
	/* some are left to the end of their socket */
	if (random_below(4))
		nl_session_do(&nl_others, KJOULE_CMD_SESSION_DEL, s.id, NULL);
	device_unmap(&other);
	device_close(&other);
	if (!random_below(4)) {
		nl_close(&nl_others);
		nl_open(&nl_others);
	}
}

int main(void)
{
	const struct nl_spec specs[] = { any_counter(), any_file() };
	const char *wanted = getenv("KJOULE_SOAK_S");
	uint64_t until, next, begin_ns;
	unsigned int flips = 0, moves_failed = 0, second, i;
	struct others o = { 0 };
	struct busy b;
	bool on = true;
	pid_t forks;
	int seconds = wanted ? atoi(wanted) : DEFAULT_S;

	need_module();
	second = need_hotplug();
	nl_open(&nl);
	nl_open(&nl_others);
	busy_start(&b, 1);
	forks = start_forks();
	if (!session_begin(&nl, &(struct nl_config){ .interval_ns = 250000, .ring_bytes = 1 << 22,
						     .specs = specs, .n_specs = 2 }, &info, &d,
			   walk))
		return ktap_end();
	for (i = 0; i < d.n; i++) {
		walk[i].on_energy = see_energy;
		walk[i].on_value = see_value;
	}
	begin_ns = now_ns();
	until = begin_ns + seconds * 1000000000ULL;
	next = begin_ns + 1000000000ULL;
	while (now_ns() < until) {
		one_other(&o, forks);
		drain_map(&d, walk);
		if (now_ns() >= next) {
			on = !on;
			moves_failed += !cpu_online(second, on);
			flips++;
			next += 1000000000ULL;
		}
	}
	cpu_online(second, true);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_stats("all the time", &nl, &info, &d, walk);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	nl_close(&nl_others);
	busy_stop(&b);
	kill(forks, SIGKILL);
	waitpid(forks, NULL, 0);
	ktap_diag("%.0f s, %u times a CPU went or came, %u sessions made, %u of them not started for that",
		  (now_ns() - begin_ns) / 1e9, flips, o.made, o.refused);
	ktap_check(flips >= (unsigned int)seconds * 8 / 10 && !moves_failed, "a CPU went or came every second");
	ktap_check(o.made > (unsigned int)seconds / 2, "sessions were made and destroyed throughout");
	ktap_check_equal(0, o.failed, "none failed");
	ktap_check(steps > 100 && !steps_back, "no total ever steps back");
	ktap_check(values > (unsigned int)seconds / 2, "and a file, which each move of a CPU changes, is read");
	ktap_check_equal(0, o.unbalanced, "the statistics of each agree");
	sleep_ms(200);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
