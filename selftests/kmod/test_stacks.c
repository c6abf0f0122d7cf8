// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A user stack is memory of its process: with CAP_PERFMON alone it is copied of processes that the
 * user could trace only, which is asked for when the session is made and again at each sample. What
 * is withheld is marked, counted, and has no register either. Each thing that ptrace asks about is
 * asked: user and group ids, capabilities, user namespace, may it be dumped. CAP_SYS_PTRACE or
 * CAP_SYS_ADMIN is enough for all.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 90
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "need.h"
#include "ring.h"
#include "who.h"

#define ENOUGH	20
#define OTHER	(NOBODY - 1)
#define PROGRAM	"/tmp/kjoule_test_stacks_setuid"
#define CGROUP	"/tmp/kjoule_test_stacks_cgroup"

static struct walk walk[NL_MAX_CPUS];
static pid_t roots;		/* a process of root's */
static int cgroup;		/* the root of all of them, -1: none can be had */
static bool namespaces;		/* user namespaces can be made */

/* What a child is to become, and whether it has. */
enum state { BUSY, DUMPABLE, OF_UID, OF_EUID, OF_SUID, OF_GID, OF_EGID, OF_SGID, IN_NAMESPACE,
	WITHOUT_LEADER, ENDED };
static volatile enum state *wanted, *is;
static volatile pid_t *executed;	/* a child's child, which has executed a program */

static void set_ids(enum state what)
{
	uid_t uid[3] = { NOBODY, NOBODY, NOBODY };
	gid_t gid[3] = { NOBODY, NOBODY, NOBODY };

	if (what >= OF_UID && what <= OF_SUID)
		uid[what - OF_UID] = OTHER;
	if (what >= OF_GID && what <= OF_SGID)
		gid[what - OF_GID] = OTHER;
	if (setresgid(gid[0], gid[1], gid[2]) || setresuid(uid[0], uid[1], uid[2]))
		_exit(1);
}

