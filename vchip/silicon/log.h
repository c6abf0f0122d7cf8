/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last grants, refusals, system management interrupts and decisions of the turbo, for the
 * oracle's file.
 */
#ifndef VCHIP_LOG_H
#define VCHIP_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "core.h"
#include "turbo.h"

/*
 * The present frequency was granted for the last request, @steps_left more will be; times are chip
 * time.
 */
void log_grant(const struct core *c, uint32_t from_khz, unsigned int steps_left,
	       uint64_t granted_ns);

/* The last request comes to nothing. @why: one word, static. */
void log_refusal(const struct core *c, const char *why);

/* A CPU is in system management mode for @ns until @end_ns. */
void log_smi(const struct core *c, uint64_t end_ns, uint64_t ns);

/* What a package's turbo has decided @now. The package's energy so far goes with it. */
void log_turbo(const struct turbo *t, uint64_t now, int32_t temp_mc);

/* Write what came since the last call. */
void log_write(FILE *file);

#endif /* VCHIP_LOG_H */
