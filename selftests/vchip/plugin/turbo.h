/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast the chip lets its cores run at all: turbo, and what ends it. */
#ifndef VCHIP_TURBO_H
#define VCHIP_TURBO_H

#include <stdint.h>

/* What ends a boost, in struct profile.turbo_ends: any of them. */
#define TURBO_POWER		(1u << 0)	/* the weighted mean of the package's power reaches PL1 */
#define TURBO_TEMPERATURE	(1u << 1)
#define TURBO_TIME		(1u << 2)

/* The P-state that no core may be above; the highest where the chip has no turbo. */
extern uint32_t turbo_pstate;

static inline uint32_t turbo_ceiling(void)
{
	return turbo_pstate;
}

/* Before anything else; the chip's memory of power and time begins empty. */
void turbo_init(void);

/**
 * turbo_advance() - the package has drawn @uw for @ns until @now
 * @running: CPUs that ran, as a mask
 * @temp_mc: the package's temperature now
 */
void turbo_advance(uint64_t now, uint64_t ns, double uw, uint32_t running, double temp_mc);

#endif /* VCHIP_TURBO_H */
