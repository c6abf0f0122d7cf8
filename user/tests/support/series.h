/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Simulated recordings of several runs of one program, for tests of averages and comparisons. */
#ifndef KJOULE_TEST_SERIES_H
#define KJOULE_TEST_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_OBJECT	"/nonexistent/program"

/**
 * struct series_run - alternating blocks of some ticks, user code and the kernel at 2 W, with noise
 * @turn: mean ticks of a block, at random, with a third block that belongs to no object and draws 3
 *   W; 0: 100 of each
 * @phase: at which tick of the turns it begins; the counter is updated every 10 ticks
 * @watt: of the user code
 * @exe: the program; NULL: SERIES_OBJECT
 * @start: where it was loaded; 0: at 0x10000000
 * @offset: of the code in the file; 0: some addresses of no name
 * @kernel_only: no user code at all
 * @paused: in each 100 ticks an edge window pauses the CPU at the ticks 46 to 49
 * @no_source: of energy; with @no_energy there is a stuck one
 */
struct series_run {
	const char *name, *exe, *argument, *build_id;
	uint32_t ticks, turn, phase, cpus;
	double watt;
	uint64_t start, offset, interval_ns;
	bool system;			/* not the process: the whole machine */
	bool no_energy, no_source, kernel_only, paused;
};

/** series_record() - Return: the path */
const char *series_record(const struct series_run *r);
/** series_files() - the paths of "FIRST.1" to "FIRST.n" with spaces between, until the next call */
const char *series_files(const char *first, size_t n);

#endif /* KJOULE_TEST_SERIES_H */
