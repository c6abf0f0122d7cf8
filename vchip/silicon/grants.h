/* SPDX-License-Identifier: GPL-2.0-only */
/* Frequency changes: from the request in the page to the grant. */
#ifndef VCHIP_GRANTS_H
#define VCHIP_GRANTS_H

#include "core.h"

/* A CPU that executes has written another value to its req_khz, at its present time. */
void grants_request(struct core *c, uint64_t now);

/* Grant what is due; look at the requests of a halted CPU, which others may have written. */
void grants_serve(struct core *c, uint64_t now);

/* When the next one is due; UINT64_MAX: none is pending. */
uint64_t grants_next(const struct core *c);

#endif /* VCHIP_GRANTS_H */
