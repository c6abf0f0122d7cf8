/* SPDX-License-Identifier: GPL-2.0-only */
/* Which counters of a fast energy source are updated; for the registry. */
#ifndef KJOULE_SOURCE_UPDATE_H
#define KJOULE_SOURCE_UPDATE_H

struct kjoule_source;

int kjoule_source_check_updates(struct kjoule_source *src, char *why);

#endif
