// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose stacks a session may copy; see stack_access.h. ptrace_may_access() is not exported, and
 * sleeps; this checks the same as PTRACE_MODE_ATTACH_REALCREDS, except for security modules (Yama,
 * SELinux). So a process that has executed a setuid program, or had another user before, keeps its
 * stack.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "compat/dumpable.h"
#include "sampler/stack_access.h"
#include "sampler/target.h"

/* As for ptrace, without capabilities over the task's user namespace. */
static bool stack_cred_may_trace(const struct cred *creator, const struct cred *task)
{
	return uid_eq(creator->uid, task->uid) && uid_eq(creator->uid, task->euid) &&
	       uid_eq(creator->uid, task->suid) && gid_eq(creator->gid, task->gid) &&
	       gid_eq(creator->gid, task->egid) && gid_eq(creator->gid, task->sgid) &&
	       creator->user_ns == task->user_ns &&
	       cap_issubset(task->cap_permitted, creator->cap_permitted);
}

/*
 * A child of the caller before its exec has the caller's program: it is not dumpable if that file
 * has capabilities. The program that it executes is checked at each copy.
 */
static bool stack_task_is_child(const struct task_struct *task)
{
	return same_thread_group(rcu_dereference(task->real_parent), current);
}

static int stack_check_task(const struct kjoule_stack_access *a, const struct kjoule_target *target,
			    const char **why)
{
	bool process = target->kind == KJOULE_TARGET_PROCESS;
	struct task_struct *task;
	int err = 0;

	rcu_read_lock();
	task = pid_task(target->pid, process ? PIDTYPE_TGID : PIDTYPE_PID);
	if (!task) {
		*why = "the process has ended";
		err = -ESRCH;
	} else if (!stack_cred_may_trace(a->creator, __task_cred(task)) ||
		   (!kjoule_task_is_dumpable(task) && !stack_task_is_child(task))) {
		*why = "its stack is not yours to trace: CAP_SYS_PTRACE or CAP_SYS_ADMIN may";
		err = -EPERM;
	}
	rcu_read_unlock();
	return err;
}

/**
 * kjoule_stack_access_init() - may a session copy the stacks of its target?
 * @a:		zeroed; kjoule_stack_access_exit() is called in any case
 * @target:	its target
 * @any:	the caller has CAP_SYS_PTRACE or CAP_SYS_ADMIN
 * @why:	set to the reason of an error, or left alone
 * Context: process, of the creator.
 * Return: 0, -EPERM or -ESRCH
 */
int kjoule_stack_access_init(struct kjoule_stack_access *a, const struct kjoule_target *target,
			     bool any, const char **why)
{
	a->any = any;
	if (any)
		return 0;
	if (!target->pid) {
		*why = "stacks of a cgroup or of all processes need CAP_SYS_PTRACE";
		return -EPERM;
	}
	a->creator = get_current_cred();
	return stack_check_task(a, target, why);
}

/** kjoule_stack_access_exit() - undo kjoule_stack_access_init(), finished or not */
void kjoule_stack_access_exit(struct kjoule_stack_access *a)
{
	if (a->creator)
		put_cred(a->creator);
	a->creator = NULL;
}

/*
 * kjoule_stack_access_current() - may the current task's stack be copied?. Context: any, hard
 * interrupt included; the task has its own mm.
 */
bool kjoule_stack_access_current(const struct kjoule_stack_access *a)
{
	bool may;

	if (a->any)
		return true;
	rcu_read_lock();
	may = a->creator && stack_cred_may_trace(a->creator, __task_cred(current)) &&
	      kjoule_task_is_dumpable(current);
	rcu_read_unlock();
	return may;
}
