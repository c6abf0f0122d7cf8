/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exit codes, and what is said of wrong command lines and of failures.
 */
#ifndef KJOULE_CMD_H
#define KJOULE_CMD_H

#include <stddef.h>

#define EXIT_DONE	0
#define EXIT_FAILED	1
#define EXIT_USAGE	2

/** cmd_usage() - a wrong command line: say so and where help is. Return: EXIT_USAGE */
int cmd_usage(const char *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/**
 * cmd_bad_value() - an option's value that cannot be
 * @ret:	what parsing it said: 0, -ERANGE, or anything else for not understood
 * @wanted:	what would do
 * Return: 0 for 0, else EXIT_USAGE after saying so
 */
int cmd_bad_value(const char *verb, int ret, const char *option, const char *text,
		  const char *wanted);
/** cmd_failed() - "kjoule: ..." on standard error. Return: EXIT_FAILED */
int cmd_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** cmd_warn() - "kjoule: ..." on standard error */
void cmd_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/**
 * cmd_privilege_drop() - before an analysis, see kjoule_privilege_drop()
 * @named:	recordings named on the command line, or their folder
 * Return: 0, or EXIT_FAILED after saying so
 */
int cmd_privilege_drop(char *const *named, size_t n);

#endif /* KJOULE_CMD_H */
