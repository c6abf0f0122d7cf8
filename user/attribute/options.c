// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options that report, annotate, diff and sweep have in common; see options.h.
 */
#include <string.h>
#include "attribute/options.h"
#include "cli/cmd.h"

int attribute_parse_block(void *named, const char *text, const char **why)
{
	return user_blocks_add(named, text, why);
}

int attribute_options_check(const char *verb, struct attribute_options *opt)
{
	opt->processes = opt->by == ATTRIBUTE_BY_PROCESS;
	opt->by_region = opt->by == CODE_UNIT_REGION;
	opt->grain = opt->processes || opt->by_region ? CODE_UNIT_FUNCTION : opt->by;
	opt->units = opt->grain != CODE_UNIT_FUNCTION || opt->named.n;
	if (opt->processes && opt->named.n)
		return cmd_usage(verb, "--by process has no place for --block: take --by object");
	if (opt->by_region && opt->named.n)
		return cmd_usage(verb, "--by region has no place for --block");
	return 0;
}

bool attribute_is_wanted(const struct blocks_process *p, const struct attribute_options *opt)
{
	if (opt->pid && p->pid != opt->pid)
		return false;
	if (opt->region && p->outside)
		return false;
	return !opt->comm || !strcmp(p->comm, opt->comm);
}
