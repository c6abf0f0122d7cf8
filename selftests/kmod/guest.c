// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the module's selftests do to the guest around the module; see guest.h.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&t, &t))
		;
}

unsigned int cpu_count(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

/* Take a CPU off or on; false if it would not. */
bool cpu_online(unsigned int cpu, bool on)
{
	char path[64];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;
	close(fd);
	return done;
}

void pin_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int answer_fd;

static void *compute(void *unused)
{
	pid_t tid = gettid();
	volatile unsigned long x = 1;

	(void)unused;
	if (write(answer_fd, &tid, sizeof(tid)) != sizeof(tid))
		_exit(1);
	for (;;)
		x = x * 6364136223846793005UL + 1;
	return NULL;
}

static void busy_main(unsigned int threads, int control)
{
	pthread_t t;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (threads--) {
		if (pthread_create(&t, NULL, compute, NULL))
			_exit(1);
	}
	while (read(control, &c, 1) == 1) {
		if (pthread_create(&t, NULL, compute, NULL))
			_exit(1);
	}
	_exit(0);
}

static bool hear_thread(struct busy *b)
{
	return b->threads < BUSY_MAX_THREADS &&
	       read(b->answer, &b->tid[b->threads++], sizeof(pid_t)) == sizeof(pid_t);
}

/* Start a process with so many computing threads; its first thread only waits. */
bool busy_start(struct busy *b, unsigned int threads)
{
	int control[2], answer[2];

	memset(b, 0, sizeof(*b));
	if (pipe2(control, O_CLOEXEC) || pipe2(answer, O_CLOEXEC))
		return false;
	b->pid = fork();
	if (!b->pid) {
		close(control[1]);
		answer_fd = answer[1];
		busy_main(threads, control[0]);
	}
	close(control[0]);
	close(answer[1]);
	b->control = control[1];
	b->answer = answer[0];
	while (b->pid > 0 && b->threads < threads) {
		if (!hear_thread(b))
			return false;
	}
	return b->pid > 0;
}

bool busy_add_thread(struct busy *b)
{
	return write(b->control, "+", 1) == 1 && hear_thread(b);
}

void busy_stop(struct busy *b)
{
	kill(b->pid, SIGKILL);
	waitpid(b->pid, NULL, 0);
	close(b->control);
	close(b->answer);
}
