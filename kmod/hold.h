/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose CPUs are held: two sessions that do so would wait for one another, and what one measures
 * would have the other's holds in it.
 */
#ifndef KJOULE_HOLD_H
#define KJOULE_HOLD_H

#include <linux/types.h>

bool kjoule_hold_take(const char **why);
void kjoule_hold_give(void);

#endif /* KJOULE_HOLD_H */
