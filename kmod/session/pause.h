/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose CPUs are held: two sessions that do so would wait for one another, and what one measures
 * would have the other's holds in it. And whether all that run can be held: a CPU that is coming
 * runs the kernel and draws power long before a session's timers are on it, and one that is
 * going does so after they have left.
 */
#ifndef KJOULE_PAUSE_H
#define KJOULE_PAUSE_H

#include <linux/types.h>

int kjoule_pause_claim(const void *session, const char **why);
void kjoule_pause_release(void);
void kjoule_pause_hotplug(unsigned int cpu, bool begins);
bool kjoule_pause_is_allowed(void);
int kjoule_pause_hotplug_count(void);

#endif /* KJOULE_PAUSE_H */
