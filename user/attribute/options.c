// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options that report, annotate, diff and sweep have in common, and their values; see options.h.
 */
#include <errno.h>
#include <string.h>
#include "attribute/options.h"
#include "cli/args.h"
#include "cli/cmd.h"

int attribute_parse_grain(const char *verb, const char *text, struct attribute_options *opt)
{
	static const char *const keys[] = { [CODE_UNIT_FUNCTION] = "function", [CODE_UNIT_OBJECT] = "object",
					    [CODE_UNIT_LINE] = "line", [CODE_UNIT_LOOP] = "loop", [CODE_UNIT_BLOCK] = "block" };

	opt->processes = !strcmp(text, "process");
	opt->by_region = !strcmp(text, "region");
	opt->grain = CODE_UNIT_FUNCTION;
	if (opt->processes || opt->by_region)
		return 0;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(text, keys[i])) {
			opt->grain = i;
			return 0;
		}
	}
	return cmd_usage(verb, "--by %s: no such grain; there are process, object, function, line, loop, block, region", text);
}

int attribute_parse_block(const char *verb, const char *text, struct attribute_options *opt)
{
	const char *why;
	int ret = user_blocks_add(&opt->named, text, &why);

	return ret ? cmd_usage(verb, "--block %s: %s", text, ret == -EINVAL ? why : strerror(-ret)) : 0;
}

int attribute_parse_common(const char *verb, int option, const char *arg, struct attribute_options *opt, double *limit)
{
	switch (option) {
	case ATTRIBUTE_OPT_LIMIT:
		return args_percent(arg, limit) ?
		       cmd_usage(verb, "--percent-limit %s: expected a number from 0 to 100", arg) : 0;
	case ATTRIBUTE_OPT_REGION:
		opt->region = arg;
		return arg[0] ? 0 : cmd_usage(verb, "--region '': expected a region's name");
	case ATTRIBUTE_OPT_PID:
		return args_pid(arg, &opt->pid) ? cmd_usage(verb, "--pid %s: expected a process id", arg) : 0;
	case ATTRIBUTE_OPT_COMM:
		opt->comm = arg;
		return 0;
	case ATTRIBUTE_OPT_SOURCE:
		opt->source = arg;
		return args_sources(arg) ?
		       cmd_usage(verb, "--source '%s': expected names with commas between, none of them empty", arg) : 0;
	case ATTRIBUTE_OPT_INTERVAL:
		opt->worst_case = !strcmp(arg, "worst-case");
		return opt->worst_case || !strcmp(arg, "combined") ? 0 :
		       cmd_usage(verb, "--interval %s: no such kind; there are combined, worst-case", arg);
	case ATTRIBUTE_OPT_JSON:
		opt->format = OUTPUT_JSON;
		return 0;
	case ATTRIBUTE_OPT_CSV:
		opt->format = OUTPUT_CSV;
		return 0;
	}
	return -ENOENT;
}

bool attribute_is_wanted(const struct blocks_process *p, const struct attribute_options *opt)
{
	if (opt->pid && p->pid != opt->pid)
		return false;
	if (opt->region && p->outside)
		return false;
	return !opt->comm || !strcmp(p->comm, opt->comm);
}
