/* SPDX-License-Identifier: GPL-2.0-only */
/* The device and the debugfs tables, for main.c. */
#ifndef KJOULE_DEVICE_H
#define KJOULE_DEVICE_H

struct kobject;

int kjoule_device_init(void);
void kjoule_device_set_ready(void);
void kjoule_device_exit(void);
struct kobject *kjoule_device_kobj(void);

void kjoule_debugfs_init(void);
void kjoule_debugfs_exit(void);

#endif
