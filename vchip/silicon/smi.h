/* SPDX-License-Identifier: GPL-2.0-only */
/* A core that stops at random, as in system management mode. */
#ifndef VCHIP_SMI_H
#define VCHIP_SMI_H

#include "core.h"

void smi_init(struct core *c);

/* Pause the core, if it is time to. */
void smi_serve(struct core *c);

/* When it is; UINT64_MAX: not as far as is known now. */
uint64_t smi_next(const struct core *c);

#endif /* VCHIP_SMI_H */
