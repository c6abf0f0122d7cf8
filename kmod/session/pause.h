/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which session may pause CPUs: two of them would wait for each other, and one would measure the
 * other's pauses. And whether all running CPUs can be paused: a CPU that comes online runs the
 * kernel and draws power long before a session's timers run on it, and one that goes offline long
 * after they have stopped.
 */
#ifndef KJOULE_PAUSE_H
#define KJOULE_PAUSE_H

#include <linux/types.h>

int kjoule_pause_claim(const void *session, const char **why);
void kjoule_pause_release(void);
void kjoule_pause_hotplug(unsigned int cpu, bool begins);
bool kjoule_pause_is_allowed(void);
int kjoule_pause_hotplug_count(void);

#endif
