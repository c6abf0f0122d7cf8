/* SPDX-License-Identifier: GPL-2.0-only */
/* The meter that starts on command, as on the ALEA paper's Exynos board (section 4.2). */
#ifndef VCHIP_METER_H
#define VCHIP_METER_H

#include <stdint.h>

/**
 * meter_advance() - look for a start, and for the end of the sensing interval
 * @before_ns,@before_pj: chip time and the package's energy at the last call
 * @now,@pj: the same now
 * Context: the package's lock is held.
 */
void meter_advance(uint64_t before_ns, uint64_t before_pj, uint64_t now, uint64_t pj);

/* Chip time at which the reading is due, UINT64_MAX: none is. Context: likewise. */
uint64_t meter_end(void);

#endif /* VCHIP_METER_H */
