// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The message that goes with an error. Libraries hand it up; only the CLI prints it.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/error.h"

int kjoule_fail(struct kjoule_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -code;
}

static bool kernel_is_locked_down(const char *lockdown)
{
	FILE *f = fopen(lockdown, "re");
	char line[128] = "";

	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	return strstr(line, "[confidentiality]");
}

int kjoule_refused(struct kjoule_error *err, int code, const char *what, const char *said,
		   const char *lockdown)
{
	const char *advice = "";

	if (!said && kernel_is_locked_down(lockdown))
		advice = "; the kernel is locked down: boot without lockdown=confidentiality";
	else if (!said)
		advice = "; it needs CAP_PERFMON: run it with sudo";
	else if (strstr(said, "CAP_"))
		advice = "; run it with sudo";
	return kjoule_fail(err, code, "%s: %s%s", what, said ? said : strerror(code), advice);
}
