// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The limits of power that the first package of powercap has; see boost_cmd.h. Any driver has them by the names of RAPL's.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "boost_cmd.h"

#define ZONE		"class/powercap/intel-rapl:0"
#define CONSTRAINTS	4

static bool read_line(const char *sysfs, unsigned int i, const char *what, char *text, size_t len)
{
	char path[512];
	FILE *f;
	bool good;

	snprintf(path, sizeof(path), "%s/" ZONE "/constraint_%u_%s", sysfs, i, what);
	f = fopen(path, "re");
	if (!f)
		return false;
	good = fgets(text, len, f);
	fclose(f);
	text[good ? strcspn(text, "\n") : 0] = '\0';
	return good;
}

static double read_micro(const char *sysfs, unsigned int i, const char *what)
{
	char text[64], rest;
	double v;

	return read_line(sysfs, i, what, text, sizeof(text)) && sscanf(text, "%lf%c", &v, &rest) == 1 && v > 0 ? v * 1e-6 : NAN;
}

struct boost_limits boost_limits_read(const char *sysfs)
{
	struct boost_limits l = { NAN, NAN, NAN };
	char name[64];

	for (unsigned int i = 0; i < CONSTRAINTS && read_line(sysfs, i, "name", name, sizeof(name)); i++) {
		if (!strcmp(name, "long_term")) {
			l.pl1_w = read_micro(sysfs, i, "power_limit_uw");
			l.tau_s = read_micro(sysfs, i, "time_window_us");
		} else if (!strcmp(name, "short_term")) {
			l.pl2_w = read_micro(sysfs, i, "power_limit_uw");
		}
	}
	return l;
}
