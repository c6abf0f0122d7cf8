/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the recorder itself was awake, on whichever CPU: what it draws then is in every reading of the machine's power.
 */
#ifndef KJOULE_AWAKE_H
#define KJOULE_AWAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/file/recording.h"

/**
 * struct awake - times, one after the other and apart
 */
struct awake {
	size_t n;
	struct awake_time {
		uint64_t begin_ns, end_ns;
	} *times;
};

/** awake_find() - of a recording; to be freed by awake_free(). Return: 0 or -ENOMEM */
int awake_find(const struct kjoule_recording *rec, struct awake *a);
/** awake_within() - was it awake at any time in [@begin_ns, @end_ns)? */
bool awake_within(const struct awake *a, uint64_t begin_ns, uint64_t end_ns);
void awake_free(struct awake *a);

#endif /* KJOULE_AWAKE_H */
