// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A record that is cut short is at the end of the ring's memory as it is elsewhere: chains are
 * reserved at their largest and may end just there before they are cut, and what comes next must
 * not go past it. An idle CPU that is kept awake has records of two sizes and no others, so that
 * small rings meet all there is within some rounds. The same for stacks that end before what was
 * asked for.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 240
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	250000
#define ROUNDS		60	/* how often the ring's memory is gone through, at least */

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];

/* On this CPU, with so many bytes of stack and nothing above them. */
static pid_t start_spinning(unsigned int cpu, unsigned int bytes)
{
	long page = sysconf(_SC_PAGESIZE);
	pid_t pid = fork();
	cpu_set_t set;
	uint8_t *at;

	if (pid)
		return pid;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (at == MAP_FAILED || munmap(at + page, page) || sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
	asm volatile("mov %0, %%rsp\n1:\tpause\n\tjmp 1b" : : "r"(at + page - bytes));
	__builtin_unreachable();
}

static void check(unsigned int cpu, uint64_t flags, uint32_t depth, uint32_t stack)
{
	const struct nl_config c = {
		.interval_ns = INTERVAL_NS, .cpus = 1ULL << cpu,
		.flags = flags | KJOULE_FLAG_WAKE_IDLE, .ring_bytes = 4096, .energy = "",
		.frequency = "", .chain_depth = depth, .stack_bytes = stack,
	};
	uint64_t limit = now_ns() + PATIENCE_NS;
	char name[80];
	long got = 0;

	snprintf(name, sizeof(name), "%s%s%u",
		 flags & KJOULE_FLAG_KERNEL_CHAIN ? "kernel and " : "",
		 stack ? "user stacks of " : "user chains of ", stack ?: depth);
	if (!session_begin(&nl, &c, &info, &d, walk)) {
		ktap_not_ok("%s: a session: %s", name, nl.why);
		return;
	}
	while (got >= 0 && walk[0].bytes < ROUNDS * d.ring[0].size && now_ns() < limit) {
		sleep_ms(2);
		got = drain_map(&d, walk);
		if (got > 0)
			limit = now_ns() + PATIENCE_NS;
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	ktap_check(walk[0].bytes >= ROUNDS * d.ring[0].size, "%s: %llu bytes went through a ring of %llu", name,
		   (unsigned long long)walk[0].bytes, (unsigned long long)d.ring[0].size);
	check_stats(name, &nl, &info, &d, walk);
	device_unmap(&d);
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

int main(void)
{
	unsigned int cpu, depth, bytes, missing;
	pid_t pid;

	need_module();
	cpu = need_second_cpu("one to be idle");
	nl_open(&nl);
	for (depth = 1; depth <= 4; depth++)
		check(cpu, KJOULE_FLAG_USER_CHAIN, depth, 0);
	check(cpu, KJOULE_FLAG_USER_CHAIN | KJOULE_FLAG_KERNEL_CHAIN, 2, 0);
	for (bytes = 64; bytes < 96; bytes += 8) {
		for (missing = 8; missing <= 16; missing += 8) {
			pid = start_spinning(cpu, bytes - missing);
			check(cpu, KJOULE_FLAG_USER_STACK, 0, bytes);
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	}
	ktap_check_equal(0, session_count(), "no session is left");
	nl_close(&nl);
	return ktap_end();
}
