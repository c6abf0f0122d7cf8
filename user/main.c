// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kjoule: the table of verbs. What each does is in cmd_<verb>.c.
 */
#include <errno.h>
#include <linux/kjoule.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include "cli/cmd.h"
#include "cli/options.h"
#include "lib/base/privilege.h"
#include "output/output.h"
#include "output/terminal.h"
#include "verbs.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} verbs[] = {
	{ "annotate", cmd_annotate, "which blocks and lines of a function spent its energy" },
	{ "boost", cmd_boost,
	  "how long the chip runs faster than it can sustain, and what that does to benchmarks" },
	{ "diff", cmd_diff, "what differs between recordings, block by block" },
	{ "latency", cmd_latency, "how long changes of a CPU's frequency take" },
	{ "list", cmd_list, "sources of energy and frequency, and which would be used" },
	{ "record", cmd_record, "record what runs, what it costs and how fast it is clocked" },
	{ "report", cmd_report, "which functions spent the energy of a recording" },
	{ "script", cmd_script, "the raw records of a recording, one a line" },
	{ "sweep", cmd_sweep,
	  "at which frequency and number of threads each block of a command is best" },
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(name, verbs[i].name))
			return &verbs[i];
	return NULL;
}

static void verbs_print_help(FILE *out)
{
	fputs("Usage: kjoule VERB [OPTION]...\n\nAttributes a processor's energy to code.\n\n", out);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		fprintf(out, "  %-8s %s\n", verbs[i].name, verbs[i].what);
	fputs("\n  kjoule help VERB, kjoule VERB --help   what a verb takes\n"
	      "  kjoule --no-pager VERB ...             do not page what is longer than the terminal\n"
	      "  kjoule --version\n", out);
}

/*
 * Output that could not be written is a failure (a full disk, a closed pipe is not ours to hide).
 */
static int main_flush_output(int code)
{
	if (kjoule_privilege_refused())
		cmd_warn("files were refused to user %u, as whom this ran: see PERMISSION in kjoule(1)",
			 kjoule_privilege_refused());
	if (terminal_stop_pager()) {
		if (errno != EPIPE)
			cmd_warn("standard output: %s", strerror(errno));
		return code ? code : EXIT_FAILED;
	}
	return code;
}

int main(int argc, char **argv)
{
	const struct verb *verb;

	/* for the signs of tables only: numbers have a point everywhere */
	setlocale(LC_CTYPE, "");
	if (argc > 1 && !strcmp(argv[1], "--no-pager")) {
		terminal_refuse_pager();
		argc--;
		argv++;
	}
	if (argc < 2) {
		verbs_print_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		verbs_print_help(stdout);
		return main_flush_output(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		output_printf(stdout, "kjoule %s (ABI %d)\n", KJOULE_VERSION, KJOULE_ABI_VERSION);
		return main_flush_output(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--complete-options")) {
		for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
			options_print_complete(verbs[i].name, NULL, NULL, verbs[i].what);
		return main_flush_output(EXIT_DONE);
	}
	if (!strcmp(argv[1], "help")) {
		char option[] = "--help", *args[] = { argv[2], option, NULL };

		verb = verb_find(argv[2]);
		if (verb)
			return main_flush_output(verb->run(2, args));
		argv++;
	}
	verb = verb_find(argv[1]);
	if (!verb) {
		output_printf(stderr, "kjoule: unknown %s %s; see `kjoule --help`\n",
			      argv[1][0] == '-' ? "option" : "verb", argv[1]);
		return EXIT_USAGE;
	}
	return main_flush_output(verb->run(argc - 1, argv + 1));
}
