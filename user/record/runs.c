// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record --runs: the command again and again, each run a session of its own, whose first tick the
 * module puts at a phase of its own (systematic sampling with a random start), and a file of its
 * own. What a tick costs is found out once. See record.h; called by cmd_record.c.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/cmd.h"
#include "cli/signals.h"
#include "command/child_input.h"
#include "output/output.h"
#include "record/record.h"

/* Where a number goes: before the last ending of the file's name, at its end where it has none. */
static size_t record_runs_stem_len(const char *output)
{
	const char *base = basename(output), *dot = strrchr(base, '.');

	return dot && dot != base ? (size_t)(dot - output) : strlen(output);
}

static int record_runs_digits(unsigned int runs)
{
	return snprintf(NULL, 0, "%u", runs);
}

char *record_runs_path(const char *output, unsigned int run, unsigned int runs)
{
	size_t stem = record_runs_stem_len(output);
	char *path;
	int len;

	if (run)
		len = asprintf(&path, "%.*s.%0*u%s", (int)stem, output, record_runs_digits(runs),
			       run, output + stem);
	else
		len = asprintf(&path, "%.*s.*%s", (int)stem, output, output + stem);
	return len < 0 ? NULL : path;
}

/*
 * The number in a name of the series' kind, and how many digits it has; 0: it is of no such kind.
 */
static unsigned long record_runs_number_in(const char *name, const char *stem, size_t stem_length,
					   const char *ending, int *n_digits)
{
	const char *number = name + stem_length + 1;
	size_t len;

	if (strncmp(name, stem, stem_length) || name[stem_length] != '.')
		return 0;
	len = strspn(number, "0123456789");
	*n_digits = len;
	return len && len < 9 && !strcmp(number + len, ending) ? strtoul(number, NULL, 10) : 0;
}

unsigned int record_runs_others(const char *output, unsigned int done, unsigned int runs,
				char **first)
{
	const char *base = basename(output),
		   *ending = output + record_runs_stem_len(output);
	size_t stem = ending - base;
	char *folder = base == output ? strdup(".") : strndup(output, base - output);
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *e;
	unsigned int n = 0;

	*first = NULL;
	while (dir && (e = readdir(dir))) {
		int n_digits;
		unsigned long number = record_runs_number_in(e->d_name, base, stem, ending,
							     &n_digits);

		if (!number || (number <= done && n_digits == record_runs_digits(runs)))
			continue;
		if (!n++ && asprintf(first, "%.*s%s", (int)(base - output), output, e->d_name) < 0)
			*first = NULL;
	}
	if (dir)
		closedir(dir);
	free(folder);
	return n;
}

/* A report of all that the wildcard has would take in what is older. */
static void record_runs_warn_of_others(const struct record_options *opt, unsigned int done)
{
	char *first, *all = record_runs_path(opt->output, 0, opt->runs);
	unsigned int n = record_runs_others(opt->output, done, opt->runs, &first);

	if (n)
		cmd_warn("%s%s: not of these runs, but `kjoule report %s` would take %s in",
			 first ? first : "files", n > 1 ? " and others" : "", all ? all : "",
			 n > 1 ? "them" : "it");
	free(first);
	free(all);
}

static void record_runs_print_summary(const struct record_options *opt, unsigned int whole)
{
	char *all = record_runs_path(opt->output, 0, opt->runs);

	if (!opt->quiet && whole)
		output_printf(stderr, "kjoule: %u of %u runs recorded; see `kjoule report %s`\n",
			      whole, opt->runs, all ? all : "");
	free(all);
}

/* How it ended before all runs were made. @path: NULL if nothing was recorded */
static void record_runs_warn_of_end(const struct record_options *opt,
				    const struct record_result *result, unsigned int run, int code,
				    const char *path)
{
	if (result->signal && path)
		cmd_warn("run %u of %u was stopped by signal %d: %s has what was recorded until then, and is no whole run",
			 run, opt->runs, result->signal, path);
	else if (result->signal)
		cmd_warn("stopped by signal %d before run %u of %u", result->signal, run,
			 opt->runs);
	else if (path)
		cmd_warn("run %u of %u ended with exit code %d, and the series with it; what was recorded of it is in %s%s",
			 run, opt->runs, code, path, exit_codes_advice(result->exit_code));
	else
		cmd_warn("run %u of %u was not recorded", run, opt->runs);
}

int record_runs(const struct record_options *opt,
		int (*once)(const struct record_options *opt, struct record_result *result))
{
	struct record_options one = *opt;
	struct kjoule_calibration cal;
	struct kjoule_error err;
	struct child_input input;
	sigset_t ends, old;
	unsigned int run;
	int code = EXIT_DONE;

	if (child_input_open(&input, opt->runs, &err))
		return cmd_failed("%s", err.text);
	/* a signal between two runs is the next one's, which has not begun then */
	signals_ends(&ends);
	sigprocmask(SIG_BLOCK, &ends, &old);
	one.mask = &old;
	one.quiet = opt->quiet || !isatty(STDERR_FILENO);
	for (run = 1; run <= opt->runs && !code; run++) {
		struct record_result result = { .exit_code = -1 };
		char *path = record_runs_path(opt->output, run, opt->runs);

		if (!path || child_input_rewind(&input, &err)) {
			code = cmd_failed("%s", path ? err.text : strerror(ENOMEM));
			free(path);
			break;
		}
		one.run = run;
		one.output = path;
		code = once(&one, &result);
		if (code == result.exit_code && exit_codes_allow(&opt->exits, result.exit_code))
			code = EXIT_DONE;
		/* a command may have ended well, but was not let end by itself */
		if (result.signal)
			code = 128 + result.signal;
		if (code)
			record_runs_warn_of_end(opt, &result, run, code,
						result.reason && !access(path, F_OK) ? path : NULL);
		if (result.cal.ticks) {
			cal = result.cal;
			one.cal = &cal;
		}
		free(path);
		if (code)
			break;
	}
	record_runs_warn_of_others(opt, code ? run : opt->runs);
	record_runs_print_summary(opt, run - 1);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return code;
}
