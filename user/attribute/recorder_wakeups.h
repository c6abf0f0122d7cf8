/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the recorder ran, on whichever CPU: its energy is in the machine's readings. */
#ifndef KJOULE_RECORDER_WAKEUPS_H
#define KJOULE_RECORDER_WAKEUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/file/recording.h"

/** struct recorder_wakeups - times in order, without overlap */
struct recorder_wakeups {
	size_t n;
	struct recorder_wakeup {
		uint64_t begin_ns, end_ns;
	} *times;
};

/** recorder_wakeups_find() - free by recorder_wakeups_free(). Return: 0 or -ENOMEM */
int recorder_wakeups_find(const struct kjoule_recording *rec, struct recorder_wakeups *a);
/** recorder_wakeups_within() - did it run at any time in [@begin_ns, @end_ns)? */
bool recorder_wakeups_within(const struct recorder_wakeups *a, uint64_t begin_ns, uint64_t end_ns);
void recorder_wakeups_free(struct recorder_wakeups *a);

#endif /* KJOULE_RECORDER_WAKEUPS_H */
