/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the front end for scripts: init and exit by sysfs.c, and its permission check. */
#ifndef KJOULE_SYSFS_H
#define KJOULE_SYSFS_H

#include "counter/meter.h"

struct attribute_group;
struct kjoule_session;
struct kobject;

#define KJOULE_SYSFS_USES	(KJOULE_METERS_MAX + 1)

extern const struct attribute_group *kjoule_sysfs_groups[];

int kjoule_sysfs_init(struct kobject *parent);
void kjoule_sysfs_exit(void);

int kjoule_sysfs_check(void);
const char *kjoule_sysfs_unit(enum kjoule_quantity quantity);

int kjoule_sysfs_source_init(struct kobject *parent);
void kjoule_sysfs_source_exit(void);
void kjoule_sysfs_session_init(struct kobject *parent);
void kjoule_sysfs_session_exit(void);
int kjoule_sysfs_use_add(struct kjoule_session *s, struct kobject *folder, struct kobject **uses);
void kjoule_sysfs_use_remove(struct kobject **uses);

#endif
