/* SPDX-License-Identifier: GPL-2.0-only */
/* A core that stands still at random, as in system management mode. */
#ifndef VCHIP_SMI_H
#define VCHIP_SMI_H

#include "core.h"

void smi_init(struct core *c);

/* Stand still, if it is time to. Context: the CPU's thread at a quantum's end, the package not locked. */
void smi_check(struct core *c);

#endif /* VCHIP_SMI_H */
