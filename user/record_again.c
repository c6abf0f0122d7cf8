// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a command that is run several times needs: input that each run finds anew, and exit codes that are no failure.
 * See record.h; called by record_runs.c and sweep_run.c.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "args.h"
#include "cmd.h"
#include "record.h"

/* A pipe that is at its end is at its end for all runs. */
static bool is_at_end(void)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&fd, 1, 0) == 1 && fd.revents == POLLHUP;
}

int record_input_open(struct record_input *in, size_t runs, struct kjoule_error *err)
{
	struct stat st;

	*in = (struct record_input){ .file = false };
	if (runs < 2 || fstat(STDIN_FILENO, &st))
		return 0;
	if ((S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) && !is_at_end())
		return kjoule_fail(err, ESPIPE, "standard input is a %s, which only the first of %zu runs could read: give a file (< FILE), or < /dev/null if the command reads nothing",
				   S_ISSOCK(st.st_mode) ? "socket" : "pipe", runs);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return 0;
	in->at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (in->at < 0)
		return kjoule_fail(err, errno, "standard input: where it is to be read from can not be told: %s", strerror(errno));
	in->file = true;
	return 0;
}

int record_input_rewind(const struct record_input *in, struct kjoule_error *err)
{
	if (in->file && lseek(STDIN_FILENO, in->at, SEEK_SET) < 0)
		return kjoule_fail(err, errno, "standard input can not be read by the next run: %s", strerror(errno));
	return 0;
}

const char *record_excuse(int exit_code)
{
	return exit_code > 0 && exit_code <= RECORD_EXIT_CODE_MOST ? "; where that is no failure, say so by --exit-code" : "";
}

int record_parse_exits(struct record_options *opt, const char *arg)
{
	free(opt->exits.list);
	return cmd_bad_value(opt->verb, args_list(arg, RECORD_EXIT_CODE_MOST, &opt->exits.list, &opt->exits.n), "--exit-code", arg,
			     "exit codes like 10,20, from 1 to 125");
}

bool record_exit_is_good(const struct record_exits *exits, const struct record_result *result)
{
	if (!result->exit_code)
		return true;
	for (size_t i = 0; i < exits->n; i++)
		if ((int)exits->list[i] == result->exit_code)
			return true;
	return false;
}
