// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input that each run of a command finds anew; see child_input.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command/child_input.h"

/* A pipe that is at its end is at its end for all runs. */
static bool child_input_is_at_end(void)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&fd, 1, 0) == 1 && fd.revents == POLLHUP;
}

int child_input_open(struct child_input *in, size_t runs, struct kjoule_error *err)
{
	struct stat st;

	*in = (struct child_input){ .file = false };
	if (runs < 2 || fstat(STDIN_FILENO, &st))
		return 0;
	if ((S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) && !child_input_is_at_end())
		return kjoule_fail(err, ESPIPE, "standard input is a %s, which only the first of %zu runs could read: give a file (< FILE), or < /dev/null if the command reads nothing",
				   S_ISSOCK(st.st_mode) ? "socket" : "pipe", runs);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return 0;
	in->at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (in->at < 0)
		return kjoule_fail(err, errno,
				   "standard input: its position is not known: %s",
				   strerror(errno));
	in->file = true;
	return 0;
}

int child_input_rewind(const struct child_input *in, struct kjoule_error *err)
{
	if (in->file && lseek(STDIN_FILENO, in->at, SEEK_SET) < 0)
		return kjoule_fail(err, errno, "standard input cannot be read by the next run: %s",
				   strerror(errno));
	return 0;
}
