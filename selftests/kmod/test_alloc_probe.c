// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory may run out at any moment for whoever measures frequency changes, too: what test_alloc
 * does with sources and sessions is done here with probes and with settings that are to be
 * restored, on a chip that has frequencies. What a probe's own thread allocates does not fail here:
 * faults are those of who asks.
 *
 * where: guest
 * vm: --cpus 2
 * boot: own
 * debug: only
 * timeout: 400
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "fail.h"
#include "faults.h"
#include "guest.h"
#include "nl.h"
#include "probe.h"

#define POLICY	"/sys/devices/system/cpu/cpufreq/policy0/"
#define LIMIT	POLICY "scaling_max_freq"

static struct nl nl;
static struct probe_answer probe;
static struct probe_loops loops;
static int limit_fd = -1;
static char limit[32], lower[32];

static bool read_limit(const char *path, char *text, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, len - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return n > 0;
}

/* Preparations. */

static bool have_socket(void)
{
	limit_fd = open(LIMIT, O_RDWR | O_CLOEXEC);
	return limit_fd >= 0 && !nl_open(&nl);
}

static int do_new(void)
{
	return probe_new(&nl, 0, KJOULE_TRANSITION_WAY_LIMITS, &probe);
}

static bool have_probe(void)
{
	return have_socket() && !do_new();
}

static int do_calibrate(void)
{
	struct probe_answer answer;
	struct probe_ask ask = { .cmd = KJOULE_CMD_TRANSITION_CALIBRATE, .id = probe.id, .adds = 64,
				 .to_khz = probe.max_khz, .loops = 20, .timeout_ns = 1000000,
				 .slice_ns = 500000 };

	return probe_talk(&nl, &ask, &answer);
}

static bool have_loops(void)
{
	return have_probe() && !do_calibrate();
}

static int do_restore_add(void)
{
	return probe_restore_add(&nl, limit_fd, limit);
}

/* It is to be restored, and it is another one. */
static bool is_changed(void)
{
	return !do_restore_add() &&
	       pwrite(limit_fd, lower, strlen(lower), 0) == (ssize_t)strlen(lower);
}

static bool have_restore(void)
{
	return have_socket() && is_changed();
}

static bool have_both(void)
{
	return have_probe() && is_changed();
}

/* Operations. */

static int do_try(void)
{
	struct probe_answer answer;
	/* every loop looks like either */
	struct probe_ask ask = { .cmd = KJOULE_CMD_TRANSITION_TRY, .id = probe.id, .adds = 64,
				 .from_khz = probe.max_khz, .to_khz = probe.min_khz, .from_lo = 1,
				 .from_hi = UINT32_MAX, .to_lo = 1, .to_hi = UINT32_MAX, .lead = 1,
				 .loops = 50, .confirm = 20, .timeout_ns = 50000000,
				 .slice_ns = 500000 };

	return probe_talk(&nl, &ask, &answer);
}

static int do_get_loops(void)
{
	return probe_get_loops(&nl, probe.id, &loops);
}

static int do_del(void)
{
	struct probe_answer answer;

	return probe_talk(&nl, &(struct probe_ask){ .cmd = KJOULE_CMD_TRANSITION_DEL,
						    .id = probe.id }, &answer);
}

static int do_restore_now(void)
{
	return nl_talk(&nl, nl_request(&nl, KJOULE_CMD_RESTORE_NOW, 0), NULL, NULL);
}

static int do_close(void)
{
	nl_close(&nl);
	return 0;
}

static const struct operation operations[] = {
	{ "making a probe", have_socket, .run = do_new, .command = KJOULE_CMD_TRANSITION_NEW },
	{ "timing loops", have_probe, .run = do_calibrate,
	  .command = KJOULE_CMD_TRANSITION_CALIBRATE },
	{ "timing a change", have_probe, .run = do_try, .command = KJOULE_CMD_TRANSITION_TRY },
	{ "fetching loops", have_loops, .run = do_get_loops,
	  .command = KJOULE_CMD_TRANSITION_LOOPS_GET },
	{ "ending a probe", have_probe, .run = do_del, .command = KJOULE_CMD_TRANSITION_DEL },
	{ "having a setting restored", have_socket, .run = do_restore_add,
	  .command = KJOULE_CMD_RESTORE_ADD },
	{ "restoring it", have_restore, .run = do_restore_now, .command = KJOULE_CMD_RESTORE_NOW },
	{ "closing the socket of both", have_both, .run = do_close, .frugal = true },
};

static void tidy_up(void)
{
	nl_close(&nl);
	close(limit_fd);
	limit_fd = -1;
}

static bool stays_loaded(bool wanted)
{
	return wanted;
}

/* A worker ends what a closed socket had; what it found no memory for is written a second later. */
static const char *left_behind(bool module)
{
	char now[32], low[32];
	int err = -EBUSY;

	if (!module)
		return "this test does not unload the module";
	for (unsigned int i = 0; i < 100 && err == -EBUSY; i++) {
		sleep_ms(i ? 10 : 0);
		if (nl_open(&nl))
			return "there is no family";
		err = do_new();
		tidy_up();
	}
	if (err)
		return "a probe is left";
	for (unsigned int i = 0; i < 300; i++) {
		if (read_limit(LIMIT, now, sizeof(now)) && !strcmp(now, limit) &&
		    read_limit(POLICY "scaling_min_freq", low, sizeof(low)) && !strcmp(low, lower))
			return NULL;
		sleep_ms(10);
	}
	return "a limit is another one";
}

static const struct bed bed = { stays_loaded, tidy_up, left_behind };

/* With arguments only the operations that have one of them in their name. */
int main(int argc, char **argv)
{
	unsigned int all = 0, i;

	if (!fail_prepare())
		ktap_skip_all("the kernel cannot make allocations fail; see make check-debug");
	setvbuf(stdout, NULL, _IOLBF, 0);
	fail_put("/proc/sys/kernel/modprobe", "\n");
	if (!read_limit(LIMIT, limit, sizeof(limit)) ||
	    !read_limit(POLICY "scaling_min_freq", lower, sizeof(lower))) {
		ktap_not_ok("CPU 0 has a frequency");
		return ktap_end();
	}
	fail_begin();
	faults_try_all(operations, sizeof(operations) / sizeof(operations[0]), &bed, argc, argv);
	for (i = KJOULE_CMD_TRANSITION_NEW; i <= KJOULE_CMD_MAX; i++)
		all |= 1U << i;
	if (argc < 2)
		ktap_check_equal(all, faults_commands(), "every netlink command of probes and settings was tried");
	fail_end();
	ktap_check(!faults_leaks(), "no memory was lost");
	return ktap_end();
}
