/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ticks and the recorder took of each CPU of a recording, for analysis/profile/overhead.h.
 */
#ifndef KJOULE_OVERHEAD_CPUS_H
#define KJOULE_OVERHEAD_CPUS_H

#include "analysis/profile/overhead.h"
#include "attribute/blocks.h"
#include "recording/view.h"

/** overhead_cpus_recorder_s() - for how long the recorder was awake on a CPU */
double overhead_cpus_recorder_s(const struct view *v, uint32_t cpu);
/** overhead_cpus_gather() - Return: how many CPUs there are; *cpus is the caller's to free */
size_t overhead_cpus_gather(const struct view *v, const struct blocks *b, struct overhead_cpu **cpus);
/** overhead_cpus_all() - of all CPUs together, see overhead_all(). NAN: not known */
double overhead_cpus_all(const struct view *v, const struct blocks *b);

#endif /* KJOULE_OVERHEAD_CPUS_H */
