/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of its own that restores what was changed if the one that changed it ends before it
 * could: by SIGKILL or another signal, or for lack of memory. Used for frequencies
 * (frequency_guard.c), fans (boost/fan.c) and commands as a load (boost/command.c).
 */
#ifndef KJOULE_GUARDIAN_H
#define KJOULE_GUARDIAN_H

#include <sys/types.h>
#include "lib/base/error.h"

/* As ps(1) shows it. */
#define GUARDIAN	"kjoule-guardian"

/*
 * @fd: the only copy of this end: the guardian sees it closed when this process ends; -1: there is
 *   none
 */
struct guardian {
	pid_t pid;
	int fd;
};

/**
 * guardian_start() - before anything is changed
 * @give_back: called in the guardian, where all files are closed and all signals are blocked; it
 *   can only write to the system's log
 * @what: its argument
 * @name: of what is restored, for @err
 * Return: 0: it watches; -errno with the reason in @err
 */
int guardian_start(struct guardian *g, void (*give_back)(const void *what), const void *what,
		   const char *name, struct kjoule_error *err);
/** guardian_end() - after all was restored */
void guardian_end(struct guardian *g);
/** guardian_leave() - leave the rest to it, as if this process was killed, and wait for it */
void guardian_leave(struct guardian *g);

#endif /* KJOULE_GUARDIAN_H */