static void *run(void *arg)
{
	while (*wanted != ENDED) {
		enum state what = *wanted;
		pthread_t t;

		if (what == *is)
			continue;
		if (what == WITHOUT_LEADER) {
			/* first, or that one would do the same */
			*is = what;
			if (pthread_create(&t, NULL, run, arg))
				_exit(1);
			pthread_exit(NULL);
		}
		if (what == IN_NAMESPACE) {
			/*
			 * there he has all capabilities; without any, the namespace is all that is
			 * not the maker's
			 */
			if (unshare(CLONE_NEWUSER) || !caps_keep(0))
				_exit(1);
		} else {
			set_ids(what);
		}
		prctl(PR_SET_DUMPABLE, what != BUSY);
		*is = what;
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
	if (!pid) {
		/* it may be of a user whom its parent cannot kill */
		alarm(60);
		run(NULL);
	}
	return pid;
}

static void end_child(pid_t pid)
{
	*wanted = ENDED;
	waitpid(pid, NULL, 0);
}

static struct nl_config of_process(pid_t pid)
{
	return (struct nl_config){ .interval_ns = 1000000, .target = KJOULE_TARGET_PROCESS,
				   .pid = pid, .flags = KJOULE_FLAG_USER_STACK, .energy = "",
				   .frequency = "" };
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
		ktap_diag("%llu copied, %llu withheld, %llu neither; %s",
			  (unsigned long long)seen.copied, (unsigned long long)seen.withheld,
			  (unsigned long long)seen.wrong, nl.why);
}

static void check_own(void)
{
	static const char *const ids[] = {
		"when it has another real user id, its stack is withheld",
		"when it has another effective user id, its stack is withheld",
		"when it has another saved user id, its stack is withheld",
		"when it has another real group id, its stack is withheld",
		"when it has another effective group id, its stack is withheld",
		"when it has another saved group id, its stack is withheld",
	};
	pid_t pid = start_child();
	struct nl_config c = of_process(pid);
	struct nl_session info;
	struct nl_stats before, after;
	unsigned int i;
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
	for (i = OF_UID; i <= OF_SGID; i++) {
		become_now(i);
		look(&d, false, ids[i - OF_UID]);
		become_now(DUMPABLE);
		look(&d, true, "when it is the maker's again, its stack is copied");
	}
	nl_stats_total(&nl, info.id, &after);
	ktap_check(after.stacks_withheld >= before.stacks_withheld + ENOUGH, "and counted again");
	if (namespaces) {
		become_now(IN_NAMESPACE);
		look(&d, false, "in a user namespace of its own: its stack is withheld");
	} else {
		ktap_skip("in a user namespace of its own: its stack is withheld", NO_USER_NAMESPACE);
	}
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	end_child(pid);
}

/* The process, or its main thread where others go on: a zombie. */
static bool has_ended(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state == 'Z';
}

/* A child of init's: of the same user, but not the caller's to begin with. */
static void check_stranger(void)
{
	struct nl_config c;
	struct device d;
	pid_t pid, *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct nl_session info;

	pid = fork();
	if (!pid) {
		*shared = start_child();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	c = of_process(*shared);
	check_errno(EPERM, nl_session_new(&nl, &c, &info), "a user",
		    "stacks of a process of his that cannot be dumped");
	become_now(DUMPABLE);
	check_errno(0, nl_session_new(&nl, &c, &info), "a user", "when it can be");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	become_now(WITHOUT_LEADER);
	if (!await(has_ended(*shared)))
		ktap_not_ok("its main thread has ended");
	if (session_begin(&nl, &c, &info, &d, walk)) {
		look(&d, true, "when its main thread has ended, its other thread's stack is copied");
		device_close(&d);
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	}
	*wanted = ENDED;
}

/* It has a capability that the maker has not, though he has forked it. */
static void check_capability(void)
{
	pid_t pid = start_child();
	struct nl_config c = of_process(pid);
	struct nl_session info;

	become_now(DUMPABLE);
	check_errno(0, nl_session_new(&nl, &c, &info), "a user",
		    "stacks of a process with his capabilities");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	if (!caps_keep(CAP(CAP_PERFMON) | FILES))
		ktap_not_ok("giving up capabilities");
	check_errno(EPERM, nl_session_new(&nl, &c, &info), "a user",
		    "stacks of a process with more capabilities");
	end_child(pid);
}

/* What a child of the process executes is asked for on its own. */
static void check_program(const char *program, uid_t euid, const char *what)
{
	struct nl_config c;
	struct nl_session info;
	struct device d;
	struct stat st;
	char proc[64];
	int ready[2];
	pid_t pid;
	char go;

	*executed = 0;
	if (pipe(ready)) {
		ktap_not_ok("a pipe");
		return;
	}
	pid = fork();
	if (!pid) {
		alarm(60);
		/* nothing but the program's rights is to make a difference */
		prctl(PR_SET_DUMPABLE, 1);
		if (read(ready[0], &go, 1) != 1)
			_exit(1);
		pid = fork();
		if (!pid) {
			execl(program, program, "spin", NULL);
			_exit(1);
		}
		*executed = pid;
		wait(NULL);
		_exit(0);
	}
	c = of_process(pid);
	c.flags |= KJOULE_FLAG_INHERIT;
	if (session_begin(&nl, &c, &info, &d, walk)) {
		if (write(ready[1], "", 1) != 1 || !await(*executed))
			ktap_not_ok("the child has forked");
		snprintf(proc, sizeof(proc), "/proc/%d", *executed);
		if (!await(!stat(proc, &st) && st.st_uid == euid))
			ktap_not_ok("its child has executed a program");
		look(&d, euid != 0, what);
		device_close(&d);
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	}
	if (*executed)
		kill(*executed, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

static void check_all(int want, const char *who)
{
	struct nl_config c = of_process(0);
	struct nl_session info;

	c.target = KJOULE_TARGET_SYSTEM;
	check_errno(want, nl_session_new(&nl, &c, &info), who, "stacks of all processes");
	if (want)
		ktap_check(strstr(nl.why, "CAP_SYS_PTRACE"), "%s: reads which capability they take",
			   who);
	else
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	if (cgroup < 0) {
		ktap_skip("stacks of a cgroup", "no cgroup2: mount it");
	} else {
		c.target = KJOULE_TARGET_CGROUP;
		c.cgroup_fd = cgroup;
		check_errno(want, nl_session_new(&nl, &c, &info), who, "stacks of a cgroup");
		if (want)
			ktap_check(strstr(nl.why, "a cgroup"), "%s: reads that it is for a cgroup",
				   who);
		else
			nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	}
	c = of_process(roots);
	check_errno(want, nl_session_new(&nl, &c, &info), who, "stacks of a process of root's");
	if (want)
		ktap_check(strstr(nl.why, "CAP_SYS_PTRACE or CAP_SYS_ADMIN"),
			   "%s: reads what it takes", who);
	if (!want)
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	c.flags = KJOULE_FLAG_USER_CHAIN;
	check_errno(0, nl_session_new(&nl, &c, &info), who, "its call chains");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
}

static void as_user(void)
{
	if (!become(NOBODY, CAP(CAP_PERFMON) | CAP(CAP_SETUID) | CAP(CAP_SETGID) | FILES) ||
	    nl_open(&nl)) {
		ktap_not_ok("becoming a user with CAP_PERFMON");
		return;
	}
	check_all(EPERM, "CAP_PERFMON alone");
	check_own();
	check_program("/proc/self/exe", NOBODY,
		      "a program that a child has executed: its stack is copied");
	check_program(PROGRAM, 0, "a set-user-ID program that a child has executed: its stack is withheld");
	check_capability();
	/* last: it ends later, and would do what the next child is to do */
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

/* A program that is root's whoever executes it: this one. */
static bool make_program(void)
{
	static char buffer[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(PROGRAM, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t n = -1;

	while (from >= 0 && to >= 0 && (n = read(from, buffer, sizeof(buffer))) > 0) {
		if (write(to, buffer, n) != n)
			n = -1;
	}
	if (!n && fchmod(to, 04755))
		n = -1;
	close(from);
	close(to);
	return !n;
}

static bool can_make_namespace(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(setresuid(NOBODY, NOBODY, NOBODY) || unshare(CLONE_NEWUSER));
	return waitpid(pid, &status, 0) == pid && !status;
}

static int open_cgroup(void)
{
	int fd;

	mkdir(CGROUP, 0755);
	fd = mount("none", CGROUP, "cgroup2", 0, NULL) ? -1 :
	     open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	umount2(CGROUP, MNT_DETACH);
	rmdir(CGROUP);
	return fd;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "spin")) {
		alarm(60);
		for (;;)
			;
	}
	need_module();
	need_root();
	roots = getpid();
	namespaces = can_make_namespace();
	cgroup = open_cgroup();
	if (!make_program()) {
		ktap_not_ok("a set-user-ID program");
		return ktap_end();
	}
	wanted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (wanted == MAP_FAILED)
		return 1;
	is = wanted + 1;
	executed = (volatile pid_t *)(wanted + 2);
	in_child(as_user);
	in_child(as_tracer);
	in_child(as_admin);
	unlink(PROGRAM);
	ktap_check_equal(0, session_count(), "no session is left");
	return ktap_end();
}
