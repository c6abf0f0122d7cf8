/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel differences: the newest API, built on older kernels from what these have. Each HAVE_ is
 * found by compiling compat/probe/<NAME>.c, not by a version number, because distributions
 * backport.
 */
#ifndef KJOULE_COMPAT_H
#define KJOULE_COMPAT_H

#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "compat/hrtimer.h"

/* 6.3 made vm_flags constant and added setters. */
#ifndef HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* 6.17 renamed the shared workqueues. */
#ifndef HAVE_SYSTEM_DFL_WQ
#define system_percpu_wq	system_wq
#define system_dfl_wq		system_unbound_wq
#endif

/* 6.14 added a function that also starts the worker. */
#ifndef HAVE_KTHREAD_RUN_WORKER
#define kthread_run_worker_on_cpu	kthread_create_worker_on_cpu
#endif

/* 6.16 renamed the accessors of model specific registers. */
#ifndef HAVE_RDMSRQ_SAFE
#define rdmsrq_safe(msr, value)	rdmsrl_safe(msr, value)
#define rdmsrq(msr, value)	rdmsrl(msr, value)
#endif

/* 6.6 gave dumps the same genl_info as other operations. */
static inline struct nlattr **kjoule_dump_attrs(struct netlink_callback *cb)
{
#ifdef HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/* 6.2 changed the argument of pre_doit. */
#ifdef HAVE_GENL_SPLIT_OPS
#define KJOULE_GENL_PRE_DOIT_OPS struct genl_split_ops
#else
#define KJOULE_GENL_PRE_DOIT_OPS struct genl_ops
#endif

/*
 * 6.7 lets a multicast group require CAP_SYS_ADMIN to join (CAP_PERFMON is not possible). Without
 * that anybody could join, so there is no group.
 */
#ifdef HAVE_GENL_MCAST_CAP
#define KJOULE_GENL_GROUP_FLAGS	GENL_MCAST_CAP_SYS_ADMIN
#define KJOULE_GENL_GROUPS(groups)	ARRAY_SIZE(groups)
#else
#define KJOULE_GENL_GROUP_FLAGS	0
#define KJOULE_GENL_GROUPS(groups)	0
#endif

#endif
