// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule script: the records of a recording as they are, one a line, in the order
 * of their time. The command line, and what goes through the other parts.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/cmd.h"
#include "cli/options.h"
#include "script/script.h"
#include "output/terminal.h"
#include "verbs.h"

static const struct options_verb script_verb = {
	.name = "script",
	.usage = "[OPTION]... [FILE]",
	.about =
	"Prints the records of a recording (default kjoule.data) one a line, by time:\n"
	"samples and who called, energy counters that have moved, values of slow sources,\n"
	"ticks that were missed or skipped while idle, records that were lost, and the\n"
	"sideband (names, mappings, forks and exits).",
	.examples =
	"  kjoule script | less\n"
	"  kjoule script --json mix.data | jq .kind\n"
	"  kjoule script --csv mix.data > mix.csv\n",
};

static int script_print_all(struct view *v, enum output_format format)
{
	const struct script_cursor *record;
	const struct kjoule_event *event;
	struct script_printer p = { 0 };
	struct script_reader r;
	int ret = script_reader_init(&r, v);

	if (!ret)
		ret = script_printer_init(&p, v, format);
	while (!ret && !ferror(stdout) && script_reader_next(&r, &record, &event)) {
		if (event)
			script_print_event(&p, event);
		else
			script_print_record(&p, record);
	}
	ret = ret ? ret : r.error;
	script_printer_exit(&p);
	script_reader_exit(&r);
	return ret;
}

int cmd_script(int argc, char **argv)
{
	enum output_format format = OUTPUT_TABLE;
	const struct options_row options[] = {
		{ 0, "json", NULL, "a JSON object a line", OPT_SET(&format, OUTPUT_JSON_LINES),
		  .not_with = "csv" },
		OPT_CSV(&format),
		{ 0 }
	};
	int code, first = options_parse(&script_verb, options, argc, argv);
	struct kjoule_error err;
	const char *path;
	struct view v;

	if (first <= 0)
		return -first;
	path = argv[first];
	if (argc - first > 1)
		return cmd_usage("script",
				 "expected one file; found '%s' as well", argv[first + 1]);
	code = cmd_privilege_drop(argv + first, argc - first);
	if (code)
		return code;
	terminal_start_pager();
	if (view_open(path, &v, &err))
		return cmd_failed("%s", err.text);
	path = path ? path : KJOULE_DATA_FILE;
	code = view_load(&v);
	if (code) {
		view_close(&v);
		return cmd_failed("%s: %s", path, view_why_not(code));
	}
	code = script_print_all(&v, format);
	code = code ? cmd_failed("%s: %s", path, code == -ESTALE ?
				 "changed while it was read; what was before is above" :
				 strerror(-code)) : view_complain(&v, path);
	view_close(&v);
	return code;
}
