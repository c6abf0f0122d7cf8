// SPDX-License-Identifier: GPL-2.0-only
/*
 * See hold.h. Used by the methods that hold CPUs; told of CPUs by list.c.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>

#include "session/pause.h"

static const void *claimed_by;

/* Set and cleared by CPU hotplug, one CPU at a time. */
static struct cpumask changing_cpus;
static atomic_t hotplug_count;

/**
 * kjoule_pause_claim() - be the one method of the one session that holds CPUs
 * @session:	what tells the session from others
 * @why:	set to the reason of a refusal
 *
 * Context: any.
 * Return: 0, -EINVAL if another method of the session is, -EBUSY if another session is.
 */
int kjoule_pause_claim(const void *session, const char **why)
{
	const void *other = cmpxchg(&claimed_by, NULL, session);

	if (!other)
		return 0;
	if (other == session) {
		*why = "two methods of a session would hold the same CPUs: ask for one";
		return -EINVAL;
	}
	*why = "another session holds CPUs; only one can";
	return -EBUSY;
}

/**
 * kjoule_pause_release() - undo kjoule_pause_claim()
 *
 * Context: any.
 */
void kjoule_pause_release(void)
{
	WRITE_ONCE(claimed_by, NULL);
}

/**
 * kjoule_pause_hotplug() - a CPU begins to come or to go, or is there, or gone
 * @cpu:	which
 * @begins:	true for the first two
 *
 * Context: callbacks of CPU hotplug.
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

/**
 * kjoule_pause_is_allowed() - can all CPUs that run be held?
 *
 * Context: any; where CPU hotplug is held off, or in its callbacks, it stays so.
 * Return: false if one is on its way.
 */
bool kjoule_pause_is_allowed(void)
{
	return cpumask_empty(&changing_cpus);
}

/**
 * kjoule_pause_hotplug_count() - to be compared: has a CPU come or gone since?
 *
 * To be asked for before kjoule_pause_is_allowed(), which then knows at least of what is counted.
 *
 * Context: any.
 * Return: another number after each beginning and each end of it.
 */
int kjoule_pause_hotplug_count(void)
{
	/* N, pairs with M in kjoule_pause_hotplug() */
	return atomic_read_acquire(&hotplug_count);
}
