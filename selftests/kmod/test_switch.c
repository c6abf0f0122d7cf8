// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tick that is due while the scheduler changes from one task to another, with interrupts
 * off, is that of the task that leaves, and is not taken once more when the timer's interrupt
 * comes: of two that hand over to each other all the time, and of one that goes to sleep.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 60
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	100000
#define ENOUGH		20
#define MOST_MS		4000	/* for so many at switches */

struct seen {
	pid_t pid[2];
	uint64_t schedule;		/* its address, 0 if it is hidden */
	uint64_t at_switch[2], usual[2];
	uint64_t enough;		/* at switches of both */
	uint64_t elsewhere;		/* at a switch, and not in schedule() */
};

static void note(struct walk *w, uint64_t tick, const struct kjoule_sample *s)
{
	struct seen *seen = w->data;
	bool at_switch = s->rec.flags & KJOULE_SAMPLE_SWITCH;

	(void)tick;
	if (at_switch && (!(s->rec.flags & KJOULE_SAMPLE_KERNEL) || s->ip != seen->schedule))
		seen->elsewhere++;
	for (unsigned int i = 0; i < 2; i++) {
		if (!seen->pid[i] || (pid_t)w->tgid != seen->pid[i])
			continue;
		seen->at_switch[i] += at_switch;
		seen->usual[i] += !at_switch;
	}
	seen->enough = seen->at_switch[0];
	if (seen->pid[1] && seen->at_switch[1] < seen->enough)
		seen->enough = seen->at_switch[1];
}

/* 0 where addresses are hidden; then so is that of a sample. */
static uint64_t address_of_schedule(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long address, found = 0;
	char line[512], name[128];

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %*c %127s", &address, name) == 2 &&
		    !strcmp(name, "schedule"))
			found = address;
	}
	if (f)
		fclose(f);
	return found;
}

/* A child on the first CPU that ends with us. */
static pid_t begin(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin_to(cpu_first());
	}
	return pid;
}

/* Each waits for the other one's byte, and answers it. */
static void hand_over(int from, int to)
{
	char byte = 0;

	while (write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1)
		;
	_exit(1);
}

static void sleep_and_wake(void)
{
	for (;;)
		usleep(50);
}

static void check(const char *name, struct seen *seen)
{
	struct nl_session info;
	struct walk walk;
	struct device d;
	struct nl nl;

	if (nl_open(&nl) ||
	    !session_begin(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
						     .cpus = 1ULL << cpu_first() }, &info, &d,
			   &walk)) {
		ktap_not_ok("%s: no session", name);
		return;
	}
	walk.on_sample = note;
	walk.data = seen;
	ktap_check(drain_until(&d, &walk, MOST_MS, &seen->enough, ENOUGH),
		   "%s: ticks that were due before a task was left are its own", name);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, &walk);
	ktap_check_equal(0, seen->elsewhere, "they are in the scheduler");
	/* a tick that is taken twice is a fault of the walk, and in no book */
	check_stats(name, &nl, &info, &d, &walk);
	ktap_diag("%s: %llu and %llu at switches, %llu and %llu elsewhere", name,
		  (unsigned long long)seen->at_switch[0], (unsigned long long)seen->at_switch[1],
		  (unsigned long long)seen->usual[0], (unsigned long long)seen->usual[1]);
	device_close(&d);
	nl_close(&nl);
}

static void end(const struct seen *seen)
{
	for (unsigned int i = 0; i < 2; i++) {
		if (seen->pid[i] <= 0)
			continue;
		kill(seen->pid[i], SIGKILL);
		waitpid(seen->pid[i], NULL, 0);
	}
}

int main(void)
{
	struct seen two = { .schedule = address_of_schedule() }, one = two;
	int there[2], back[2];

	need_module();
	pin_to(need_second_cpu("which cannot watch another"));
	if (pipe(there) || pipe(back)) {
		ktap_not_ok("two pipes");
		return ktap_end();
	}
	two.pid[0] = begin();
	if (!two.pid[0])
		hand_over(back[0], there[1]);
	two.pid[1] = begin();
	if (!two.pid[1])
		hand_over(there[0], back[1]);
	check("two that hand over", &two);
	end(&two);
	one.pid[0] = begin();
	if (!one.pid[0])
		sleep_and_wake();
	check("one that sleeps", &one);
	end(&one);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
