/* SPDX-License-Identifier: GPL-2.0-only */
/* The last grants and stalls, for the oracle's file. */
#ifndef VCHIP_LOG_H
#define VCHIP_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "core.h"

/* A frequency change was granted; times are chip time. */
void log_grant(const struct core *c, uint32_t from_khz, uint64_t requested_ns, uint64_t granted_ns);

/* The build machine took @ns from a CPU. @why: one word, static. */
void log_stall(const struct core *c, uint64_t ns, const char *why);

/* Write what came since the last call. Context: the oracle's writer. */
void log_write(FILE *file);

#endif /* VCHIP_LOG_H */
