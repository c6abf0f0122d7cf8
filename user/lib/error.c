// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The message that goes with an error. Libraries hand it up; only the CLI prints it.
 */
#include <stdarg.h>
#include <stdio.h>
#include "kjoule.h"

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
