/* SPDX-License-Identifier: GPL-2.0-only */
/* Task switches, for sessions that skip ticks on idle CPUs; see switch.c. */
#ifndef KJOULE_SWITCH_H
#define KJOULE_SWITCH_H

void kjoule_switch_init(void);
void kjoule_switch_exit(void);
int kjoule_switch_get(void);
void kjoule_switch_put(void);

#endif
