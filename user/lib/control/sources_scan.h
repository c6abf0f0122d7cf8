/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the scans of sysfs: zones (sources.c) and sensors (sources_sensors.c). */
#ifndef KJOULE_SOURCES_SCAN_H
#define KJOULE_SOURCES_SCAN_H

#include <dirent.h>
#include "lib/control/sources.h"

/* Where to look, and the results so far. */
struct kjoule_scan {
	const char *sysfs;
	struct kjoule_found **list;
	size_t *n;
};

/** kjoule_scan_read() - an attribute in a folder. Return: its length or -errno */
int kjoule_scan_read(const char *folder, const char *name, char *buf, size_t len);
int64_t kjoule_scan_number(const char *folder, const char *name, int64_t otherwise);
/** kjoule_scan_no_dots() - for scandir() */
int kjoule_scan_no_dots(const struct dirent *e);
/** kjoule_scan_add() - a source with one domain, a file in the quantity's unit, or NULL */
struct kjoule_found *kjoule_scan_add(struct kjoule_scan *s, uint32_t quantity, int32_t rating,
				     const char *domain);
void kjoule_scan_set_name(struct kjoule_found *f, const char *name);
void kjoule_scan_set_class(struct kjoule_found *f, uint32_t class);
/** kjoule_scan_try() - is there a number in its file? Notes why not */
void kjoule_scan_try(struct kjoule_found *f);
/**
 * kjoule_scan_cpus() - its CPUs: of a package, "package-1", or of a die of it, "package-1-die-0"
 */
void kjoule_scan_cpus(const struct kjoule_scan *s, struct kjoule_found *f, const char *zone);
struct kjoule_found *kjoule_scan_find(const struct kjoule_scan *s, const char *name);

/* Handles an entry of a class. Return: 0 or -ENOMEM */
int kjoule_scan_hwmon(struct kjoule_scan *s, const char *entry);
int kjoule_scan_thermal(struct kjoule_scan *s, const char *entry);
int kjoule_scan_supply(struct kjoule_scan *s, const char *entry);

#endif /* KJOULE_SOURCES_SCAN_H */
