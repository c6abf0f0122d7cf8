/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VCHIP_PROGRAMS_INTERRUPTS_H
#define VCHIP_PROGRAMS_INTERRUPTS_H

#include <stdint.h>

/* An interrupt on this CPU every so often, without a handler in user space. Return: 0 or -1. */
int interrupts_on(uint64_t period_ns);

#endif /* VCHIP_PROGRAMS_INTERRUPTS_H */
