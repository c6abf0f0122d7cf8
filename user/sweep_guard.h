/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guardian of a sweep: a process of its own that gives the CPUs' frequencies back if the sweeping one is killed by
 * what nobody can catch, SIGKILL and the kernel out of memory. Used by sweep_run.c.
 */
#ifndef KJOULE_SWEEP_GUARD_H
#define KJOULE_SWEEP_GUARD_H

#include <sys/types.h>
#include "frequency.h"

/* As ps(1) shows it. */
#define SWEEP_GUARDIAN	"kjoule-guardian"

/* @fd: nobody else has this end: the guardian sees it closed when this process is gone */
struct sweep_guard {
	pid_t pid;
	int fd;
};

/**
 * sweep_guard_start() - before anything is held
 * Return: 0: it watches; -errno with the reason in @err
 */
int sweep_guard_start(struct sweep_guard *g, const struct kjoule_frequency *f, struct kjoule_error *err);
/** sweep_guard_end() - all was given back, or said to be not: it has nothing to do any more, and is waited for */
void sweep_guard_end(struct sweep_guard *g);

#endif /* KJOULE_SWEEP_GUARD_H */
