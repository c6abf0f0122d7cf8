/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that mark regions, for tests: a test executes itself as one of them. They report times
 * by writing them to standard output, which is a pipe.
 */
#ifndef KJOULE_TEST_MARKING_H
#define KJOULE_TEST_MARKING_H

#include <stdint.h>

/* of "stepped": a begin, a look at the clock and an end, about */
#define MARKING_STEPS		700
#define MARKING_STEPS_FIRST	55	/* those of raise() before */

/* A program's report. */
struct reported {
	uint64_t time_ns, tid;
};

/** marking_run() - be the program of that name. Return: its exit code, -1: there is none such */
int marking_run(const char *name);

#endif /* KJOULE_TEST_MARKING_H */
