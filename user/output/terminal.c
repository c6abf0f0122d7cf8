// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The terminal and the pager; see terminal.h. Used by tables, by verbs with long output, and by
 * main.c at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "output/terminal.h"

static bool refused;
static pid_t pager;
static int messages = -1;	/* where standard error went before the pager */
static unsigned int paged_width;	/* of the terminal behind the pager */

unsigned int terminal_width(void)
{
	struct winsize size;

	if (pager)
		return paged_width;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2)
		return TERMINAL_WIDTH;
	return size.ws_col;
}

bool terminal_has_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return (pager || isatty(STDOUT_FILENO)) && !(no && *no) &&
	       !(term && !strcmp(term, "dumb"));
}

void terminal_refuse_pager(void)
{
	refused = true;
}

static const char *terminal_pager_command(void)
{
	const char *command = getenv("KJOULE_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return *command && strcmp(command, "cat") ? command : NULL;
}

static void terminal_run_pager(const char *command, const int *ends)
{
	dup2(ends[0], STDIN_FILENO);
	/* it is standard input already where that was closed */
	if (ends[0] != STDIN_FILENO)
		close(ends[0]);
	close(ends[1]);
	/* less: quit at the end of what fits on a screen, keep colours, do not clear the screen */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

/* A pager that is not installed would swallow the output: the shell says whether there is one. */
static bool terminal_has_command(const char *command)
{
	size_t word;
	char *test;
	int ret;

	/* "LESS=R less": what is set for it alone */
	do {
		command += strspn(command, " \t");
		word = strcspn(command, " \t;&|<>()$`'\"\\");
	} while (memchr(command, '=', word) && *(command += word));
	if (!word || asprintf(&test, "command -v '%.*s' >/dev/null 2>&1", (int)word, command) < 0)
		return false;
	ret = system(test);
	free(test);
	return !ret;
}

/*
 * Both ends that the pager reads from are closed, or it would wait for more. Return: whether it
 * could be run, and was not killed
 */
static bool terminal_wait_for_pager(void)
{
	int status = 0;

	close(STDOUT_FILENO);
	if (messages >= 0) {
		dup2(messages, STDERR_FILENO);
		close(messages);
		messages = -1;
	}
	while (waitpid(pager, &status, 0) < 0 && errno == EINTR)
		;
	/* 126 and 127 are of the shell */
	if (WIFEXITED(status) && WEXITSTATUS(status) < 126)
		return true;
	fprintf(stderr,
		"kjoule: the pager failed; choose another with KJOULE_PAGER, or KJOULE_PAGER=cat for none\n");
	return false;
}

/* Ctrl-C reaches the pager as well, which goes on: the terminal is its own until it ends. */
static void terminal_end_after_pager(int sig)
{
	terminal_wait_for_pager();
	signal(sig, SIG_DFL);
	raise(sig);
}

void terminal_start_pager(void)
{
	const char *command = terminal_pager_command();
	unsigned int width = terminal_width();
	int ends[2];
	pid_t child;

	if (refused || pager || !command || !isatty(STDOUT_FILENO) ||
	    !terminal_has_command(command) || pipe(ends))
		return;
	fflush(stdout);
	child = fork();
	if (!child)
		terminal_run_pager(command, ends);
	if (child > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* messages would be written over the pager's screen */
		if (isatty(STDERR_FILENO)) {
			messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
			dup2(ends[1], STDERR_FILENO);
		}
		signal(SIGPIPE, SIG_IGN);
		signal(SIGINT, terminal_end_after_pager);
		signal(SIGTERM, terminal_end_after_pager);
		signal(SIGHUP, terminal_end_after_pager);
		paged_width = width;
		pager = child;
	}
	close(ends[0]);
	close(ends[1]);
}

int terminal_stop_pager(void)
{
	int ret = fflush(stdout) || ferror(stdout) ? -1 : 0, err = errno;

	if (pager) {
		/* who has seen enough closes it: that is no failure */
		if (ret && err == EPIPE)
			ret = 0;
		if (!terminal_wait_for_pager()) {
			ret = -1;
			err = EPIPE;
		}
		pager = 0;
	}
	errno = err;
	return ret;
}
