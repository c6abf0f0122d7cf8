// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target of a session; see target.h. Children are added at the fork itself, before they run, so
 * that a process shorter than an interval belongs to the target from its first instruction; they
 * are removed when they are reaped.
 */
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "compat/cgroup.h"
#include "sampler/target.h"
#include "sampler/tracepoint.h"

/*
 * A process of a family, looked up by its signal_struct, which is not reused before
 * sched_process_free.
 */
struct member {
	struct hlist_node node;
	const struct signal_struct *signal;
	struct rcu_head rcu;
};

static DEFINE_RAW_SPINLOCK(families_lock);
static LIST_HEAD(families);

/*
 * Memory for future children, 64 KiB. A fork cannot allocate: with PREEMPT_RT that may sleep, and a
 * tracepoint must not. Half of it has to last until a work item refills it; children for which it
 * does not are counted (children-lost).
 */
#define SPARE_MEMBERS	1024

static DEFINE_RAW_SPINLOCK(spare_lock);
static HLIST_HEAD(spare_members);
static unsigned int n_spare;

static void member_fill_spare(struct work_struct *work)
{
	unsigned long flags;
	struct member *m;

	while (READ_ONCE(n_spare) < SPARE_MEMBERS) {
		m = kmalloc(sizeof(*m), GFP_KERNEL);
		if (!m)
			break;
		raw_spin_lock_irqsave(&spare_lock, flags);
		hlist_add_head(&m->node, &spare_members);
		n_spare++;
		raw_spin_unlock_irqrestore(&spare_lock, flags);
	}
}

static DECLARE_WORK(spare_work, member_fill_spare);

static struct member *member_take_spare(void)
{
	struct member *m = NULL;
	unsigned long flags;
	bool low;

	raw_spin_lock_irqsave(&spare_lock, flags);
	if (n_spare) {
		m = hlist_entry(spare_members.first, struct member, node);
		hlist_del(&m->node);
		n_spare--;
	}
	low = n_spare < SPARE_MEMBERS / 2;
	raw_spin_unlock_irqrestore(&spare_lock, flags);
	if (low)
		queue_work(system_highpri_wq, &spare_work);
	return m;
}

static void member_free_spare(void)
{
	struct hlist_node *tmp;
	struct member *m;

	cancel_work_sync(&spare_work);
	hlist_for_each_entry_safe(m, tmp, &spare_members, node)
		kfree(m);
	INIT_HLIST_HEAD(&spare_members);
	n_spare = 0;
}

static struct member *family_find(const struct kjoule_family *f, const struct signal_struct *signal)
{
	struct member *m;

	hash_for_each_possible_rcu_notrace(f->members, m, node, (unsigned long)signal) {
		if (m->signal == signal)
			return m;
	}
	return NULL;
}

/* @m may be NULL: the process is counted as lost. */
static void family_add(struct kjoule_family *f, const struct signal_struct *signal,
		       struct member *m)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&f->lock, flags);
	if (m) {
		m->signal = signal;
		hash_add_rcu(f->members, &m->node, (unsigned long)signal);
		f->count++;
	} else {
		f->lost++;
	}
	raw_spin_unlock_irqrestore(&f->lock, flags);
}

static void family_remove(struct kjoule_family *f, const struct signal_struct *signal)
{
	unsigned long flags;
	struct member *m;

	raw_spin_lock_irqsave(&f->lock, flags);
	m = family_find(f, signal);
	if (m) {
		hash_del_rcu(&m->node);
		f->count--;
	}
	raw_spin_unlock_irqrestore(&f->lock, flags);
	if (m)
		kfree_rcu(m, rcu);
}

static void probe_sched_process_fork(void *data, struct task_struct *parent,
				     struct task_struct *child)
{
	struct kjoule_family *f;

	if (child->signal == parent->signal)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(f, &families, node) {
		if (family_find(f, parent->signal))
			family_add(f, child->signal, member_take_spare());
	}
	rcu_read_unlock();
}

static void probe_sched_process_free(void *data, struct task_struct *task)
{
	struct kjoule_family *f;

	/* the last thread of a process; exec by another thread makes that the leader first */
	if (!thread_group_leader(task))
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(f, &families, node)
		family_remove(f, task->signal);
	rcu_read_unlock();
}

static struct kjoule_probe probe[] = {
	{ .name = "sched_process_fork", .function = probe_sched_process_fork },
	{ .name = "sched_process_free", .function = probe_sched_process_free },
};

static struct kjoule_probes probes = { .n = ARRAY_SIZE(probe), .probe = probe };

/** kjoule_targets_init() - prepare the probes */
void kjoule_targets_init(void)
{
	kjoule_probes_init(&probes);
}

/** kjoule_targets_exit() - undo kjoule_targets_init() */
void kjoule_targets_exit(void)
{
	kjoule_probes_exit(&probes);
	member_free_spare();
	/* wait for call_rcu() of families and members */
	rcu_barrier();
}

static void family_free(struct rcu_head *rcu)
{
	struct kjoule_family *f = container_of(rcu, struct kjoule_family, rcu);
	struct hlist_node *tmp;
	struct member *m;
	unsigned int i;

	hash_for_each_safe(f->members, i, tmp, m, node)
		kfree(m);
	kfree(f);
}

