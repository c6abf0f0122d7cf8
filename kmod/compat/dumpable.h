/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * May a process be dumped, and so be traced, by its user? 7.2 moved that from the mm to a structure
 * of the task, and exports none of the functions that read it. Included by stack_access.c.
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
 * Context: RCU read section; for another task than current, process context. That other task may
 * exec right afterwards: ask again, as the task, when it matters.
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
	 * The lock keeps the mm while the task exits. A main thread that has exited before the
	 * others has no mm, and ptrace does not check it then either.
	 */
	task_lock(task);
	if (task->mm)
		dumpable = get_dumpable(task->mm) == SUID_DUMP_USER;
	task_unlock(task);
	return dumpable;
#endif
}

#endif
