// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is said to who may not: advice that helps, and none that does not.
 */
#include <errno.h>
#include <string.h>
#include "lib/base/error.h"
#include "tests/support/synthetic.h"
#include "tests/support/unit.h"

TEST(the_advice_fits_the_refusal)
{
	static const char locked[] = "none integrity [confidentiality]\n",
			  not [] = "[none] integrity confidentiality\n";
	static const struct {
		int code;
		const char *said, *lockdown, *text;
	} cases[] = {
		{ EPERM, NULL, not,
		  "x: Operation not permitted; it needs CAP_PERFMON: run it with sudo" },
		{ EACCES, NULL, NULL,
		  "x: Permission denied; it needs CAP_PERFMON: run it with sudo" },
		{ EPERM, "CAP_PERFMON is needed", NULL,
		  "x: CAP_PERFMON is needed; run it with sudo" },
		{ EPERM, "the kernel is locked down", locked, "x: the kernel is locked down" },
		{ EPERM, NULL, locked,
		  "x: Operation not permitted; the kernel is locked down: boot without lockdown=confidentiality" },
		{ EPERM, "the session is another socket's", not,
		  "x: the session is another socket's" },
	};
	struct kjoule_error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *file = cases[i].lockdown ? temp_path("lockdown") : "/nonexistent";

		if (cases[i].lockdown)
			write_file(file, cases[i].lockdown, strlen(cases[i].lockdown));
		assert_int_equal(kjoule_refused(&err, cases[i].code, "x", cases[i].said, file),
				 -cases[i].code);
		assert_string_equal(err.text, cases[i].text);
	}
}
