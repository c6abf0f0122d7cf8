// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clock of all that is recorded.
 */
#include <time.h>
#include "lib/base/now.h"

uint64_t kjoule_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
