/* SPDX-License-Identifier: GPL-2.0-only */
/* The device and the tables of debugfs, as main.c brings them up and down. */
#ifndef KJOULE_DEVICE_H
#define KJOULE_DEVICE_H

struct kobject;

int kjoule_chardev_init(void);
void kjoule_chardev_ready(void);
void kjoule_chardev_exit(void);
struct kobject *kjoule_chardev_kobj(void);

void kjoule_stats_debug_init(void);
void kjoule_stats_debug_exit(void);

#endif /* KJOULE_DEVICE_H */
