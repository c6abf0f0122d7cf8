// SPDX-License-Identifier: GPL-2.0-only
/*
 * See hold.h. Used by the methods that hold CPUs; told of CPUs by list.c.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>

#include "session/hold.h"

static const void *holder;

/* Set and cleared by CPU hotplug, one CPU at a time. */
static struct cpumask on_their_way;
static atomic_t moves;

/**
 * kjoule_hold_take() - be the one method of the one session that holds CPUs
 * @session:	what tells the session from others
 * @why:	set to the reason of a refusal
 *
 * Context: any.
 * Return: 0, -EINVAL if another method of the session is, -EBUSY if another session is.
 */
int kjoule_hold_take(const void *session, const char **why)
{
	const void *other = cmpxchg(&holder, NULL, session);

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
 * kjoule_hold_give() - undo kjoule_hold_take()
 *
 * Context: any.
 */
void kjoule_hold_give(void)
{
	WRITE_ONCE(holder, NULL);
}

/**
 * kjoule_hold_moves() - a CPU begins to come or to go, or is there, or gone
 * @cpu:	which
 * @begins:	true for the first two
 *
 * Context: callbacks of CPU hotplug.
 */
void kjoule_hold_moves(unsigned int cpu, bool begins)
{
	if (begins)
		cpumask_set_cpu(cpu, &on_their_way);
	else
		cpumask_clear_cpu(cpu, &on_their_way);
	atomic_inc_return_release(&moves);	/* M, pairs with N in kjoule_hold_count() */
}

/**
 * kjoule_hold_is_still() - can all CPUs that run be held?
 *
 * Context: any; where CPU hotplug is held off, or in its callbacks, it stays so.
 * Return: false if one is on its way.
 */
bool kjoule_hold_is_still(void)
{
	return cpumask_empty(&on_their_way);
}

/**
 * kjoule_hold_count() - to be compared: has a CPU come or gone since?
 *
 * To be asked for before kjoule_hold_is_still(), which then knows at least of what is counted.
 *
 * Context: any.
 * Return: another number after each beginning and each end of it.
 */
int kjoule_hold_count(void)
{
	return atomic_read_acquire(&moves);	/* N, pairs with M in kjoule_hold_moves() */
}
