// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fault injection by number (/proc/thread-self/fail-nth), for slabs, for pages (the rings
 * are made of them) and for copies from and to user space; see fail.h. With FAIL_VERBOSE=2
 * in the environment the kernel log has a stack for each fault.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail.h"

#define DEBUGFS	"/sys/kernel/debug/"

static int nth_fd = -1;
static bool armed;

bool fail_put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);

	close(fd);
	return done;
}

bool fail_prepare(void)
{
	const char *verbose = getenv("FAIL_VERBOSE") ?: "0";

	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	/* by default only what may not sleep fails, and no single pages */
	return nth_fd >= 0 && fail_put(DEBUGFS "failslab/ignore-gfp-wait", "N") &&
	       fail_put(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N") &&
	       fail_put(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N") &&
	       fail_put(DEBUGFS "fail_page_alloc/min-order", "0") &&
	       fail_put(DEBUGFS "failslab/verbose", verbose) &&
	       fail_put(DEBUGFS "fail_page_alloc/verbose", verbose) &&
	       fail_put(DEBUGFS "fail_usercopy/verbose", verbose);
}

/* What vm/kernel_log.py looks for. */
void fail_begin(void)
{
	/* no page of this process is to be fetched while allocations fail */
	mlockall(MCL_CURRENT);
	fail_put("/dev/kmsg", "kjoule-test: allocations fail from here");
}

void fail_end(void)
{
	fail_put("/dev/kmsg", "kjoule-test: allocations fail until here");
}

static void write_nth(unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	/* this copy may be the one that fails, and then is the last one that does */
	if (pwrite(nth_fd, text, n, 0) != n && pwrite(nth_fd, text, n, 0) != n)
		abort();
}

void fail_nth(unsigned int nth)
{
	armed = nth;
	if (armed)
		write_nth(nth);
}

bool fail_stop(void)
{
	char text[16] = "";
	bool failed;

	if (!armed)
		return false;
	/* what is left of the number; if that is 1, it is this copy that fails */
	failed = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;
	armed = false;
	write_nth(0);
	return failed;
}
