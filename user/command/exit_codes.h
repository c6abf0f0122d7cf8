/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exit codes of a command that are no failure.
 */
#ifndef KJOULE_EXIT_CODES_H
#define KJOULE_EXIT_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes that are no failure: solvers, for one, tell their answer by it. */
struct exit_codes {
	uint32_t *list;
	size_t n;
};

/*
 * Exit codes that a command itself can have: above are what shells say of commands that cannot be
 * run or were killed.
 */
#define EXIT_CODES_MOST	125

/**
 * exit_codes_advice() - what there is to say to whoever has such an exit code every time; empty if
 * it is none of the command's own
 */
const char *exit_codes_advice(int exit_code);
/** exit_codes_parse() - --exit-code: "10,20", see OPT_CALL(); @codes: struct exit_codes */
int exit_codes_parse(void *codes, const char *arg, const char **why);
/** exit_codes_allow() - is a recording well whose command ended so? */
bool exit_codes_allow(const struct exit_codes *codes, int exit_code);

#endif /* KJOULE_EXIT_CODES_H */
