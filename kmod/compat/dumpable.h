/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * May a process be dumped, and so be traced, by its user? 7.2 moved that from the memory to a
 * structure of the task, and exports none of the functions that read it. Included by
 * stack_access.c.
 */
#ifndef KJOULE_COMPAT_DUMPABLE_H
#define KJOULE_COMPAT_DUMPABLE_H

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#ifdef HAVE_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

/*
 * Within an RCU section; of another task than the current one in process context. Of that this is a
 * look at one moment: it may execute something right afterwards, so ask again, as the task, when it
 * matters.
 */
static inline bool kjoule_task_is_dumpable(struct task_struct *task)
{
#ifdef HAVE_EXEC_STATE
	const struct task_exec_state *state = rcu_dereference(task->exec_state);

	return state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
#else
	bool dumpable = true;

	if (task == current)
		return task->mm && get_dumpable(task->mm) == SUID_DUMP_USER;
	/*
	 * It may exit meanwhile: the lock keeps its memory. A main thread that has ended before the
	 * others has none, and then ptrace does not ask either.
	 */
	task_lock(task);
	if (task->mm)
		dumpable = get_dumpable(task->mm) == SUID_DUMP_USER;
	task_unlock(task);
	return dumpable;
#endif
}

#endif /* KJOULE_COMPAT_DUMPABLE_H */
