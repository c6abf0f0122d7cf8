/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast the chip lets its cores run at all: turbo, and what ends it. */
#ifndef VCHIP_TURBO_H
#define VCHIP_TURBO_H

#include <stdint.h>

#include "page.h"

/* What ends a boost, in struct profile.turbo_ends: any of them. */
#define TURBO_POWER		(1u << 0)	/* the package's weighted mean reaches PL1 */
#define TURBO_TEMPERATURE	(1u << 1)
#define TURBO_TIME		(1u << 2)

/* Of one package. */
struct turbo {
	unsigned int package;
	uint32_t pstate;
	double mean_uw;
	uint64_t boosted_ns, rested_ns, worked_ns;
	uint32_t why;				/* TURBO_*: what ends the boost now */
	unsigned int at_work;
	uint64_t ran_ns[VCHIP_MAX_CPUS];	/* when each of its CPUs ran last */
};

/* The P-state that no core of it may be above; the highest where the chip has no turbo. */
static inline uint32_t turbo_ceiling(const struct turbo *t)
{
	return t->pstate;
}

/* Before anything else; the package's memory of power and time begins empty. */
void turbo_init(struct turbo *t, unsigned int package);

/**
 * turbo_advance() - the package has drawn @uw for @ns until @now
 * @running: its CPUs that ran, as a mask
 * @temp_mc: the package's temperature now
 */
void turbo_advance(struct turbo *t, uint64_t now, uint64_t ns, double uw, uint32_t running,
		   double temp_mc);

#endif /* VCHIP_TURBO_H */
