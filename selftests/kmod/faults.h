/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operation on the module in which every allocation and copy fails once, one after another
 * (fail.h): it is reported or done without, and nothing is left behind. Used by the tests of
 * failing memory that have such operations.
 */
#ifndef KJOULE_SELFTESTS_FAULTS_H
#define KJOULE_SELFTESTS_FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "fail.h"
#include "guest.h"

/**
 * struct operation - what is tried
 * @before:	its preparations; then it is alone with the faults
 * @run:	0 or -errno
 * @command:	the netlink command that it is
 * @without:	the module is not loaded when it begins
 * @unloads:	nor when it ends, if it succeeds
 * @frugal:	may do without memory altogether
 */
struct operation {
	const char *name;
	bool (*before)(void);
	int (*run)(void);
	unsigned int command;
	bool without, unloads, frugal;
};

/**
 * struct bed - where operations are tried
 * @with_module: have it loaded, or not
 * @tidy_up:	back to where each operation begins
 * @left_behind: what is there although it should not, or the other way round; NULL if all is well
 */
struct bed {
	bool (*with_module)(bool wanted);
	void (*tidy_up)(void);
	const char *(*left_behind)(bool module);
};

static unsigned int faults_seen;

/* The ways to say that there is no memory, or that a copy failed. */
static inline bool faults_excused(int err)
{
	return !err || err == -ENOMEM || err == -ENOBUFS || err == -EFAULT;
}

/* Once, with the fault at number @nth, if there are as many; 0 or -1 when there is a complaint. */
static inline int faults_attempt(const struct operation *op, const struct bed *bed,
				 unsigned int nth, bool *failed)
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
	if (*failed ? !faults_excused(err) : err != 0) {
		ktap_diag("number %u %s: %s", nth, *failed ? "failed" : "was not needed",
			  strerrorname_np(-err));
		return -1;
	}
	left = bed->left_behind(op->unloads ? err : op->without ? !err : true);
	if (left) {
		ktap_diag("number %u failed, the operation reported %s: %s", nth,
			  err ? strerrorname_np(-err) : "nothing", left);
		return -1;
	}
	return 0;
}

static inline void faults_try(const struct operation *op, const char *name, const struct bed *bed)
{
	uint64_t begin = now_ns();
	unsigned int nth;
	bool failed, good;

	/* without a fault first: later nothing is new to the C library, nor to this process */
	if (faults_attempt(op, bed, 0, &failed)) {
		ktap_not_ok("%s: works while there is memory", name);
		return;
	}
	for (nth = 1, failed = true, good = true; failed && good; nth++)
		good = !faults_attempt(op, bed, nth, &failed);
	ktap_check(good && (nth > 2 || op->frugal), "%s: reported or done without, whatever fails", name);
	ktap_diag("%u faults, %llu ms", nth - 2 + !good,
		  (unsigned long long)(now_ns() - begin) / 1000000);
	if (op->command)
		faults_seen |= 1U << op->command;
}

/* kmemleak tells of nothing that is younger than five seconds or changed between two scans. */
static inline bool faults_leaks(void)
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

static inline bool faults_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strstr(name, argv[i]))
			return true;
	}
	return argc < 2;
}

/* Try all that have one of the arguments in their names, or all. */
static inline void faults_try_all(const struct operation *operations, unsigned int n,
				  const struct bed *bed, int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (faults_wanted(operations[i].name, argc, argv))
			faults_try(&operations[i], operations[i].name, bed);
	}
}

/* A bit for each netlink command that was tried so far. */
static inline unsigned int faults_commands(void)
{
	return faults_seen;
}

#endif
