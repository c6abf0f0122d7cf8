// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command that is recorded: found before anything is done, forked early,
 * held until the session runs, and its exit code handed on.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command/child.h"

/*
 * Of a child that another process has waited for: what a shell says of those that it does not know.
 */
#define STATUS_UNKNOWN	W_EXITCODE(127, 0)

/* Return: 0 executable, EACCES there but not, ENOENT */
static int child_check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == EACCES ? EACCES : ENOENT;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) ? EACCES : 0;
}

int child_find(const char *name, struct kjoule_error *err)
{
	const char *path = getenv("PATH"), *p, *end;
	int found = ENOENT, ret;

	if (!*name) {
		kjoule_fail(err, ENOENT, "the command is an empty word");
		return 127;
	}
	if (strchr(name, '/')) {
		found = child_check_executable(name);
	} else {
		for (p = path ? path : "/usr/bin:/bin"; found && *p; p = *end ? end + 1 : end) {
			char full[PATH_MAX];

			end = p + strcspn(p, ":");
			if (snprintf(full, sizeof(full), "%.*s/%s", (int)(end - p), p, name) >=
			    (int)sizeof(full))
				continue;
			ret = child_check_executable(end == p ? name : full);
			if (ret != ENOENT)
				found = ret;
		}
	}
	if (found == ENOENT) {
		kjoule_fail(err, ENOENT, "%s: no such command%s", name,
			    strchr(name, '/') ? "" : " in PATH");
		return 127;
	}
	if (found) {
		kjoule_fail(err, found, "%s: cannot be executed; is it a program, and is its x bit set?",
			    name);
		return 126;
	}
	return 0;
}

static _Noreturn void child_exec_command(char **command, const sigset_t *mask,
					 const struct kjoule_region_area *regions,
					 const struct kjoule_user *user, int go, int failed)
{
	ssize_t n;
	char byte;
	int code = 0;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);	/* the recorder gave up */
	sigprocmask(SIG_SETMASK, mask, NULL);
	/* before the regions: what it is to have is inherited then, and all else is not */
	if (user)
		code = -kjoule_user_become(user);
	/* nor is that of another recorder, around this one, for it */
	if (!regions || kjoule_region_area_hand_over(regions))
		unsetenv(KJOULE_REGION_ENV);
	if (!code) {
		execvp(command[0], command);
		code = errno;
	}
	if (write(failed, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(code == ENOENT ? 127 : 126);
}

int child_start(struct child *child, char **command, const sigset_t *mask,
		       const struct kjoule_region_area *regions, const struct kjoule_user *user)
{
	int go[2], failed[2];

	memset(child, 0, sizeof(*child));
	/* where it is ignored, as our parent may have done, the kernel reports no child */
	signal(SIGCHLD, SIG_DFL);
	/* a pipe would raise SIGPIPE when the child is dead */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		int ret = -errno;

		close(go[0]);
		close(go[1]);
		return ret;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		close(failed[0]);
		child_exec_command(command, mask, regions, user, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->failed = failed[0];
	if (child->pid < 0) {
		int ret = -errno;

		close(child->go);
		close(child->failed);
		child->pid = 0;
		return ret;
	}
	child->running = true;
	return 0;
}

int child_go(struct child *child)
{
	int code = 0, ret = send(child->go, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
	ssize_t n = 0;

	close(child->go);
	child->go = -1;
	/* End of file when exec has closed the other end. */
	while (!ret && (n = read(child->failed, &code, sizeof(code))) < 0 && errno == EINTR)
		;
	close(child->failed);
	child->failed = -1;
	return ret ? ret : n == sizeof(code) ? -code : 0;
}

bool child_reap(struct child *child, bool block)
{
	pid_t got;

	if (!child->pid || child->reaped)
		return child->reaped;
	do
		got = waitpid(child->pid, &child->status, block ? 0 : WNOHANG);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == ECHILD) {
		child->status = STATUS_UNKNOWN;
		got = child->pid;
	}
	if (got == child->pid) {
		child->reaped = true;
		child->running = false;
	}
	return child->reaped;
}

void child_kill(struct child *child)
{
	if (!child->pid || child->reaped)
		return;
	kill(child->pid, SIGKILL);
	child_reap(child, true);
	if (child->go >= 0)
		close(child->go);
	if (child->failed >= 0)
		close(child->failed);
}

int child_code(const struct child *child)
{
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}
