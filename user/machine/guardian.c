// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See guardian.h. A child that is forked while its parent is small and waits at a socket whose
 * other end only the parent has: commands lose it when they are executed. When that end is closed
 * without a message it restores.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "machine/guardian.h"

/* Both may fail without privileges; the guardian works without them. */
static void guardian_protect_itself(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, "-1000", 5);

	(void)n;
	if (fd >= 0)
		close(fd);
	/* what it has now, and no more than that of each mapping */
	mlockall(MCL_CURRENT | MCL_ONFAULT);
}

/* Readers of the caller's output must not wait for the guardian. */
static void guardian_close_all_but(int fd)
{
	if (close_range(3, fd - 1, 0) && errno != EINVAL) {
		/* before Linux 5.9 */
		for (int i = 3; i < sysconf(_SC_OPEN_MAX) && i < 65536; i++)
			if (i != fd)
				close(i);
	}
	close_range(fd + 1, ~0u, 0);
	for (int i = 0; i < 3; i++) {
		close(i);
		/* the lowest that is free: i */
		open("/dev/null", O_RDWR);
	}
}

static _Noreturn void guardian_run(void (*give_back)(const void *what), const void *what, int fd)
{
	ssize_t n = -1;
	char byte;

	/* detached from the terminal; all signals are blocked */
	setsid();
	prctl(PR_SET_NAME, GUARDIAN);
	guardian_close_all_but(fd);
	guardian_protect_itself();
	if (send(fd, "", 1, MSG_NOSIGNAL) == 1)
		n = read(fd, &byte, 1);
	/* without a message: the process has ended */
	if (n != 1)
		give_back(what);
	_exit(0);
}

/*
 * Move a descriptor above standard error, so that a command's streams cannot replace it. Return: 0
 * or -errno
 */
static int guardian_move_descriptor(int *fd)
{
	int higher = fcntl(*fd, F_DUPFD_CLOEXEC, 3);

	if (higher < 0)
		return -errno;
	close(*fd);
	*fd = higher;
	return 0;
}

/* Return: 0: it is ready; -errno */
static int guardian_wait_ready(int fd)
{
	ssize_t n;
	char byte;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : n < 0 ? -errno : -ECHILD;
}

int guardian_start(struct guardian *g, void (*give_back)(const void *what), const void *what,
		   const char *name, struct kjoule_error *err)
{
	sigset_t all, old;
	int ends[2], ret;

	*g = (struct guardian){ .fd = -1 };
	ret = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? -errno : 0;
	if (ret)
		goto fail;
	ret = guardian_move_descriptor(&ends[0]);
	if (!ret)
		ret = guardian_move_descriptor(&ends[1]);
	if (!ret) {
		/* no signal in between, with our handlers */
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &old);
		g->pid = fork();
		if (!g->pid)
			guardian_run(give_back, what, ends[0]);
		ret = g->pid < 0 ? -errno : 0;
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	close(ends[0]);
	g->fd = ends[1];
	if (!ret)
		ret = guardian_wait_ready(g->fd);
	if (!ret)
		return 0;
	guardian_end(g);
fail:
	return kjoule_fail(err, -ret,
			   "starting the process that would give %s back if this one was killed: %s; nothing was changed",
			   name, strerror(-ret));
}

void guardian_leave(struct guardian *g)
{
	if (g->fd < 0)
		return;
	close(g->fd);
	g->fd = -1;
	while (g->pid > 0 && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void guardian_end(struct guardian *g)
{
	/* it may have been killed itself */
	if (g->fd >= 0)
		send(g->fd, "", 1, MSG_NOSIGNAL);
	guardian_leave(g);
}
