/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose CPUs are held: two sessions that do so would wait for one another, and what one measures
 * would have the other's holds in it. And whether all that run can be held: a CPU that is coming
 * runs the kernel and draws power long before a session's timers are on it, and one that is
 * going does so after they have left.
 */
#ifndef KJOULE_HOLD_H
#define KJOULE_HOLD_H

#include <linux/types.h>

int kjoule_hold_take(const void *session, const char **why);
void kjoule_hold_give(void);
void kjoule_hold_moves(unsigned int cpu, bool begins);
bool kjoule_hold_is_still(void);
int kjoule_hold_count(void);

#endif /* KJOULE_HOLD_H */
