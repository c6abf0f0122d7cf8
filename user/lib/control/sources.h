/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources that user space finds and passes to a session: zones of powercap, values of hwmon and of
 * thermal zones, counters of perf PMUs, power supplies. For the kernel's own see kjoule_sources().
 */
#ifndef KJOULE_SOURCES_H
#define KJOULE_SOURCES_H

#include "lib/base/error.h"
#include "lib/control/control.h"

#define KJOULE_SYSFS	"/sys"

/**
 * struct kjoule_found - a source that was found
 * @info: as of a source of the kernel; name, rating, why it cannot be used; one domain. Its scopes
 *   are the CPUs that it counts, if known
 * @spec: to be passed to a session; fd is -1
 * @path: of the value file, empty if there is none
 */
struct kjoule_found {
	struct kjoule_source_info info;
	struct kjoule_source_spec spec;
	char path[256];
};

/* Ratings of user space's sources; the kernel's have their own. Thermal: never the default. */
enum {
	KJOULE_RATING_PERF = 150,
	KJOULE_RATING_POWERCAP = 100,
	KJOULE_RATING_HWMON_ENERGY = 80,
	KJOULE_RATING_HWMON_POWER = 60,
	KJOULE_RATING_SUPPLY = 40,
	KJOULE_RATING_DUPLICATE = 10,
};

/**
 * kjoule_sources_scan() - find them all; every value is read once
 * @sysfs: KJOULE_SYSFS, or a folder that looks like it
 * @list: out: for kjoule_sources_free()
 * Return: 0 or -ENOMEM
 */
int kjoule_sources_scan(const char *sysfs, struct kjoule_found **list, size_t *n);
void kjoule_sources_free(struct kjoule_found *list, size_t n);

/**
 * kjoule_sources_perf() - an event by name: "perf:PMU/EVENT/" or "perf:PMU/term=value,.../"
 * Return: 0, or -EINVAL with the reason in @err
 */
int kjoule_sources_perf(const char *sysfs, const char *name, struct kjoule_found *found,
			struct kjoule_error *err);

/**
 * kjoule_source_unclear() - is it unknown what it measures? True of a value of sysfs for energy or
 * power of an unknown device; it is used when it is named, never by default
 */
bool kjoule_source_unclear(const struct kjoule_source_info *info);
/** kjoule_sources_unclear() - "hwmon:amdgpu/power1 (PPT), ...". Return: how many */
size_t kjoule_sources_unclear(const struct kjoule_found *list, size_t n, char *buf, size_t len);

/**
 * kjoule_sources_best() - what to use if the kernel has nothing as good
 * @than: rating of the kernel's best usable one, INT32_MIN: there is none
 * Return: an element of @list, or NULL
 */
const struct kjoule_found *kjoule_sources_best(const struct kjoule_found *list, size_t n,
					       int32_t than);

/** kjoule_sources_goes_with() - parts of one meter, which are used together; only for energy */
bool kjoule_sources_goes_with(const struct kjoule_found *f, const struct kjoule_found *with);

/**
 * kjoule_source_name_len() - up to the comma after it, @PERIOD included; a perf event may have
 * commas inside
 */
size_t kjoule_source_name_len(const char *names);

/*
 * For sources_perf.c
 */

/** kjoule_sources_read() - a file's first line. Return: its length or -errno */
int kjoule_sources_read(const char *path, char *buf, size_t len);
/** kjoule_sources_add_perf() - the energy events of all PMUs */
int kjoule_sources_add_perf(const char *sysfs, struct kjoule_found **list, size_t *n);

#endif /* KJOULE_SOURCES_H */
