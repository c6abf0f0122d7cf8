/* SPDX-License-Identifier: GPL-2.0-only */
/* Frequency changes: from the request in the page to the grant. */
#ifndef VCHIP_GRANTS_H
#define VCHIP_GRANTS_H

#include "core.h"

/* A running CPU has seen another value in req_khz. Context: its thread. */
void grants_request(struct core *c);

/* Grant what is due. Context: the CPU's thread, the package not locked. */
void grants_check(struct core *c, uint64_t now);

/* End the quantum with the pending grant, so that it is not granted late. */
void grants_clip_quantum(struct core *c);

/* The same for a halted CPU. Context: the package lock is held. */
void grants_poll_halted(struct core *c, uint64_t now);

#endif /* VCHIP_GRANTS_H */
