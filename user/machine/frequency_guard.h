/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guardian of held frequencies; see guardian.h. */
#ifndef KJOULE_FREQUENCY_GUARD_H
#define KJOULE_FREQUENCY_GUARD_H

#include "lib/machine/frequency.h"
#include "machine/guardian.h"

/**
 * frequency_guard_start() - before anything is held; guardian_end() after all was restored, or
 * reported as not
 * Return: 0: it watches; -errno with the reason in @err
 */
int frequency_guard_start(struct guardian *g, const struct kjoule_frequency *f,
			  struct kjoule_error *err);

#endif /* KJOULE_FREQUENCY_GUARD_H */
