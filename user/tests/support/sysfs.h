/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated sysfs in a folder of the test's own, for scans of sources. */
#ifndef KJOULE_TEST_SYSFS_H
#define KJOULE_TEST_SYSFS_H

/* Where it is, for kjoule_sources_scan(). */
extern char sysfs_root[];

void sysfs_new(void);
/* A file below the root, and the folders on the way to it. */
void sysfs_put(const char *content, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A zone of powercap; all with a newline, as the kernel writes it. */
void sysfs_put_zone(const char *zone, const char *name, const char *uj);
/* Return: 0 */
int sysfs_remove(void);

#endif /* KJOULE_TEST_SYSFS_H */
