// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Made-up files of sysfs; see sysfs.h.
 */
#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "tests/support/sysfs.h"

static const char pattern[] = "/tmp/kjoule-sysfs-XXXXXX";
char sysfs_root[sizeof(pattern)];

void sysfs_new(void)
{
	strcpy(sysfs_root, pattern);
	assert(mkdtemp(sysfs_root));
}

void sysfs_put(const char *content, const char *fmt, ...)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/", sysfs_root);
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - n, fmt, ap);
	va_end(ap);
	for (char *p = path + n; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	assert(f);
	fputs(content, f);
	fclose(f);
}

void sysfs_put_zone(const char *zone, const char *name, const char *uj)
{
	sysfs_put(name, "class/powercap/%s/name", zone);
	sysfs_put(uj, "class/powercap/%s/energy_uj", zone);
	sysfs_put("262143328850\n", "class/powercap/%s/max_energy_range_uj", zone);
}

int sysfs_remove(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", sysfs_root);
	return system(command);
}
