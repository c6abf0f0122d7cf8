/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target of a session: all tasks, a process, with or without the children that it forks, a
 * thread, or a cgroup. The session sets it up, the tick checks the current task.
 */
#ifndef KJOULE_TARGET_H
#define KJOULE_TARGET_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>

#include <linux/kjoule_netlink.h>

struct cgroup;

/* Buckets of processes, 2 KiB: a lookup among 1,024 of them compares four. Not tuned. */
#define KJOULE_FAMILY_BITS	8

/**
 * struct kjoule_family - a process and its descendants
 * @node:	in the list for forks
 * @lock:	protects @members
 * @members:	live processes, by their signal_struct, which a process keeps through exec
 * @count:	of @members
 * @lost:	children that could not be added, without memory
 * @rcu:	frees it after all probes and ticks
 */
struct kjoule_family {
	struct list_head node;
	raw_spinlock_t lock;	/* see above */
	DECLARE_HASHTABLE(members, KJOULE_FAMILY_BITS);
	unsigned int count;
	u64 lost;
	struct rcu_head rcu;
};

/**
 * struct kjoule_target - the target: which tasks to sample
 * @kind:	enum kjoule_target_kind
 * @pid:	of the process or thread
 * @family:	the process with its children, or NULL for the process alone
 * @cgroup:	for KJOULE_TARGET_CGROUP
 */
struct kjoule_target {
	u32 kind;
	struct pid *pid;
	struct kjoule_family *family;
	struct cgroup *cgroup;
};

void kjoule_targets_init(void);
void kjoule_targets_exit(void);
int kjoule_target_init(struct kjoule_target *target, u32 kind, u32 nr, bool inherit, u32 cgroup_fd,
		       const char **why);
void kjoule_target_exit(struct kjoule_target *target);
bool kjoule_target_search(const struct kjoule_target *target);
bool kjoule_target_has_process(const struct kjoule_target *target, struct task_struct *leader);

/** kjoule_target_is_current() - is the current task in the target? */
static __always_inline bool kjoule_target_is_current(const struct kjoule_target *target)
{
	if (target->kind == KJOULE_TARGET_SYSTEM)
		return true;
	if (likely(target->kind == KJOULE_TARGET_PROCESS && !target->family))
		return task_tgid(current) == target->pid;
	return kjoule_target_search(target);
}

#endif
