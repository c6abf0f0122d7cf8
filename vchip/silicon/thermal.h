/* SPDX-License-Identifier: GPL-2.0-only */
/* How warm the package gets by what it draws, and what its fan does about that. */
#ifndef VCHIP_THERMAL_H
#define VCHIP_THERMAL_H

#include <stdint.h>

struct vchip_pkg;

/* Of one package. */
struct thermal {
	struct vchip_pkg *regs;
	double temp_mc;
};

/* It is as warm as its surroundings. */
void thermal_init(struct thermal *t, struct vchip_pkg *regs);

/**
 * thermal_advance() - the package has drawn @watt for @ns
 * Return: its temperature now, millidegrees Celsius
 */
double thermal_advance(struct thermal *t, uint64_t ns, double watt);

#endif /* VCHIP_THERMAL_H */
