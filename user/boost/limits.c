// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The limits of power that powercap has for all packages together; see boost.h. Any driver has them
 * by the names of RAPL's.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "boost/boost.h"

#define ZONES		"class/powercap"
#define PREFIX		"intel-rapl:"
#define FIRST		PREFIX "0"
#define CONSTRAINTS	4

static bool limits_read_line(const char *sysfs, const char *zone, const char *file, char *text,
			     size_t len)
{
	char path[768];
	FILE *f;
	bool good;

	snprintf(path, sizeof(path), "%s/" ZONES "/%s/%s", sysfs, zone, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	good = fgets(text, len, f);
	fclose(f);
	text[good ? strcspn(text, "\n") : 0] = '\0';
	return good;
}

static bool limits_read_constraint(const char *sysfs, const char *zone, unsigned int i,
				   const char *what, char *text, size_t len)
{
	char file[64];

	snprintf(file, sizeof(file), "constraint_%u_%s", i, what);
	return limits_read_line(sysfs, zone, file, text, len);
}

static double limits_read_micro(const char *sysfs, const char *zone, unsigned int i,
				const char *what)
{
	char text[64], rest;
	double v;

	return limits_read_constraint(sysfs, zone, i, what, text, sizeof(text)) &&
	       sscanf(text, "%lf%c", &v, &rest) == 1 && v > 0 ?
	       v * 1e-6 : NAN;
}

/*
 * Neither a part of one, nor the whole machine, nor the same limits by another way
 * (intel-rapl-mmio:0).
 */
static bool limits_zone_is_package(const char *sysfs, const char *zone)
{
	const char *number = zone + strlen(PREFIX);
	char name[64];

	if (strncmp(zone, PREFIX, strlen(PREFIX)) || !*number ||
	    number[strspn(number, "0123456789")])
		return false;
	/* the first one without a name is what it always is */
	return limits_read_line(sysfs, zone, "name", name, sizeof(name)) ?
		       !strncmp(name, "package", 7) :
		       !strcmp(zone, FIRST);
}

static struct boost_limits limits_read_package(const char *sysfs, const char *zone)
{
	struct boost_limits l = { NAN, NAN, NAN };
	char name[64];

	/* limits that are there and switched off */
	if (limits_read_line(sysfs, zone, "enabled", name, sizeof(name)) && !strcmp(name, "0"))
		return l;
	for (unsigned int i = 0;
	     i < CONSTRAINTS && limits_read_constraint(sysfs, zone, i, "name", name, sizeof(name));
	     i++) {
		if (!strcmp(name, "long_term")) {
			l.pl1_w = limits_read_micro(sysfs, zone, i, "power_limit_uw");
			l.tau_s = limits_read_micro(sysfs, zone, i, "time_window_us");
		} else if (!strcmp(name, "short_term")) {
			l.pl2_w = limits_read_micro(sysfs, zone, i, "power_limit_uw");
		}
	}
	return l;
}

struct boost_limits boost_limits_read(const char *sysfs)
{
	struct boost_limits sum = { NAN, NAN, NAN };
	unsigned int packages = 0;
	struct dirent *zone;
	char path[512];
	DIR *zones;

	snprintf(path, sizeof(path), "%s/" ZONES, sysfs);
	zones = opendir(path);
	while (zones && (zone = readdir(zones))) {
		struct boost_limits l;

		if (!limits_zone_is_package(sysfs, zone->d_name))
			continue;
		l = limits_read_package(sysfs, zone->d_name);
		if (!packages++) {
			sum = l;
			continue;
		}
		/* of a package that is not limited there is none for all */
		sum.pl1_w += l.pl1_w;
		sum.pl2_w += l.pl2_w;
		if (l.tau_s != sum.tau_s)
			sum.tau_s = NAN;
	}
	if (zones)
		closedir(zones);
	return sum;
}
