/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guardian of held frequencies; see guardian.h. Used by sweep/run.c, latency/other_cpus.c and boost/bench.c.
 */
#ifndef KJOULE_FREQUENCY_GUARD_H
#define KJOULE_FREQUENCY_GUARD_H

#include "lib/machine/frequency.h"
#include "machine/guardian.h"

/**
 * frequency_guard_start() - before anything is held; guardian_end() when all was given back, or said to be not
 * Return: 0: it watches; -errno with the reason in @err
 */
int frequency_guard_start(struct guardian *g, const struct kjoule_frequency *f, struct kjoule_error *err);

#endif /* KJOULE_FREQUENCY_GUARD_H */
