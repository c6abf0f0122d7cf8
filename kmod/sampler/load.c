// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limit of the CPU time of ticks, all sessions together; see load.h. Without it short intervals,
 * long stack copies or many sessions could use up the CPU that they measure.
 *
 * The time of ticks is added up until it reaches the limit. If that took long enough the sum
 * restarts; if not, no tick is taken until the share is met again. Ticks of other sessions
 * meanwhile are counted as well, so that all of them together meet the share.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>

#include "compat/compat.h"
#include "sampler/load.h"

/*
 * Ticks may use PERCENT of this time in a row: 4 ms, a tick of HZ=250. kmod/load checks that a
 * process keeps 55 % of its speed then, at the shortest interval, with the longest stacks, and with
 * eight sessions.
 */
#define WINDOW_NS	(10 * NSEC_PER_MSEC)
#define PERCENT		40

/*
 * The bare interrupt is measured when the module is loaded, for about 1 ms. BARE_MAX_NS bounds the
 * time without preemption there; BARE_UNKNOWN_NS is used if no timer expired in it.
 */
#define BARE_SAMPLES	16
#define BARE_EVERY_NS	(50 * NSEC_PER_USEC)
#define BARE_MAX_NS	(10 * NSEC_PER_MSEC)
#define BARE_UNKNOWN_NS	NSEC_PER_USEC
#define BARE_LIMIT_NS	(50 * NSEC_PER_USEC)	/* longer is due to a hypervisor */

u64 kjoule_load_bare_ns __read_mostly;

static DEFINE_PER_CPU(struct kjoule_load, loads);
static unsigned int percent = PERCENT;

static int load_set_percent(const char *text, const struct kernel_param *param)
{
	unsigned int value;
	int err = kstrtouint(text, 0, &value);

	if (err)
		return err;
	if (!value || value > 100)
		return -ERANGE;
	WRITE_ONCE(percent, value);
	return 0;
}

static const struct kernel_param_ops percent_ops = {
	.set = load_set_percent,
	.get = param_get_uint,
};

module_param_cb(tick_percent, &percent_ops, &percent, 0644);
MODULE_PARM_DESC(tick_percent, "how much of a CPU's time ticks may take, 1 to 100 (40)");

static unsigned int expired;

static enum hrtimer_restart load_timer_fn(struct hrtimer *timer)
{
	WRITE_ONCE(expired, expired + 1);
	hrtimer_forward_now(timer, ns_to_ktime(BARE_EVERY_NS));
	return HRTIMER_RESTART;
}

static int load_compare_ns(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/*
 * Duration of a timer interrupt as seen by the interrupted code, from entry to exit. Longer gaps
 * contain something else, or are due to a hypervisor; the shortest is too short if a host's clock
 * moves in steps. So take the first quartile.
 */
static u64 load_measure_bare(void)
{
	static struct hrtimer timer;
	u64 begin, last, now, hole[BARE_SAMPLES];
	unsigned int seen = 0, n = 0;

	hrtimer_setup(&timer, load_timer_fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	preempt_disable();
	hrtimer_start(&timer, ns_to_ktime(BARE_EVERY_NS), HRTIMER_MODE_REL_PINNED_HARD);
	begin = ktime_get_ns();
	last = begin;
	do {
		now = ktime_get_ns();
		if (READ_ONCE(expired) != seen) {
			seen = READ_ONCE(expired);
			/* the interrupt may have come after the read of @now */
			now = ktime_get_ns();
			hole[n++] = now - last;
		}
		last = now;
	} while (seen < BARE_SAMPLES && now - begin < BARE_MAX_NS);
	preempt_enable();
	hrtimer_cancel(&timer);
	sort(hole, n, sizeof(*hole), load_compare_ns, NULL);
	return n ? min_t(u64, hole[n / 4], BARE_LIMIT_NS) : BARE_UNKNOWN_NS;
}

/** kjoule_load_init() - measure the bare timer interrupt */
void kjoule_load_init(void)
{
	kjoule_load_bare_ns = load_measure_bare();
}

/** kjoule_load_of() - the load of a CPU */
struct kjoule_load *kjoule_load_of(unsigned int cpu)
{
	return per_cpu_ptr(&loads, cpu);
}

/*
 * kjoule_load_until() - the earliest time of the next tick, after the limit was reached. @took_ns:
 * duration of the last tick. Return: CLOCK_MONOTONIC; @now if at once.
 */
u64 kjoule_load_until(struct kjoule_load *load, u64 now, u64 took_ns)
{
	u64 until;

	if (took_ns > KJOULE_LOAD_STALL_NS) {
		load->left_ns += took_ns;
		if (load->left_ns >= 0)
			return now;
	}
	until = load->begin_ns +
		div_u64((load->limit_ns - load->left_ns) * 100, READ_ONCE(percent));
	if (until > now) {
		/*
		 * Ticks that are always at the limit would never restart the sum: forget what is
		 * older than a window. The time until which this tick waits stays the same, and the
		 * rest is below 0, so that other sessions check as well.
		 */
		if ((s64)(now - load->begin_ns) > WINDOW_NS) {
			load->begin_ns = until - WINDOW_NS;
			load->limit_ns = WINDOW_NS / 100 * READ_ONCE(percent);
			load->left_ns = -1;
		}
		return until;
	}
	load->begin_ns = now;
	load->limit_ns = WINDOW_NS / 100 * READ_ONCE(percent);
	load->left_ns = load->limit_ns;
	return now;
}
