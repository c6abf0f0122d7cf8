// SPDX-License-Identifier: GPL-2.0-only
#include <linux/perf_event.h>

size_t probe(void);
size_t probe(void)
{
	return sizeof(enum perf_pmu_scope);
}
