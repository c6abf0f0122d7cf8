/* SPDX-License-Identifier: GPL-2.0-only */
/* Get a cgroup by a descriptor; kernels without cgroups have none. */
#ifndef KJOULE_COMPAT_CGROUP_H
#define KJOULE_COMPAT_CGROUP_H

#include <linux/cgroup.h>
#include <linux/err.h>

#ifdef CONFIG_CGROUPS
#define kjoule_cgroup_get(fd)		cgroup_get_from_fd(fd)
#define kjoule_cgroup_put(cgroup)	cgroup_put(cgroup)
#else
static inline struct cgroup *kjoule_cgroup_get(int fd)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void kjoule_cgroup_put(struct cgroup *cgroup)
{
}
#endif

#endif
