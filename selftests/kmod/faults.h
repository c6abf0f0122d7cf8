/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operation on the module in which every allocation and copy fails once, one after another (fail.h): it is told or done
 * without, and nothing is left behind. Used by the tests of failing memory that have such operations.
 */
#ifndef KJOULE_SELFTESTS_FAULTS_H
#define KJOULE_SELFTESTS_FAULTS_H

#include <stdbool.h>

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

/* Try all that have one of the arguments in their names, or all. */
void faults_try_all(const struct operation *operations, unsigned int n, const struct bed *bed, int argc, char **argv);
void faults_try(const struct operation *op, const char *name, const struct bed *bed);

/* A bit for each netlink command that was tried so far. */
unsigned int faults_commands(void);

/* Does the kernel know of memory that nobody has any more? It takes some seconds. */
bool faults_leaks(void);

#endif
