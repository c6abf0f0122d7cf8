/* SPDX-License-Identifier: GPL-2.0-only */
/* The precise instruction pointer that an interrupt handler may ask for. */
#ifndef VCHIP_IRQ_H
#define VCHIP_IRQ_H

#include "core.h"

/* A CPU enters a block at an IDT entry: publish what it interrupted. */
void irq_entry(struct core *c, const struct block *b);

#endif /* VCHIP_IRQ_H */
