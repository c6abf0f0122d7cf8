// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How verbs talk: errors and usage on standard error, always with our name.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cmd.h"
#include "lib/base/privilege.h"
#include "output/output.h"

/* Messages repeat names out of files, which must not steer the terminal. */
static void message_write(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	output_text(stderr, text ? text : "no memory to say what is wrong");
	free(text);
}

static void message_print(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("kjoule: ", stderr);
	message_write(fmt, ap);
	fputc('\n', stderr);
}

int cmd_usage(const char *verb, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	output_printf(stderr, "kjoule %s: ", verb);
	va_start(ap, fmt);
	message_write(fmt, ap);
	va_end(ap);
	output_printf(stderr, "; see `kjoule %s --help`\n", verb);
	return EXIT_USAGE;
}

int cmd_bad_value(const char *verb, int ret, const char *option, const char *text,
		  const char *wanted)
{
	const char *how = ret == -ERANGE ? "out of range" : "not understood";

	return ret ? cmd_usage(verb, "%s '%s': %s; expected %s", option, text, how, wanted) : 0;
}

int cmd_failed(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_print(fmt, ap);
	va_end(ap);
	return EXIT_FAILED;
}

void cmd_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_print(fmt, ap);
	va_end(ap);
}

int cmd_privilege_drop(char *const *named, size_t n)
{
	int ret = kjoule_privilege_drop(named, n);

	return ret ? cmd_failed("cannot give up root's rights: %s; run it as another user",
				strerror(-ret)) :
		     0;
}
