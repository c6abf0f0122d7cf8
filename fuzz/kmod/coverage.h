/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lines of the module a fuzzer has reached. One half collects with KCOV, in the
 * guest (kcov.c); the other knows the module's file and turns places into lines (lines.c),
 * there or on the host. A place is an offset in a section of kjoule.ko, so that what
 * several runs have reached can be put together.
 *
 * The rule: a line has code if a row of DWARF's line table that begins a statement names it
 * and has at least one byte of code, inlined copies included. The compiler puts a call of KCOV's at
 * the beginning of each basic block. A line is reached if one of its rows lies between a call that
 * was passed and the next one in the same function (what is before a function's first call
 * goes with that).
 */
#ifndef KJOULE_FUZZ_COVERAGE_H
#define KJOULE_FUZZ_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#define COVER_SECTIONS	8

/* A section of the module with code. */
struct cover_section {
	char name[32];
	uint64_t size;
	/* one byte for each of the section's: a call of KCOV's returns to here */
	uint8_t *site;
	uint8_t *seen;		/* the same, set where one did; shared with children */
	uint64_t address;	/* where it is loaded, 0: it is not */
};

struct cover {
	char path[512];		/* of kjoule.ko */
	unsigned int n;
	struct cover_section section[COVER_SECTIONS];
	uint64_t strays;	/* places that were reported and are none of the module's */
};

struct cover_count {
	unsigned int lines, reached;	/* that have code, and of these */
	unsigned int blocks, passed;	/* calls of KCOV's, and of these */
};

/* lines.c: false with words on standard error. */
bool cover_load(struct cover *c, const char *path);
bool cover_read(struct cover *c, const char *file);	/* adds what a run has written */
bool cover_write(const struct cover *c, const char *file);
/* Of a source file of the module; @show prints the lines that were not reached. */
struct cover_count cover_lines(const struct cover *c, const char *file, bool show);

/* kcov.c: of the calling thread. */
struct kcov {
	int fd;
	uint64_t *area;
};

bool kcov_begin(struct kcov *k);
void kcov_end(struct kcov *k);
void kcov_take(struct kcov *k, struct cover *c);
bool cover_locate(struct cover *c);	/* find out where the module is loaded now */

#endif
