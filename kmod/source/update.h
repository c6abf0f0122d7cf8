/* SPDX-License-Identifier: GPL-2.0-only */
/* Which counters of a fast energy source move; for the registry. */
#ifndef KJOULE_COUNTER_MOVE_H
#define KJOULE_COUNTER_MOVE_H

struct kjoule_source;

int kjoule_source_move(struct kjoule_source *src, char *why);

#endif /* KJOULE_COUNTER_MOVE_H */
