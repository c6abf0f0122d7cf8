/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of its own that gives back what was changed if the one that changed it is killed by what nobody can catch, SIGKILL
 * and the kernel out of memory. Used for frequencies (frequency_guard.c), fans (boost/fan.c) and commands as a load (boost/command.c).
 */
#ifndef KJOULE_GUARDIAN_H
#define KJOULE_GUARDIAN_H

#include <sys/types.h>
#include "lib/base/error.h"

/* As ps(1) shows it. */
#define GUARDIAN	"kjoule-guardian"

/* @fd: nobody else has this end: the guardian sees it closed when this process is gone; -1: there is none */
struct guardian {
	pid_t pid;
	int fd;
};

/**
 * guardian_start() - before anything is changed
 * @give_back:	called in the guardian, where all files are closed and all signals are blocked; nobody is there to be told any more
 *		but those who read the system's log
 * @what:	for it
 * @name:	of that, for @err
 * Return: 0: it watches; -errno with the reason in @err
 */
int guardian_start(struct guardian *g, void (*give_back)(const void *what), const void *what, const char *name,
		   struct kjoule_error *err);
/** guardian_end() - after all was given back: it has nothing to do any more */
void guardian_end(struct guardian *g);
/** guardian_leave() - what could not be given back is left to it, as if this process was killed; it has done so when this returns */
void guardian_leave(struct guardian *g);

#endif /* KJOULE_GUARDIAN_H */
