/* SPDX-License-Identifier: GPL-2.0-only */
/* How warm the package gets by what it draws, and what its fan does about that. */
#ifndef VCHIP_THERMAL_H
#define VCHIP_THERMAL_H

#include <stdint.h>

/* It is as warm as its surroundings. */
void thermal_init(void);

/**
 * thermal_advance() - the package has drawn @watt for @ns
 * Context: the package lock is held.
 * Return: its temperature now, millidegrees Celsius
 */
double thermal_advance(uint64_t ns, double watt);

#endif /* VCHIP_THERMAL_H */
