/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guardian of held frequencies; see guardian.h. */
#ifndef KJOULE_FREQUENCY_GUARD_H
#define KJOULE_FREQUENCY_GUARD_H

#include "lib/machine/frequency.h"
#include "machine/guardian.h"

/**
 * frequency_guard_start() - before anything is held
 * @g:	with a @fd of -1, or that of one that watches already
 * Return: 0: it watches; -errno with the reason in @err
 */
int frequency_guard_start(struct guardian *g, const struct kjoule_frequency *f,
			  struct kjoule_error *err);
/**
 * frequency_guard_end() - restore the limits, if it was started; those that are left to others are
 * reported
 * Return: 0; -errno: not all could be restored, with the reason in @err
 */
int frequency_guard_end(struct guardian *g, struct kjoule_frequency *f, struct kjoule_error *err);

#endif /* KJOULE_FREQUENCY_GUARD_H */
