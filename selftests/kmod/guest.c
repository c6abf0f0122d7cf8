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

#include "../ktap.h"
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

/*
 * CPUs of a list like 0-3,8 in sysfs: the lowest not below @from, -1 if none; the highest in @last.
 */
static int cpu_of_list(const char *name, unsigned int from, unsigned int *last)
{
	char path[64], c;
	int found = -1;
	unsigned int a, b;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", name);
	f = fopen(path, "r");
	while (f && fscanf(f, "%u", &a) == 1) {
		b = a;
		c = fgetc(f);
		if (c == '-' && fscanf(f, "%u", &b) == 1)
			c = fgetc(f);
		if (found < 0 && b >= from)
			found = a > from ? a : from;
		if (last)
			*last = b;
		if (c != ',')
			break;
	}
	if (f)
		fclose(f);
	return found;
}

/* The lowest CPU that is online. */
unsigned int cpu_first(void)
{
	int cpu = cpu_of_list("online", 0, NULL);

	return cpu < 0 ? 0 : cpu;
}

/* The one after it, -1 if there is none. */
int cpu_second(void)
{
	return cpu_of_list("online", cpu_first() + 1, NULL);
}

/* How many CPUs there may ever be. */
unsigned int cpu_possible(void)
{
	unsigned int last = 0;

	cpu_of_list("possible", 0, &last);
	return last + 1;
}

/* The online ones of the first 64. */
uint64_t cpu_online_mask(void)
{
	uint64_t mask = 0;
	int cpu = -1;

	while ((cpu = cpu_of_list("online", cpu + 1, NULL)) >= 0 && cpu < 64)
		mask |= 1ULL << cpu;
	return mask;
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

/* Compute, in this very thread. */
void busy_forever(void)
{
	volatile unsigned long x = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		x = x * 6364136223846793005UL + 1;
}

/* Another thread than the first replaces the process by this program, asked to compute. */
static void *replace(void *unused)
{
	char *args[] = { "busy", "compute", NULL };

	(void)unused;
	execv("/proc/self/exe", args);
	_exit(1);
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
		if (pthread_create(&t, NULL, c == 'x' ? replace : compute, NULL))
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

/* Have its program replaced by this one's "compute", which calls busy_forever(). */
void busy_exec(struct busy *b)
{
	if (write(b->control, "x", 1) != 1)
		kill(b->pid, SIGKILL);
}

void busy_stop(struct busy *b)
{
	kill(b->pid, SIGKILL);
	waitpid(b->pid, NULL, 0);
	close(b->control);
	close(b->answer);
}

void cpus_at_full_speed(void)
{
	char path[80];

	for (unsigned int cpu = 0; cpu < cpu_count(); cpu++) {
		FILE *f;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
		f = fopen(path, "w");
		if (f) {
			fputs("performance", f);
			fclose(f);
		}
	}
}

void ticks_may_take(const char *percent)
{
	FILE *f = fopen("/sys/module/kjoule/parameters/tick_percent", "w");

	if (!f || fputs(percent, f) < 0 || fclose(f))
		ktap_not_ok("ticks may take %s %%", percent);
}

bool kernel_full_of_checkers(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}