static int family_new(struct kjoule_target *target, struct task_struct *leader, const char **why)
{
	struct kjoule_family *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	struct member *m = kmalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	unsigned long flags;
	int err;

	if (!f || !m) {
		kfree(m);
		kfree(f);
		return -ENOMEM;
	}
	raw_spin_lock_init(&f->lock);
	hash_init(f->members);
	family_add(f, leader->signal, m);
	queue_work(system_highpri_wq, &spare_work);
	flush_work(&spare_work);
	err = kjoule_probes_get(&probes);
	if (err) {
		if (err == -EOPNOTSUPP)
			*why = "this kernel cannot report forks (CONFIG_TRACEPOINTS)";
		family_free(&f->rcu);
		return err;
	}
	raw_spin_lock_irqsave(&families_lock, flags);
	list_add_rcu(&f->node, &families);
	raw_spin_unlock_irqrestore(&families_lock, flags);
	target->family = f;
	/*
	 * A process that was reaped before probe_sched_process_free() could see the family would
	 * stay in it for ever, and its signal_struct would be reused by another process. One that
	 * still has its pid is freed after this RCU section at the earliest.
	 */
	rcu_read_lock();
	if (!pid_task(target->pid, PIDTYPE_TGID))
		err = -ESRCH;
	rcu_read_unlock();
	if (err)
		*why = "the process has ended";
	return err;
}

static void family_end(struct kjoule_family *f)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&families_lock, flags);
	list_del_rcu(&f->node);
	raw_spin_unlock_irqrestore(&families_lock, flags);
	kjoule_probes_put(&probes);
	call_rcu(&f->rcu, family_free);
}

/* A leader may exit before its threads; without any it is a zombie. */
static struct task_struct *target_get_living(struct pid *pid, enum pid_type type)
{
	struct task_struct *task = get_pid_task(pid, type);

	if (task && (type == PIDTYPE_TGID ? atomic_read(&task->signal->live) : !task->exit_state))
		return task;
	if (task)
		put_task_struct(task);
	return NULL;
}

static int target_find_task(struct kjoule_target *target, u32 nr, bool inherit, const char **why)
{
	bool process = target->kind == KJOULE_TARGET_PROCESS;
	struct task_struct *task;
	int err = 0;

	target->pid = find_get_pid(nr);
	task = target_get_living(target->pid, process ? PIDTYPE_TGID : PIDTYPE_PID);
	if (!task) {
		*why = process ? "no process with that pid" : "no thread with that id";
		return -ESRCH;
	}
	if (inherit)
		err = family_new(target, task, why);
	put_task_struct(task);
	return err;
}

static int target_find_cgroup(struct kjoule_target *target, u32 fd, const char **why)
{
	struct cgroup *cgroup = kjoule_cgroup_get(fd);

	if (IS_ERR(cgroup)) {
		*why = IS_ENABLED(CONFIG_CGROUPS) ?
		       "the descriptor is no directory of a cgroup, version 2" :
		       "this kernel has no cgroups";
		return PTR_ERR(cgroup);
	}
	target->cgroup = cgroup;
	return 0;
}

/**
 * kjoule_target_init() - set up the target
 * @target:	zeroed; kjoule_target_exit() is called in any case
 * @kind:	enum kjoule_target_kind
 * @nr:		process or thread id in the caller's pid namespace
 * @inherit:	also children of the process forked from now on
 * @cgroup_fd:	for KJOULE_TARGET_CGROUP, a descriptor of the caller
 * @why:	set to the reason of an error, or left alone
 * Context: process, sleeps; in the caller's pid namespace.
 * Return: 0, -ESRCH, -EBADF, -EINVAL, -EOPNOTSUPP or -ENOMEM
 */
int kjoule_target_init(struct kjoule_target *target, u32 kind, u32 nr, bool inherit, u32 cgroup_fd,
		       const char **why)
{
	target->kind = kind;
	switch (kind) {
	case KJOULE_TARGET_PROCESS:
	case KJOULE_TARGET_THREAD:
		return target_find_task(target, nr, inherit, why);
	case KJOULE_TARGET_CGROUP:
		return target_find_cgroup(target, cgroup_fd, why);
	default:
		return 0;
	}
}

/** kjoule_target_exit() - undo kjoule_target_init(), finished or not */
void kjoule_target_exit(struct kjoule_target *target)
{
	if (target->family)
		family_end(target->family);
	if (target->cgroup)
		kjoule_cgroup_put(target->cgroup);
	put_pid(target->pid);
}

/*
 * kjoule_target_search() - kjoule_target_is_current() for the less frequent kinds. Context: hard
 * interrupt, or a task switch.
 */
bool kjoule_target_search(const struct kjoule_target *target)
{
	bool found;

	rcu_read_lock();
	switch (target->kind) {
	case KJOULE_TARGET_PROCESS:
		found = family_find(target->family, current->signal);
		break;
	case KJOULE_TARGET_THREAD:
		found = task_pid(current) == target->pid;
		break;
	case KJOULE_TARGET_CGROUP:
		found = task_under_cgroup_hierarchy(current, target->cgroup);
		break;
	default:
		found = false;
		break;
	}
	rcu_read_unlock();
	return found;
}

static bool target_has_thread_in(struct task_struct *leader, struct cgroup *cgroup)
{
	struct task_struct *t;

	for_each_thread(leader, t) {
		if (task_under_cgroup_hierarchy(t, cgroup))
			return true;
	}
	return false;
}

/*
 * kjoule_target_has_process() - is a thread of a process in the target at this moment? @leader: may
 * have ended before its threads. Context: RCU read section.
 */
bool kjoule_target_has_process(const struct kjoule_target *target, struct task_struct *leader)
{
	struct task_struct *thread;

	switch (target->kind) {
	case KJOULE_TARGET_SYSTEM:
		return true;
	case KJOULE_TARGET_PROCESS:
		if (target->family)
			return family_find(target->family, leader->signal);
		return task_tgid(leader) == target->pid;
	case KJOULE_TARGET_THREAD:
		thread = pid_task(target->pid, PIDTYPE_PID);
		return thread && same_thread_group(thread, leader);
	case KJOULE_TARGET_CGROUP:
		return target_has_thread_in(leader, target->cgroup);
	default:
		return false;
	}
}
