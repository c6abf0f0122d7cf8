/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost of ticks and of the recorder on each CPU of a recording, for analysis/profile/overhead.h. */
#ifndef KJOULE_OVERHEAD_CPUS_H
#define KJOULE_OVERHEAD_CPUS_H

#include "analysis/profile/overhead.h"
#include "attribute/blocks.h"
#include "recording/view.h"

/** overhead_cpus_recorder_s() - how long the recorder ran on a CPU */
double overhead_cpus_recorder_s(const struct view *v, uint32_t cpu);
/** overhead_cpus_gather() - Return: how many CPUs there are; *cpus is the caller's to free */
size_t overhead_cpus_gather(const struct view *v, const struct blocks *b,
			    struct overhead_cpu **cpus);
/** overhead_cpus_all() - over all CPUs, see overhead_all(). NAN: unknown */
double overhead_cpus_all(const struct view *v, const struct blocks *b);

#endif /* KJOULE_OVERHEAD_CPUS_H */
