// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands of the user: started with their output out of the way, ended in order; as a load, again
 * and again, as long as the load is to last. See boost.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include "boost/boost.h"
#include "cli/cmd.h"

/* Time a command gets to exit before SIGKILL, and the interval at which it is polled. */
#define ORDER_MS	2000
#define LOOK_MS		20

/* Characters that need no quotes in a shell; the mark of a text that was cut. */
#define PLAIN		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"
#define CUT		"..."

int boost_command_find(const char *name)
{
	struct kjoule_error err;
	int code = child_find(name, &err);

	if (code)
		cmd_warn("%s", err.text);
	return code;
}

/* A text that may not fit: @at goes on counting. */
struct text {
	char *buf;
	size_t len, at;
};

static void command_text_put(struct text *t, const char *what)
{
	for (; *what; what++, t->at++)
		if (t->at + 1 < t->len)
			t->buf[t->at] = *what;
}

/* As a shell would have to be given it. */
static void command_text_put_word(struct text *t, const char *word)
{
	bool quoted = !*word || word[strspn(word, PLAIN)];

	if (quoted)
		command_text_put(t, "'");
	for (; *word; word++)
		command_text_put(t, *word == '\'' ? "'\\''" : (char []){ *word, '\0' });
	if (quoted)
		command_text_put(t, "'");
}

const char *boost_command_text(char **command, char *buf, size_t len)
{
	struct text t = { buf, len, 0 };

	for (char **word = command; *word; word++) {
		if (word != command)
			command_text_put(&t, " ");
		command_text_put_word(&t, *word);
	}
	if (t.at >= len) {
		t.at = len > sizeof(CUT) ? len - sizeof(CUT) : 0;
		/* no half of a character */
		while (t.at && (buf[t.at] & 0xc0) == 0x80)
			t.at--;
		command_text_put(&t, CUT);
	}
	buf[t.at < len ? t.at : len - 1] = '\0';
	return buf;
}

/* Where the command's output goes. Return: what to give back, -1: it could not be diverted */
static int command_divert_output(bool show)
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

int boost_command_start(struct child *child, char **command, bool show, const sigset_t *mask,
			const struct kjoule_user *user, struct kjoule_error *err)
{
	int saved = command_divert_output(show), ret;

	if (saved < 0)
		return kjoule_fail(err, errno, "diverting the command's output: %s",
				   strerror(errno));
	ret = child_start(child, command, mask, NULL, user);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return ret ? kjoule_fail(err, -ret, "starting the command: %s", strerror(-ret)) : 0;
}

int boost_command_go(struct child *child, const char *name, int *code, struct kjoule_error *err)
{
	int ret = child_go(child);

	if (!ret)
		return 0;
	child_reap(child, true);
	*code = child_code(child);
	return kjoule_fail(err, -ret, "%s: %s", name, ret == -EPIPE ?
			   "the command was killed before it began" : strerror(-ret));
}

bool boost_command_let_end(struct child *child)
{
	for (unsigned int ms = 0; ms < ORDER_MS; ms += LOOK_MS) {
		if (child_reap(child, false))
			return true;
		nanosleep(&(struct timespec){ 0, LOOK_MS * 1000000l }, NULL);
	}
	return false;
}

/* In the guardian. */
static void command_end_group(const void *what)
{
	const pid_t *shared = what, group = __atomic_load_n(shared, __ATOMIC_ACQUIRE);

	if (!group)
		return;
	kill(-group, SIGKILL);
	openlog("kjoule", LOG_PID, LOG_USER);
	syslog(LOG_WARNING, "the load, process group %d, was ended for a process that was killed",
	       (int)group);
}

/* What the guardian would have to end; 0: nothing. */
static void command_share_group(struct boost_command_load *l, pid_t group)
{
	if (l->group)
		__atomic_store_n(l->group, group, __ATOMIC_RELEASE);
}

int boost_command_load_open(struct boost_command_load *l, struct kjoule_error *err)
{
	int ret;

	l->group = mmap(NULL, sizeof(*l->group), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	ret = l->group == MAP_FAILED ? -errno : guardian_start(&l->guard, command_end_group,
							       l->group, "the load", NULL);
	if (!ret)
		return 0;
	if (l->group != MAP_FAILED)
		munmap(l->group, sizeof(*l->group));
	l->group = NULL;
	return kjoule_fail(err, -ret, "starting the process that would end the load if this one was killed: %s",
			   strerror(-ret));
}

void boost_command_load_close(struct boost_command_load *l)
{
	boost_command_load_tend(l, false, NULL);
	if (!l->group)
		return;
	guardian_end(&l->guard);
	munmap(l->group, sizeof(*l->group));
	l->group = NULL;
}

static int command_load_start(struct boost_command_load *l, struct kjoule_error *err)
{
	int ret = boost_command_start(&l->child, l->command, false, l->mask, l->user, err);

	if (ret)
		return ret;
	/* all that it starts is of one group, by which it is known and ended */
	setpgid(l->child.pid, l->child.pid);
	command_share_group(l, l->child.pid);
	if (l->cpus) {
		cpu_set_t set;

		CPU_ZERO(&set);
		for (int cpu = kjoule_cpus_next(l->cpus, 0); cpu >= 0 && cpu < CPU_SETSIZE;
		     cpu = kjoule_cpus_next(l->cpus, cpu + 1))
			CPU_SET(cpu, &set);
		if (sched_setaffinity(l->child.pid, sizeof(set), &set)) {
			ret = kjoule_fail(err, errno, "keeping the command on its CPUs: %s",
					  strerror(errno));
			child_kill(&l->child);
			command_share_group(l, 0);
			return ret;
		}
	}
	ret = boost_command_go(&l->child, l->command[0], &l->failed, err);
	if (ret) {
		command_share_group(l, 0);
		return ret;
	}
	l->runs = true;
	l->times++;
	return 0;
}

int boost_command_load_tend(struct boost_command_load *l, bool work, struct kjoule_error *err)
{
	if (l->runs && child_reap(&l->child, false)) {
		l->runs = false;
		/* what it has left behind */
		kill(-l->child.pid, SIGKILL);
		command_share_group(l, 0);
		l->failed = child_code(&l->child);
		if (l->failed)
			return kjoule_fail(err, ECHILD, "%s, the load, ended with exit code %d",
					   l->command[0], l->failed);
	}
	if (work && !l->runs)
		return command_load_start(l, err);
	if (!work && l->runs) {
		kill(-l->child.pid, SIGTERM);
		/* one that was stopped is to see it */
		kill(-l->child.pid, SIGCONT);
		if (!boost_command_let_end(&l->child)) {
			kill(-l->child.pid, SIGKILL);
			child_reap(&l->child, true);
		}
		kill(-l->child.pid, SIGKILL);
		command_share_group(l, 0);
		l->runs = false;
	}
	return 0;
}

bool boost_command_load_is(const struct boost_command_load *l, pid_t pid)
{
	pid_t group = getpgid(pid);

	return l->runs && pid != getpid() && (group < 0 || group == l->child.pid);
}
