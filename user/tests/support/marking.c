// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See marking.h.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <kjoule/region.h>
#include "lib/base/now.h"
#include "lib/region/mark_ring.h"
#include "tests/support/marking.h"

static void signal_ready(void)
{
	struct reported reported = { kjoule_now_ns(), syscall(SYS_gettid) };

	if (write(STDOUT_FILENO, &reported, sizeof(reported)) != sizeof(reported))
		_exit(9);
}

static int nested(void)
{
	char name[16] = "outer";

	errno = 77;
	signal_ready();
	kjoule_region_begin(name);
	signal_ready();
	strcpy(name, "inner");		/* names are copied */
	kjoule_region_begin(name);
	signal_ready();
	kjoule_region_end();
	signal_ready();
	kjoule_region_end();
	signal_ready();
	kjoule_region_begin("outer");
	kjoule_region_begin("other");
	signal_ready();
	kjoule_region_end();
	kjoule_region_end();
	kjoule_region_end();		/* one too many */
	kjoule_region_begin(NULL);
	signal_ready();
	return errno == 77 && kjoule_region_recorded() == 1 ? 0 : 1;
}

static void *in_thread(void *name)
{
	kjoule_region_begin(name);
	for (int i = 0; i < 1000; i++) {
		kjoule_region_begin("again");
		kjoule_region_end();
	}
	signal_ready();
	return NULL;
}

static int threads(void)
{
	static char names[8][2];
	pthread_t t[8];

	kjoule_region_begin("main");
	for (int i = 0; i < 8; i++) {
		names[i][0] = 'a' + i;
		if (pthread_create(&t[i], NULL, in_thread, names[i]))
			return 1;
	}
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	signal_ready();
	return 0;
}

/* More threads, one after another, than there are rings. */
static int many_threads(void)
{
	static char name[] = "short";
	pthread_t t;

	for (int i = 0; i < KJOULE_REGION_RINGS + 300; i++) {
		if (pthread_create(&t, NULL, in_thread, name))
			return 1;
		pthread_join(t, NULL);
	}
	return 0;
}

