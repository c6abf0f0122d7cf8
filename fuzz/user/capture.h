/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What targets judge by: promises, time, and what a verb says on standard output and
 * standard error: whatever a file holds, nothing of it may steer a terminal, and JSON
 * stays JSON.
 */
#ifndef KJOULE_FUZZ_CAPTURE_H
#define KJOULE_FUZZ_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

enum capture_kind {
	CAPTURE_TEXT,		/* for people: no control characters but line ends */
	CAPTURE_CSV,
	CAPTURE_JSON,
	CAPTURE_JSON_LINES,
};

/** capture_begin() - from now on stdout and stderr are caught */
void capture_begin(void);
/** capture_end() - back to the real ones; aborts with what is wrong. @code: the verb's exit code */
void capture_end(enum capture_kind kind, int code);
/**
 * must_end_soon() - from now on as much CPU time as an input of so many bytes may take, however
 * busy the machine is, and more for what is printed meanwhile
 * @bytes:	decompressed, where it is compressed
 */
void must_end_soon(size_t bytes);
/** must_hold() - a promise that the code under test makes; aborts if it is broken */
void must_hold(bool condition, const char *promise);

#endif /* KJOULE_FUZZ_CAPTURE_H */
