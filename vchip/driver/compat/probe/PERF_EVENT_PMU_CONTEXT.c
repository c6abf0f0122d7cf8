// SPDX-License-Identifier: GPL-2.0-only
#include <linux/perf_event.h>

struct pmu *probe(struct perf_event_pmu_context *context);
struct pmu *probe(struct perf_event_pmu_context *context)
{
	return context->pmu;
}
