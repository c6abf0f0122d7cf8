// SPDX-License-Identifier: GPL-2.0-only
/* See pause.h. Used by the methods that pause CPUs; list.c reports CPU hotplug. */
#include <linux/atomic.h>
#include <linux/cpumask.h>

#include "session/pause.h"

static const void *claimed_by;

/* Set and cleared by CPU hotplug, one CPU at a time. */
static struct cpumask changing_cpus;
static atomic_t hotplug_count;

/*
 * kjoule_pause_claim() - claim the pausing of CPUs for a method. @session: identifies the session.
 * Return: 0, -EINVAL if another method of the session has it, -EBUSY if another session has.
 */
int kjoule_pause_claim(const void *session, const char **why)
{
	const void *other = cmpxchg(&claimed_by, NULL, session);

	if (!other)
		return 0;
	if (other == session) {
		*why = "two methods of a session would pause the same CPUs: request one";
		return -EINVAL;
	}
	*why = "another session pauses CPUs; only one can";
	return -EBUSY;
}

/** kjoule_pause_release() - undo kjoule_pause_claim() */
void kjoule_pause_release(void)
{
	WRITE_ONCE(claimed_by, NULL);
}

/*
 * kjoule_pause_hotplug() - a CPU begins or ends to come online or go offline. @begins: true if it
 * begins. Context: callbacks of CPU hotplug.
 */
void kjoule_pause_hotplug(unsigned int cpu, bool begins)
{
	if (begins)
		cpumask_set_cpu(cpu, &changing_cpus);
	else
		cpumask_clear_cpu(cpu, &changing_cpus);
	/* M, pairs with N in kjoule_pause_hotplug_count() */
	atomic_inc_return_release(&hotplug_count);
}

/*
 * kjoule_pause_is_allowed() - can all running CPUs be paused?. Context: any; stable under the CPU
 * hotplug lock and in its callbacks. Return: false during CPU hotplug.
 */
bool kjoule_pause_is_allowed(void)
{
	return cpumask_empty(&changing_cpus);
}

/*
 * kjoule_pause_hotplug_count() - count of begins and ends of CPU hotplug, to be compared with a
 * later one. Call it before kjoule_pause_is_allowed().
 */
int kjoule_pause_hotplug_count(void)
{
	/* N, pairs with M in kjoule_pause_hotplug() */
	return atomic_read_acquire(&hotplug_count);
}
