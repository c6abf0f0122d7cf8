/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the front end for scripts: init and exit by sysfs.c, and what its files share, the
 * permission check and the units.
 */
#ifndef KJOULE_SYSFS_H
#define KJOULE_SYSFS_H

#include <linux/capability.h>
#include <linux/security.h>

#include "counter/meter.h"

struct attribute_group;
struct kjoule_session;
struct kobject;

#define KJOULE_SYSFS_USES	(KJOULE_METERS_MAX + 1)

extern const struct attribute_group *kjoule_sysfs_groups[];

int kjoule_sysfs_init(struct kobject *parent);
void kjoule_sysfs_exit(void);

int kjoule_sysfs_source_init(struct kobject *parent);
void kjoule_sysfs_source_exit(void);
void kjoule_sysfs_session_init(struct kobject *parent);
void kjoule_sysfs_session_exit(void);
int kjoule_sysfs_use_add(struct kjoule_session *s, struct kobject *folder, struct kobject **uses);
void kjoule_sysfs_use_remove(struct kobject **uses);

/*
 * kjoule_sysfs_check() - may the caller see energy and tasks? Checked at each read, so that an
 * open file does not pass on its opener's rights. Return: 0 or -EPERM.
 */
static inline int kjoule_sysfs_check(void)
{
	return perfmon_capable() ? security_locked_down(LOCKDOWN_PERF) : -EPERM;
}

/** kjoule_sysfs_unit() - name of a quantity's unit */
static inline const char *kjoule_sysfs_unit(enum kjoule_quantity quantity)
{
	static const char * const units[] = {
		[KJOULE_QUANTITY_ENERGY] = "uJ",
		[KJOULE_QUANTITY_POWER] = "uW",
		[KJOULE_QUANTITY_TEMPERATURE] = "mC",
		[KJOULE_QUANTITY_COUNT] = "events",
	};

	return units[quantity];
}

#endif
