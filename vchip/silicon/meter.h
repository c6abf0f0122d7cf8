/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The meter that starts on command, of the first package: the profile sees to it that there is no
 * other.
 */
#ifndef VCHIP_METER_H
#define VCHIP_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "page.h"

extern uint32_t meter_seen;

/* Has the guest started it since the last time? */
static inline bool meter_is_asked(void)
{
	return page_read(page.pkg[0]->meter_start) != meter_seen;
}

/* It was, now; @pj: the package's energy so far. */
void meter_start(uint64_t now, uint64_t pj);

/* Show the reading when that is due. */
void meter_serve(uint64_t now, uint64_t pj);

/* When it is due; UINT64_MAX: the meter does not run. */
uint64_t meter_end(void);

#endif /* VCHIP_METER_H */
