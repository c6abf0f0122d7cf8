// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of options that report and diff have in common; see report.h.
 */
#include <errno.h>
#include <string.h>
#include "cmd.h"
#include "report.h"

int report_parse_grain(const char *verb, const char *text, struct report_options *opt)
{
	static const char *const keys[] = { [GRAIN_FUNCTION] = "function", [GRAIN_OBJECT] = "object",
					    [GRAIN_LINE] = "line", [GRAIN_LOOP] = "loop", [GRAIN_BLOCK] = "block" };

	opt->processes = !strcmp(text, "process");
	opt->by_region = !strcmp(text, "region");
	opt->grain = GRAIN_FUNCTION;
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

int report_parse_block(const char *verb, const char *text, struct report_options *opt)
{
	const char *why;
	int ret = named_add(&opt->named, text, &why);

	return ret ? cmd_usage(verb, "--block %s: %s", text, ret == -EINVAL ? why : strerror(-ret)) : 0;
}
