/* SPDX-License-Identifier: GPL-2.0-only */
/* Leaving idle CPUs alone; see park.c. */
#ifndef KJOULE_PARK_H
#define KJOULE_PARK_H

struct kjoule_sampler;

void kjoule_park_init(void);
void kjoule_park_exit(void);
int kjoule_park_get(void);
void kjoule_park_put(void);
void kjoule_park_prepare(struct kjoule_sampler *s);
void kjoule_park_finish(struct kjoule_sampler *s);
void kjoule_park_add(struct kjoule_sampler *s);
void kjoule_park_remove(struct kjoule_sampler *s);
void kjoule_park_recheck(struct kjoule_sampler *s);
bool kjoule_park_at_tick(struct kjoule_sampler *s);

#endif /* KJOULE_PARK_H */
