// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that runs out for threads of the kernel, which work for a session: while every allocation
 * of the kernel's workers fails, children are born, CPUs go and come, and a listener is to be
 * notified of it. What is not followed or read is counted, the session goes on, and once there is
 * memory again so does what had failed. What callers ask for themselves is test_alloc's.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * boot: own
 * debug: only
 * timeout: 300
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "any_source.h"
#include "stats.h"
#include "fail.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "notice.h"
#include "ring.h"

#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define SPARE		1024	/* children that the module has memory for, ahead of time */

static struct nl nl, listener;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/* Whatever workers of the kernel ask for, the module's among them, and no others. */
static unsigned int mark_workers(const char *fails)
{
	char path[300], name[32];
	DIR *dir = opendir("/proc");
	unsigned int n = 0;
	struct dirent *task;

	while (dir && (task = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", task->d_name);
		f = task->d_name[0] >= '1' && task->d_name[0] <= '9' ? fopen(path, "r") : NULL;
		name[0] = '\0';
		if (f && !fgets(name, sizeof(name), f))
			name[0] = '\0';
		if (f)
			fclose(f);
		snprintf(path, sizeof(path), "/proc/%s/make-it-fail", task->d_name);
		n += !strncmp(name, "kworker/", 8) && fail_put(path, fails);
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool aim(void)
{
	return mark_workers("1") && fail_put(FAILSLAB "task-filter", "Y") &&
	       fail_put(FAILSLAB "interval", "1") &&
	       fail_put(FAILSLAB "times", "-1");
}

static void have_children(unsigned int n)
{
	while (n--) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		if (n % 64 == 0)
			drain_map(&d, walk);
	}
}

static uint64_t lost_children(void)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info);
	return info.children_lost;
}

/* Values of the counter that the session has not got. */
static uint64_t errors(void)
{
	char path[80];
	uint64_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/misc/kjoule/session%u/source0/errors", info.id);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%" SCNu64, &n) != 1)
		ktap_not_ok("%s", path);
	if (f)
		fclose(f);
	return n;
}

static bool is_told(uint32_t event, unsigned int ms)
{
	struct notice n;

	while (notice_wait(&listener, &n, ms) == 1) {
		if (n.event == event)
			return true;
	}
	return false;
}

/* So that there is memory ahead for as many again. */
static bool is_followed(unsigned int children)
{
	uint64_t before = lost_children();

	have_children(children);
	return lost_children() == before;
}

static void check_while_it_fails(unsigned int second)
{
	uint64_t before = errors();
	unsigned int i;

	fail_put(FAILSLAB "probability", "100");
	for (i = 0; i < 8; i++) {
		mark_workers("1");	/* those too that have come meanwhile */
		have_children(2 * SPARE / 8);
	}
	mark_workers("1");
	ktap_check(cpu_online(second, false) && cpu_online(second, true), "a CPU goes and comes without memory");
	ktap_check(await(errors() > before), "values that are not got are counted (%" PRIu64 ")",
		   errors() - before);
	fail_put(FAILSLAB "probability", "0");
	ktap_check(lost_children() >= SPARE / 2 && info.children_lost <= 2 * SPARE,
		   "children that could not be followed are counted (%" PRIu64 " of %u)",
		   info.children_lost, 2 * SPARE);
}

static void check_afterwards(unsigned int second)
{
	struct nl_stats stats[NL_MAX_CPUS];
	uint64_t taken;

	have_children(1);	/* asks for more */
	ktap_check(await(is_followed(100)), "with memory there again children are followed again");
	ktap_check(cpu_online(second, false) && cpu_online(second, true), "a CPU goes and comes with memory");
	ktap_check(is_told(KJOULE_EVENT_CPU_OFFLINE, 5000), "and that is reported");
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	taken = stats[1].taken;
	ktap_check(await(nl_stats(&nl, info.id, stats, NL_MAX_CPUS) == 2 &&
			 stats[1].taken > taken + 20),
		   "it ticks");
	drain_map(&d, walk);
}

int main(void)
{
	struct nl_spec specs[] = { any_counter(), any_file() };
	int second = cpu_second();
	bool begun;

	if (!fail_prepare())
		ktap_skip_all("the kernel cannot make allocations fail; see make check-debug");
	need_module();
	if (second < 0)
		ktap_skip_all("one CPU only: bring another one online");
	if (!ktap_check(aim() && !nl_open(&nl) && !nl_open(&listener) && !notice_listen(&listener),
			"what workers ask for can be made to fail"))
		return ktap_end();
	fail_begin();
	begun = session_begin(&nl, &(struct nl_config){ .interval_ns = 1000000,
							.flags = KJOULE_FLAG_INHERIT |
							KJOULE_FLAG_WAKE_IDLE,
							.target = KJOULE_TARGET_PROCESS,
							.pid = getpid(), .specs = specs,
							.n_specs = 2 },
			      &info, &d, walk);
	close(specs[1].fd);
	if (begun) {
		check_while_it_fails(second);
		check_afterwards(second);
		nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
		drain_map(&d, walk);
		check_stats("of such a session", &nl, &info, &d, walk);
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
		device_unmap(&d);
		device_close(&d);
	}
	fail_put(FAILSLAB "task-filter", "N");
	mark_workers("0");
	fail_end();
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
