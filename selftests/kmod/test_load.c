// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks alone cannot keep a CPU from its work: at the shortest interval, with the largest
 * copies of the stack, or with several sessions at once, what runs there keeps at least
 * 55 % of its speed, or more where the administrator says so, and what was left out is in
 * the statistics. Nor do they take more of a CPU that wakes all the time than of a busy one.
 *
 * where: guest
 * vm: --profile plain --cpus 2
 * timeout: 60
 * debug: no the checkers take more of a CPU than ticks do
 */
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define SHORTEST_NS	10000
#define SESSIONS_MAX	8
#define RUN_MS		1000

static struct nl nl;
static unsigned int second;
static volatile uint64_t *work;		/* done by a process on the second CPU */
static struct nl_session info[SESSIONS_MAX];
static struct device d[SESSIONS_MAX];
static struct walk walk[SESSIONS_MAX][NL_MAX_CPUS];
static unsigned int n;

/* With a stack that is deeper than what is copied of it. */
static void __attribute__((noinline, noreturn)) work_deep_down(void)
{
	volatile char stack[128 * 1024];

	for (size_t i = 0; i < sizeof(stack); i += 4096)
		stack[i] = 1;
	for (;;)
		++*work;
}

/* Wakes some hundred times a second, with such a stack. */
static void __attribute__((noinline, noreturn)) wake_deep_down(void)
{
	volatile char stack[128 * 1024];

	for (size_t i = 0; i < sizeof(stack); i += 4096)
		stack[i] = 1;
	for (;;) {
		usleep(4000);
		++*work;
	}
}

static pid_t start(void (*function)(void))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	pin_to(second);
	function();
	return 0;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Counts a millisecond while this program does what it does with sessions: reading. */
static double speed(void)
{
	uint64_t begin = now_ns(), done = *work;
	unsigned int i;

	while (now_ns() < begin + RUN_MS * 1000000ULL) {
		for (i = 0; i < n; i++)
			drain_map(&d[i], walk[i]);
		sleep_ms(1);
	}
	return (*work - done) * 1e6 / (now_ns() - begin);
}

static void check_speed(const char *name, double part, unsigned int sessions,
			const struct nl_config *c)
{
	static struct nl_stats stats[NL_MAX_CPUS];
	double before = speed(), during;
	uint64_t taken = 0, missed = 0, due = 0;
	unsigned int i;

	for (n = 0; n < sessions; n++) {
		if (!session_begin(&nl, c, &info[n], &d[n], walk[n]))
			return;
	}
	sleep_ms(50);
	during = speed();
	for (i = 0; i < sessions; i++) {
		nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info[i].id, &info[i]);
		drain_map(&d[i], walk[i]);
		check_stats(name, &nl, &info[i], &d[i], walk[i]);
		nl_stats(&nl, info[i].id, stats, NL_MAX_CPUS);
		taken += stats[0].taken;
		missed += stats[0].missed;
		due += stats[0].due;
		device_close(&d[i]);
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info[i].id, NULL);
	}
	n = 0;
	ktap_diag("%s: %.0f %% of the usual speed; of %" PRIu64 " ticks %" PRIu64 " taken, %" PRIu64
		  " left out", name, during / before * 100, due, taken, missed);
	ktap_check(before > 0 && during >= part * before, "%s: the work keeps %.0f %% of its speed",
		   name, part * 100);
	ktap_check(taken > 20 * sessions, "%s: ticks are taken all the same", name);
}

/* What they took before, when they might take more, counts for a moment only. */
static void check_lowered(void)
{
	static struct nl_stats stats[NL_MAX_CPUS];
	uint64_t before;

	if (!session_begin(&nl,
			   &(struct nl_config){ .interval_ns = SHORTEST_NS, .cpus = 1ULL << second,
						.ring_bytes = 1 << 22 },
			   &info[0], &d[0], walk[0]))
		return;
	n = 1;
	speed();
	ticks_may_take("10");
	sleep_ms(100);
	nl_stats(&nl, info[0].id, stats, NL_MAX_CPUS);
	before = stats[0].taken;
	speed();
	nl_stats(&nl, info[0].id, stats, NL_MAX_CPUS);
	ktap_diag("%" PRIu64 " ticks taken at 40 %%, then %" PRIu64 " at 10 %%", before,
		  stats[0].taken - before);
	ktap_check(stats[0].taken > before + 1000, "a session that may take less than before has its ticks all the same");
	ticks_may_take("40");
	device_close(&d[0]);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info[0].id, NULL);
	n = 0;
}

static void check_wakes(void)
{
	const struct nl_config c = { .interval_ns = SHORTEST_NS, .cpus = 1ULL << second,
				     .ring_bytes = 1 << 22, .flags = KJOULE_FLAG_USER_STACK,
				     .stack_bytes = 65384 };
	static struct nl_stats stats[NL_MAX_CPUS];
	uint64_t took = 0, taken = 0, begin, end;
	pid_t pid = start(wake_deep_down);
	double wakes;
	unsigned int i;

	begin = now_ns();
	for (n = 0; n < SESSIONS_MAX; n++) {
		if (!session_begin(&nl, &c, &info[n], &d[n], walk[n]))
			return;
	}
	wakes = speed() * RUN_MS;
	for (i = 0; i < n; i++)
		nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info[i].id, &info[i]);
	end = now_ns();
	for (i = 0; i < n; i++) {
		nl_stats(&nl, info[i].id, stats, NL_MAX_CPUS);
		took += stats[0].tick_ns;
		taken += stats[0].taken;
		device_close(&d[i]);
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info[i].id, NULL);
	}
	n = 0;
	stop(pid);
	ktap_diag("%.0f wakes, %" PRIu64 " ticks, %.1f %% of the CPU", wakes, taken,
		  took * 100.0 / (end - begin));
	ktap_check(wakes > 10 && taken > 20, "a CPU that wakes often: it wakes, and ticks are taken");
	ktap_check(took < (end - begin) * 0.4, "a CPU that wakes often: ticks take no more of it");
}

int main(void)
{
	pid_t pid;

	need_module();
	second = need_second_cpu("one works and one reads");
	need_machine();
	work = mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = start(work_deep_down);
	pin_to(cpu_first());
	nl_open(&nl);
	sleep_ms(100);
	check_speed("one session", 0.55, 1,
		    &(struct nl_config){ .interval_ns = SHORTEST_NS, .cpus = 1ULL << second,
							   .ring_bytes = 1 << 22 });
	check_speed("the largest stacks", 0.55, 1,
		    &(struct nl_config){ .interval_ns = SHORTEST_NS, .cpus = 1ULL << second,
					 .ring_bytes = 1 << 25, .flags = KJOULE_FLAG_USER_STACK,
					 .stack_bytes = 65384 });
	check_speed("eight sessions", 0.55, 8,
		    &(struct nl_config){ .interval_ns = SHORTEST_NS, .cpus = 1ULL << second,
								   .ring_bytes = 1 << 22 });
	ticks_may_take("10");
	check_speed("one session that may take 10 %", 0.85, 1,
		    &(struct nl_config){ .interval_ns = SHORTEST_NS, .cpus = 1ULL << second,
					 .ring_bytes = 1 << 22 });
	check_speed("eight sessions that may take 10 %", 0.85, 8,
		    &(struct nl_config){ .interval_ns = SHORTEST_NS, .cpus = 1ULL << second,
					 .ring_bytes = 1 << 22 });
	ticks_may_take("40");
	check_lowered();
	stop(pid);
	check_wakes();
	nl_close(&nl);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
