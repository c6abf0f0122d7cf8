// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task switches: a tick that is due already is taken for the task that leaves (tick.c), and ticks
 * of idle CPUs are skipped (idle.c).
 */
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "sampler/grid.h"
#include "sampler/load.h"
#include "sampler/idle.h"
#include "sampler/sampler.h"
#include "sampler/switch.h"
#include "sampler/tracepoint.h"

/* Called with interrupts off and the run queue locked, on this CPU. */
static void probe_sched_switch(void *data, bool preempt, struct task_struct *prev,
			       struct task_struct *next, unsigned int prev_state)
{
	struct hlist_head *head = this_cpu_ptr(&kjoule_idle_samplers);
	struct kjoule_sampler *s;
	u64 now;

	if (hlist_empty(head))
		return;
	now = ktime_get_ns();
	hlist_for_each_entry(s, head, idle_node) {
		/* do not attribute the time to the next task */
		if (!s->tick_stopped && kjoule_tick_at_switch(s, now))
			now = ktime_get_ns();
	}
	if (likely(!kjoule_idle_is_task(prev) && !kjoule_idle_is_task(next)))
		return;
	hlist_for_each_entry(s, head, idle_node) {
		if (kjoule_idle_is_task(next))
			kjoule_idle_enter(s, now, true);
		else
			kjoule_idle_leave(s, now);
	}
	kjoule_load_charge(kjoule_load_of(smp_processor_id()), ktime_get_ns() - now);
}

static struct kjoule_probe probe[] = {
	{ .name = "sched_switch", .function = probe_sched_switch },
};

static struct kjoule_probes probes = { .n = ARRAY_SIZE(probe), .probe = probe };

/** kjoule_switch_init() - prepare the probe */
void kjoule_switch_init(void)
{
	kjoule_probes_init(&probes);
}

/** kjoule_switch_exit() - undo kjoule_switch_init() */
void kjoule_switch_exit(void)
{
	kjoule_probes_exit(&probes);
}

/*
 * kjoule_switch_get() - attach the probe. Return: 0, -EOPNOTSUPP if the kernel has no such
 * tracepoint, or -errno.
 */
int kjoule_switch_get(void)
{
	return kjoule_probes_get(&probes);
}

/** kjoule_switch_put() - undo kjoule_switch_get() */
void kjoule_switch_put(void)
{
	kjoule_probes_put(&probes);
}
