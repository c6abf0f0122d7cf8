// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A user stack is memory of its process: with CAP_PERFMON alone it is copied of processes that the
 * user could trace only, which is asked for when the session is made and again at each sample. What
 * is withheld is marked, counted, and has no register either. CAP_SYS_PTRACE or CAP_SYS_ADMIN is
 * enough for all.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * beside: others
 * timeout: 90
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "books.h"
#include "guest.h"
#include "need.h"
#include "ring.h"
#include "who.h"

#define ENOUGH	20
#define OTHER	(NOBODY - 1)

static struct walk walk[NL_MAX_CPUS];
static pid_t roots;		/* a process of root's */

/* What a child is to become, and whether it has. */
static volatile enum { BUSY, DUMPABLE, OF_ANOTHER, ENDED } *wanted, *is;

static void run(void)
{
	/* it may be of a user whom its parent cannot kill */
	alarm(60);
	while (*wanted != ENDED) {
		if (*wanted == *is)
			continue;
		if (*wanted == OF_ANOTHER && setresuid(OTHER, OTHER, OTHER))
			_exit(1);
		prctl(PR_SET_DUMPABLE, *wanted != BUSY);
		*is = *wanted;
	}
	_exit(0);
}

static void become_now(int what)
{
	*wanted = what;
	if (!await(*is == *wanted))
		ktap_not_ok("the child has become that");
}

/* A process that cannot be dumped: who has become another user cannot, and hands that on. */
static pid_t start_child(void)
{
	pid_t pid;

	*wanted = *is = BUSY;
	pid = fork();
	if (!pid)
		run();
	return pid;
}

static void end_child(pid_t pid)
{
	*wanted = ENDED;
	waitpid(pid, NULL, 0);
}

static struct nl_config of_process(pid_t pid)
{
	return (struct nl_config){ .interval_ns = 1000000, .target = KJOULE_TARGET_PROCESS, .pid = pid,
				   .flags = KJOULE_FLAG_USER_STACK, .energy = "", .frequency = "" };
}

struct seen {
	uint64_t copied, withheld, wrong;
};

static void note_stack(struct walk *w, const struct kjoule_stack *s)
{
	static const uint64_t none[KJOULE_STACK_REGS];
	struct seen *seen = w->data;
	bool empty = !s->bytes && !memcmp(s->reg, none, sizeof(none));

	if (s->rec.flags & KJOULE_STACK_WITHHELD)
		seen->withheld++;
	else
		seen->copied++;
	seen->wrong += empty != !!(s->rec.flags & KJOULE_STACK_WITHHELD);
}

/* Only those of a kind, however many: the child is what it is. */
static void look(struct device *d, bool copied, const char *what)
{
	struct seen seen = { 0 };
	unsigned int i;

	sleep_ms(20);
	for (i = 0; i < d->n; i++) {
		walk[i].on_stack = NULL;
		walk[i].data = &seen;
	}
	drain_map(d, walk);
	for (i = 0; i < d->n; i++)
		walk[i].on_stack = note_stack;
	if (!ktap_check(drain_until(d, walk, 50, copied ? &seen.copied : &seen.withheld, ENOUGH) &&
			!(copied ? seen.withheld : seen.copied) && !seen.wrong, "%s", what))
		ktap_diag("%llu copied, %llu withheld, %llu neither; %s", (unsigned long long)seen.copied,
			  (unsigned long long)seen.withheld, (unsigned long long)seen.wrong, nl.why);
}

static void check_own(void)
{
	pid_t pid = start_child();
	struct nl_config c = of_process(pid);
	struct nl_session info;
	struct nl_stats before, after;
	struct device d;

	if (!session_begin(&nl, &c, &info, &d, walk)) {
		end_child(pid);
		return;
	}
	look(&d, false, "a child that cannot be dumped: its stack is withheld, and marked");
	nl_stats_total(&nl, info.id, &before);
	ktap_check(before.stacks_withheld >= ENOUGH, "and counted");
	become_now(DUMPABLE);
	look(&d, true, "when it can be dumped, its stack is copied");
	become_now(OF_ANOTHER);
	look(&d, false, "when it is another user's, its stack is withheld");
	nl_stats_total(&nl, info.id, &after);
	ktap_check(after.stacks_withheld >= before.stacks_withheld + ENOUGH, "and counted again");
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	end_child(pid);
}

/* A child of init's: of the same user, but not the caller's to begin with. */
static void check_stranger(void)
{
	struct nl_config c;
	pid_t pid, *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct nl_session info;

	pid = fork();
	if (!pid) {
		*shared = start_child();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	c = of_process(*shared);
	check_errno(EPERM, nl_session_new(&nl, &c, &info), "a user", "stacks of a process of his that cannot be dumped");
	become_now(DUMPABLE);
	check_errno(0, nl_session_new(&nl, &c, &info), "a user", "when it can be");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	*wanted = ENDED;
}

static void check_all(int want, const char *who)
{
	struct nl_config c = of_process(0);
	struct nl_session info;

	c.target = KJOULE_TARGET_SYSTEM;
	check_errno(want, nl_session_new(&nl, &c, &info), who, "stacks of all processes");
	if (want)
		ktap_check(strstr(nl.why, "CAP_SYS_PTRACE"), "%s: reads which capability they take", who);
	else
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	c = of_process(roots);
	check_errno(want, nl_session_new(&nl, &c, &info), who, "stacks of a process of root's");
	if (!want)
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	c.flags = KJOULE_FLAG_USER_CHAIN;
	check_errno(0, nl_session_new(&nl, &c, &info), who, "its call chains");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

static void as_user(void)
{
	if (!become(NOBODY, CAP(CAP_PERFMON) | CAP(CAP_SETUID) | FILES) || nl_open(&nl)) {
		ktap_not_ok("becoming a user with CAP_PERFMON");
		return;
	}
	check_all(EPERM, "CAP_PERFMON alone");
	check_own();
	check_stranger();
}

static void as_tracer(void)
{
	if (!become(NOBODY, CAP(CAP_PERFMON) | CAP(CAP_SYS_PTRACE) | FILES) || nl_open(&nl))
		ktap_not_ok("becoming a user with CAP_SYS_PTRACE");
	else
		check_all(0, "CAP_SYS_PTRACE besides");
}

static void as_admin(void)
{
	if (!become(NOBODY, CAP(CAP_SYS_ADMIN) | FILES) || nl_open(&nl))
		ktap_not_ok("becoming a user with CAP_SYS_ADMIN");
	else
		check_all(0, "CAP_SYS_ADMIN alone");
}

int main(void)
{
	need_module();
	need_root();
	roots = getpid();
	wanted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (wanted == MAP_FAILED)
		return 1;
	is = wanted + 1;
	in_child(as_user);
	in_child(as_tracer);
	in_child(as_admin);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
