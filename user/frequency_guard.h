/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guardian of held frequencies: a process of its own that gives them back if the one that holds them is killed by what
 * nobody can catch, SIGKILL and the kernel out of memory. Used by sweep_run.c and latency_others.c.
 */
#ifndef KJOULE_FREQUENCY_GUARD_H
#define KJOULE_FREQUENCY_GUARD_H

#include <sys/types.h>
#include "frequency.h"

/* As ps(1) shows it. */
#define FREQUENCY_GUARDIAN	"kjoule-guardian"

/* @fd: nobody else has this end: the guardian sees it closed when this process is gone */
struct frequency_guard {
	pid_t pid;
	int fd;
};

/**
 * frequency_guard_start() - before anything is held
 * Return: 0: it watches; -errno with the reason in @err
 */
int frequency_guard_start(struct frequency_guard *g, const struct kjoule_frequency *f, struct kjoule_error *err);
/** frequency_guard_end() - all was given back, or said to be not: it has nothing to do any more, and is waited for */
void frequency_guard_end(struct frequency_guard *g);

#endif /* KJOULE_FREQUENCY_GUARD_H */
