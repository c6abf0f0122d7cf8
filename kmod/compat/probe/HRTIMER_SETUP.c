// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hrtimer.h>

void probe(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *));
void probe(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *))
{
	hrtimer_setup(t, f, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
