// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See faults.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "fail.h"
#include "faults.h"
#include "guest.h"

static unsigned int commands_seen;

/* The ways to say that there is no memory, or that a copy failed. */
static bool is_excused(int err)
{
	return !err || err == -ENOMEM || err == -ENOBUFS || err == -EFAULT;
}

/* Once, with the fault at number @nth, if there are as many; 0 or -1 when there is a complaint. */
static int attempt(const struct operation *op, const struct bed *bed, unsigned int nth, bool *failed)
{
	const char *left;
	int err;

	*failed = false;
	if (!bed->with_module(!op->without) || !op->before()) {
		ktap_diag("no preparations for number %u: %s", nth, strerror(errno));
		return -1;
	}
	fail_nth(nth);
	err = op->run();
	*failed = fail_stop();
	/* the socket of a request that was not answered says so when it is closed */
	bed->tidy_up();
	if (*failed ? !is_excused(err) : err != 0) {
		ktap_diag("number %u %s: %s", nth, *failed ? "failed" : "was not needed", strerrorname_np(-err));
		return -1;
	}
	left = bed->left_behind(op->unloads ? err : op->without ? !err : true);
	if (left) {
		ktap_diag("number %u failed, the operation told %s: %s", nth, err ? strerrorname_np(-err) : "nothing",
			  left);
		return -1;
	}
	return 0;
}

void faults_try(const struct operation *op, const char *name, const struct bed *bed)
{
	uint64_t begin = now_ns();
	unsigned int nth;
	bool failed, good;

	/* without a fault first: later nothing is new to the C library, nor to this process */
	if (attempt(op, bed, 0, &failed)) {
		ktap_not_ok("%s: works while there is memory", name);
		return;
	}
	for (nth = 1, failed = true, good = true; failed && good; nth++)
		good = !attempt(op, bed, nth, &failed);
	ktap_check(good && (nth > 2 || op->frugal), "%s: told or done without, whatever fails", name);
	ktap_diag("%u faults, %llu ms", nth - 2 + !good, (unsigned long long)(now_ns() - begin) / 1000000);
	if (op->command)
		commands_seen |= 1U << op->command;
}

/* kmemleak tells of nothing that is younger than five seconds or changed between two scans. */
bool faults_leaks(void)
{
	static const char path[] = "/sys/kernel/debug/kmemleak";
	int fd = open(path, O_RDWR | O_CLOEXEC);
	static char text[1 << 14];
	char *line;
	bool done;

	done = fd >= 0 && write(fd, "scan", 4) == 4;
	sleep_ms(5500);
	done = done && write(fd, "scan", 4) == 4;
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	done = done && read(fd, text, sizeof(text) - 1) >= 0;
	close(fd);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		ktap_diag("%s", line);
	return !done || text[0];
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strstr(name, argv[i]))
			return true;
	}
	return argc < 2;
}

void faults_try_all(const struct operation *operations, unsigned int n, const struct bed *bed, int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (is_wanted(operations[i].name, argc, argv))
			faults_try(&operations[i], operations[i].name, bed);
	}
}

unsigned int faults_commands(void)
{
	return commands_seen;
}
