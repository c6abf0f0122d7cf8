// SPDX-License-Identifier: GPL-2.0-only
/*
 * See hold.h. Used by edge.c and vpm.c.
 */
#include <linux/atomic.h>

#include "hold.h"

static atomic_t taken;

/**
 * kjoule_hold_take() - be the one session that holds CPUs
 * @why:	set to the reason of a refusal
 *
 * Context: any.
 * Return: false if another one is.
 */
bool kjoule_hold_take(const char **why)
{
	if (!atomic_cmpxchg(&taken, 0, 1))
		return true;
	*why = "another session holds CPUs (edge windows, readings of blocks); only one can";
	return false;
}

/**
 * kjoule_hold_give() - be it no more
 *
 * Context: any.
 */
void kjoule_hold_give(void)
{
	atomic_set(&taken, 0);
}