static int forks(void)
{
	int status;
	pid_t pid;

	kjoule_region_begin("outer");
	kjoule_region_begin("inner");
	pid = fork();
	if (!pid) {
		kjoule_region_begin("child's");
		signal_ready();
		kjoule_region_end();
		kjoule_region_end();
		signal_ready();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	signal_ready();
	/* by the system call, past whatever the C library does */
	pid = syscall(SYS_fork);
	if (!pid) {
		kjoule_region_end();
		signal_ready();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	signal_ready();
	return status;
}

static int one_then_exec(void)
{
	kjoule_region_begin("before");
	execl("/proc/self/exe", "a test", "nested", NULL);
	return 1;
}

static int killed_in_a_region(void)
{
	kjoule_region_begin("killed");
	signal_ready();
	raise(SIGKILL);
	return 1;
}

static volatile uint64_t handled;
static volatile sig_atomic_t working;

static void handler(int sig)
{
	(void)sig;
	if (!working)
		return;
	kjoule_region_begin("handler");
	handled++;
	kjoule_region_end();
}

/* Signals at any instruction of the marks. */
static int signals(void)
{
	struct itimerspec often = { { 0, 20000 }, { 0, 20000 } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	uint64_t end = kjoule_now_ns() + 300000000;
	uint64_t rounds = 0, from;
	timer_t timer;
	char byte = 0;

	kjoule_region_begin("warm");
	kjoule_region_begin("handler");
	kjoule_region_end();
	kjoule_region_end();
	signal(SIGALRM, handler);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &often, NULL))
		return 1;
	while (kjoule_now_ns() < end || rounds <= 100 || handled <= 100) {
		/*
		 * never more than the reader can take: a millisecond's worth, and wait until it has
		 */
		working = 1;
		for (from = kjoule_now_ns(); kjoule_now_ns() < from + 1000000 &&
		     rounds % 512 != 511; rounds++) {
			kjoule_region_begin("a");
			kjoule_region_begin("b");
			kjoule_region_end();
			kjoule_region_end();
		}
		rounds++;
		kjoule_region_begin("a");
		kjoule_region_begin("b");
		kjoule_region_end();
		kjoule_region_end();
		working = 0;
		if (write(STDOUT_FILENO, &byte, 1) != 1)
			return 1;
		while (read(STDIN_FILENO, &byte, 1) != 1)
			;
	}
	timer_delete(timer);
	if (write(STDOUT_FILENO, &rounds, sizeof(rounds)) != sizeof(rounds) ||
	    write(STDOUT_FILENO, (const void *)&handled, sizeof(handled)) != sizeof(handled))
		return 1;
	return 0;
}

static void stepped_handler(int sig)
{
	handler(sig);
	/* to be looked at while the thread is where it was interrupted */
	raise(SIGUSR1);
}

/* Signals after each instruction of the marks, one after the other: the test steps through them. */
static int stepped(void)
{
	static uint64_t inside[MARKING_STEPS];

	kjoule_region_begin("a");
	kjoule_region_begin("handler");
	kjoule_region_end();
	kjoule_region_end();
	kjoule_region_begin("handler");
	kjoule_region_end();
	working = 1;
	signal(SIGALRM, stepped_handler);
	signal(SIGUSR1, SIG_IGN);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(2);
	for (int i = 0; i < MARKING_STEPS; i++) {
		raise(SIGSTOP);
		kjoule_region_begin("a");
		inside[i] = kjoule_now_ns();
		kjoule_region_end();
		/* as many instructions as it takes to have all of them interrupted */
		for (volatile int k = 0; k < MARKING_STEPS; k++)
			;
	}
	_exit(handled == MARKING_STEPS && write(STDOUT_FILENO, inside, sizeof(inside)) ==
	      sizeof(inside) ? 0 : 3);
}

/* More than a ring takes, without a reader meanwhile. */
static int too_much(void)
{
	kjoule_region_begin("whole");
	for (int i = 0; i < KJOULE_REGION_UNITS; i++) {
		kjoule_region_begin("part");
		kjoule_region_end();
	}
	signal_ready();
	/* the test has read it now */
	if (getchar() != 'x')
		return 1;
	kjoule_region_begin("late");
	signal_ready();
	kjoule_region_end();
	kjoule_region_end();
	signal_ready();
	return 0;
}

static int too_deep(void)
{
	char name[200];

	for (int i = 0; i < KJOULE_REGION_DEPTH_MAX + 8; i++)
		kjoule_region_begin("deep");
	signal_ready();
	for (int i = 0; i < KJOULE_REGION_DEPTH_MAX + 8; i++)
		kjoule_region_end();
	signal_ready();
	for (int i = 0; i < KJOULE_REGION_PATHS_MAX; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		kjoule_region_begin(name);
		kjoule_region_end();
	}
	return 0;
}

static int long_name(void)
{
	char name[200];

	memset(name, 'x', sizeof(name));
	/* a character of two bytes that would be cut in two */
	memcpy(name + KJOULE_REGION_NAME_MAX - 1, "\303\244", 2);
	name[199] = 0;
	kjoule_region_begin(name);
	signal_ready();
	return 0;
}

/* Marks until it is killed, wherever it is then. */
static int forever(void)
{
	for (;;) {
		kjoule_region_begin("one");
		kjoule_region_begin("another");
		kjoule_region_end();
		kjoule_region_end();
	}
	return 0;
}

/* So little address space that the memory does not fit. */
static int cramped(void)
{
	struct rlimit limit = { 64 << 20, 64 << 20 };

	if (setrlimit(RLIMIT_AS, &limit))
		return 1;
	execl("/proc/self/exe", "a test", "recorded", NULL);
	return 1;
}

static int says_whether_recorded(void)
{
	kjoule_region_begin("x");
	kjoule_region_end();
	return kjoule_region_recorded() ? 5 : 6;
}

static const struct {
	const char *name;
	int (*run)(void);
} programs[] = {
	{ "nested", nested }, { "threads", threads }, { "many", many_threads }, { "forks", forks },
	{ "exec", one_then_exec }, { "killed", killed_in_a_region }, { "signals", signals },
	{ "stepped", stepped },
	{ "too-much", too_much }, { "too-deep", too_deep }, { "long", long_name },
	{ "forever", forever },
	{ "recorded", says_whether_recorded }, { "cramped", cramped },
};

int marking_run(const char *name)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(name, programs[i].name))
			return programs[i].run();
	return -1;
}
