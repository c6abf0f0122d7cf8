// SPDX-License-Identifier: GPL-2.0-only
/*
 * The yardstick for the cost of a sample: a pinned timer on one CPU that does
 * nothing but come again. Loaded by scripts/bench with the same program that
 * kjoule is measured with; knows neither chip nor kjoule.
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/smp.h>

#include "compat/hrtimer.h"

static ulong interval_ns = 250000;
module_param(interval_ns, ulong, 0444);
MODULE_PARM_DESC(interval_ns, "time between two expiries in nanoseconds");

static int cpu;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "where the timer runs");

static struct hrtimer timer;

static enum hrtimer_restart expired(struct hrtimer *t)
{
	hrtimer_forward_now(t, ns_to_ktime(interval_ns));
	return HRTIMER_RESTART;
}

static void start_here(void *unused)
{
	hrtimer_start(&timer, ns_to_ktime(interval_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

static int __init bare_timer_init(void)
{
	hrtimer_setup(&timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	return smp_call_function_single(cpu, start_here, NULL, 1);
}

static void __exit bare_timer_exit(void)
{
	hrtimer_cancel(&timer);
}

module_init(bare_timer_init);
module_exit(bare_timer_exit);

MODULE_DESCRIPTION("A timer that does nothing, to compare with");
MODULE_LICENSE("GPL");
