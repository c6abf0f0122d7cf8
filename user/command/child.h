/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that is measured: started so that it waits, let go, and waited for.
 */
#ifndef KJOULE_CHILD_H
#define KJOULE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "command/run_as.h"
#include "lib/base/error.h"
#include "lib/region/mark_ring.h"

struct child {
	pid_t pid;			/* 0: none */
	int go;				/* write end: one byte lets it run */
	int failed;			/* read end: errno if exec failed */
	bool running;
	bool reaped;
	int status;			/* of waitpid() */
};

/**
 * child_find() - can the command be started?
 * Return: 0, or 127 (no such command), 126 (not executable), with the reason in @err
 */
int child_find(const char *name, struct kjoule_error *err);
/**
 * child_start() - fork; the child waits, then execs with @mask blocked
 * @regions:	where it is to mark its regions; NULL: nowhere
 * @user:	that it becomes before; NULL: it stays who we are
 * Return: 0 or -errno
 */
int child_start(struct child *child, char **command, const sigset_t *mask,
		       const struct kjoule_region_area *regions, const struct kjoule_user *user);
/** child_go() - let it exec. Return: 0, -EPIPE if it has been killed, or -errno of the exec */
int child_go(struct child *child);
/** child_reap() - has it ended? Waits for it if @block. Return: true if it has */
bool child_reap(struct child *child, bool block);
/** child_kill() - it was never let go: end it */
void child_kill(struct child *child);
/** child_code() - what a shell would call its exit code; 127 if it is not known how it ended */
int child_code(const struct child *child);

#endif /* KJOULE_CHILD_H */
