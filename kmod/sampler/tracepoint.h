/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes on the kernel's own tracepoints, found by name. */
#ifndef KJOULE_TRACEPOINT_H
#define KJOULE_TRACEPOINT_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct tracepoint;

/**
 * struct kjoule_probe - a function at a tracepoint
 * @name:	of the tracepoint
 * @function:	called with (NULL, arguments of the tracepoint). On newer kernels the tracepoint
 *		neither disables preemption nor opens an RCU section for it
 * @tp:		found when it is attached
 */
struct kjoule_probe {
	const char *name;
	void *function;
	struct tracepoint *tp;
};

/**
 * struct kjoule_probes - probes that are used together
 * @n:		how many
 * @probe:	these
 * @users:	number of users
 * @attached:	they are attached, with or without users
 * @linger:	detaches them some time after the last user
 */
struct kjoule_probes {
	unsigned int n;
	struct kjoule_probe *probe;
	unsigned int users;
	bool attached;
	struct delayed_work linger;
};

void kjoule_probes_init(struct kjoule_probes *p);
void kjoule_probes_exit(struct kjoule_probes *p);
int kjoule_probes_get(struct kjoule_probes *p);
void kjoule_probes_put(struct kjoule_probes *p);

#endif
