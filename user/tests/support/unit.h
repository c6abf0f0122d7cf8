/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every unit test includes: cmocka with the headers that it wants before, and the list of the
 * file's tests, which cmocka runs in the order in which they are written.
 */
#ifndef KJOULE_TEST_UNIT_H
#define KJOULE_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* TEST(promise) { ... } is a test; of TEST_WITH() each has these two around it, or NULL. */
#define TEST(name)	TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)						\
	static void name(void **fixture);						\
	static __attribute__((constructor)) void name##_add(void)			\
	{										\
		test_add(__LINE__, #name, name, setup, teardown);			\
	}										\
	static void name(__attribute__((unused)) void **fixture)

void test_add(unsigned int line, const char *name, CMUnitTestFunction test,
	      CMFixtureFunction setup, CMFixtureFunction teardown);
/**
 * tests_run() - for a main() that has more to do than to run them: the others are in unit.c
 * @setup: before the first, may be NULL
 * @teardown: after the last
 *
 * Return: exit code
 */
int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown);

#endif /* KJOULE_TEST_UNIT_H */
