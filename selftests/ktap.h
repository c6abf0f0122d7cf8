/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KTAP for C test programs: announce a plan, report each promise, return ktap_end()
 * from main(). Everything is inline, one program is one file that includes this.
 * The reader of the output is selftests/run.py.
 */
#ifndef KJOULE_SELFTESTS_KTAP_H
#define KJOULE_SELFTESTS_KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define KTAP_EXIT_SKIP	4	/* as KSFT_SKIP */

static unsigned int ktap_number, ktap_failed, ktap_planned;

/* Announce how many results follow. Without it, ktap_end() prints the plan. */
static inline void ktap_plan(unsigned int count)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%u\n", count);
	ktap_planned = count;
}

/* Report one promise, kept or broken; returns whether it was kept. */
__attribute__((format(printf, 2, 3), unused))
static bool ktap_check(bool kept, const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", kept ? "" : "not ", ++ktap_number);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	ktap_failed += !kept;
	return kept;
}

#define ktap_ok(...)		ktap_check(true, __VA_ARGS__)
#define ktap_not_ok(...)	ktap_check(false, __VA_ARGS__)

/* Two integers must be equal; shows both when they are not. */
static inline bool ktap_check_equal(long long want, long long got, const char *what)
{
	bool kept = ktap_check(want == got, "%s", what);

	if (!kept)
		printf("# wanted %lld, got %lld\n", want, got);
	return kept;
}

static inline void ktap_skip(const char *what, const char *reason)
{
	printf("ok %u - %s # SKIP %s\n", ++ktap_number, what, reason);
}

/* A line of diagnosis below a result. */
__attribute__((format(printf, 1, 2), unused))
static void ktap_diag(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* The whole program cannot run here. */
static inline void ktap_skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(KTAP_EXIT_SKIP);
}

/* Return: the exit code for main(). */
static inline int ktap_end(void)
{
	if (!ktap_planned)
		printf("1..%u\n", ktap_number);
	fflush(stdout);
	return ktap_failed || (ktap_planned && ktap_planned != ktap_number);
}

#endif
