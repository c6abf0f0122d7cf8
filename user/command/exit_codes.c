// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exit codes of a command that are no failure; see exit_codes.h.
 */
#include <stdlib.h>
#include "cli/args.h"
#include "command/exit_codes.h"

const char *exit_codes_advice(int exit_code)
{
	return exit_code > 0 && exit_code <= EXIT_CODES_MOST ?
	       "; where that is no failure, say so by --exit-code" : "";
}

int exit_codes_parse(void *codes, const char *arg, const char **why)
{
	struct exit_codes *c = codes;

	(void)why;
	free(c->list);
	return args_list(arg, EXIT_CODES_MOST, &c->list, &c->n);
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
