/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function of the test itself with a loop in it, and recordings whose samples are there: for
 * tests of granularities below a function.
 */
#ifndef KJOULE_TEST_LOOPED_H
#define KJOULE_TEST_LOOPED_H

#include <stdint.h>

/*
 * Lines of the loop and of what comes after, in looped.c, and an instruction of each as the file
 * counts.
 */
struct looped {
	int loop_line, after_line;
	uint64_t loop, after;
	uint64_t loop_offset, after_offset;	/* in the file itself */
};

extern struct looped looped;

/* The function, which is in no other file. */
int a_loop_and_more(volatile int *p, int n);

/** looped_path() - of the test's own file */
const char *looped_path(void);
/* Code of the test's file. */
struct looped_code {
	uint64_t start, end;
	uint64_t offset;		/* in the file */
};

/** looped_function() - a function of the test's, after looped_setup() */
struct looped_code looped_function(const char *name);
/**
 * looped_record() - 9 s at 1 kHz: 100 ticks of the loop at 1 W, 100 of what comes after at 2 W, 100
 * in the kernel at 1 W, and so on; with some noise
 * @exe: the mapped file
 * @flags: of the samples in the function
 */
void looped_record(const char *name, const char *exe, uint32_t flags);
/** looped_setup() - for cmocka: recordings "usual" and "precise" */
int looped_setup(void **state);

#endif /* KJOULE_TEST_LOOPED_H */
