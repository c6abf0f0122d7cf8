/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose stacks a session may copy: those that its maker could read by ptrace. Asked when a
 * session is made and, for the task that runs, at each copy (callchain.c).
 */
#ifndef KJOULE_STACK_ACCESS_H
#define KJOULE_STACK_ACCESS_H

#include <linux/cred.h>

struct kjoule_target;

/**
 * struct kjoule_stack_access - whose stacks may be copied
 * @any:	everybody's
 * @creator:	otherwise, stacks of tasks that these credentials may trace; NULL: of no task
 */
struct kjoule_stack_access {
	bool any;
	const struct cred *creator;
};

int kjoule_stack_access_init(struct kjoule_stack_access *a, const struct kjoule_target *target,
			     bool any, const char **why);
void kjoule_stack_access_exit(struct kjoule_stack_access *a);
bool kjoule_stack_access_current(const struct kjoule_stack_access *a);

#endif /* KJOULE_STACK_ACCESS_H */
