// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exit codes of a command that are no failure; see exit_codes.h.
 */
#include <stdlib.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "command/exit_codes.h"

const char *exit_codes_advice(int exit_code)
{
	return exit_code > 0 && exit_code <= EXIT_CODES_MOST ? "; where that is no failure, say so by --exit-code" : "";
}

int exit_codes_parse(const char *verb, const char *arg, struct exit_codes *codes)
{
	free(codes->list);
	return cmd_bad_value(verb, args_list(arg, EXIT_CODES_MOST, &codes->list, &codes->n), "--exit-code", arg,
			     "exit codes like 10,20, from 1 to 125");
}

bool exit_codes_allow(const struct exit_codes *codes, int exit_code)
{
	if (!exit_code)
		return true;
	for (size_t i = 0; i < codes->n; i++)
		if ((int)codes->list[i] == exit_code)
			return true;
	return false;
}
