/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Initialisation of a high-resolution timer. Included by compat.h and by the virtual chip's driver.
 */
#ifndef KJOULE_COMPAT_HRTIMER_H
#define KJOULE_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

/* 6.13 moved the callback into the initialisation; 6.15 removed hrtimer_init(). */
#ifndef HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
