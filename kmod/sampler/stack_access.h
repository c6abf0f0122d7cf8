/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose stacks a session may copy: those of tasks that its creator may trace. Checked when a
 * session is created and, for the current task, at each copy (callchain.c).
 */
#ifndef KJOULE_STACK_ACCESS_H
#define KJOULE_STACK_ACCESS_H

#include <linux/cred.h>

struct kjoule_target;

/**
 * struct kjoule_stack_access - whose stacks may be copied
 * @any:	all tasks
 * @creator:	otherwise, tasks that these credentials may trace; NULL: none
 */
struct kjoule_stack_access {
	bool any;
	const struct cred *creator;
};

int kjoule_stack_access_init(struct kjoule_stack_access *a, const struct kjoule_target *target,
			     bool any, const char **why);
void kjoule_stack_access_exit(struct kjoule_stack_access *a);
bool kjoule_stack_access_current(const struct kjoule_stack_access *a);

#endif
