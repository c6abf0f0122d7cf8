// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of a file's tests, and the usual main(); see unit.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include "tests/support/unit.h"

#define TESTS_MOST	100

static struct CMUnitTest tests[TESTS_MOST];
static unsigned int lines[TESTS_MOST];
static size_t n_tests;

/* The compiler may call these in any order. */
void test_add(unsigned int line, const char *name, CMUnitTestFunction test,
	      CMFixtureFunction setup, CMFixtureFunction teardown)
{
	size_t at = n_tests++;

	if (n_tests > TESTS_MOST) {
		fprintf(stderr, "%s: more than %d tests\n", name, TESTS_MOST);
		exit(1);
	}
	for (; at && lines[at - 1] > line; at--) {
		tests[at] = tests[at - 1];
		lines[at] = lines[at - 1];
	}
	tests[at] = (struct CMUnitTest){ name, test, setup, teardown, NULL };
	lines[at] = line;
}

int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	return _cmocka_run_group_tests("tests", tests, n_tests, setup, teardown);
}

__attribute__((weak)) int main(void)
{
	return tests_run(NULL, NULL);
}
