/* SPDX-License-Identifier: GPL-2.0-only */
/* Switches of tasks, as seen by sessions that leave idle CPUs alone; see switch.c. */
#ifndef KJOULE_SWITCH_H
#define KJOULE_SWITCH_H

void kjoule_switch_init(void);
void kjoule_switch_exit(void);
int kjoule_switch_get(void);
void kjoule_switch_put(void);

#endif /* KJOULE_SWITCH_H */
