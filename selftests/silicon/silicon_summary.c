// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A summary of the silicon: which sources of energy and frequency there are, how often
 * each energy counter really moves, how late ticks are and how far apart on the CPUs, and
 * whether those who tell the frequency agree under load. A test of the suite (KTAP, exit
 * codes 0, 1) or, with --json, one JSON object. What cannot be measured here is a skip
 * that says what to provide; without the module it tells what the kernel has.
 *
 * usage: silicon_summary [--json] [--seconds N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kmod/guest.h"
#include "../kmod/need.h"
#include "summary.h"

static int usage(const char *what)
{
	fprintf(stderr, "silicon_summary: %s; usage: silicon_summary [--json] [--seconds N], N from 1 to 60\n", what);
	return 2;
}

int main(int argc, char **argv)
{
	static struct summary s;
	unsigned int seconds = 3;
	bool json = false;
	struct nl nl;
	int i, err;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json")) {
			json = true;
		} else if (!strcmp(argv[i], "--seconds") && i + 1 < argc) {
			seconds = atoi(argv[++i]);
			if (seconds < 1 || seconds > 60)
				return usage(argv[i]);
		} else {
			return usage(argv[i]);
		}
	}
	s.cpus = cpu_count();
	files_list(&s);
	s.lacks = lacks_module();
	if (!s.lacks) {
		err = nl_open(&nl) ?: sources_ask(&nl, &s);
		if (err) {
			fprintf(stderr, "silicon_summary: source-get: %s %s\n", strerror(-err),
				nl.why);
			return 1;
		}
		ticks_measure(&nl, &s, seconds);
		periods_measure(&nl, &s, seconds);
	}
	references_ask(&nl, &s);
	if (!s.lacks)
		nl_close(&nl);
	if (json)
		print_json(&s);
	return json ? 0 : print_ktap(&s);
}
