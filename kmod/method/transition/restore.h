/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values that are written back to files of cpufreq policies when their owner goes: governors and
 * limits that a measurement changes are restored, however it ends.
 */
#ifndef KJOULE_RESTORE_H
#define KJOULE_RESTORE_H

#include <linux/types.h>

/* Of one owner: four files of each of a thousand policies. */
#define KJOULE_RESTORE_MAX	4096

/* Longer than a governor's name (CPUFREQ_NAME_LEN is 16) and a frequency. */
#define KJOULE_RESTORE_LEN	64

int kjoule_restore_add(u64 owner, unsigned int fd, const char *text, const char **why);
int kjoule_restore_owned(u64 owner);
void kjoule_restore_exit(void);

#endif
