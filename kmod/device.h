/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front ends as main.c brings them up and down: char device, netlink family,
 * plain values. They call the core; nothing calls them.
 */
#ifndef KJOULE_FRONTEND_H
#define KJOULE_FRONTEND_H

struct attribute_group;
struct kobject;

extern const struct attribute_group *kjoule_stats_groups[];

int kjoule_chardev_init(void);
void kjoule_chardev_ready(void);
void kjoule_chardev_exit(void);
struct kobject *kjoule_chardev_kobj(void);
int kjoule_netlink_init(void);
void kjoule_netlink_exit(void);
int kjoule_stats_init(void);
void kjoule_stats_exit(void);

#endif /* KJOULE_FRONTEND_H */
