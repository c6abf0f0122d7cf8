// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands of the user: started with their output out of the way, ended in order; as a load, again and again, as long as
 * the load is to last. See boost_cmd.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "boost_cmd.h"
#include "cmd.h"

/* What a command has to end in when it is to, before it is killed, and between two looks whether it has. */
#define ORDER_MS	2000
#define LOOK_MS		20

int boost_command_find(const char *name)
{
	struct kjoule_error err;
	int code = record_child_find(name, &err);

	if (code)
		cmd_warn("%s", err.text);
	return code;
}

const char *boost_command_text(char **command, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (char **word = command; *word && at + 1 < len; word++) {
		int n = snprintf(buf + at, len - at, "%s%s", at ? " " : "", *word);

		at += n > 0 ? n : 0;
	}
	return buf;
}

/* Where the command's output goes. Return: what to give back, -1: it could not be diverted */
static int divert(bool show)
{
	int saved, to = show ? STDERR_FILENO : open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (to < 0 || saved < 0 || dup2(to, STDOUT_FILENO) < 0) {
		if (saved >= 0)
			close(saved);
		saved = -1;
	}
	if (!show && to >= 0)
		close(to);
	return saved;
}

int boost_command_start(struct record_child *child, char **command, bool show, const sigset_t *mask, struct kjoule_error *err)
{
	int saved = divert(show), ret;

	if (saved < 0)
		return kjoule_fail(err, errno, "diverting the command's output: %s", strerror(errno));
	ret = record_child_start(child, command, mask, NULL);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return ret ? kjoule_fail(err, -ret, "starting the command: %s", strerror(-ret)) : 0;
}

int boost_command_go(struct record_child *child, const char *name, struct kjoule_error *err)
{
	int ret = record_child_go(child);

	if (!ret)
		return 0;
	record_child_reap(child, true);
	return kjoule_fail(err, -ret, "%s: %s", name, strerror(-ret));
}

bool boost_command_let_end(struct record_child *child)
{
	for (unsigned int ms = 0; ms < ORDER_MS; ms += LOOK_MS) {
		if (record_child_reap(child, false))
			return true;
		nanosleep(&(struct timespec){ 0, LOOK_MS * 1000000l }, NULL);
	}
	return false;
}

static int start(struct boost_command_load *l, struct kjoule_error *err)
{
	int ret = boost_command_start(&l->child, l->command, false, l->mask, err);

	if (ret)
		return ret;
	/* all that it starts is of one group, by which it is known and ended */
	setpgid(l->child.pid, l->child.pid);
	if (l->cpus) {
		cpu_set_t set;

		CPU_ZERO(&set);
		for (int cpu = kjoule_cpus_next(l->cpus, 0); cpu >= 0 && cpu < CPU_SETSIZE; cpu = kjoule_cpus_next(l->cpus, cpu + 1))
			CPU_SET(cpu, &set);
		if (sched_setaffinity(l->child.pid, sizeof(set), &set)) {
			ret = kjoule_fail(err, errno, "keeping the command on its CPUs: %s", strerror(errno));
			record_child_kill(&l->child);
			return ret;
		}
	}
	ret = boost_command_go(&l->child, l->command[0], err);
	if (ret)
		return ret;
	l->runs = true;
	l->times++;
	return 0;
}

int boost_command_load_tend(struct boost_command_load *l, bool work, struct kjoule_error *err)
{
	if (l->runs && record_child_reap(&l->child, false)) {
		l->runs = false;
		/* what it has left behind */
		kill(-l->child.pid, SIGKILL);
		l->failed = record_child_code(&l->child);
		if (l->failed)
			return kjoule_fail(err, ECHILD, "%s, the load, ended with exit code %d", l->command[0], l->failed);
	}
	if (work && !l->runs)
		return start(l, err);
	if (!work && l->runs) {
		kill(-l->child.pid, SIGTERM);
		/* one that was stopped is to see it */
		kill(-l->child.pid, SIGCONT);
		if (!boost_command_let_end(&l->child)) {
			kill(-l->child.pid, SIGKILL);
			record_child_reap(&l->child, true);
		}
		kill(-l->child.pid, SIGKILL);
		l->runs = false;
	}
	return 0;
}

bool boost_command_load_is(const struct boost_command_load *l, pid_t pid)
{
	pid_t group = getpgid(pid);

	return l->runs && pid != getpid() && (group < 0 || group == l->child.pid);
}
