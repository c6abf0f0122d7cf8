// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule script: the records of a recording as they are, one a line, in the order
 * of their time. The command line, and what goes through the other parts.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/cmd.h"
#include "script/script.h"
#include "output/terminal.h"
#include "verbs.h"

static const char help[] =
"Usage: kjoule script [--json|--csv] [FILE]\n"
"\n"
"Prints the records of a recording (default kjoule.data) one a line, by time: samples,\n"
"energy counters that have moved, values of slow sources, ticks that were missed or left\n"
"out because the CPU was idle, records that were lost, and the side band (names,\n"
"mappings, forks and exits). Below a sample is who called, if that was recorded.\n"
"\n"
"      --json   a JSON object a line\n"
"      --csv    as CSV\n"
"  -h, --help\n";

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
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "csv", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	enum output_format format = OUTPUT_TABLE;
	const char *path = NULL;
	struct kjoule_error err;
	struct view v;
	int c, code;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			format = OUTPUT_JSON_LINES;
			break;
		case 'c':
			format = OUTPUT_CSV;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return cmd_getopt_error("script", c, optopt, argv[optind - 1]);
		}
	}
	if (argc - optind > 1)
		return cmd_usage("script", "one file, please; found %s as well", argv[optind + 1]);
	if (optind < argc)
		path = argv[optind];
	code = cmd_privilege_drop(argv + optind, argc - optind);
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
	code = code ? cmd_failed("%s: %s", path, code == -ESTALE ? "changed while it was read; what was before is above" :
				 strerror(-code)) : view_complain(&v, path);
	view_close(&v);
	return code;
}
