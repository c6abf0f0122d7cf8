/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of the fuzzer: threads that move, in rounds between which everything is closed and the
 * module is unloaded and loaded again. Used by test_netlink.c; others.c moves within a move.
 */
#ifndef KJOULE_FUZZ_FUZZ_H
#define KJOULE_FUZZ_FUZZ_H

#include "coverage.h"
#include "world.h"

struct fuzz_run {
	uint64_t seed;
	uint64_t messages;	/* so many at least, */
	uint64_t moves;		/* or, if not 0, so many of the first thread */
	uint64_t round;		/* moves of the first thread between two loads of the module */
	bool alone;		/* one thread, no children, no failing memory */
	FILE *trace;		/* or NULL */
};

struct fuzz_result {
	struct tally *tally;
	uint64_t moves;
	uint64_t path;		/* of what the first thread has tried */
	const char *fault;	/* what is wrong with the module, NULL if nothing is */
};

bool fuzz_prepare(struct cover *c);	/* once; false without KCOV or the module's file */
void fuzz_run(const struct fuzz_run *run, struct fuzz_result *result);
void fuzz_done(void);

/* For moves that consist of others. */
void fuzz_move(struct world *w);
struct cover *fuzz_cover(void);
bool fuzz_may_fail(const struct world *w);

#endif
